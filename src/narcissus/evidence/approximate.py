"""Limits whose level is only approximate: shown next to valid limits, never decisive."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._validation import fraction, same_trials
from narcissus.errors import InputError
from narcissus.results import Approximate

FloatArray = NDArray[np.float64]

_ALIKE = 1e-9  # surprises that differ by less show nothing of their slope


def studentised_limits(
    values: ArrayLike,
    surprises: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
    quantity: str = "",
) -> Approximate:
    """Compute Student's t limits on a mean over trials, with an optional control variate.

    The level is exact for normal values, and close for means over many people. A control variate
    removes the luck that the values share with a quantity of known mean: the hits of the best guess
    without the release, minus their exact chance, on the same people. The mean is then the
    intercept of the regression of the values on the surprises, with one degree of freedom less.
    Valid limits gain nothing from it: values minus their luck have a wider range, and with trials
    of 100 people the range, not the spread, determines valid limits up to some thousands of trials
    (with the control 1.3 to 2 times as wide at 20 to 400 trials).

    Parameters
    ----------
    values
        One value per trial, shape (trials,), at least two; with ``surprises`` at least three.
    surprises
        The control's outcome in each trial minus its known mean, shape (trials,).
    confidence
        Nominal level in (0, 1).
    quantity
        The averaged quantity, in words.

    Examples
    --------
    >>> round(studentised_limits([1.0, 2.0, 3.0]).low, 9)
    -0.484137712
    >>> studentised_limits([1.1, 0.9, 1.6, 1.4], [0.1, -0.1, 0.6, 0.4]).value
    1.0
    """
    array = _vector("values", values, 2)
    plain = _student(float(array.mean()), array - array.mean(), 1, confidence, quantity)
    if surprises is None:
        return plain
    luck = _vector("surprises", surprises, 3)
    same_trials(values=array, surprises=luck)
    if np.ptp(luck) < _ALIKE:
        return plain
    spread = luck - luck.mean()
    slope = float(spread @ array) / float(spread @ spread)
    # The intercept moves with the slope too, by as much as the mean surprise is off.
    grown = math.sqrt(1 + array.size * luck.mean() ** 2 / float(spread @ spread))
    return _student(
        float(array.mean() - slope * luck.mean()),
        (array - array.mean() - slope * spread) * grown,
        2,
        confidence,
        quantity,
        how=", control variate",
    )


def _student(
    mean: float, rest: FloatArray, fitted: int, confidence: float, quantity: str, *, how: str = ""
) -> Approximate:
    level = fraction("confidence", confidence)
    free = rest.size - fitted
    error = math.sqrt(float(rest @ rest) / free / rest.size)
    reach = float(special.stdtrit(free, (1 + level) / 2)) * error
    return Approximate(
        mean, mean - reach, mean + reach, level, rest.size, quantity, f"Student's t{how}"
    )


def _vector(name: str, values: ArrayLike, fewest: int) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size < fewest or not np.isfinite(array).all():
        raise InputError(
            f"`{name}` must be a vector of at least {fewest} numbers, got shape {array.shape}; "
            "play more trials"
        )
    return array
