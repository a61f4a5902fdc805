"""Limits of an attacker's gain over its own baseline."""

from __future__ import annotations

import math

import numpy as np

from narcissus.evidence import anytime_limits, mean_limits
from narcissus.results import Estimate
from narcissus.success.statements import Scores

_LARGEST = 1e5


def gap_limits(
    scores: Scores, epsilon: float, *, confidence: float, stopped: bool
) -> Estimate | None:
    """Estimate ``success - e^epsilon baseline`` of an attacker, from the scores of all its trials.

    Both limits hold together at the level ``confidence``; ``stopped`` means that the number of
    trials may depend on the scores. None for an epsilon so large that limits on a scale of ``1 +
    e^epsilon`` are void.
    """
    factor = math.exp(min(epsilon, 700.0))
    if factor > _LARGEST:
        return None
    gain = scores.success - factor * scores.baseline
    scaled = np.clip((gain + factor) / (1 + factor), 0.0, 1.0)
    limits = (anytime_limits if stopped else mean_limits)(scaled, confidence=confidence)
    assert limits.low is not None
    assert limits.high is not None
    return Estimate(
        float(gain.mean()),
        limits.low * (1 + factor) - factor,
        limits.high * (1 + factor) - factor,
        confidence,
        len(gain),
        quantity=f"success less e^{epsilon:g} times the own baseline",
        method=limits.method,
    )
