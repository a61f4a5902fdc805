"""Gamblers who bet against a claim: the machinery of every limit with a fixed number of trials.

A claim says that a payoff has mean 0. A gambler starts with one unit, stakes on each trial what
the trials before it suggest, and gains the stake times the payoff. If the claim holds, the capital
is a supermartingale that is never negative, and by Ville's inequality it ever reaches
``1 / error`` with probability at most ``error``; so is the average of several capitals. A claim
whose gamblers get there is refused.

Source: Waudby-Smith and Ramdas 2023, Theorem 3 (predictable plug-in stakes); Ville 1939.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.evidence.sequential import log_mean

FloatArray = NDArray[np.float64]

# Share of the capital that one value can lose at most, for the first gambler and the bold one.
# The paper takes 1/2 or 3/4; values that vary little (shares of many people) need bolder stakes,
# and any number below 1 is valid.
MOST_AT_STAKE = (0.9, 0.99)
_STEPS = 40  # halvings of the range of claims


@dataclass(frozen=True)
class Gamblers:
    """Gamblers with equal shares of one unit.

    Attributes
    ----------
    stakes
        What each puts on a trial for a unit of payoff, shape (gamblers, trials); a trial's stakes
        depend on the trials before it alone.
    boldness
        Share of the capital that each risks on one trial at most, shape (gamblers, 1).
    hurdle
        Log of the average capital at which a claim is refused: ``-log(error)``.
    """

    stakes: FloatArray
    boldness: FloatArray
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
        capital = np.cumsum(np.log1p(bets * payoffs), axis=1)
        return float(log_mean(capital).max()) >= self.hurdle

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


def plug_in(
    values: FloatArray, weights: FloatArray, *, middle: float, people: int, hurdle: float
) -> Gamblers:
    """Give gamblers for payoffs ``values - claim * weights``, or for their opposites.

    The first expects at the start the variance that one value in [0, 1] can have at most, .25.
    Where a trial is the mean over ``people`` independent targets, a second, bold one expects
    ``.25 / people``. Whether the targets are independent decides how well it bets, not whether
    the limits hold.

    Parameters
    ----------
    values, weights
        One a trial, shape (trials,).
    middle
        The claim that is expected at the start.
    people
        How many targets a trial is the mean of.
    hurdle
        See `Gamblers`.

    Notes
    -----
    Source: Waudby-Smith and Ramdas 2023, Equation 26 (for a fixed number of trials). The second
    gambler is ours.
    """
    n = values.size
    counts = np.arange(1, n + 1)
    stakes: list[FloatArray] = []
    for share in (1.0, 1.0 / people)[: 1 + (people > 1)]:
        claims = (share * middle + np.cumsum(values)) / (share + np.cumsum(weights))
        squares = np.cumsum((values - claims * weights) ** 2)
        variances = (0.25 * share + squares) / (counts + 1)
        before = np.concatenate([[0.25 * share], variances[:-1]])
        stakes.append(np.sqrt(2 * hurdle / (n * before)))
    return Gamblers(np.array(stakes), np.array(MOST_AT_STAKE)[: len(stakes), None], hurdle)
