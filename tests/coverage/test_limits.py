"""Every kind of limit covers, also where its predecessor did not.

Each case draws trials whose truth is known. A low confidence (each side may miss in .1 of the
repeats) makes limits that do not hold show soon. A test fails if the misses of a side exceed the
binomial quantile at 1 - 1e-6: that is its false-alarm rate, per side.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from narcissus.evidence import (
    Envelope,
    PeopleSums,
    advantage_limits,
    difference_limits,
    enclosed_limits,
    mean_limits,
    median_limits,
    population_mean_upper,
    population_tail,
    studentised_limits,
)

pytestmark = pytest.mark.coverage_claim

SIDE = 0.1
BOTH = 1 - 2 * SIDE
FALSE_ALARM = 1e-6
REPEATS = pytest.mark.repeats(60, 5000)


def allowed(repeats, side=SIDE):
    return stats.binom.isf(FALSE_ALARM, repeats, side)


def shares(rng, n):
    return mean_limits(rng.binomial(100, 0.87, n) / 100, confidence=BOTH, people=100), 0.87


def one_each(rng, n):
    return mean_limits(rng.binomial(1, 0.3, n).astype(float), confidence=BOTH), 0.3


def rare(rng, n):
    """Nearly always all right, now and then all wrong: what limits at few trials must allow for."""
    values = np.where(rng.random(n) < 1 / n, 0.0, 0.9)
    return mean_limits(values, confidence=BOTH, people=100), 0.9 * (1 - 1 / n)


def two_humped(rng, n):
    return mean_limits(rng.beta(0.2, 0.1, n), confidence=BOTH), 2 / 3


def differences(rng, n):
    fair = rng.choice([0.2, 0.6], n)
    return difference_limits(
        rng.binomial(20, fair + 0.1) / 20, fair, confidence=BOTH, people=20
    ), 0.1


def advantage(rng, n):
    fair = rng.choice([0.2, 0.6], n)
    won = rng.binomial(20, fair + 0.1) / 20
    return advantage_limits(won, fair, confidence=BOTH, people=20), 0.1 / 0.6


def loss(rng, n):
    fair = rng.choice([0.2, 0.6], n)
    won = rng.binomial(20, fair - 0.1) / 20
    return advantage_limits(won, fair, confidence=BOTH, people=20), -0.1 / 0.6


def tied_median(rng, n):
    return median_limits(rng.choice([1, 2, 2, 3, 9], n), confidence=BOTH), 2


def median(rng, n):
    return median_limits(rng.normal(size=n), confidence=BOTH), 0.0


def enclosed(rng, n):
    """Skewed people on both sides, and an attack whose luck is the same for all of a trial."""
    return between(rng, n, rng.beta(0.5, 0.5, n))


def rarely_bad(rng, n):
    """Nearly always the best guesses, now and then the worst."""
    return between(rng, n, (rng.random(n) >= 1 / n).astype(float), 1 - 1 / n)


def rarely_good(rng, n):
    """Nearly always the worst guesses: the rest is nothing but rare hits."""
    return between(rng, n, (rng.random(n) < 1 / n).astype(float), 1 / n)


def between(rng, n, place, mean=0.5):
    """Values a part ``place`` of the way between what the same people have at least and at most."""
    low, room = rng.beta(0.2, 0.8, (n, 30)) / 2, rng.beta(0.3, 0.9, (n, 30)) / 2
    sides = (low, low + room)
    below, above = (
        Envelope(x.mean(axis=1), PeopleSums(x.sum(axis=1), (x**2).sum(axis=1), 30)) for x in sides
    )
    values = below.trials + place * (above.trials - below.trials)
    found = enclosed_limits(values, below, above, confidence=BOTH, people=30)
    return found, 0.1 + 0.125 * mean


CASES = [
    enclosed,
    rarely_bad,
    rarely_good,
    shares,
    one_each,
    rare,
    two_humped,
    differences,
    advantage,
    loss,
    median,
    tied_median,
]


@REPEATS
@pytest.mark.parametrize("n", [12, 90])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.one_in(3)
def test_both_sides_cover(case, n, repeats):
    rng = np.random.default_rng(20261122)
    low = high = 0
    for _ in range(repeats):
        limits, truth = case(rng, n)
        assert limits.low <= limits.value <= limits.high
        low += limits.low > truth + 1e-12
        high += limits.high < truth - 1e-12
    assert low <= allowed(repeats)
    assert high <= allowed(repeats)


@pytest.mark.repeats(120, 2000)
def test_the_advantage_where_division_by_an_estimate_missed(repeats):
    """Baselines in {0, .9}, share = baseline + .08, 5,000 trials, at 95%.

    Limits of the gain over one minus the *estimated* baseline miss in some .15 of runs a side, of
    .025; the second half of the test shows that it would catch them.
    """
    rng = np.random.default_rng(10)
    truth = 0.08 / 0.55
    new, old = np.zeros(2), np.zeros(2)
    for _ in range(repeats):
        fair = rng.choice([0.0, 0.9], 5000)
        found = advantage_limits(fair + 0.08, fair)
        gain = difference_limits(fair + 0.08, fair)
        low, high = gain.low / (1 - fair.mean()), gain.high / (1 - fair.mean())
        new += [found.low > truth, found.high < truth]
        old += [low > truth, high < truth]
    assert new.max() <= allowed(repeats, 0.025)
    assert old.min() > allowed(repeats, 0.025)


def upper(people):
    sums, squares = people.sum(axis=1), (people**2).sum(axis=1)
    return population_mean_upper(sums, squares, people.shape[1], confidence=1 - SIDE)


@REPEATS
@pytest.mark.parametrize("trials", [3, 25])
@pytest.mark.parametrize("replace", [True, False], ids=["from a prior", "rows"])
def test_the_population_is_covered(trials, replace, repeats):
    """A population of 40 with 30 drawn each trial: without replacement, far from independent."""
    population = np.r_[np.full(4, 1.0), np.linspace(0.2, 0.5, 36)]
    rng = np.random.default_rng(7)
    misses = 0
    for _ in range(repeats):
        seen = np.array([rng.choice(population, 30, replace=replace) for _ in range(trials)])
        misses += upper(seen).high < population.mean()
    assert misses <= allowed(repeats)


@REPEATS
def test_the_count_of_a_population_is_rarely_below_the_truth(repeats):
    """The average of the sampled people's own tails is below it in about half of the runs."""
    rng = np.random.default_rng(17)
    truth = stats.binom.sf(np.arange(-1, 50), 50, 2 / 7)  # at least 0 .. 50
    at = int((truth > 0.05).argmin())  # the least count whose tail is at most .05
    below = average = 0
    for _ in range(repeats):
        people = rng.beta(2, 5, (15, 50))
        mean = upper(people).high
        tails = population_tail(mean, 50)
        below += (tails[:-1] < truth - 1e-12).any()
        average += population_tail(people.mean(), 50)[at] < truth[at]
    assert below <= allowed(repeats)
    assert average > allowed(repeats)


