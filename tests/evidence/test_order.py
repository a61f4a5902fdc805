"""Limits of a median: exact coverage by enumeration, ties, few trials."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.evidence import median_limits


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("chances", [(0.5, 0.0, 0.5), (0.3, 0.3, 0.4), (0.1, 0.45, 0.45)])
def test_every_median_is_covered_exactly(chances, confidence):
    """All sequences of 7 values in {0, 1, 2}: each side misses with chance at most half."""
    cumulative = np.cumsum(chances)
    medians = [m for m in (0, 0.5, 1, 1.5, 2) if _is_median(m, cumulative)]
    low, high = dict.fromkeys(medians, 0.0), dict.fromkeys(medians, 0.0)
    for counts in itertools.product(range(8), repeat=3):
        if sum(counts) != 7:
            continue
        ways = math.factorial(7) / math.prod(map(math.factorial, counts))
        chance = ways * math.prod(c**k for c, k in zip(chances, counts, strict=True))
        found = median_limits(np.repeat([0, 1, 2], counts), confidence=confidence)
        for m in medians:
            low[m] += chance * (found.low is not None and found.low > m)
            high[m] += chance * (found.high is not None and found.high < m)
    for missed in (*low.values(), *high.values()):
        assert missed <= (1 - confidence) / 2 + 1e-12


def _is_median(m, cumulative):
    at_most = cumulative[math.floor(m)]
    below = 0.0 if m == 0 else cumulative[math.ceil(m) - 1]
    return at_most >= 0.5 - 1e-12 and 1 - below >= 0.5 - 1e-12


def test_the_ranks_are_the_tabulated_ones():
    """Ranks of the 95% limits: 6 trials 1 and 6, 10 trials 2 and 9, 100 trials 40 and 61."""
    assert (median_limits([1, 2], confidence=0.5).low) == 1  # a miss of exactly half the error
    for n, low, high in ((6, 1, 6), (8, 1, 8), (9, 2, 8), (10, 2, 9), (20, 6, 15), (100, 40, 61)):
        found = median_limits(np.random.default_rng(n).permutation(n) + 1)
        assert (found.low, found.high) == (low, high)


def test_too_few_trials_have_no_limits():
    found = median_limits([3.0, 1.0, 2.0, 5.0, 4.0])
    assert (found.value, found.low, found.high) == (3.0, None, None)
    assert "too few" in found.why


@pytest.mark.parametrize("bad", [[], [[1.0]], [1.0, math.nan]])
def test_bad_values_are_refused(bad):
    with pytest.raises(InputError, match="values"):
        median_limits(bad)
