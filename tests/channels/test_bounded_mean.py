"""The limit of a mean: it covers values of any law, and reaches near the binomial one."""

import numpy as np
import pytest
from scipy import special, stats

from narcissus.channels.bounded_mean import mean_high


@pytest.mark.parametrize("size", [5, 40])
@pytest.mark.parametrize("alpha", [0.025, 0.2])
def test_it_covers_zeros_and_ones_exactly(size, alpha):
    limits = np.array([mean_high(k, size, alpha) for k in range(size + 1)])
    assert (np.diff(limits) >= 0).all()
    for p in np.linspace(0, 1, 101):
        missed = stats.binom.pmf(np.arange(size + 1), size, p)[limits < p - 1e-12].sum()
        assert missed <= alpha + 1e-12


@pytest.mark.parametrize("law", ["thirds", "unequal", "adaptive"])
def test_it_covers_other_values(law):
    """Thousands of runs at once; false alarm 1e-6."""
    rng, size, runs, alpha = np.random.default_rng(3), 12, 20_000, 0.2
    if law == "thirds":
        totals, mean = rng.choice([0, 1 / 3, 1], (runs, size)).sum(axis=1), 4 / 9
    elif law == "unequal":
        chances = np.linspace(0, 0.6, size)
        totals, mean = (rng.random((runs, size)) < chances).sum(axis=1), 0.3
    else:  # larger than .3 once it was lucky
        totals, mean = np.zeros(runs), 0.3
        for _ in range(size):
            totals += rng.random(runs) < np.where(totals > 2, 0.3, 0.35)
    found = {total: mean_high(total, size, alpha) for total in np.unique(totals)}
    misses = sum(found[total] < mean for total in totals)
    assert misses <= stats.binom.isf(1e-6, runs, alpha)


def test_it_is_near_the_binomial_limit_and_keeps_its_range():
    for hits, size in ((10, 100), (500, 2000), (3, 2000)):
        binomial = special.betainccinv(hits + 1, size - hits, 0.025)
        found = mean_high(hits, size, 0.025)
        assert binomial <= found <= hits / size + 1.25 * (binomial - hits / size)
    assert mean_high(30, 100, 0.025, most=0.3) == 0.3
    assert mean_high(100, 100, 0.025) == 1.0
