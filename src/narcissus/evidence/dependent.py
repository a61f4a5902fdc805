"""Tests of one claim that depend on each other in any way: folds that share their shadows.

If at least ``k`` of ``n`` valid p-values are at most ``c``, this had a chance of at most
``c n / k``: in expectation at most ``c n`` of them are, and Markov's inequality does the rest
(Rueger 1978). ``k`` of about half costs a factor of two in the level and forgives half of the
tests. To multiply as if the tests were independent, or to pool their trials, may refuse what is
true far too often.
"""

from __future__ import annotations

from collections.abc import Sequence

from narcissus._validation import fraction, integer
from narcissus.errors import InputError


def half_of(tests: int) -> int:
    """Give how many of some tests must refuse: half of them, rounded up."""
    return (integer("tests", tests, low=1) + 1) // 2


def confidence_of_each(confidence: float, tests: int) -> float:
    """Give the level of each test so that half of them refuse wrongly with the error of one.

    Parameters
    ----------
    confidence
        Level in (0, 1) of what half of the tests say.
    tests
        How many there are.

    Examples
    --------
    >>> confidence_of_each(0.95, 1), round(confidence_of_each(0.95, 8), 6)
    (0.95, 0.975)
    """
    level = fraction("confidence", confidence)
    return 1 - (1 - level) * half_of(tests) / tests


def refused_by_half(limits: Sequence[float]) -> float:
    """Give the largest lower limit that half of the tests, at `confidence_of_each`, support.

    Examples
    --------
    >>> refused_by_half([0.1, 3.0, 0.5, 0.4])
    0.5
    """
    if not limits:
        raise InputError("`limits` must hold at least one")
    return sorted(limits, reverse=True)[half_of(len(limits)) - 1]


def p_value_of_half(p_values: Sequence[float]) -> float:
    """Combine p-values that depend in any way: about twice their median.

    Examples
    --------
    >>> p_value_of_half([0.01, 0.2, 0.03, 0.9])
    0.06
    """
    if not p_values:
        raise InputError("`p_values` must hold at least one")
    count, need = len(p_values), half_of(len(p_values))
    return min(1.0, count / need * sorted(p_values)[need - 1])
