"""Bets and limits that may be looked at after every trial."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from narcissus.errors import InputError
from narcissus.evidence import Bets, anytime_limits
from narcissus.evidence.betting import LADDER


@given(
    st.lists(st.sampled_from([-1.5, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=30),
    st.integers(0, 29),
)
@settings(max_examples=100, deadline=None)
def test_capital_is_the_mean_of_products_however_it_is_fed(values, cut):
    capital = np.mean([np.prod([1 + s / 1.5 * v for v in values]) for s in LADDER])
    whole = Bets(-1.5).update(values)
    parts = Bets(-1.5)
    pieces = np.concatenate([parts.update(values[:cut]), parts.update(values[cut:])])
    counted = Bets(-1.5).add_counts(*np.unique(values, return_counts=True))
    assert math.exp(whole[-1]) == pytest.approx(capital, rel=1e-9)
    assert pieces == pytest.approx(whole, rel=1e-9, abs=1e-12)
    assert counted == pytest.approx(whole[-1], rel=1e-9, abs=1e-12)


def test_expected_capital_is_at_most_one_at_the_boundary():
    """The supermartingale itself: E[1 + stake X] = 1 for mean zero, exactly."""
    chance, values = np.array([0.25, 0.75]), np.array([1.5, -0.5])
    assert chance @ values == 0
    bets = Bets(-0.5)
    assert ((1 + bets.stakes[:, None] * values) @ chance).mean() == pytest.approx(1)


@pytest.mark.coverage_claim
@pytest.mark.parametrize("rate", [0.02, 0.3, 0.5])
def test_limits_cover_when_the_run_stops_as_soon_as_it_looks_good(rate):
    """Stop at the first look at which the truth is outside: the worst stopping rule there is.

    90% limits, 1,500 runs of 300 trials; the number of misses is at most binomial(1500, 0.1), so
    the test's false alarm rate is 1e-6.
    """
    rng = np.random.default_rng(int(rate * 1000))
    runs, length, miss = 1500, 300, 0
    hurdle = math.log(2 / 0.1)
    for _ in range(runs):
        values = (rng.random(length) < rate).astype(float)
        above = Bets(-rate).update(values - rate).max()
        below = Bets(rate - 1).update(rate - values).max()
        miss += max(above, below) >= hurdle
    assert miss <= stats.binom.isf(1e-6, runs, 0.1)


def test_limits_are_those_of_the_capital():
    values = np.r_[np.ones(30), np.zeros(70)]
    limits = anytime_limits(values, confidence=0.9)
    hurdle = math.log(2 / 0.1)
    for claim, sign in ((limits.low, 1), (limits.high, -1)):
        inside, outside = claim + sign * 1e-6, claim - sign * 1e-6
        for point, refused in ((inside, False), (outside, True)):
            bets = Bets(-point) if sign == 1 else Bets(point - 1)
            assert (bets.update(sign * (values - point))[-1] >= hurdle) == refused


def test_limits_at_the_ends_and_small_rates():
    none, every = anytime_limits(np.zeros(500)), anytime_limits(np.ones(500))
    assert none.low == 0
    assert 0 < none.high < 0.02
    assert every.high == 1
    assert 0.98 < every.low < 1
    rare = anytime_limits(np.full(2000, 1e-5))
    assert 0 < rare.low <= 1e-5 <= rare.high < 0.01


@pytest.mark.parametrize("value", [1e-200, 1e-290, 1e-299, 1e-305])
def test_values_whose_products_are_too_small_for_a_float(value):
    """The lower limit is near them, as they are all alike, or 0: never above."""
    low = anytime_limits(np.full(500, value)).low
    assert low == 0 if value < 1e-298 else 0.9 * value < low < value


@pytest.mark.parametrize("bad", [[], [[0.5]], [2.0], [math.nan]])
def test_bad_values_are_refused(bad):
    with pytest.raises(InputError, match="values"):
        anytime_limits(bad)
    with pytest.raises(InputError, match="lowest"):
        Bets(0.0)
