"""Everybody's posterior against enumeration, Gibbs sampling and the plain mean field."""

import numpy as np
import pytest

from narcissus.attacks.table import GibbsSampling, MeanField, Targets, View
from narcissus.attacks.table import cavity as room
from narcissus.attacks.table.cavity import cavity_beliefs
from narcissus.attacks.table.likelihood import likelihood
from narcissus.attacks.table.posterior import consistent_beliefs, mean_field
from narcissus.mechanisms import GaussianNoise, Grouping, LaplaceNoise, NoNoise

LISTED = (
    ((0, 2), (3, 1), (2,), (2, 0), (3,), (1,), (0,), (4, 0), (3, 1)),
    (Grouping(2, (0, 1, 1)), Grouping(1, (0, 0, 1))),
)
TINY = [
    pytest.param(1, (2, 3, 2), (1,), 2, id="one person"),
    pytest.param(6, (2, 3, 2), (0,), 2, id="one unknown"),
    pytest.param(7, (2, 2, 3), (1,), 1, id="one unknown, k 1"),
    pytest.param(6, (2, 3, 4), (2,), 2, id="four values"),
    pytest.param(4, (2, 3, 2), (0, 2), 2, id="two unknown"),
    pytest.param(3, (2, 3), (0, 1), 1, id="all unknown"),
    pytest.param(6, (2, 3, 3), (2,), LISTED, id="one unknown, listed"),
    pytest.param(4, (2, 3, 3), (2, 0), LISTED, id="two unknown, listed"),
]
NOISES = [GaussianNoise(1.0), GaussianNoise(2.5), LaplaceNoise(0.8), LaplaceNoise(2.0)]


def beliefs_of(targets, noise, release):
    return cavity_beliefs(targets, noise, release, 200, 1e-9)


def plain(targets, noise, release):
    if noise.kind == "laplace":
        noise = GaussianNoise(np.sqrt(2) * noise.scale)
    return mean_field(targets, likelihood(targets, noise, release), 40, 1e-4)


def divergence(exact, found):
    """Give the mean Kullback-Leibler divergence of beliefs, in nats a person."""
    ratio = np.log(np.maximum(exact, 1e-300) / np.maximum(found, 1e-300))
    return (exact * ratio).sum(axis=1).mean()


def alike(targets, rng, kinds):
    """Give the people one of so many priors, so that some are alike."""
    prior = rng.dirichlet(np.ones(targets.queries.values), kinds)
    chosen = prior[rng.integers(0, kinds, targets.people)]
    return Targets(targets.queries, targets.codes, chosen, targets.success)


@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.parametrize("noise", NOISES, ids=lambda n: f"{n.kind} {n.scale}")
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), TINY)
def test_beliefs_against_all_joint_assignments(worlds, people, sizes, unknown, k, noise):
    """Near the exact posterior, and nearer than the plain mean field: means of six worlds.

    .02 nats a person for Gaussian noise, .05 for Laplace noise, whose factors are no normal ones.
    """
    ours, others, told = [], [], []
    for seed in range(6):
        rng = np.random.default_rng([30, seed])
        targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k)
        targets = alike(targets, rng, 2)
        release = worlds.release(targets, noise, secrets, rng).cells
        exact = worlds.posterior(targets, noise, release)
        ours.append(divergence(exact, beliefs_of(targets, noise, release)))
        others.append(divergence(exact, plain(targets, noise, release)))
        told.append(divergence(exact, targets.prior))
    assert np.mean(ours) < (0.02 if noise.kind == "gaussian" else 0.05)
    assert np.mean(ours) < max(0.002, 0.6 * np.mean(others))
    assert np.mean(ours) < 0.15 * np.mean(told)


def test_one_person_in_gaussian_noise_is_exact(worlds, monkeypatch):
    """Where the equations hold to the last digit, nothing is approximated about one person."""
    monkeypatch.setattr(room, "ROUNDS", 100)
    monkeypatch.setattr(room, "SLIGHT", 0.0)
    rng = np.random.default_rng(31)
    targets, secrets = worlds.world(rng, people=1, sizes=(2, 3, 4), unknown=(2,), k=3)
    noise = GaussianNoise(0.9)
    release = worlds.release(targets, noise, secrets, rng).cells
    exact = worlds.posterior(targets, noise, release)
    np.testing.assert_allclose(beliefs_of(targets, noise, release), exact, atol=1e-6)


