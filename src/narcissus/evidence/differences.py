"""Confidence limits on the mean of paired differences."""

from __future__ import annotations

from dataclasses import replace

from numpy.typing import ArrayLike

from narcissus._validation import same_trials, unit_vector
from narcissus.evidence.mean import mean_limits
from narcissus.results import Estimate


def difference_limits(
    shares: ArrayLike,
    others: ArrayLike,
    *,
    confidence: float = 0.95,
    people: int = 1,
    quantity: str = "",
) -> Estimate:
    """Compute confidence limits on the mean of ``shares - others``, both in [0, 1], of the same
    trials.

    The differences are mapped to [0, 1] for `mean_limits`; the same must be fixed beforehand.

    Parameters
    ----------
    shares, others
        One value per trial, shape (trials,), each in [0, 1].
    confidence, people, quantity
        As for `mean_limits`.

    Examples
    --------
    >>> found = difference_limits([0.6] * 200, [0.4] * 200, people=100)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.2, 0.177, 0.216)
    """
    first, second = unit_vector("shares", shares), unit_vector("others", others)
    same_trials(shares=first, others=second)
    found = mean_limits(
        (first - second + 1) / 2, confidence=confidence, people=people, quantity=quantity
    )
    assert found.low is not None
    assert found.high is not None
    return replace(
        found,
        value=float((first - second).mean()),
        low=2 * found.low - 1,
        high=2 * found.high - 1,
    )
