"""The closed likelihoods against log densities of explicit marginals."""

import sys

import numpy as np
import pytest

from narcissus.attacks.table.likelihood import CellLikelihood, PairwiseLikelihood, likelihood
from narcissus.mechanisms import GaussianNoise, Grouping, LaplaceNoise

LISTED = (
    ((0, 1), (2,), (2,), (1, 3), (3, 0), (2, 0, 1), (4, 2), (1,), (1, 2)),
    (Grouping(2, (0, 1, 1, 0)), Grouping(1, (0, 0, 1))),
)
SHAPES = [
    pytest.param((2, 3, 2, 3), (1,), 3, id="one unknown, k 3"),
    pytest.param((2, 3, 2), (0,), 1, id="one unknown, k 1"),
    pytest.param((2, 3, 2), (2,), 3, id="one unknown, k = d"),
    pytest.param((2, 3, 2, 2), (0, 3), 2, id="two unknown, k 2"),
    pytest.param((2, 3, 2, 2, 2), (3, 1, 0), 3, id="three unknown out of order, k 3"),
    pytest.param((2, 3), (0, 1), 2, id="all unknown"),
    pytest.param((2, 3, 2), (0, 1, 2), 1, id="all unknown, k 1"),
    pytest.param((2, 3, 4), (2,), LISTED, id="one unknown, listed"),
    pytest.param((2, 3, 4), (2, 0), LISTED, id="two unknown, listed"),
    pytest.param((2, 3, 4), (2,), (((0, 3), (3,)), LISTED[1]), id="only groups of the unknown"),
]
FORMS = [
    pytest.param(PairwiseLikelihood, GaussianNoise, id="pairwise, gaussian"),
    pytest.param(CellLikelihood, GaussianNoise, id="cells, gaussian"),
    pytest.param(CellLikelihood, LaplaceNoise, id="cells, laplace"),
]


def one_hot(secrets, values):
    return (np.asarray(secrets)[..., None] == np.arange(values)).astype(float)


@pytest.mark.parametrize(("form", "noise_kind"), FORMS)
@pytest.mark.parametrize(("sizes", "unknown", "k"), SHAPES)
def test_fields_are_differences_of_log_densities(worlds, sizes, unknown, k, form, noise_kind):
    rng = np.random.default_rng(len(sizes) * 100)
    targets, secrets = worlds.world(rng, people=7, sizes=sizes, unknown=unknown, k=k)
    noise = noise_kind(1.7)
    release = worlds.release(targets, noise, secrets, rng).cells
    values = targets.queries.values
    # Three chains with states of their own; the truth is none of them.
    states = rng.integers(0, values, (7, 3))
    model = form(targets, noise, release)
    model.start(one_hot(states, values))
    for block in (slice(0, 1), slice(2, 6), slice(0, 7)):
        fields = model.fields(block, one_hot(states[block], values))
        assert fields.shape == (block.stop - block.start, 3, values)
        for chain in range(3):
            for place, person in enumerate(range(block.start, block.stop)):
                expected = []
                for value in range(values):
                    state = states[:, chain].copy()
                    state[person] = value
                    expected.append(worlds.log_density(targets, noise, release, state))
                got = fields[place, chain]
                np.testing.assert_allclose(
                    got - got[0], np.array(expected) - expected[0], rtol=1e-9, atol=1e-9
                )


