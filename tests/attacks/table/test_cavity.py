"""Everybody's posterior: its convex problem, own terms and normal factors, by the long way."""

import numpy as np
import pytest
from scipy import integrate

from narcissus.attacks.table import GibbsSampling, MeanField, Targets, View, shards
from narcissus.attacks.table import cavity as room
from narcissus.attacks.table.cavity import (
    Dual,
    Sites,
    add_own_terms,
    better_sites,
    cavity_beliefs,
    first_sites,
)
from narcissus.attacks.table.posterior import consistent_beliefs, likelihood, mean_field
from narcissus.attacks.table.shards import CellIncidence, HeldHere, Shard, ShardedPosterior
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
    """Return the mean Kullback-Leibler divergence of beliefs, in nats a person."""
    ratio = np.log(np.maximum(exact, 1e-300) / np.maximum(found, 1e-300))
    return (exact * ratio).sum(axis=1).mean()


def alike(targets, rng, kinds):
    """Draw one of so many priors for each of the people, so that some are alike."""
    prior = rng.dirichlet(np.ones(targets.queries.values), kinds)
    chosen = prior[rng.integers(0, kinds, targets.people)]
    return Targets(targets.queries, targets.codes, chosen, targets.success)


@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.parametrize("noise", NOISES, ids=lambda n: f"{n.kind} {n.scale}")
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), TINY)
@pytest.mark.one_in(4)
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
@pytest.mark.one_in(2)
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
@pytest.mark.one_in(2)
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


WORLDS = [
    pytest.param((2, 3, 2, 4), (0,), 3, id="one unknown"),
    pytest.param((2, 3, 2, 2, 3), (4, 0), 2, id="two unknown"),
]


def problem(worlds, sizes, unknown, k, scale=2.0, people=25):
    rng = np.random.default_rng(4)
    targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k)
    prior = rng.dirichlet(np.ones(targets.queries.values), 2)[rng.integers(0, 2, people)]
    targets = Targets(targets.queries, targets.codes, prior, targets.success)
    release = worlds.release(targets, GaussianNoise(scale), secrets, rng).cells
    return targets, release, rng


def dual_of(targets, release, scale=2.0):
    gathers = CellIncidence(targets)
    cells = release[gathers.cells]
    variance = np.full(cells.shape, scale**2) * np.linspace(0.5, 2, cells.size)
    share = Shard(gathers, targets.log_prior[gathers.types.first])
    held = HeldHere([lambda: share])
    shares = ShardedPosterior(held, targets.people, share.log_prior.size)
    return Dual(shares, cells, variance), share


