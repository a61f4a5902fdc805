"""Limits of a mean: coverage, width, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus import mean_limits
from narcissus.errors import InputError
from narcissus.evidence import narrowest_limits


def test_mean_limits_are_near_the_normal_ones():
    values = np.random.default_rng(3).binomial(100, 0.6, 400) / 100
    limits = mean_limits(values)
    normal = 1.96 * values.std(ddof=1) / 20
    assert normal < (limits.high - limits.low) / 2 < 2.2 * normal


@pytest.mark.parametrize("bad", [[], [1.2], [[0.5]], [np.nan]])
def test_mean_limits_refuse(bad):
    with pytest.raises(InputError):
        mean_limits(bad)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_mean_limits_hold_the_mean(values):
    limits = mean_limits(values)
    assert 0 <= limits.low <= limits.high <= 1


@pytest.mark.parametrize("values", [[0.0] * 60 + [1.0] * 60, [1.0] * 60 + [0.0] * 60])
def test_a_drifting_run_keeps_its_mean(values):
    limits = mean_limits(values)
    assert limits.low <= limits.value <= limits.high


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60))
def test_limits_mirror(values):
    ours, mirrored = mean_limits(values), mean_limits([1 - v for v in values])
    assert ours.low == pytest.approx(1 - mirrored.high, abs=1e-9)
    assert ours.high == pytest.approx(1 - mirrored.low, abs=1e-9)


def test_the_bold_gambler_brings_the_upper_side_near():
    """100 trials of shares of 100 people at .87: .0142 above with one gambler."""
    reach: dict[int, list[tuple[float, float]]] = {1: [], 100: []}
    for seed in range(60):
        values = np.random.default_rng(seed).binomial(100, 0.87, 100) / 100
        for people, found in reach.items():
            limits = mean_limits(values, people=people)
            found.append((limits.value - limits.low, limits.high - limits.value))
    plain, bold = np.mean(reach[1], axis=0), np.mean(reach[100], axis=0)
    assert plain[1] == pytest.approx(0.0142, abs=3e-4)
    assert bold[1] < 0.0096
    assert bold[0] < plain[0] - 0.001


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.sampled_from([1, 10, 1000]))
def test_no_limits_are_nearer_than_valid_ones_can_be(values, people):
    """A floor that any method has at values that are all alike."""
    alike = mean_limits(np.full(len(values), values[0]), people=people)
    low, high = narrowest_limits(alike.value, len(values))
    assert alike.low <= low + 1e-9
    assert alike.high >= high - 1e-9


@pytest.mark.parametrize("bad", [0, 1.5, -3])
def test_people_are_a_whole_number(bad):
    with pytest.raises(InputError, match="people"):
        mean_limits([0.5], people=bad)


def test_a_value_is_of_one_target_unless_told():
    values = np.random.default_rng(6).random(40)
    assert mean_limits(values) == mean_limits(values, people=1)
    assert mean_limits(values) != mean_limits(values, people=2)