@pytest.mark.parametrize(("form", "noise_kind"), FORMS)
@pytest.mark.parametrize(("sizes", "unknown", "k"), SHAPES)
def test_moves_are_like_a_fresh_start(worlds, sizes, unknown, k, form, noise_kind):
    rng = np.random.default_rng(len(sizes) * 10)
    targets, secrets = worlds.world(rng, people=9, sizes=sizes, unknown=unknown, k=k)
    noise = noise_kind(0.9)
    release = worlds.release(targets, noise, secrets, rng).cells
    values = targets.queries.values
    before = rng.dirichlet(np.ones(values), (9, 2))
    after = before.copy()
    moved = form(targets, noise, release)
    moved.start(before.copy())
    for block in (slice(3, 4), slice(0, 5), slice(5, 9), slice(8, 9)):
        new = rng.dirichlet(np.ones(values), (block.stop - block.start, 2))
        moved.move(block, new - after[block])
        after[block] = new
    fresh = form(targets, noise, release)
    fresh.start(after.copy())
    every = slice(0, 9)
    np.testing.assert_allclose(
        moved.fields(every, after), fresh.fields(every, after), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(("sizes", "unknown", "k"), SHAPES)
def test_both_forms_agree_on_soft_beliefs(worlds, sizes, unknown, k):
    rng = np.random.default_rng(5)
    targets, secrets = worlds.world(rng, people=30, sizes=sizes, unknown=unknown, k=k)
    noise = GaussianNoise(2.0)
    release = worlds.release(targets, noise, secrets, rng).cells
    beliefs = rng.dirichlet(np.ones(targets.queries.values), (30, 2))
    fields = []
    couplings = []
    for form in (PairwiseLikelihood, CellLikelihood):
        model = form(targets, noise, release)
        model.start(beliefs)
        f = model.fields(slice(0, 30), beliefs)
        fields.append(f - f[..., :1])
        couplings.append(model.coupling)
    np.testing.assert_allclose(*fields, rtol=1e-9, atol=1e-9)
    assert couplings[0] == pytest.approx(couplings[1], rel=1e-9)


def test_soft_fields_are_expected_log_densities(worlds):
    """Mean field needs the expectation over independent beliefs, also of products of people."""
    rng = np.random.default_rng(6)
    targets, secrets = worlds.world(rng, people=4, sizes=(2, 2, 3), unknown=(0, 2), k=2)
    noise = GaussianNoise(1.1)
    release = worlds.release(targets, noise, secrets, rng).cells
    values = targets.queries.values
    beliefs = rng.dirichlet(np.ones(values), 4)
    model = likelihood(targets, noise, release)
    model.start(beliefs[:, None])
    got = model.fields(slice(0, 4), beliefs[:, None])[:, 0]
    expected = np.zeros((4, values))
    for a in worlds.assignments(targets):
        log = worlds.log_density(targets, noise, release, a)
        each = beliefs[np.arange(4), a]
        for i in range(4):
            expected[i, a[i]] += log * np.prod(np.delete(each, i))
    np.testing.assert_allclose(got - got[:, :1], expected - expected[:, :1], rtol=1e-8, atol=1e-8)


def test_the_form_follows_noise_and_people(worlds):
    rng = np.random.default_rng(0)
    few, _ = worlds.world(rng, people=3, sizes=(2, 2), unknown=(0,), k=2)
    many, _ = worlds.world(rng, people=1501, sizes=(2, 2), unknown=(0,), k=2)
    cells = np.zeros(4)
    assert isinstance(likelihood(few, GaussianNoise(1.0), cells), PairwiseLikelihood)
    assert isinstance(likelihood(few, LaplaceNoise(1.0), cells), CellLikelihood)
    assert isinstance(likelihood(many, GaussianNoise(1.0), cells), CellLikelihood)


def test_a_long_list_of_people_is_started_in_chunks(worlds, monkeypatch):
    """Chunked starts add up to the same residuals."""
    room = sys.modules["narcissus.attacks.table.likelihood"]  # the package has a function so named
    rng = np.random.default_rng(8)
    targets, secrets = worlds.world(rng, people=40, sizes=(2, 3, 2), unknown=(1,), k=2)
    noise = GaussianNoise(1.0)
    release = worlds.release(targets, noise, secrets, rng).cells
    beliefs = targets.prior[:, None]
    whole = CellLikelihood(targets, noise, release)
    whole.start(beliefs)
    expected = whole.fields(slice(0, 40), beliefs)
    monkeypatch.setattr(
        room, "chunks", lambda _t, _c=1: [slice(a, min(a + 7, 40)) for a in range(0, 40, 7)]
    )
    parts = CellLikelihood(targets, noise, release)
    parts.start(beliefs)
    np.testing.assert_allclose(parts.fields(slice(0, 40), beliefs), expected, atol=1e-9)