@pytest.mark.parametrize("block", [7, 10**6])
@pytest.mark.parametrize(("sizes", "unknown", "k"), WORLDS)
def test_derivatives_against_differences(worlds, monkeypatch, sizes, unknown, k, block):
    monkeypatch.setattr(shards, "BLOCK", block)
    targets, release, rng = problem(worlds, sizes, unknown, k)
    dual, _ = dual_of(targets, release)
    theta, along = 0.2 * rng.normal(size=(2, len(dual.released)))
    step = 1e-5
    high, up = dual.evaluate(theta + step * along)
    low, down = dual.evaluate(theta - step * along)
    _, gradient = dual.evaluate(theta)
    np.testing.assert_allclose((high - low) / (2 * step), gradient @ along, rtol=1e-6)
    dual.beliefs(theta)
    curved = dual.curve(along) / targets.people
    np.testing.assert_allclose((up - down) / (2 * step), curved, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(("sizes", "unknown", "k"), WORLDS)
def test_beliefs_say_what_the_counts_are(worlds, sizes, unknown, k):
    """Prior times the exponential of what the cells say; counts and variances of independents."""
    targets, release, rng = problem(worlds, sizes, unknown, k)
    dual, share = dual_of(targets, release)
    cells = worlds.incidence(targets)[..., dual.shards.cells]
    theta = 0.2 * rng.normal(size=len(dual.released))
    beliefs = targets.prior * np.exp(cells @ theta)
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    found = dual.beliefs(theta)
    np.testing.assert_allclose(share.result()[share.incidence.types.of], beliefs)
    chances = np.einsum("tv,tvc->tc", beliefs, cells)
    np.testing.assert_allclose(found.counts, chances.sum(axis=0))
    np.testing.assert_allclose(found.variance, (chances * (1 - chances)).sum(axis=0), atol=1e-12)


def test_probes_have_the_covariance_of_the_counts(worlds):
    """Mean of 4,000 squares along five directions: standard error 2.2%."""
    targets, release, rng = problem(worlds, (2, 3, 2), (0,), 2)
    dual, _ = dual_of(targets, release)
    dual.beliefs(np.zeros(len(dual.released)))
    probes = np.array([dual.probe() for _ in range(4000)])
    for along in rng.normal(size=(5, len(dual.released))):
        expected = along @ (dual.curve(along) - dual.variance * along)
        assert np.mean((probes @ along) ** 2) == pytest.approx(expected, rel=0.12)


@pytest.mark.parametrize("scale", [0.3, 100.0])
@pytest.mark.parametrize(("sizes", "unknown", "k"), WORLDS)
@pytest.mark.one_in(2)
def test_the_least_is_found_from_anywhere(worlds, sizes, unknown, k, scale):
    targets, release, rng = problem(worlds, sizes, unknown, k, scale)
    dual, _ = dual_of(targets, release, scale)
    nothing = np.zeros(len(dual.released))
    beliefs = dual.beliefs(nothing)
    diagonal = dual.variance + beliefs.variance
    found = dual.solve(nothing, diagonal, 300, 0.0)
    pull = np.sqrt(diagonal)
    assert np.abs(dual.evaluate(found)[1] * targets.people / pull).max() < 1e-4
    # theta is what is left of the release, in variances
    left = (dual.released - dual.beliefs(found).counts) / dual.variance
    np.testing.assert_allclose(found * pull, left * pull, atol=1e-3)
    other = dual.solve(rng.normal(size=nothing.size) / pull, diagonal, 300, 0.0)
    assert dual.evaluate(other)[0] == pytest.approx(dual.evaluate(found)[0], abs=1e-7)


@pytest.mark.repeats(300, 2000)
def test_a_pass_that_wins_little_is_the_last(worlds, repeats):
    targets, release, _ = problem(worlds, (2, 3, 2, 4), (0,), 3, 0.5)
    dual, _ = dual_of(targets, release, 0.5)
    nothing = np.zeros(len(dual.released))
    diagonal = dual.variance + dual.beliefs(nothing).variance
    values = [
        dual.evaluate(dual.solve(nothing, diagonal, passes, tolerance))[0]
        for passes, tolerance in ((repeats, 0.0), (repeats, 1e-3), (1, 0.0))
    ]
    assert values[0] < values[1] < values[2] < dual.evaluate(nothing)[0]
    assert values[1] - values[0] < 0.02


WORLDS_OWN = [
    pytest.param(12, (2, 3, 2, 4), (0,), 3, id="two values"),
    pytest.param(12, (2, 3, 2, 4), (3,), 2, id="four values"),
    pytest.param(8, (2, 3, 2, 2), (1, 3), 2, id="two unknown"),
    pytest.param(1, (2, 3, 2), (1,), 2, id="one person"),
]


def believed(worlds, people, sizes, unknown, k, alike, scale=1.5, seed=5):
    """Return a problem, its beliefs, and the cells of each value of each type."""
    rng = np.random.default_rng(seed)
    targets, _ = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k)
    if alike:
        prior = np.broadcast_to(targets.prior[0], targets.prior.shape).copy()
        targets = Targets(targets.queries, targets.codes, prior, targets.success)
    dual, share = dual_of(targets, np.zeros(targets.queries.cells), scale)
    cells = worlds.incidence(targets)[share.incidence.types.first][..., dual.shards.cells]
    return dual, dual.beliefs(0.3 * rng.normal(size=cells.shape[2])), share, cells


def covariances(beliefs, cells):
    """Return the covariance of what one person of each type adds to the cells."""
    mean = np.einsum("tv,tvc->tc", beliefs, cells)
    off = cells - mean[:, None]
    return np.einsum("tv,tvc,tvd->tcd", beliefs, off, off), off


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), WORLDS_OWN)
def test_the_whole_matrix_against_leaving_out_one_person(worlds, people, sizes, unknown, k, alike):
    dual, beliefs, share, cells = believed(worlds, people, sizes, unknown, k, alike)
    each, off = covariances(share.types, cells)
    weights = share.incidence.types.people
    if alike and people > 1:
        assert len(weights) < people
    add_own_terms(dual, beliefs)
    found = share.terms
    every = np.diag(dual.variance) + np.einsum("t,tcd->cd", weights, each)
    for kind in range(len(weights)):
        inverse = np.linalg.inv(every - each[kind])
        expected = -0.5 * np.einsum("vc,cd,vd->v", off[kind], inverse, off[kind])
        np.testing.assert_allclose(found[kind], expected, rtol=1e-6)


