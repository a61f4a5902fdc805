"""The upper limit of Shannon capacity rests on one inequality about densities, and it covers."""

import numpy as np
import pytest
from scipy import optimize, special, stats

from narcissus import channels as ch
from narcissus.channels.sampled_leakage import (
    HEAVIEST,
    capacity_high,
    excess,
    information_high,
    moments,
    most_capacity,
    promising_prior,
    room,
    seeming_information,
)

ALPHA = 0.2
CHANNELS = {
    "binary": np.array([[0.7, 0.3], [0.3, 0.7]]),
    "names its secret": np.array([[0.3, 0.7, 0.0], [0.0, 0.7, 0.3], [0.0, 1.0, 0.0]]),
    "Z": np.array([[1.0, 0.0], [0.4, 0.6]]),
    "usual": np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]),
    "ten": np.random.default_rng(3).dirichlet(np.ones(3), 10),
}


def best(rows):
    found = ch.shannon_capacity(rows, tolerance=1e-8)
    return found.high * np.log(2), found.prior


@pytest.mark.states("Narcissus theory", "6.15")
def test_no_density_has_larger_moments():
    """Of densities with a given mean, below the largest ratio: random ones, and the worst by SLSQP.

    ``E e^(-u l)`` is ``E_q w^(1-u)`` for the ratio w, with ``E_q w = 1``, ``E_q w ln w = c``.
    """
    rng, reached = np.random.default_rng(0), 0.0
    for weight in (0.05, 0.3, 0.6):
        for _ in range(25):
            q = rng.dirichlet(np.ones(4))
            w = rng.dirichlet(np.ones(4) * 0.7) / q
            w = 1 + (w - 1) * min(1.0, 0.999 * (1 / weight - 1) / (w.max() - 1))
            told = float(q @ special.xlogy(w, w))
            if not 1e-3 < told < -np.log(weight):
                continue
            u = rng.uniform(0.05, 0.95)
            most = excess(np.array([u]), np.array([weight]), told)[0]
            assert np.log(q @ w ** (1 - u)) + u * told <= most + 1e-12
            c, mean = np.array([1 / weight, 0.9]), np.array([0.1 * weight, 1.0])
            found = optimize.minimize(
                lambda x, u=u: -x[2] * x[0] ** (1 - u) - (1 - x[2]) * x[1] ** (1 - u),
                [*c, mean[0]], bounds=[(1, 1 / weight), (1e-9, 1), (1e-9, 1)],
                constraints=[
                    {"type": "eq", "fun": lambda x: x[2] * x[0] + (1 - x[2]) * x[1] - 1},
                    {"type": "eq", "fun": lambda x, t=told: x[2] * special.xlogy(x[0], x[0])
                     + (1 - x[2]) * special.xlogy(x[1], x[1]) - t},
                ],
            )  # fmt: skip
            if found.success:
                value = np.log(-found.fun) + u * told
                assert value <= most + 1e-6
                reached = max(reached, value / most)
    assert reached > 0.99


@pytest.mark.states("Narcissus theory", "6.15")
def test_the_best_prior_is_never_heavier_and_a_channel_has_no_more_room():
    """Room is at least Chernoff's for the channel itself, whose law and best prior are known."""
    rng, nearest = np.random.default_rng(1), 0.0
    made = [*CHANNELS.values(), np.array([[1.0, 0.0], [0.98, 0.02]])]
    made += [rng.dirichlet(np.full(4, 0.4), n) for n in (2, 3, 5, 5)]
    for rows in made:
        capacity, prior = best(rows)
        assert prior.max() <= HEAVIEST + 1e-3
        if capacity < 1e-3:
            continue
        law, size, powers = prior @ rows, 200, np.geomspace(0.01, 1.2, 60)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(rows > 0, rows / law, 1.0)
        sums = [np.log((rows * ratio ** (-r * prior[:, None])).sum(axis=1)).sum() for r in powers]
        own = ((sums + powers * capacity - np.log(ALPHA) / size) / powers).min()
        most = room(capacity, size, len(rows), ALPHA)
        assert own <= most + 1e-6
        nearest = max(nearest, own / most)
    assert nearest > 0.85  # and not by much: little is given away


