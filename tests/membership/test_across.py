"""Rates over models: every target a trial, at thresholds that the shadows chose."""

import numpy as np
import pytest

from narcissus.membership import coin_design, rates_across_models


def test_rates_and_limits(drawn):
    data = drawn(40, 400, leak=2.0, seed=2)
    targets = list(range(20, 40))
    found = rates_across_models(
        data, targets, coin_design(data), attack="lira-fixed", rates=(0.01, 0.1)
    )
    for one, aimed in zip(found, (0.01, 0.1), strict=True):
        assert one.grade == "sampled"
        assert one.false_positives.value == pytest.approx(aimed, rel=0.5)
        assert one.true_positives.value > 4 * one.false_positives.value
        assert one.true_positives.trials == 20
        assert one.true_positives.confidence == pytest.approx(1 - 0.05 / 4)
        assert one.true_positives.low <= one.true_positives.value <= one.true_positives.high


def test_thresholds_do_not_look_at_the_targets(drawn):
    data = drawn(20, 200, leak=2.0, seed=2)
    design = coin_design(data)
    before = rates_across_models(data, [18, 19], design)
    data.scores[18:] *= 100
    after = rates_across_models(data, [18, 19], design)
    assert [one.threshold for one in before] == [one.threshold for one in after]
    assert before != after


def test_the_threshold_has_at_most_the_rate_aimed_at_on_the_shadows(drawn):
    """By the scores themselves: every shadow's others together."""
    data = drawn(6, 100, seed=3)
    found = rates_across_models(data, [4, 5], coin_design(data), attack="score", rates=(0.02, 0.5))
    others = data.scores[:4][~data.members[:4]]
    for one in found:
        called = (others > one.threshold).sum()
        assert called == np.floor(one.aimed * others.size)


def test_a_rate_of_one_calls_everybody_in(drawn):
    data = drawn(6, 100, seed=3)
    (one,) = rates_across_models(data, [4, 5], coin_design(data), rates=(1.0,))
    assert one.threshold == -np.inf
    assert one.true_positives.value == 1


def test_a_score_at_the_threshold_is_not_called_in(drawn):
    """Where many scores are equal, calling them in would exceed the rate that was aimed at."""
    data = drawn(6, 100, seed=3)
    design = coin_design(data)
    (one,) = rates_across_models(data, [4, 5], design, attack="score", rates=(0.1,))
    data.scores[4:] = one.threshold
    (other,) = rates_across_models(data, [4, 5], design, attack="score", rates=(0.1,))
    assert other.false_positives.value == other.true_positives.value == 0
