"""Comparison of success rates in two samples."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from scipy import optimize, special

from narcissus._validation import between, fraction, integer
from narcissus.evidence.intervals import clopper_pearson
from narcissus.results import Estimate

NUISANCE = 0.05
"""Share of the error that is kept for the limits of the other sample's chance."""
_POINTS = 33  # of the other sample's chance; the p-value is smooth on a wider scale
_REACH = 1e-12  # chance of what is left out of a sum, counted as if it were against the claim
_CLOSE = 1e-6  # how near a limit is found, on the safe side


@dataclass(frozen=True)
class TwoSamples:
    """Successes in two samples of independent people.

    >>> found = TwoSamples(90, 100, 60, 100)
    >>> found.fisher < 1e-5
    True
    >>> limits = found.excess(confidence=0.95)
    >>> round(limits.value, 2), round(limits.low, 2), round(limits.high, 2)
    (0.3, 0.16, 0.43)
    """

    # `successes`, `trials`: Counts of the sample in question; ``0 <= successes <= trials``,
    # ``trials >= 1``
    successes: int
    trials: int
    others: int  # `others`, `other_trials`: Counts of the comparison sample
    other_trials: int

    def __post_init__(self) -> None:
        integer("trials", self.trials, low=1)
        integer("successes", self.successes, low=0, high=self.trials)
        integer("other_trials", self.other_trials, low=1)
        integer("others", self.others, low=0, high=self.other_trials)

    @property
    def reversed(self) -> TwoSamples:
        """The same with the samples exchanged."""
        return TwoSamples(self.others, self.other_trials, self.successes, self.trials)

    @property
    def difference(self) -> float:
        """Share of successes minus the other share, in [-1, 1]."""
        return self.successes / self.trials - self.others / self.other_trials

    @property
    def fisher(self) -> float:
        """One-sided p-value that successes are no more frequent than in the other sample.

        Exact given the total number of successes (Fisher 1935): valid if all people are
        exchangeable, as after a random split, under any other dependence.
        """
        together = self.trials + self.other_trials
        found = self.successes + self.others
        return float(scipy.stats.hypergeom.sf(self.successes - 1, together, found, self.trials))

    def p_value(self, excess: float, *, error: float) -> float:
        """Compute the p-value of "the chance is at most the other sample's plus ``excess``".

        Exact for two independent binomial counts: the largest chance of a difference as large as
        observed, over the other sample's chance within its Clopper-Pearson limits, plus the error
        of those limits (Berger and Boos 1994). At an excess of at least 0 it is at least Fisher's,
        so rejection here implies rejection there. ``excess`` is in [-1, 1]; ``error``, the level of
        the intended test in (0, 1), of which `NUISANCE` goes to the limits, must be fixed
        beforehand.
        """
        excess = between("excess", excess, -1, 1)
        kept = NUISANCE * fraction("error", error)
        found = self._tail(excess, self._chances(kept)) + kept
        return min(1.0, max(found, self.fisher) if excess >= 0 else found)

    def _chances(self, kept: float) -> tuple[float, float]:
        limits = clopper_pearson(self.others, self.other_trials, confidence=1 - kept)
        return limits.low or 0.0, 1.0 if limits.high is None else limits.high

    def _tail(self, excess: float, chances: tuple[float, float]) -> float:
        """Return the largest chance of such a difference, if one chance exceeds the other by
        ``excess``.
        """
        first, last = max(chances[0], -excess), chances[1]
        if first > last:  # no chance is so far below any of these
            return 0.0
        q = np.linspace(first, last, _POINTS)
        low = scipy.stats.binom.ppf(_REACH, self.other_trials, first)
        high = scipy.stats.binom.isf(_REACH, self.other_trials, last)
        others = np.arange(low, high + 1)
        # so many successes make a difference as large as the one found; whole numbers first
        needed = np.ceil(
            self.successes + (others - self.others) * self.trials / self.other_trials - 1e-9
        ).clip(0, self.trials + 1)
        tails = special.betainc(
            needed.clip(1, self.trials),
            self.trials + 1 - needed.clip(1, self.trials),
            np.clip(q + excess, 0, 1)[:, None],
        )
        tails[:, needed == 0] = 1
        tails[:, needed > self.trials] = 0
        mass = _masses(others, self.other_trials, q[:, None])
        return float((mass * tails).sum(axis=1).max()) + 2 * _REACH

    def excess(self, *, confidence: float = 0.95, quantity: str = "") -> Estimate:
        """Compute limits on the chance minus the other sample's, by the tests of `p_value` on
        either side.

        The lower limit is above 0 only if Fisher's test rejects at the level of that side;
        ``confidence`` covers both limits and must be fixed beforehand.
        """
        error = (1 - fraction("confidence", confidence)) / 2
        low, high = self._lower(error), -self.reversed._lower(error)
        value = self.difference
        return Estimate(
            value,
            min(low, value),
            max(high, value),
            confidence,
            self.trials + self.other_trials,
            quantity or "excess over the other sample",
            method="exact unconditional test, and Fisher's at 0",
        )

    def _lower(self, error: float) -> float:
        """Return the largest excess rejected at this error, at least -1."""
        kept = NUISANCE * error
        chances = self._chances(kept)

        def beyond(excess: float) -> float:
            return self._tail(excess, chances) + kept - error

        if beyond(-1.0) > 0:
            return -1.0
        top = self.difference
        if beyond(top) <= 0:
            return top
        low = max(-1.0, float(optimize.brentq(beyond, -1.0, top, xtol=_CLOSE)) - _CLOSE)
        return min(low, 0.0) if self.fisher > error else low

    def detectable(self, excess: float, *, error: float) -> float | None:
        """Return the smallest difference that would have been rejected, the other sample as it was.

        In (-1, 1]; None if not even success of all would have been rejected.
        """
        low, high = 0, self.trials
        if not self._with(high).refuses(excess, error=error):
            return None
        while low < high:
            middle = (low + high) // 2
            if self._with(middle).refuses(excess, error=error):
                high = middle
            else:
                low = middle + 1
        return self._with(high).difference

    def _with(self, successes: int) -> TwoSamples:
        return TwoSamples(successes, self.trials, self.others, self.other_trials)

    def refuses(self, excess: float, *, error: float) -> bool:
        """Check whether the test of `p_value` rejects at its level."""
        return self.p_value(excess, error=error) < error


def _masses(counts: np.ndarray, trials: int, chance: np.ndarray) -> np.ndarray:
    """Compute binomial probabilities; three times faster than SciPy's."""
    ways = -special.betaln(counts + 1, trials - counts + 1) - math.log(trials + 1)
    return np.exp(ways + special.xlogy(counts, chance) + special.xlog1py(trials - counts, -chance))


def standard_score(found: TwoSamples) -> float:
    """Return the difference in standard errors under equality: to select by, never to decide.

    >>> round(standard_score(TwoSamples(60, 100, 50, 100)), 3)
    1.421
    """
    pooled = (found.successes + found.others) / (found.trials + found.other_trials)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / found.trials + 1 / found.other_trials))
    return found.difference / spread if spread > 0 else 0.0