def misses(rows, each, repeats, share=1.0):
    """Count limits below the capacity, by what the limit must seem to be so low."""
    capacity, _ = best(rows)
    rng, low = np.random.default_rng(each[0]), 0
    least = capacity - share * room(capacity, min(each), len(rows), ALPHA)
    for _ in range(repeats):
        shown = np.array([rng.multinomial(m, row) / m for m, row in zip(each, rows, strict=True)])
        low += ch.shannon_capacity(shown, tolerance=1e-4).high * np.log(2) < least
    return low


REPEATS = pytest.mark.repeats(60, 5000)


@REPEATS
@pytest.mark.coverage_claim
@pytest.mark.states("Narcissus theory", "6.15")
@pytest.mark.parametrize("name", CHANNELS)
def test_it_covers(name, repeats):
    """Misses at most a fifth; false alarm 1e-6."""
    rows = CHANNELS[name]
    each = [40 + 30 * (i % 3) for i in range(len(rows))]
    assert misses(rows, each, repeats) <= stats.binom.isf(1e-6, repeats, ALPHA)


def test_the_seeming_capacity_would_be_caught():
    """The test above has power: without any room the misses are too many."""
    few = misses(CHANNELS["names its secret"], [2000] * 3, 300, share=0.0)
    assert few > stats.binom.isf(1e-6, 300, ALPHA)


def test_the_limit_is_where_samples_cease_to_seem_so_little():
    for capacity, size in [(0.05, 100), (0.3, 2000), (1.0, 50)]:
        seen = capacity - room(capacity, size, 6, ALPHA)
        assert most_capacity(seen, size, 6, ALPHA) == pytest.approx(capacity, abs=1e-6)
    assert most_capacity(2.0, 50, 6, ALPHA) == pytest.approx(np.log(6))


@pytest.mark.parametrize("secrets", [2, 5])
def test_samples_that_seem_to_tell_nothing_leave_what_they_may_have_missed(secrets):
    """Each secret is named with a chance of 1 in 100; mostly no sample of 40 shows it."""
    rare = 0.01
    never = (1 - rare) ** (40 * secrets)  # then all samples are alike
    assert never > 0.1
    shown = ch.samples(np.repeat(np.arange(secrets), 40), np.zeros(40 * secrets))
    assert capacity_high(shown, 0.1) > rare * np.log(secrets)
    assert capacity_high(shown, 0.1) == pytest.approx(most_capacity(1e-9, 40, secrets, 0.1), 1e-4)


def test_it_is_narrow_and_outputs_of_one_secret_count_once():
    rng = np.random.default_rng(2)
    secret = np.repeat(np.arange(5), 4000)
    shown = np.where(rng.random(20_000) < 0.5, secret, rng.integers(5, size=20_000))
    rows = 0.5 * np.eye(5) + 0.1
    truth = best(rows)[0]
    high = capacity_high(ch.samples(secret, shown), 0.025)
    assert truth < high < 1.08 * truth
    marked = shown * 2 + (shown == secret) * (np.arange(20_000) % 2)
    apart = np.where(marked % 2, 10 + np.arange(20_000), shown)
    with_names = capacity_high(ch.samples(secret, apart), 0.025)
    joined = capacity_high(ch.samples(secret, np.where(marked % 2, 10 + secret, shown)), 0.025)
    assert with_names == pytest.approx(joined, abs=1e-4)


def test_a_secret_with_few_samples_counts_as_told_for_certain():
    secret = np.r_[np.repeat(np.arange(20), 500), 20]
    shown = np.r_[np.random.default_rng(4).integers(3, size=10_000), 0]
    high = capacity_high(ch.samples(secret, shown, fewest=1), 0.025)
    assert np.log(2) < high < np.log(2.1)
    assert capacity_high(ch.samples([0] * 9 + [1], [0] * 10, fewest=1), 0.025) <= np.log(2)


