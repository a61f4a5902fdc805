"""From the people that were sampled to the population that they stand for."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import between, integer, non_negative, probabilities, probability
from narcissus.bounds.poisson_binomial import PoissonBinomial
from narcissus.errors import InputError
from narcissus.evidence.betting import MOST_AT_STAKE, Gamblers
from narcissus.results import Estimate


def population_mean_upper(
    values: ArrayLike, *, confidence: float = 0.95, quantity: str = ""
) -> Estimate:
    """Limit from above the mean over a population of a number in [0, 1] that each person has.

    One gambler bets that the mean is smaller, with one stake for all people of a trial, chosen
    from the trials before it (Waudby-Smith and Ramdas 2023). So it holds for people drawn
    independently, and for people drawn without replacement within a trial: the expected product
    of the factors ``1 + stake (mean - value)`` is then smaller still, by Maclaurin's inequality
    for the elementary symmetric means. Trials are independent. The numbers of trials and people
    and the confidence must be fixed beforehand.

    Parameters
    ----------
    values
        The numbers of the people, shape (trials, people), trials in the order of play; or
        (people,) for independent people.
    confidence
        Level in (0, 1) of the upper limit, the only one.
    quantity
        What is averaged, in words.

    Returns
    -------
    Estimate
        Without a lower limit; ``trials`` counts people.

    Examples
    --------
    >>> round(population_mean_upper([[0.4, 0.6] * 50] * 20).high, 4)
    0.5056
    """
    array = probabilities("values", values)
    if array.ndim not in (1, 2) or array.size == 0:
        raise InputError(
            f"`values` must have shape (trials, people) or (people,), got {array.shape}"
        )
    array = array.reshape(len(array), -1)
    level = between("confidence", confidence, 0, 1, open_low=True, open_high=True)
    hurdle = -math.log(1 - level)
    seen = np.arange(1, len(array) + 1) * array.shape[1]
    means = (0.5 + np.cumsum(array.sum(axis=1))) / (seen + 1)
    squares = np.cumsum(((array - means[:, None]) ** 2).sum(axis=1))
    before = np.concatenate([[0.25], ((0.25 + squares) / (seen + 1))[:-1]])
    stakes = np.repeat(np.sqrt(2 * hurdle / (array.size * before)), array.shape[1])
    gambler = Gamblers(stakes[None], np.array([[MOST_AT_STAKE[0]]]), hurdle, array.shape[1])
    short = 1 - array.ravel()
    edge = gambler.refused_up_to(lambda m: short - m, lambda m: m, 0.0, 1.0)
    mean = float(array.mean())
    return Estimate(
        mean,
        None,
        max(mean, 1 - edge),
        level,
        array.size,
        quantity,
        method="betting",
        why="an upper limit was asked for",
    )


def population_tail(mean: float, people: int, *, spent: float = 0.0) -> NDArray[np.float64]:
    """Limit ``Pr[at least v]`` over people drawn from a population, from the mean alone.

    Given the people, a theorem says ``Pr[at least v] <= Pr[sum of Bernoulli(o_i) >= v] + spent``,
    person ``i`` having the number ``o_i``. People who are drawn independently make the sum
    binomial, with the population's mean of ``o``. If they are drawn without replacement, the
    generating function of the sum is an elementary symmetric mean of linear functions with
    negative roots, so it has only real roots, and the sum is again one of independent Bernoullis
    with that mean; by Hoeffding 1956, Theorem 4, its tail is at most the binomial one from one
    above the expected count. Below that the limit is 1.

    Parameters
    ----------
    mean
        The population's mean of ``o``, in [0, 1], or an upper limit such as that of
        `population_mean_upper`: then all entries hold at once, at its level.
    people
        How many are drawn.
    spent
        What the theorem adds (failures that delta allows), at most, on average over people.

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
