"""Limits of what an attacker gains on its own baseline."""

import math

import numpy as np
import pytest
from scipy import stats

from narcissus.evidence import anytime_limits, mean_limits
from narcissus.game.outcome import gap_limits
from narcissus.success.statements import Scores


def scores(success, baseline):
    none = np.full(len(success), np.nan)
    return Scores(np.asarray(success, dtype=bool), np.asarray(baseline, dtype=float), 0, none)


@pytest.mark.parametrize("stopped", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 3.0])
def test_the_gap_is_success_less_so_many_times_the_baseline(epsilon, stopped):
    """Limits on the scale [-e^epsilon, 1], by the method that allows for stopping or not."""
    rng = np.random.default_rng(2)
    success, baseline = rng.random(300) < 0.6, rng.random(300) * 0.2
    found = gap_limits(scores(success, baseline), epsilon, confidence=0.9, stopped=stopped)
    factor = math.e**epsilon
    gain = success - factor * baseline
    assert found.value == pytest.approx(gain.mean())
    assert (found.trials, found.confidence) == (300, 0.9)
    method = anytime_limits if stopped else mean_limits
    limits = method((gain + factor) / (1 + factor), confidence=0.9)
    assert found.low == pytest.approx(limits.low * (1 + factor) - factor)
    assert found.high == pytest.approx(limits.high * (1 + factor) - factor)
    assert found.method == limits.method
    assert -factor <= found.low < found.value < found.high <= 1
    assert f"e^{epsilon:g}" in found.quantity


@pytest.mark.coverage_claim
def test_limits_cover_as_often_as_they_say():
    """Success .5 and baseline .3 at epsilon ln 2: a gap of -.1; 200 runs at 80%, alarm 1e-6."""
    rng, missed = np.random.default_rng(3), 0
    for _ in range(200):
        drawn = scores(rng.random(60) < 0.5, rng.random(60) < 0.3)
        found = gap_limits(drawn, math.log(2), confidence=0.8, stopped=False)
        missed += not found.low <= -0.1 <= found.high
    assert missed <= stats.binom.isf(1e-6, 200, 0.2)


def test_an_epsilon_too_large_for_limits_to_say_anything_has_none():
    drawn = scores([True] * 5, [0.0] * 5)
    assert gap_limits(drawn, math.log(99_000), confidence=0.9, stopped=False) is not None
    for epsilon in (math.log(101_000), 100.0, 1e4):
        assert gap_limits(drawn, epsilon, confidence=0.9, stopped=False) is None


def test_a_baseline_above_one_by_rounding_is_no_error():
    found = gap_limits(scores([False] * 9, [1 + 1e-12] * 9), 1.0, confidence=0.9, stopped=False)
    assert found.low == pytest.approx(-math.e)
