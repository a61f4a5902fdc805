"""Limits of paired differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.evidence import difference_limits, mean_limits

UNIT = st.floats(0, 1)


@given(st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=40))
def test_exchanging_the_two_turns_the_limits_round(trials):
    first, second = np.array(trials).T
    ours, theirs = difference_limits(first, second), difference_limits(second, first)
    assert -1 <= ours.low <= ours.value <= ours.high <= 1
    assert ours.value == pytest.approx((first - second).mean(), abs=1e-12)
    assert ours.low == pytest.approx(-theirs.high, abs=1e-9)


def test_it_is_the_mean_of_what_is_moved_to_the_unit_interval():
    rng = np.random.default_rng(6)
    first, second = rng.random(50), rng.random(50)
    ours = difference_limits(first, second, confidence=0.9, people=7)
    moved = mean_limits((first - second + 1) / 2, confidence=0.9, people=7)
    assert ours.low == pytest.approx(2 * moved.low - 1)
    assert ours.high == pytest.approx(2 * moved.high - 1)
    assert (ours.confidence, ours.trials) == (0.9, 50)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="same trials"):
        difference_limits([0.5], [0.5, 0.5])
    with pytest.raises(InputError, match="others"):
        difference_limits([0.5], [-0.5])