@pytest.mark.parametrize("noise", [GaussianNoise(4.0), LaplaceNoise(3.0)])
@pytest.mark.parametrize(("sizes", "unknown"), [((2, 4, 3, 3, 2), (0,)), ((2, 4, 3, 3, 5), (4,))])
def test_beliefs_against_gibbs_sampling(worlds, sizes, unknown, noise):
    """Within .006 nats a person of long chains; the plain mean field is farther from them."""
    gaps = []
    for seed in range(3):
        rng = np.random.default_rng([32, seed])
        targets, secrets = worlds.world(rng, people=80, sizes=sizes, unknown=unknown, k=3)
        release = worlds.release(targets, noise, secrets, rng).cells
        gibbs = GibbsSampling(sweeps=4000).beliefs(View(targets, noise, release), rng=rng)
        ways = (beliefs_of, plain)
        gaps.append([divergence(gibbs, way(targets, noise, release)) for way in ways])
    ours, before = np.mean(gaps, axis=0)
    assert ours < 0.006
    assert ours < 0.5 * before


def test_more_people_than_the_whole_matrix_is_inverted_for(worlds):
    """400 people of three values: near long chains, and far nearer than the plain mean field."""
    rng = np.random.default_rng(33)
    noise = GaussianNoise(4.0)
    targets, secrets = worlds.world(rng, people=400, sizes=(3, 4, 3, 5, 4), unknown=(0,), k=3)
    release = worlds.release(targets, noise, secrets, rng).cells
    gibbs = GibbsSampling(sweeps=800).beliefs(View(targets, noise, release), rng=rng)
    ours = divergence(gibbs, beliefs_of(targets, noise, release))
    assert ours < 0.005
    assert ours < 0.3 * divergence(gibbs, plain(targets, noise, release))


@pytest.mark.parametrize("noise", [GaussianNoise(2.0), LaplaceNoise(2.0)])
@pytest.mark.parametrize("people", [60, 700])
def test_people_who_are_alike_are_believed_alike(worlds, noise, people):
    """Typed or one by one, the beliefs agree; a hair in the prior makes each their own type."""
    rng = np.random.default_rng(34)
    targets, secrets = worlds.world(rng, people=people, sizes=(2, 3, 3), unknown=(0,), k=2)
    targets = alike(targets, rng, 2)
    release = worlds.release(targets, noise, secrets, rng).cells
    apart = targets.prior + 1e-10 * rng.random(targets.prior.shape)
    apart = Targets(
        targets.queries, targets.codes, apart / apart.sum(axis=1, keepdims=True), targets.success
    )
    assert targets.types.number <= 18
    assert apart.types.number == people
    typed, untyped = (beliefs_of(t, noise, release) for t in (targets, apart))
    close = 1e-6 if people * 2 <= 512 else 0.01  # the larger one has another form of own terms
    np.testing.assert_allclose(typed, untyped, atol=close)
    same = targets.types.of
    for kind in range(targets.types.number):
        assert np.ptp(typed[same == kind], axis=0).max() == 0


def test_everybody_of_one_type(worlds):
    """Nine people whom nothing tells apart, by enumeration; and values that nothing tells apart."""
    rng = np.random.default_rng(35)
    targets, secrets = worlds.world(rng, people=9, sizes=(2, 3), unknown=(0,), k=2)
    targets.codes[:] = targets.codes[0]
    targets.prior[:] = (0.3, 0.7)
    noise = GaussianNoise(1.0)
    release = worlds.release(targets, noise, secrets, rng).cells
    found = beliefs_of(targets, noise, release)
    assert targets.types.number == 1
    np.testing.assert_allclose(found, worlds.posterior(targets, noise, release), atol=0.01)
    targets, _ = worlds.world(rng, people=9, sizes=(2, 3), unknown=(0,), k=2)
    targets.prior[:] = 0.5
    found = beliefs_of(targets, noise, np.full(targets.queries.cells, 1.5))
    np.testing.assert_allclose(found, 0.5, atol=1e-9)


@pytest.mark.parametrize("scale", [0.05, 0.2])
@pytest.mark.parametrize("kind", [GaussianNoise, LaplaceNoise])
def test_next_to_no_noise_is_read_as_such(worlds, kind, scale):
    """Where exact counts settle everybody, so do nearly exact ones."""
    right = 0
    for seed in range(4):
        rng = np.random.default_rng([36, seed])
        targets, secrets = worlds.world(rng, people=25, sizes=(2, 4, 4, 5), unknown=(0,), k=3)
        release = worlds.release(targets, kind(scale), secrets, rng).cells
        found = beliefs_of(targets, kind(scale), release)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        right += (found.argmax(axis=1) == secrets).sum()
    assert right >= 98


def test_no_noise_goes_where_equations_are_solved(worlds):
    rng = np.random.default_rng(37)
    targets, secrets = worlds.world(rng, people=10, sizes=(2, 3, 2), unknown=(0,), k=2)
    release = worlds.release(targets, NoNoise(), secrets, rng).cells
    found = MeanField().beliefs(View(targets, NoNoise(), release), rng=rng)
    np.testing.assert_array_equal(found, consistent_beliefs(targets, release))
