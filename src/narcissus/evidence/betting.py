"""Betting against a claim: the basis of all limits with a fixed number of trials.

A claim states that a payoff has mean 0. A gambler starts with one unit, chooses the stake of each
trial from the trials before it, and gains the stake times the payoff. Under the claim the capital
is a non-negative supermartingale, so by Ville's inequality it ever reaches ``1 / error`` with
probability at most ``error``; so does the average of several capitals. A claim against which the
gamblers reach that is rejected.

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
    """The betting style of a gambler."""

    # initially expected variance, as a share of .25, the maximum for values in [0, 1]
    variance: float
    # largest share of the capital that one trial can lose, below 1. The paper uses 1/2 or
    # 3/4; values that vary little (shares of many people) need bolder stakes.
    most: float
    capital: float = 1.0  # share of the initial unit


@dataclass(frozen=True)
class Gamblers:
    """Gamblers who share one unit of capital."""

    # stake per unit of payoff, shape (gamblers, trials); it depends on earlier trials only
    stakes: FloatArray
    boldness: FloatArray  # largest share of the capital risked on one trial, shape (gamblers, 1)
    capital: FloatArray  # initial capital, shape (gamblers, 1), with sum 1
    hurdle: float  # log of the total capital at which a claim is rejected: ``-log(error)``

    def refuse(self, payoffs: FloatArray, loss: float | FloatArray) -> bool:
        """Test a claim by the payoff per unit of each trial, (trials,), and the largest possible
        ``loss``.

        ``loss`` is a number, or one per trial.
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
        """Return the largest rejected claim in [low, high]; ``low`` if there is none.

        The capital must fall as the claim grows, as it does if ``payoffs`` and ``payoffs / loss``
        fall. The bisection ends on the rejected side: limits err outwards.
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
    """Return the gamblers for a mean over ``people`` independent targets.

    The first initially expects variance .25, the maximum for a value in [0, 1]. If a trial averages
    several targets, a second, bold one expects ``.25 / people``. Independence of the targets
    affects how well it bets, not whether the limits hold.
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
    """Create gamblers for payoffs ``values - claim * weights``, or for their negatives.

    ``values`` and ``weights`` have shape (trials,); ``middle`` is the initially expected claim.

    Source: Waudby-Smith and Ramdas 2023, Equation 26 (for a fixed number of trials). Gamblers other
    than the first are ours.
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