def test_the_prior_that_is_chosen_is_near_the_best_where_that_is_worth_it():
    """Nine secrets alike and one apart: half of the weight is on that; else the uniform prior."""
    rng = np.random.default_rng(5)
    secret = rng.permutation(np.repeat(np.arange(10), 400))
    apart = (rng.random(4000) < np.where(secret == 9, 0.9, 0.1)).astype(int)
    prior = promising_prior(ch.samples(secret, apart), np.arange(500))
    assert prior.sum() == pytest.approx(1)
    assert prior[9] == pytest.approx(0.5, abs=0.1)
    assert (prior == 0).any()  # of those alike one is enough
    for shown in (secret, rng.integers(3, size=4000)):
        even = promising_prior(ch.samples(secret, shown), np.arange(500))
        assert even == pytest.approx(np.full(10, 0.1))
    assert promising_prior(ch.samples(secret, apart), np.arange(1)) == pytest.approx(even)


@pytest.mark.states("Narcissus theory", "6.15")
@pytest.mark.parametrize("secrets", [2, 3, 8])
def test_no_posterior_has_larger_moments(secrets):
    """Of random priors and posteriors, hill-climbed from the worst."""
    rng = np.random.default_rng(secrets)
    for _ in range(6):
        prior = rng.dirichlet(np.ones(secrets))
        power, slope, most = moments(float(prior.min()))
        places = rng.integers(slope.shape[1], size=40)

        def excess(p, places=places, power=power, slope=slope, most=most, prior=prior):
            told = special.rel_entr(p, prior).sum()
            moment = (p ** (1 - power) * prior**power).sum(axis=1, keepdims=True)
            return np.nanmax(moment + slope[:, places] * told - most[:, places])

        tried = [prior, *np.eye(secrets), *rng.dirichlet(np.full(secrets, 0.5), 100)]
        best = max(tried, key=excess)
        for step in np.geomspace(0.3, 1e-4, 60):
            near = best * np.exp(step * rng.normal(size=secrets))
            best = max(best, near / near.sum(), key=excess)
        assert excess(best) <= 1e-12


def test_another_secret_than_the_rarest_would_be_caught():
    """The test above has power: moments of a secret that is not the rarest are exceeded."""
    prior = np.array([0.1, 0.9])
    power, slope, most = moments(0.9)
    p = np.array([0.6, 0.4])
    told = special.rel_entr(p, prior).sum()
    moment = (p ** (1 - power) * prior**power).sum(axis=1, keepdims=True)
    assert np.nanmax(moment + slope * told - most) > 0.01


@pytest.mark.states("Narcissus theory", "6.15")
@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.2, 0.8]])
def test_it_covers_however_the_samples_are_read(prior):
    """The samples seem to tell more than they do; misses at most a fifth, false alarm 1e-6."""
    rows = np.array([[0.6, 0.3, 0.1], [0.3, 0.3, 0.4]])
    truth = ch.shannon_leakage(rows, prior) * np.log(2)
    rng, misses, runs, size = np.random.default_rng(2), 0, 300, 60
    for _ in range(runs):
        secret = rng.choice(2, size, p=prior)
        shown = (rng.random(size)[:, None] > rows.cumsum(axis=1)[secret]).sum(axis=1)
        data = ch.samples(secret, shown, fewest=1)
        total = seeming_information(data, np.array(prior))
        density = np.log(rows / (np.array(prior) @ rows))[secret, shown].sum()
        assert total >= density - 1e-9
        misses += information_high(density, size, min(prior), 0.2) < truth
    assert misses <= stats.binom.isf(1e-6, runs, 0.2)


def test_it_is_near_where_nothing_leaks_and_never_above_the_most_there_can_be():
    assert information_high(0.0, 2000, 0.5, 0.025) < 0.01
    assert information_high(0.1 * 20_000, 20_000, 0.25, 0.025) < 0.11
    assert information_high(5.0, 10, 0.5, 0.025) == pytest.approx(np.log(2))
