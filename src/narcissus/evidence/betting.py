"""Limits and tests by betting: for a fixed number of trials, and valid at every stopping time.

A claim states that a payoff has mean 0. A gambler starts with one unit, chooses the stake of each
trial from the trials before it, and gains the stake times the payoff. Under the claim the capital
is a non-negative supermartingale, so by Ville's inequality it ever reaches ``1 / error`` with
probability at most ``error``; so does the average of several capitals. A claim against which the
gamblers reach that is rejected. So the run may be inspected after every trial, stopped at will, or
continued, with stakes that do not depend on the number of trials: the gambler of `Bets` spreads the
unit over a fixed ladder of stakes and never moves it between them, which is close to the best stake
in hindsight.

Source: Waudby-Smith and Ramdas 2023, Theorem 3 (predictable plug-in stakes); Ville 1939. The ladder
is a universal portfolio (Cover 1991) on a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._arrays import Floats
from narcissus._validation import fraction, integer, same_trials, unit_vector
from narcissus.errors import InputError
from narcissus.results import Estimate

# Shares of the largest stake that cannot lose everything; the smallest detects 1e-4 of the range.
LADDER = 0.98 * 2.0 ** -np.arange(14)


class Bets:
    """Capital of a gambler who bets that the mean of a sequence is above 0.

    ``lowest`` is the smallest possible value, below 0; known before the first trial.
    """

    def __init__(self, lowest: float) -> None:
        if not lowest < 0:
            raise InputError(f"`lowest` must be below 0, got {lowest!r}")
        self.stakes = LADDER / -lowest
        self.logs = np.zeros(len(LADDER))

    def update(self, values: ArrayLike) -> NDArray[np.float64]:
        """Bet on more trials; return the log capital after each, shape (trials,)."""
        array = np.asarray(values, dtype=np.float64)
        steps = np.log1p(self.stakes[:, None] * array)
        path = self.logs[:, None] + np.cumsum(steps, axis=1)
        if array.size:
            self.logs = path[:, -1].copy()
        return log_mean(path)

    def add_counts(self, values: ArrayLike, counts: ArrayLike) -> float:
        """Bet on many trials at the same time, given each value's count; return the log capital.

        The final capital does not depend on the order of the trials.
        """
        array, times = np.asarray(values, dtype=np.float64), np.asarray(counts, dtype=np.float64)
        self.logs = self.logs + np.log1p(self.stakes[:, None] * array) @ times
        return float(log_mean(self.logs[:, None])[0])


def log_mean(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of the mean over the first axis of capitals given as logs."""
    top = logs.max(axis=0)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.exp(logs - safe).mean(axis=0))


