"""Limits on chances to be exceeded: crossing chances against Steck's determinant, and by draws."""

import math

import numpy as np
import pytest
from scipy import special, stats

from narcissus.evidence import clopper_pearson
from narcissus.evidence.roc import crossing, exceedance_limits, local_level, ranks_of


def test_limits_of_a_rank_are_those_of_clopper_and_pearson():
    low, high = exceedance_limits(1, 0.1)
    assert low == pytest.approx([0, 0.05])
    assert high == pytest.approx([0.95, 1])
    for n in (2, 5, 40):
        low, high = exceedance_limits(n, 0.1)
        for called in range(n + 1):
            by = clopper_pearson(called, n, confidence=1 - 2 * local_level(n, 0.1))
            assert (low[called], high[called]) == pytest.approx((by.low, by.high))


@pytest.mark.parametrize("count", [1, 2, 7, 40, 1000])
def test_limits_are_monotone_and_hold_the_share(count):
    low, high = exceedance_limits(count, 0.05)
    share = np.arange(count + 1) / count
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()
    assert (low <= share).all()
    assert (share <= high).all()


@pytest.mark.parametrize("values", [None, 5])
def test_all_thresholds_at_once(values):
    rng, runs, n = np.random.default_rng(1), 2000, 60
    low, high = exceedance_limits(n, 0.1)
    failed = 0
    for _ in range(runs):
        drawn = rng.random(n)
        if values is None:  # the chance to be above a value is the value's own
            chances = np.sort(drawn)
            thresholds = np.concatenate([1 - chances, 1 - np.nextafter(chances, 0)])
            called = (1 - drawn[:, None] >= thresholds).sum(axis=0)
            truth = 1 - thresholds
        else:
            drawn = np.floor(values * drawn)
            called = (drawn[:, None] >= np.arange(values)).sum(axis=0)
            truth = 1 - np.arange(values) / values
        failed += bool(((truth < low[called] - 1e-12) | (truth > high[called] + 1e-12)).any())
    assert failed <= stats.binom.isf(1e-6, runs, 0.1)
    assert failed > 0  # the limits can fail


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 12])
@pytest.mark.parametrize("level", [0.001, 0.02, 0.1])
def test_crossing_is_that_of_steck(n, level):
    """Steck 1971: ``n! det((b_i - a_j)+ ^ (j - i + 1) / (j - i + 1)!)``, another way altogether."""
    k = np.arange(1, n + 1)
    low, high = (found(k, n - k + 1, level) for found in (special.betaincinv, special.betainccinv))
    power = k[None, :] - k[:, None] + 1
    apart = np.maximum(high[:, None] - low[None, :], 0.0)
    matrix = np.where(power < 0, 0.0, apart ** np.maximum(power, 0))
    matrix /= special.factorial(np.maximum(power, 0))
    within = math.factorial(n) * np.linalg.det(matrix)
    assert crossing(n, k, level) == pytest.approx(1 - within, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("n", [30, 1000, 20_000])
def test_local_level_spends_the_error_and_no_more(n):
    level, ranks = local_level(n, 0.05), ranks_of(n)
    assert 0.049 < crossing(n, ranks, level) <= 0.05
    assert level > 0.05 / (2 * ranks.size)  # more than Bonferroni's


def test_crossing_by_draws():
    """Some ranks only, as of many scores; the windows are long enough for transforms."""
    n, runs, rng = 400, 4000, np.random.default_rng(5)
    ranks = np.append(ranks_of(n)[:-1:5], n)
    ends = [
        found(ranks, n - ranks + 1, 0.004) for found in (special.betaincinv, special.betainccinv)
    ]
    drawn = np.sort(rng.random((runs, n)), axis=1)[:, ranks - 1]
    crossed = int(((drawn < ends[0]) | (drawn > ends[1])).any(axis=1).sum())
    chance = crossing(n, ranks, 0.004)
    assert 1e-6 < stats.binom.cdf(crossed, runs, chance) < 1 - 1e-6


@pytest.mark.parametrize(("n", "error"), [(2**20 + 1, 0.05), (100_000, 1e-6)])
def test_limits_share_the_error_where_rounding_could_matter(n, error):
    assert local_level(n, error) == pytest.approx(error / (2 * ranks_of(n).size))


def test_transforms_add_no_error_that_counts(monkeypatch):
    ranks, level = ranks_of(3000), 2e-4
    fast = crossing(3000, ranks, level)
    monkeypatch.setattr("narcissus.evidence.roc._DIRECT", 10**9)
    assert fast == pytest.approx(crossing(3000, ranks, level), abs=3000 * 1e-12)
