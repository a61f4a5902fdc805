"""Inference from the sampled people to their population."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import fraction, integer, non_negative, probability
from narcissus.bounds.poisson_binomial import PoissonBinomial
from narcissus.errors import InputError
from narcissus.results import Estimate

FloatArray = NDArray[np.float64]

_MOST = 0.9  # largest stake; any number below 1 is valid


def population_mean_upper(
    sums: ArrayLike,
    squares: ArrayLike,
    counts: ArrayLike,
    *,
    confidence: float = 0.95,
    quantity: str = "",
) -> Estimate:
    """Compute an upper limit on a population's mean of a number in [0, 1] per person.

    Needs only the sums of each trial. Predictable empirical Bernstein limits with one stake ``s``
    and one guess ``g`` of the mean for all people of a trial, chosen from the trials before it:
    ``exp(s (m - x) - psi(s) (x - g)^2)`` with ``psi(s) = -log(1 - s) - s`` is at most ``exp(s (m -
    g)) (1 + s (g - x))`` (Fan, Grama and Liu 2015), whose mean for independently drawn people is at
    most 1. Also for people drawn without replacement within a trial: the mean of a product of ``1 +
    s (g - x)`` over them is an elementary symmetric mean, at most the power of its mean factor
    (Maclaurin's inequality). Trials are independent.

    Source: Waudby-Smith and Ramdas 2023, Theorem 2; one stake for all people of a trial, and trials
    without replacement, are ours.

    Parameters
    ----------
    sums, squares
        Sum over the people of each trial of their numbers, and of the squares, shape (trials,),
        trials in the order of play.
    counts
        Number of people: one whole number, or one per trial (members of a group), possibly 0. Given
        the counts, the people must be drawn as described above.
    confidence
        Level in (0, 1) of the upper limit, the only one; like the number of trials fixed
        beforehand.
    quantity
        The averaged quantity, in words.

    Returns
    -------
    Estimate
        Without a lower limit; ``trials`` counts people.

    Examples
    --------
    >>> round(population_mean_upper([50.0] * 20, [26.0] * 20, 100).high, 4)
    0.5072
    """
    total, square, people = _checked(sums, squares, counts)
    level = fraction("confidence", confidence)
    hurdle = -math.log(1 - level)
    everybody, whole = float(people.sum()), float(total.sum())
    seen = 1 + _before(people)
    guess = (0.5 + _before(total)) / seen
    rest = np.maximum(square - 2 * guess * total + people * guess**2, 0.0)
    variance = (0.25 + _before(rest)) / seen
    stake = np.minimum(_MOST, np.sqrt(2 * hurdle / (everybody * variance)))
    spread = (-np.log1p(-stake) - stake) * rest
    limits = (hurdle + np.cumsum(stake * total + spread)) / np.cumsum(stake * people)
    mean = whole / everybody
    return Estimate(
        mean,
        None,
        max(mean, min(1.0, float(limits.min()))),
        level,
        int(everybody),
        quantity,
        method="predictable empirical Bernstein",
        why="an upper limit was asked for",
    )


def population_tail(mean: float, people: int, *, spent: float = 0.0) -> FloatArray:
    """Bound ``Pr[at least v]`` over people drawn from a population, from the mean alone.

    Given the people, a theorem states ``Pr[at least v] <= Pr[sum of Bernoulli(o_i) >= v] + spent``,
    person ``i`` having the number ``o_i``. For people drawn independently the sum is binomial, with
    the population's mean of ``o``. If they are drawn without replacement, the generating function
    of the sum is an elementary symmetric mean of linear functions with negative roots. It has only
    real roots, and the sum is again one of independent Bernoullis with that mean; by Hoeffding
    1956, Theorem 4, its tail is at most the binomial one from one above the expected count. Below
    that the bound is 1.

    Parameters
    ----------
    mean
        The population's mean of ``o``, in [0, 1], or an upper limit on it such as
        `population_mean_upper`: then all entries hold at once, at its level.
    people
        Number of people drawn.
    spent
        Upper bound on the theorem's addition (failures that delta allows), averaged over people.

    Returns
    -------
    ndarray
        For ``v = 0 .. people + 1``, non-increasing, shape (people + 2,).

    Examples
    --------
    >>> tails = population_tail(0.5, 100)
    >>> round(float(tails[60]), 4), float(tails[50]), float(tails[101])
    (0.0284, 1.0, 0.0)
    """
    q, n = probability("mean", mean), integer("people", people, low=1)
    extra = non_negative("spent", spent)
    tails = np.minimum(PoissonBinomial(np.full(n, q)).tails() + extra, 1.0)
    tails[np.arange(n + 2) < n * q + 1] = 1.0
    tails[-1] = 0.0  # more than everybody is impossible
    return tails


def _before(values: FloatArray) -> FloatArray:
    """Return the sum over the trials before each trial."""
    return np.concatenate([[0.0], np.cumsum(values)[:-1]])


def _checked(
    sums: ArrayLike, squares: ArrayLike, counts: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Check the sums; leave out trials without people."""
    total, square = np.asarray(sums, dtype=np.float64), np.asarray(squares, dtype=np.float64)
    people = np.asarray(counts, dtype=np.float64)
    if total.ndim != 1 or square.shape != total.shape or people.shape not in ((), total.shape):
        raise InputError(
            "`sums`, `squares` and `counts` must have one number a trial, "
            f"got shapes {total.shape}, {square.shape} and {people.shape}"
        )
    people = np.broadcast_to(people, total.shape)
    if not ((people >= 0) & (people == np.floor(people))).all() or not people.any():
        raise InputError("`counts` must be whole numbers of people, some above 0")
    hair = 1e-9 * (1 + people)  # sums of numbers in [0, 1] are so but for rounding
    least = total**2 / np.maximum(people, 1)
    if not ((total >= -hair) & (total <= people + hair)).all():
        raise InputError("`sums` must be of numbers in [0, 1]: from 0 to the count")
    if not ((square >= least - hair) & (square <= total + hair)).all():
        raise InputError("`squares` must be of the same numbers as `sums`")
    some = people > 0
    return total[some], square[some], people[some]
