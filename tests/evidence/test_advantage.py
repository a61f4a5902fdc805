"""Limits of an advantage: exact cases, ends of the range, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.evidence import advantage_limits, mean_limits

UNIT = st.floats(0, 1)


@given(st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=40), st.sampled_from([1, 50]))
@settings(max_examples=80, deadline=None)
def test_the_limits_hold_the_estimate_and_stay_in_range(trials, people):
    won, fair = np.array(trials).T
    found = advantage_limits(won, fair, people=people)
    assert -1 <= found.low <= found.value <= found.high <= 1


def test_without_a_baseline_the_advantage_is_the_mean():
    """Nearly: the stakes expect no advantage at the start, where those of a mean expect .5."""
    won = np.random.default_rng(2).binomial(10, 0.6, 500) / 10
    ours, mean = advantage_limits(won, np.zeros(500)), mean_limits(won)
    assert ours.value == pytest.approx(mean.value)
    assert ours.low == pytest.approx(mean.low, abs=3e-3)
    assert ours.high == pytest.approx(mean.high, abs=3e-3)


def test_it_is_no_wider_than_division_where_division_is_right():
    """A baseline that does not vary may be divided by; the new limits are no wider there."""
    widths = []
    for seed in range(40):
        won = np.random.default_rng(seed).binomial(100, 0.6, 100) / 100
        ours = advantage_limits(won, np.full(100, 0.5), people=100)
        gain = mean_limits((won - 0.5 + 1) / 2, people=100)
        low, high = ((2 * edge - 1) / 0.5 for edge in (gain.low, gain.high))
        widths.append([ours.value - ours.low, low, ours.high - ours.value, high, ours.value])
    below, low, above, high, value = np.mean(widths, axis=0)
    assert below <= value - low
    assert above <= high - value


@pytest.mark.parametrize(
    ("won", "fair", "value", "low", "high"),
    [
        (1.0, 0.2, 1.0, None, 1.0),
        (0.0, 0.9, -1.0, -1.0, -1.0),  # an advantage of -9 counts as -1
        (0.5, 1.0, 0.0, -1.0, 0.0),  # nothing was left to gain
        (1.0, 1.0, 0.0, -1.0, 1.0),  # and all was gained: nothing is known
        (0.3, 0.3, 0.0, None, None),
    ],
)
def test_ends(won, fair, value, low, high):
    found = advantage_limits(np.full(300, won), np.full(300, fair), people=100)
    assert found.value == pytest.approx(value, abs=1e-12)
    if low is not None:
        assert found.low == pytest.approx(low, abs=1e-9)
    else:
        assert value - 0.1 < found.low < value
    if high is not None:
        assert found.high == pytest.approx(high, abs=1e-9)
    else:
        assert value < found.high < value + 0.1


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="same trials"):
        advantage_limits([0.5], [0.5, 0.5])
    with pytest.raises(InputError, match="baselines"):
        advantage_limits([0.5], [1.5])
    with pytest.raises(InputError, match="people"):
        advantage_limits([0.5], [0.5], people=0)
