"""Gamblers who bet against a claim: the machinery of every limit with a fixed number of trials.

A claim says that a payoff has mean 0. A gambler starts with one unit, stakes on each trial what
the trials before it suggest, and gains the stake times the payoff. If the claim holds, the capital
is a supermartingale that is never negative, and by Ville's inequality it ever reaches
``1 / error`` with probability at most ``error``; so is the average of several capitals. A claim
whose gamblers get there is refused.

Source: Waudby-Smith and Ramdas 2023, Theorem 3 (predictable plug-in stakes); Ville 1939.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.evidence.sequential import log_mean

FloatArray = NDArray[np.float64]

_STEPS = 40  # halvings of the range of claims


@dataclass(frozen=True)
class Temper:
    """How a gambler bets.

    Attributes
    ----------
    variance
        What they expect at the start, as a part of .25, which values in [0, 1] can have at most.
    most
        Share of their capital that one trial can lose them at most, below 1. The paper takes 1/2
        or 3/4; values that vary little (shares of many people) need bolder stakes.
    capital
        Their part of the unit.
    """

    variance: float
    most: float
    capital: float = 1.0


@dataclass(frozen=True)
class Gamblers:
    """Gamblers who share one unit.

    Attributes
    ----------
    stakes
        What each puts on a trial for a unit of payoff, shape (gamblers, trials); a trial's stakes
        depend on the trials before it alone.
    boldness
        Share of the capital that each risks on one trial at most, shape (gamblers, 1).
    capital
        What each starts with, shape (gamblers, 1); together 1.
    hurdle
        Log of the capital of all at which a claim is refused: ``-log(error)``.
    """

    stakes: FloatArray
    boldness: FloatArray
    capital: FloatArray
    hurdle: float

    def refuse(self, payoffs: FloatArray, loss: float | FloatArray) -> bool:
        """Say whether a claim is refused.

        Parameters
        ----------
        payoffs
            What a unit at stake gains on each trial, shape (trials,).
        loss
            The most that it could have lost; a number, or one for each trial.
        """
        with np.errstate(divide="ignore"):
            bets = np.minimum(self.stakes, self.boldness / loss)
        grown = np.cumsum(np.log1p(bets * payoffs), axis=1)
        parts = np.log(len(self.capital) * self.capital)
        return float(log_mean(grown + parts).max()) >= self.hurdle

    def refused_up_to(
        self,
        payoffs: Callable[[float], FloatArray],
        loss: Callable[[float], float | FloatArray],
        low: float,
        high: float,
    ) -> float:
        """Give the largest refused claim in [low, high]; ``low`` if none is.

        The capital must fall as the claim grows: so it does where ``payoffs`` and
        ``payoffs / loss`` fall. The bisection ends on the refused side: limits err outwards.
        """

        def refused(claim: float) -> bool:
            return self.refuse(payoffs(claim), loss(claim))

        if not refused(low):
            return low
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if refused(middle):
                low = middle
            else:
                high = middle
        return low


def usual(people: int) -> tuple[Temper, ...]:
    """Give how gamblers bet on a mean over so many independent targets.

    The first expects at the start the variance that one value in [0, 1] can have at most, .25.
    Where a trial is the mean over several targets, a second, bold one expects ``.25 / people``.
    Whether the targets are independent decides how well it bets, not whether the limits hold.
    """
    if people == 1:
        return (Temper(1.0, 0.9),)
    return Temper(1.0, 0.9, 0.5), Temper(1 / people, 0.99, 0.5)


def plug_in(
    values: FloatArray,
    weights: FloatArray,
    *,
    middle: float,
    tempers: Sequence[Temper],
    hurdle: float,
) -> Gamblers:
    """Give gamblers for payoffs ``values - claim * weights``, or for their opposites.

    Parameters
    ----------
    values, weights
        One a trial, shape (trials,).
    middle
        The claim that is expected at the start.
    tempers
        How each of them bets.
    hurdle
        See `Gamblers`.

    Notes
    -----
    Source: Waudby-Smith and Ramdas 2023, Equation 26 (for a fixed number of trials). Gamblers
    besides the first are ours.
    """
    n = values.size
    counts = np.arange(1, n + 1)
    stakes: list[FloatArray] = []
    for share in (temper.variance for temper in tempers):
        claims = (share * middle + np.cumsum(values)) / (share + np.cumsum(weights))
        squares = np.cumsum((values - claims * weights) ** 2)
        variances = (0.25 * share + squares) / (counts + 1)
        before = np.concatenate([[0.25 * share], variances[:-1]])
        stakes.append(np.sqrt(2 * hurdle / (n * before)))
    boldness = np.array([temper.most for temper in tempers])[:, None]
    capital = np.array([temper.capital for temper in tempers])[:, None]
    return Gamblers(np.array(stakes), boldness, capital, hurdle)
