"""Confidence limits that hold at every sample size, under no assumption but independence."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._validation import between, integer
from narcissus.errors import InputError
from narcissus.results import Estimate

# Share of the capital that one value can lose at most. The paper takes 1/2 or 3/4; values that
# vary little (shares of many people) need bolder stakes, and any number below 1 is valid.
MOST_AT_STAKE = 0.9


def clopper_pearson(
    successes: int, trials: int, *, confidence: float = 0.95, quantity: str = ""
) -> Estimate:
    """Limit a success probability from independent trials, exactly (Clopper and Pearson 1934).

    Parameters
    ----------
    successes, trials
        How many of how many independent trials succeeded; ``0 <= successes <= trials``.
    confidence
        Level in (0, 1); each side gets half of what is left.
    quantity
        What succeeded, in words.

    Returns
    -------
    Estimate
        With ``low`` and ``high`` in [0, 1].

    Examples
    --------
    >>> round(clopper_pearson(0, 100).high, 4)
    0.0362
    """
    trials = integer("trials", trials, low=1)
    successes = integer("successes", successes, low=0, high=trials)
    level = between("confidence", confidence, 0, 1, open_low=True, open_high=True)
    tail = (1 - level) / 2
    low = float(special.betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    high = (
        float(special.betainccinv(successes + 1, trials - successes, tail))
        if successes < trials
        else 1.0
    )
    return Estimate(
        successes / trials, low, high, level, trials, quantity, method="Clopper-Pearson"
    )


def mean_limits(values: ArrayLike, *, confidence: float = 0.95, quantity: str = "") -> Estimate:
    """Limit the mean of independent values in [0, 1], whatever their distribution.

    By betting (Waudby-Smith and Ramdas 2023, Theorem 3, the hedged capital with predictable
    plug-in stakes): a mean is refused once a gambler who bets against it has multiplied the
    stake by ``1 / (1 - confidence)``. Valid at every sample size that was fixed beforehand (the
    stakes look at it; for a run that may stop early see `anytime_limits`), and near the normal
    limits when there are many.

    Parameters
    ----------
    values
        One value a trial, shape (trials,), each in [0, 1]; trials independent and alike, in the
        order in which they were played (the stakes of a trial look at the ones before it).
    confidence
        Level in (0, 1) of both limits together.
    quantity
        What is averaged, in words.

    Examples
    --------
    >>> mean_limits([0.4, 0.6] * 50).low < 0.5 < mean_limits([0.4, 0.6] * 50).high
    True
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"`values` must be a non-empty vector, got shape {array.shape}")
    if not ((array >= 0) & (array <= 1)).all():
        raise InputError("`values` must lie in [0, 1]")
    level = between("confidence", confidence, 0, 1, open_low=True, open_high=True)
    mean = float(array.mean())
    stakes = _predictable_stakes(array, 1 - level)
    # A run that drifts can refuse its own mean; the limits are widened to hold it.
    low = min(mean, _lower_edge(array, stakes, 1 - level))
    high = max(mean, 1 - _lower_edge(1 - array, stakes, 1 - level))
    return Estimate(mean, low, high, level, array.size, quantity, method="betting")


def bernstein_limits(
    total: float, squares: float, count: int, *, confidence: float = 0.95, quantity: str = ""
) -> Estimate:
    """Limit the mean of many independent values in [0, 1] from their sums alone.

    The empirical Bernstein limits (Maurer and Pontil 2009, Theorem 4), for values that are too
    many to keep.

    Parameters
    ----------
    total, squares
        Sum of the values, and of their squares.
    count
        How many there are, at least 2; independent and alike.
    confidence
        Level in (0, 1) of both limits together.
    quantity
        What is averaged, in words.

    Examples
    --------
    >>> limits = bernstein_limits(5000.0, 2600.0, 10_000)
    >>> round(limits.low, 4), round(limits.high, 4)
    (0.496, 0.504)
    """
    n = integer("count", count, low=2)
    total = between("total", total, 0, n)
    squares = between("squares", squares, 0, total * (1 + 1e-9))
    level = between("confidence", confidence, 0, 1, open_low=True, open_high=True)
    mean = total / n
    variance = max(0.0, (squares - n * mean**2) / (n - 1))
    log = math.log(4 / (1 - level))  # ln(2 / alpha) of the theorem, on either side
    reach = math.sqrt(2 * variance * log / n) + 7 * log / (3 * (n - 1))
    return Estimate(
        mean,
        max(0.0, mean - reach),
        min(1.0, mean + reach),
        level,
        n,
        quantity,
        method="empirical Bernstein",
    )


def _predictable_stakes(values: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Give the stake of each trial from the trials before it (Eq. 26 of the paper, fixed n)."""
    n = values.size
    counts = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(values)) / (counts + 1)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (counts + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    return np.sqrt(2 * math.log(2 / alpha) / (n * before))


def _lower_edge(values: NDArray[np.float64], stakes: NDArray[np.float64], alpha: float) -> float:
    """Give the largest mean that a gambler refuses who bets that the mean is larger.

    Half of ``alpha`` is this gambler's, the other half belongs to the one who bets the other way
    (on ``1 - values``). The capital falls as the mean grows, so that bisection finds the edge; it
    ends on the refused side, so that the limit errs outwards.
    """

    def refused(mean: float) -> bool:
        bet = np.minimum(stakes, MOST_AT_STAKE / mean) if mean > 0 else stakes
        capital = np.cumsum(np.log1p(bet * (values - mean)))
        return float(capital.max()) >= math.log(2 / alpha)

    low, high = 0.0, 1.0
    if not refused(low):
        return low
    for _ in range(40):
        middle = (low + high) / 2
        if refused(middle):
            low = middle
        else:
            high = middle
    return low