@pytest.mark.parametrize(("people", "sizes", "unknown", "k"), WORLDS_OWN[:3])
@pytest.mark.one_in(3)
def test_the_diagonal_has_the_right_size_altogether(worlds, monkeypatch, people, sizes, unknown, k):
    """The mean over people is that of the whole matrix with the person in it; 400 probes."""
    monkeypatch.setattr(room, "WHOLE", 0)
    monkeypatch.setattr(room, "PROBED", 400 * people)
    monkeypatch.setattr(room, "MOST_PROBES", 400)
    monkeypatch.setattr(room, "CLOSE", 1e-6)
    dual, beliefs, share, cells = believed(worlds, people, sizes, unknown, k, alike=True)
    each, off = covariances(share.types, cells)
    weights = share.incidence.types.people
    inverse = np.linalg.inv(np.diag(dual.variance) + np.einsum("t,tcd->cd", weights, each))
    expected = -0.5 * np.einsum("tvc,cd,tvd->tv", off, inverse, off)
    add_own_terms(dual, beliefs)
    found = share.terms

    def size(terms):
        return np.einsum("t,tv,tv->", weights, share.types, terms)

    assert size(found) == pytest.approx(size(expected), rel=0.1)
    # What the diagonal alone says is far larger: the tables repeat each other.
    plain = -0.5 * (beliefs.variance / (dual.variance + beliefs.variance)).sum()
    assert size(expected) / plain < 0.8


def test_certain_people_have_no_own_part(worlds, monkeypatch):
    """Rounding leaves nothing to divide by."""
    monkeypatch.setattr(room, "WHOLE", 0)
    dual, beliefs, share, _ = believed(worlds, 12, (2, 3, 2, 4), (0,), 3, alike=False)
    share.log_prior[:] = np.where(np.arange(2) == 0, 0.0, -np.inf)
    beliefs = dual.beliefs(np.zeros(len(dual.variance)))
    add_own_terms(dual, beliefs)
    found = share.terms
    np.testing.assert_array_equal(found[:, 0], 0)
    assert np.isfinite(found).all()


def test_the_first_factors_have_the_variance_of_the_noise():
    cells = np.array([3.0, -1.0])
    for noise, variance in ((GaussianNoise(3.0), 9.0), (LaplaceNoise(3.0), 18.0)):
        sites = first_sites(noise, cells)
        np.testing.assert_array_equal(sites.released, cells)
        np.testing.assert_array_equal(sites.variance, [variance, variance])


@pytest.mark.parametrize("spread", [0.3, 3.0, 40.0])
@pytest.mark.parametrize("off", [-9.0, -1.0, 0.0, 0.4, 6.0])
def test_the_count_has_the_mean_and_variance_that_laplace_noise_gives_it(spread, off):
    scale, released = 2.0, 7.0
    noise = LaplaceNoise(scale)
    before = Sites(np.array([7.5]), np.array([5.0]))
    mean = released - off  # of the count, where this cell says nothing
    theta = (before.released - mean) / (before.variance + spread)
    found = better_sites(noise, np.array([released]), before, theta, np.array([spread]))

    def density(count):
        return np.exp(-abs(released - count) / scale - (count - mean) ** 2 / (2 * spread))

    far = 12 * np.sqrt(spread) + 12 * spread / scale
    total, first, second = (
        integrate.quad(
            lambda c, power=power: c**power * density(c),
            mean - far, mean + far, points=[released], limit=400,
        )[0]
        for power in range(3)
    )  # fmt: skip
    precision = 1 / found.variance[0] + 1 / spread
    expected = (found.released[0] / found.variance[0] + mean / spread) / precision
    assert expected == pytest.approx(first / total, abs=1e-5)
    assert 1 / precision == pytest.approx(second / total - (first / total) ** 2, rel=1e-4)


def test_certain_counts_and_distant_ones_stay_finite():
    cells = np.array([0.0, 1e6, -1e6, 5.0])
    noise = LaplaceNoise(0.5)
    sites = better_sites(noise, cells, first_sites(noise, cells), np.zeros(4), np.zeros(4))
    assert np.isfinite(sites.released).all()
    assert (sites.variance > 0).all()
    theta = np.array([0.0, 2.0, -2.0, 0.0])
    sites = better_sites(noise, cells, first_sites(noise, np.zeros(4)), theta, np.ones(4))
    assert np.isfinite(sites.released).all()
    assert (sites.variance > 0).all()