def compress(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    support, counts = np.unique(values, return_counts=True)
    return support, counts.astype(np.int64)


def anytime_limits(values: ArrayLike, *, confidence: float = 0.95, quantity: str = "") -> Estimate:
    """Compute limits on the mean of independent values in [0, 1], valid at any stopping time.

    The run may be inspected after every trial and stopped for any reason in the past. Wider than
    `narcissus.mean_limits`, which needs the number of trials fixed beforehand. ``confidence`` is
    the level of both limits together.

    >>> anytime_limits([0.0, 1.0] * 200).low < 0.5 < anytime_limits([0.0, 1.0] * 200).high
    True
    """
    array = unit_vector("values", values)
    level = fraction("confidence", confidence)
    support, counts = compress(array)
    mean = float(array.mean())
    hurdle = math.log(2 / (1 - level))

    def above(claim: float) -> float:
        return Bets(-claim).add_counts(support - claim, counts)

    def below(claim: float) -> float:
        return Bets(claim - 1).add_counts(claim - support, counts)

    low = _edge(above, hurdle, inside=mean, outside=0.0) if mean > 0 else 0.0
    high = _edge(below, hurdle, inside=mean, outside=1.0) if mean < 1 else 1.0
    return Estimate(mean, low, high, level, array.size, quantity, method="anytime betting")


def _edge(
    capital: Callable[[float], float], hurdle: float, *, inside: float, outside: float
) -> float:
    """Bisect for the end of the interval; err outwards.

    Against the sample mean a gambler never wins, so the inside is never rejected.
    """
    near, far = inside, outside
    if far == 0.0:
        # Claims too small to be worth a bisection step are rejected if the smallest one is.
        tiny = 1e-300
        if capital(tiny) < hurdle:
            return 0.0
        near, far = inside, tiny
    elif capital(1 - 1e-16) < hurdle:
        return 1.0
    for _ in range(60):
        middle = (near + far) / 2
        if far < near * 0.25:  # by factors; the product of the two may be too small for a float
            middle = math.sqrt(near * far) or math.sqrt(near) * math.sqrt(far)
        if capital(middle) >= hurdle:
            far = middle
        else:
            near = middle
    return far if outside != 0.0 or far > 1e-299 else 0.0


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
    stakes: Floats
    boldness: Floats  # largest share of the capital risked on one trial, shape (gamblers, 1)
    capital: Floats  # initial capital, shape (gamblers, 1), with sum 1
    hurdle: float  # log of the total capital at which a claim is rejected: ``-log(error)``

    def refuse(self, payoffs: Floats, loss: float | Floats) -> bool:
        """Test a claim by the payoffs per unit, shape (trials,), and their largest ``loss``."""
        with np.errstate(divide="ignore"):
            bets = np.minimum(self.stakes, self.boldness / loss)
        grown = np.cumsum(np.log1p(bets * payoffs), axis=1)
        parts = np.log(len(self.capital) * self.capital)
        return float(log_mean(grown + parts).max()) >= self.hurdle

    def refused_up_to(
        self,
        payoffs: Callable[[float], Floats],
        loss: Callable[[float], float | Floats],
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
    values: Floats,
    weights: Floats,
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
    stakes: list[Floats] = []
    for share in (temper.variance for temper in tempers):
        claims = (share * middle + np.cumsum(values)) / (share + np.cumsum(weights))
        squares = np.cumsum((values - claims * weights) ** 2)
        variances = (0.25 * share + squares) / (counts + 1)
        before = np.concatenate([[0.25 * share], variances[:-1]])
        stakes.append(np.sqrt(2 * hurdle / (n * before)))
    boldness = np.array([temper.most for temper in tempers])[:, None]
    capital = np.array([temper.capital for temper in tempers])[:, None]
    return Gamblers(np.array(stakes), boldness, capital, hurdle)


def mean_limits(
    values: ArrayLike, *, confidence: float = 0.95, people: int = 1, quantity: str = ""
) -> Estimate:
    """Compute confidence limits on the mean of independent values in [0, 1] of any distribution.

    By betting (Waudby-Smith and Ramdas 2023, Theorem 3, the hedged capital with predictable plug-in
    stakes): a mean is rejected once gamblers against it have multiplied their capital by ``2 / (1 -
    confidence)``. Close to the normal limits with many trials; with few no valid limits can be
    narrow, see `narrowest_limits`.

    The number of trials, the confidence and ``people`` must be fixed before the first trial is
    seen: the stakes depend on them. For a run that may stop early see `anytime_limits`.

    values: One value per trial, shape (trials,), each in [0, 1]; trials independent and alike, in
        the order of play (the stakes of a trial depend on the ones before it).
    confidence: Level in (0, 1) of both limits together.
    people: Number of independent targets averaged per trial. Any is valid; the right one is
        sharpest.

    >>> mean_limits([0.4, 0.6] * 50).low < 0.5 < mean_limits([0.4, 0.6] * 50).high
    True
    """
    array = unit_vector("values", values)
    level = fraction("confidence", confidence)
    some = integer("people", people, low=1)
    mean = float(array.mean())
    hurdle = math.log(2 / (1 - level))
    gamblers = plug_in(array, np.ones_like(array), middle=0.5, tempers=usual(some), hurdle=hurdle)

    def edge(seen: np.ndarray) -> float:
        return gamblers.refused_up_to(lambda m: seen - m, lambda m: m, 0.0, 1.0)

    # A run that drifts can reject its own mean; the limits are widened to include it.
    low, high = min(mean, edge(array)), max(mean, 1 - edge(1 - array))
    return Estimate(mean, low, high, level, array.size, quantity, method="betting")


def difference_limits(
    shares: ArrayLike,
    others: ArrayLike,
    *,
    confidence: float = 0.95,
    people: int = 1,
    quantity: str = "",
) -> Estimate:
    """Compute confidence limits on the mean of paired differences ``shares - others``.

    The differences are mapped to [0, 1] for `mean_limits`; the same must be fixed beforehand.

    >>> found = difference_limits([0.6] * 200, [0.4] * 200, people=100)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.2, 0.177, 0.216)
    """
    first, second = unit_vector("shares", shares), unit_vector("others", others)
    same_trials(shares=first, others=second)
    estimate = mean_limits(
        (first - second + 1) / 2, confidence=confidence, people=people, quantity=quantity
    )
    low, high = estimate.ends
    return replace(
        estimate, value=float((first - second).mean()), low=2 * low - 1, high=2 * high - 1
    )


def advantage_limits(
    shares: ArrayLike,
    baselines: ArrayLike,
    *,
    confidence: float = 0.95,
    people: int = 1,
    quantity: str = "",
) -> Estimate:
    """Compute confidence limits on the advantage ``(E[share] - E[baseline]) / (1 - E[baseline])``.

    0 is no gain over the baseline, 1 is all that the baseline leaves. The mean baseline is unknown,
    and dividing by its estimate invalidates the limits. The advantage ``a`` solves ``E[share -
    baseline - a (1 - baseline)] = 0``: gamblers bet against each ``a``, and the limits enclose
    those not rejected. As ``baseline`` is at most 1, the payoff falls with ``a``, so the accepted
    set is an interval. An advantage below -1 counts as -1. ``baselines`` are of the same trials,
    exact chances or counts; the rest is as for `mean_limits`.

    >>> found = advantage_limits([0.9, 0.5] * 100, [0.8, 0.0] * 100)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.5, 0.465, 0.518)
    """
    won, fair = unit_vector("shares", shares), unit_vector("baselines", baselines)
    same_trials(shares=won, baselines=fair)
    level = fraction("confidence", confidence)
    some = integer("people", people, low=1)
    room, missed = 1 - fair, 1 - won
    hurdle = math.log(2 / (1 - level))
    gamblers = plug_in(won - fair, room, middle=0.0, tempers=usual(some), hurdle=hurdle)
    # A unit at stake loses most where the share is 0 and the baseline 1: one unit.
    low = gamblers.refused_up_to(lambda a: won - fair - a * room, lambda _: 1.0, -1.0, 1.0)
    # The other way, in b = 1 - a: E[missed - b room] = 0, and a unit loses at most b.
    high = 1 - gamblers.refused_up_to(lambda b: missed - b * room, lambda b: b, 0.0, 2.0)
    left = float(room.mean())
    value = float(np.clip((won - fair).mean() / left, -1, 1)) if left > 0 else 0.0
    return Estimate(
        value,
        min(value, low),
        max(value, high),
        level,
        won.size,
        quantity or "advantage over the baseline",
        method="betting",
    )
