"""Combination of arbitrarily dependent tests of one claim, such as folds that share their shadows.

If at least ``k`` of ``n`` valid p-values are at most ``c``, this had a chance of at most
``c n / k``: in expectation at most ``c n`` of them are, and Markov's inequality does the rest
(Rueger 1978). ``k`` near half costs a factor of two in the level and tolerates failure of half the
tests. Multiplying as if the tests were independent, or pooling their trials, may reject true claims
far too often.
"""

from __future__ import annotations

from collections.abc import Sequence

from narcissus._validation import fraction, integer
from narcissus.errors import InputError


def half_of(tests: int) -> int:
    """Return the number of tests that must reject: half of them, rounded up."""
    return (integer("tests", tests, low=1) + 1) // 2


def confidence_of_each(confidence: float, tests: int) -> float:
    """Return the level of each test at which half of them reject wrongly with the error of one.

    >>> confidence_of_each(0.95, 1), round(confidence_of_each(0.95, 8), 6)
    (0.95, 0.975)
    """
    level = fraction("confidence", confidence)
    return 1 - (1 - level) * half_of(tests) / tests


def refused_by_half(limits: Sequence[float]) -> float:
    """Return the largest lower limit supported by half of the tests, at `confidence_of_each`.

    >>> refused_by_half([0.1, 3.0, 0.5, 0.4])
    0.5
    """
    if not limits:
        raise InputError("`limits` must hold at least one")
    return sorted(limits, reverse=True)[half_of(len(limits)) - 1]


def p_value_of_half(p_values: Sequence[float]) -> float:
    """Combine arbitrarily dependent p-values: about twice their median.

    >>> p_value_of_half([0.01, 0.2, 0.03, 0.9])
    0.06
    """
    if not p_values:
        raise InputError("`p_values` must hold at least one")
    count, need = len(p_values), half_of(len(p_values))
    return min(1.0, count / need * sorted(p_values)[need - 1])
