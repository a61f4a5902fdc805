"""The ceiling: the exact conditionals given all other secrets, and above every attack."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from narcissus.attacks.table import (
    Ceiling,
    GibbsSampling,
    MeanField,
    PriorGuess,
    RelaxedProjection,
)
from narcissus.attacks.table.ceiling import insider_beliefs, insider_chances
from narcissus.errors import InputError
from narcissus.knowledge.columns import Insider
from narcissus.mechanisms import (
    Columns,
    GaussianNoise,
    Grouping,
    LaplaceNoise,
    NoNoise,
    RandomRounding,
    Rounding,
    Suppression,
)
from narcissus.success import ColumnsRight

TINY = [
    pytest.param(6, (2, 3, 2), (0,), 2, id="one unknown"),
    pytest.param(7, (2, 2, 3), (1,), 1, id="one unknown, k 1"),
    pytest.param(4, (2, 3, 2), (0, 2), 2, id="two unknown"),
]


LISTED = (
    ((0, 2), (3, 1), (2,), (2, 0), (3,), (1,), (0,), (4, 0)),
    (Grouping(2, (0, 1, 1)), Grouping(1, (0, 0, 1))),
)
INSIDE = [
    *TINY,
    pytest.param(9, (2, 3, 3), (2,), LISTED, id="one unknown, listed"),
    pytest.param(7, (2, 3, 3), (2, 0), LISTED, id="two unknown, listed"),
]


@pytest.fixture(params=[False, True], ids=["few", "as many"])
def many(request, monkeypatch):
    """Take the way of many people for few, a few at a time."""
    if request.param:
        monkeypatch.setattr(sys.modules[insider_beliefs.__module__], "PAIRWISE_LIMIT", 0)
        monkeypatch.setattr(sys.modules[insider_beliefs.__module__], "BLOCK", 6)
        monkeypatch.setattr(sys.modules["narcissus.attacks.table.gathers"], "BLOCK", 12)


@pytest.mark.usefixtures("many")
@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.parametrize("noise", [GaussianNoise(1.2), LaplaceNoise(1.2), NoNoise()])
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), INSIDE)
def test_ceiling_against_enumeration(worlds, people, sizes, unknown, k, noise):
    """The ceiling's beliefs are the exact conditionals given all other secrets."""
    rng = np.random.default_rng(21)
    targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k)
    targets.prior[people // 2 :] = targets.prior[0]  # some people are alike
    release = worlds.release(targets, noise, secrets, rng)
    found = insider_beliefs(release, Insider(targets, secrets))
    for i in range(people):
        logs = []
        for value in range(targets.prior.shape[1]):
            other = secrets.copy()
            other[i] = value
            if noise.scale == 0:
                same = targets.queries.counts(worlds.complete(targets, other)) == release.cells
                log = 0.0 if same.all() else -np.inf
            else:
                log = worlds.log_density(targets, noise, release.cells, other)
            logs.append(log + targets.log_prior[i, value])
        expected = np.exp(np.array(logs) - max(logs))
        np.testing.assert_allclose(found[i], expected / expected.sum(), atol=1e-9)


PROTECTED = [
    *TINY,
    pytest.param(7, (2, 3, 2), (0, 2), 1, id="two unknown, k 1"),
    pytest.param(7, (2, 2, 3), (2, 0), 3, id="two unknown, k 3"),
    pytest.param(9, (2, 3, 3), (2,), LISTED, id="one unknown, listed"),
    pytest.param(7, (2, 3, 3), (2, 0), LISTED, id="two unknown, listed"),
]


def rounded(base):
    """Give the chance of a cell that is rounded half up, in whole numbers."""
    return lambda cell, count: float(cell == (2 * count + base) // (2 * base) * base)


def randomly_rounded(base):
    def chance(cell, count):
        low = count // base * base
        return {low: (low + base - count) / base, low + base: (count - low) / base}.get(cell, 0.0)

    return chance


def withheld(*counts):
    return lambda cell, count: float(np.isnan(cell) if count in counts else cell == count)


def of_cell(planned, chance):
    return pytest.param(planned, chance, id=f"{type(planned).__name__} {planned.label}")


RULES = [
    of_cell(Rounding(base=1), rounded(1)),
    of_cell(Rounding(base=2), rounded(2)),
    of_cell(Rounding(base=3), rounded(3)),
    of_cell(RandomRounding(base=2), randomly_rounded(2)),
    of_cell(RandomRounding(base=3), randomly_rounded(3)),
    of_cell(Suppression(threshold=2), withheld(1)),
    of_cell(Suppression(threshold=4), withheld(1, 2, 3)),
    of_cell(Suppression(threshold=3, zeros=False), withheld(0, 1, 2)),
]


def protected(worlds, targets, secrets, planned, rng):
    """Release the tables of these people as planned."""
    queries = targets.queries
    columns = Columns(
        tuple("abcdefgh"[: len(queries.sizes)]),
        tuple(tuple(map(str, range(size))) for size in queries.sizes),
        (False,) * len(queries.sizes),
        queries.unknown,
    )
    prepared = replace(planned.prepare(columns), queries=queries)
    [release] = prepared.release(worlds.complete(targets, secrets)[None], rng)
    return release


@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.parametrize(("planned", "chance"), RULES)
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), PROTECTED)
def test_ceiling_of_protected_cells_against_enumeration(
    worlds, people, sizes, unknown, k, planned, chance
):
    """Bayes' rule over each person's values, with the chance of every cell of the release."""
    informed = 0
    for seed in range(3):
        rng = np.random.default_rng([22, seed])
        targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k)
        release = protected(worlds, targets, secrets, planned, rng)
        found = insider_beliefs(release, Insider(targets, secrets))
        for i in range(people):
            weights = []
            for value in range(targets.prior.shape[1]):
                other = secrets.copy()
                other[i] = value
                counts = targets.queries.counts(worlds.complete(targets, other)).astype(int)
                chances = [chance(*pair) for pair in zip(release.cells, counts, strict=True)]
                weights.append(np.prod(chances) * targets.prior[i, value])
            expected = np.array(weights) / sum(weights)
            np.testing.assert_allclose(found[i], expected, atol=1e-9)
        informed += (np.abs(found - targets.prior).max(axis=1) > 1e-3).sum()
    assert informed


