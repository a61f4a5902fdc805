"""Limits by group cover all groups and all differences at once.

A test fails if misses exceed the binomial quantile at 1 - 1e-6: that is its false-alarm rate.
"""

import numpy as np
import pytest
from scipy import stats

from narcissus import channels as ch

pytestmark = pytest.mark.coverage_claim

CONFIDENCE = 0.8


@pytest.mark.states("Narcissus theory", "6.14")
@pytest.mark.parametrize(
    "repeats", [25, pytest.param(3000, marks=pytest.mark.nightly)], ids=["few", "many"]
)
def test_all_groups_and_differences_at_once(repeats):
    rng, rates, sizes = np.random.default_rng(31), np.array([0.6, 0.75, 0.9]), [60, 120, 90]
    group = np.repeat(np.arange(3), sizes)
    truth = {"beta_star": 2 * (1 - rates), "bayes_risk": 1 - rates}
    misses = dict.fromkeys(truth, 0)
    wrong = dict.fromkeys(truth, 0)
    for _ in range(repeats):
        secret = rng.integers(2, size=group.size)
        output = np.where(rng.random(group.size) < rates[group], secret, 1 - secret)
        found = ch.estimate_groups(
            secret, output, group, confidence=CONFIDENCE, kind="discrete", rng=rng
        )
        for quantity, right in truth.items():
            each = found.limits(quantity).values()
            inside = [e.low <= v <= e.high for e, v in zip(each, right, strict=True)]
            for d in found.differences(quantity):
                value = right[int(d.first)] - right[int(d.second)]
                inside.append(d.low - 1e-12 <= value <= d.high + 1e-12)
            misses[quantity] += not all(inside)
            name, sure = found.worst(quantity)
            wrong[quantity] += sure and name != "2"
    allowed = stats.binom.ppf(1 - 1e-6, repeats, 1 - CONFIDENCE)
    assert max(misses.values()) <= allowed, misses
    assert max(wrong.values()) <= allowed, wrong