@REPEATS
@pytest.mark.parametrize("n", [8, 40])
def test_studentised_limits_are_near_their_level(n, repeats):
    """Means over 100 people are nearly normal: misses at .2 in all, within the binomial spread."""
    rng = np.random.default_rng(5)
    misses = np.zeros(2)
    for _ in range(repeats):
        chance = rng.beta(4, 2, (n, 100))
        guess = rng.random((n, 100)) < chance
        hits = np.where(guess, rng.random((n, 100)) < 0.9, rng.random((n, 100)) < 0.4).mean(axis=1)
        luck = (guess - chance).mean(axis=1)
        truth = 0.9 * 2 / 3 + 0.4 / 3
        found = [
            (studentised_limits(hits, confidence=BOTH), truth),
            (studentised_limits(hits, luck, confidence=BOTH), truth),
        ]
        misses += [not limits.low <= value <= limits.high for limits, value in found]
    spread = stats.binom.ppf([FALSE_ALARM, 1 - FALSE_ALARM], repeats, 2 * SIDE)
    slack = 0.01 * repeats  # the level is approximate
    assert (misses >= spread[0] - slack).all()
    assert (misses <= spread[1] + slack).all()


def test_the_normal_limits_would_be_caught():
    """The tests above have power: normal limits miss rare failures far too often."""
    rng = np.random.default_rng(2)
    misses = 0
    for _ in range(150):
        values = np.where(rng.random(12) < 1 / 12, 0.0, 0.9)
        reach = stats.norm.isf(SIDE) * values.std(ddof=1) / math.sqrt(12)
        misses += values.mean() - reach > 0.9 * 11 / 12
    assert misses > allowed(150)