def test_protected_cells_of_many_people_are_read_in_chunks(worlds, monkeypatch):
    rng = np.random.default_rng(23)
    targets, secrets = worlds.world(rng, people=20, sizes=(2, 3, 3), unknown=(2, 0), k=LISTED)
    insider = Insider(targets, secrets)
    release = protected(worlds, targets, secrets, RandomRounding(base=3), rng)
    whole = insider_beliefs(release, insider)
    room = sys.modules[insider_beliefs.__module__]
    monkeypatch.setattr(
        room, "chunks", lambda _: [slice(a, min(a + 7, 20)) for a in range(0, 20, 7)]
    )
    np.testing.assert_array_equal(insider_beliefs(release, insider), whole)


def test_protected_cells_have_the_last_word_over_a_wrong_prior(worlds):
    rng = np.random.default_rng(24)
    targets, secrets = worlds.world(rng, people=5, sizes=(3, 2), unknown=(0,), k=2)
    targets.prior[np.arange(5), secrets] = 0
    targets.prior[:] /= targets.prior.sum(axis=1, keepdims=True)
    release = protected(worlds, targets, secrets, Rounding(base=1), rng)
    [guess] = Ceiling().attempt([release], [Insider(targets, secrets)], rng)
    np.testing.assert_array_equal(guess, secrets)


def test_cells_that_depend_on_each_other_have_no_ceiling(worlds):
    """Read cell by cell, they would seem to tell less than they do."""
    rng = np.random.default_rng(25)
    targets, secrets = worlds.world(rng, people=9, sizes=(3, 3), unknown=(0,), k=2)
    planned = Suppression(threshold=3, secondary=True)
    release = protected(worlds, targets, secrets, planned, rng)
    with pytest.raises(InputError, match="depend on each other"):
        insider_chances(release, Insider(targets, secrets))


@pytest.mark.usefixtures("many")
def test_ceiling_survives_a_prior_that_rules_out_the_truth(worlds):
    """Real rows may be impossible under a prior; exact counts then have the last word."""
    rng = np.random.default_rng(4)
    targets, secrets = worlds.world(rng, people=5, sizes=(3, 2), unknown=(0,), k=2)
    targets.prior[np.arange(5), secrets] = 0
    targets.prior[:] /= targets.prior.sum(axis=1, keepdims=True)
    release = worlds.release(targets, NoNoise(), secrets, rng)
    [guess] = Ceiling().attempt([release], [Insider(targets, secrets)], rng)
    np.testing.assert_array_equal(guess, secrets)


def test_what_is_kept_for_one_release_is_not_taken_for_another(worlds):
    rng = np.random.default_rng(5)
    targets, secrets = worlds.world(rng, people=8, sizes=(3, 2), unknown=(0,), k=2)
    noise, insider = GaussianNoise(1.0), Insider(targets, secrets)
    first, second = (worlds.release(targets, noise, secrets, rng) for _ in range(2))
    one = insider_chances(first, insider)
    assert insider_chances(first, insider) is one
    np.testing.assert_array_equal(
        insider_chances(second, insider), insider_beliefs(second, insider)
    )
    assert (insider_chances(second, insider) != one).any()
    other = Insider(targets, (secrets + 1) % 3)
    assert (insider_chances(first, other) != one).any()


@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.coverage_claim
@pytest.mark.parametrize("noise", [GaussianNoise(4.0), LaplaceNoise(4.0), NoNoise()])
@pytest.mark.parametrize(
    ("unknown", "success"),
    [
        ((0,), None),
        ((1, 2), ColumnsRight((3, 2), (1, 0), 1)),
        ((3,), ColumnsRight((5,), (1,))),
    ],
)
def test_no_attack_is_above_the_ceiling(worlds, unknown, success, noise):
    """60 worlds each; paired test of the mean gap, false alarm 1e-6 for each attack."""
    attacks = [
        PriorGuess(),
        MeanField(),
        GibbsSampling(sweeps=40),
        RelaxedProjection(steps=30),
        RelaxedProjection(start="prior", steps=30),
    ]
    worlds_played = 60
    gaps = np.zeros((worlds_played, len(attacks)))
    for seed in range(worlds_played):
        rng = np.random.default_rng([77, seed])
        targets, secrets = worlds.world(
            rng, people=15, sizes=(2, 3, 2, 5), unknown=unknown, k=2, success=success
        )
        release = worlds.release(targets, noise, secrets, rng)
        score = targets.success.score
        [best] = Ceiling().attempt([release], [Insider(targets, secrets)], rng)
        top = score(secrets, best).mean()
        for place, attack in enumerate(attacks):
            [guess] = attack.attempt([release], [targets], rng)
            gaps[seed, place] = top - score(secrets, guess).mean()
    for gap in gaps.T:
        if gap.std() > 0:
            assert stats.ttest_1samp(gap, 0, alternative="less").pvalue > 1e-6
    if success is None:  # where there is much to gain, it is gained
        assert gaps[:, 1].mean() < gaps[:, 0].mean()
        assert gaps[:, 2].mean() < gaps[:, 3].mean()
