"""Many people, each with their own prior: the number who fall, and the risk of each.

Source: Narcissus theory 4.6 for one person, 4.4 and 4.10 for the count.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._validation import between, integer
from narcissus.bounds.at_most import at_most, reached, reached_number
from narcissus.bounds.domination import DOMINATION
from narcissus.bounds.interpolation import (
    INTERPOLATION,
    LARGEST,
    interpolation,
    interpolation_tails,
)
from narcissus.bounds.one_target import OPTIMUM, profile_cost
from narcissus.bounds.theorem import Theorem, points_of
from narcissus.bounds.theorems import best, bounds_on, each_success
from narcissus.bounds.threat import Threat, prior_rows, threat
from narcissus.errors import TooLargeError
from narcissus.guarantees import Guarantee, PureDP, require_replace_one
from narcissus.results import Bound, NotAssessed

FloatArray = NDArray[np.float64]

MOST_PEOPLE = 1_000_000
"""Most people whose count is bounded: each point of a profile costs a sum over all counts."""

MOST_REACHED = 2_000
"""Most people for the bound from below: some seconds."""

_CELLS = 2**22  # prior probabilities per block
_FEW = 1000  # most people for trying every point of the profile
_OWN = 200  # most people for one point of the profile per person
_FEW_PRIORS = 20  # most distinct priors for applying every theorem to each
_BEST = 3  # points tried above `_FEW` people, the most promising ones


class ThreatToPeople:
    """People with a prior each, all of whom are attacked; a guess must name the exact value.

    Parameters
    ----------
    priors
        One distribution per person, shape (n, V); zeros pad. Equal ones are stored once.

    Examples
    --------
    >>> from narcissus.guarantees import PureDP
    >>> people = ThreatToPeople([[0.5, 0.5], [0.9, 0.1]])
    >>> people.success(PureDP(1.0)).round(6)
    array([0.731059, 0.9     ])
    """

    def __init__(self, priors: ArrayLike) -> None:
        rows = prior_rows("priors", priors)
        if len(rows) > MOST_PEOPLE:
            raise TooLargeError(
                f"`priors` are of {len(rows):,} people, at most {MOST_PEOPLE:,} are counted; "
                "take a part of them"
            )
        # Values have no order where a guess must name one.
        rows = -np.sort(-rows / rows.sum(axis=1, keepdims=True), axis=1)
        self._rows, back, self._repeats = np.unique(
            rows, axis=0, return_inverse=True, return_counts=True
        )
        self._who = np.ravel(back)
        self._last: tuple[Guarantee, FloatArray] | None = None

    @property
    def n(self) -> int:
        """Number of people."""
        return self._who.size

    @property
    def values(self) -> int:
        """Number of values of each person's record."""
        return self._rows.shape[1]

    @cached_property
    def prior(self) -> FloatArray:
        """Success of the best guess about each person without the release, shape (n,)."""
        return self._rows.max(axis=1)[self._who]

    @cached_property
    def alike(self) -> Threat | None:
        """The same threat with a single prior, if all people have the same."""
        if len(self._rows) > 1 or self.n > LARGEST:
            return None
        return threat(values=self._rows[0], targets=self.n)

    @cached_property
    def _no_likelier(self) -> Threat:
        """A dominating threat: all people as vulnerable as the one with the likeliest guess."""
        kappa = float((self._rows**2).sum(axis=1).min())
        most = float(self._rows[:, 0].max())
        return threat(prior=most, inseparable=min(kappa, 1.0), targets=self.n)

    def success(self, guarantee: Guarantee) -> FloatArray:
        """Bound the chance that each person falls, shape (n,); the mean bounds the mean share."""
        if self._last is None or self._last[0] != guarantee:
            if len(self._rows) <= _FEW_PRIORS:
                each = [best(bounds_on(threat(values=row), guarantee)).value for row in self._rows]
            else:
                each = np.concatenate([each_success(rows, guarantee) for rows in self._blocks()])
            found = np.maximum(np.asarray(each)[self._who], self.prior)
            self._last = guarantee, found
        return self._last[1].copy()

    def advantage(self, guarantee: Guarantee) -> FloatArray:
        """Bound each person's advantage, ``(success - prior) / (1 - prior)``, shape (n,)."""
        left = 1.0 - self.prior
        gained = self.success(guarantee) - self.prior
        # A success equal to the prior up to rounding is no advantage.
        gained[gained <= 4 * np.finfo(float).eps] = 0.0
        return np.divide(gained, left, out=np.zeros(self.n), where=left > 0)

    def mean(self, guarantee: Guarantee) -> Bound:
        """Bound the mean share of people who fall."""
        value = math.fsum(self.success(guarantee)) / self.n
        return OPTIMUM.claim(
            value, f"mean share of {self.n} people that fall", self._assumptions(guarantee)
        )

    def tails(self, guarantee: Guarantee, about: float = 0.05) -> FloatArray:
        """Bound ``Pr[at least v fall]`` for ``v = 0 .. n + 1``, shape (n + 2,).

        With many people the table is sharpest near a probability of ``about``.

        Source: Narcissus theory 4.10; several points of the profile yield a valid table each, and
        so does their minimum. Under pure DP it is the exact optimum.
        """
        require_replace_one(guarantee)
        if isinstance(guarantee, PureDP):
            o, _ = self._numbers(guarantee, guarantee.epsilon)
            return interpolation_tails(o[self._who], np.zeros(self.n))
        points = points_of(guarantee)
        if self.n > _FEW:
            reach = [self._reach(guarantee, float(e), about) for e in points]
            points = points[np.argsort(reach, kind="stable")[:_BEST]]
        least = np.ones(self.n + 2)
        for epsilon in points:
            o, cost = self._numbers(guarantee, float(epsilon))
            least = np.minimum(least, interpolation_tails(o[self._who], cost[self._who]))
        return least

    def tail(self, guarantee: Guarantee, at_least: int) -> Bound:
        """Bound the chance that at least ``at_least`` people fall."""
        v = integer("at_least", at_least)
        if self.alike is not None:
            return best(bounds_on(self.alike, guarantee, v))
        value = float(v <= 0)
        if 0 < v <= self.n:
            # each of these tables is valid; with many people it is sharp near one chance
            value = min(float(self.tails(guarantee, about)[v]) for about in (0.5, 0.05, 1e-6))
            value = min(value, self._own(guarantee, v))
        claim = self._theorem(guarantee).claim(
            value,
            f"probability that at least {v} of {self.n} people fall",
            self._assumptions(guarantee, many=True),
        )
        few = self.n <= _OWN
        return best([claim, *bounds_on(self._no_likelier, guarantee, v, dear=few)])

    def at_most(self, guarantee: Guarantee, confidence: float) -> Bound:
        """Bound the number of people who fall, with a confidence in [0, 1)."""
        if self.alike is not None:
            return at_most(self.alike, guarantee, confidence)
        allowed = 1.0 - between("confidence", confidence, 0, 1, open_high=True)
        # the last entry is 0: no more than all can fall
        number = int(np.argmax(self.tails(guarantee, allowed) <= allowed)) - 1
        while number > 0 and self._own(guarantee, number) <= allowed:
            number -= 1
        claim = self._theorem(guarantee).claim(
            float(number),
            f"number of {self.n} people that fall, with confidence {confidence:g}",
            self._assumptions(guarantee, many=True),
        )
        if self.n <= _OWN:
            claim = min(
                (claim, at_most(self._no_likelier, guarantee, confidence)), key=lambda b: b.value
            )
        return claim if claim.value < self.n else replace(claim, theorem="every one may fall")

    def reached(self, guarantee: Guarantee, at_least: int) -> float | NotAssessed:
        """Return the chance of at least ``at_least`` under some mechanism with the guarantee."""
        if self.n > MOST_REACHED:
            return self._too_many()
        return reached(self._rows, guarantee, at_least, repeats=self._repeats)

    def reached_number(self, guarantee: Guarantee, confidence: float) -> int | NotAssessed:
        """Return the number that some mechanism stays below with at most ``confidence``."""
        if self.n > MOST_REACHED:
            return self._too_many()
        return reached_number(self._rows, guarantee, confidence, repeats=self._repeats)

    def _too_many(self) -> NotAssessed:
        return NotAssessed(
            "the count that some mechanism reaches",
            f"it is computed for up to {MOST_REACHED:,} people with priors of their own",
        )

    def _own(self, guarantee: Guarantee, v: int) -> float:
        """Bound the chance of at least ``v``, one point per person; 1 for many people."""
        if self.n > _OWN or isinstance(guarantee, PureDP):
            return 1.0
        return interpolation(self._rows, guarantee, v, repeats=self._repeats).value

    def _blocks(self) -> list[FloatArray]:
        size = max(1, _CELLS // self._rows.shape[1])
        return [self._rows[start : start + size] for start in range(0, len(self._rows), size)]

    def _numbers(self, guarantee: Guarantee, epsilon: float) -> tuple[FloatArray, FloatArray]:
        """Return ``o`` and the cost of each distinct prior at one point of the profile."""
        found = [profile_cost(rows, guarantee, epsilon) for rows in self._blocks()]
        return np.concatenate([o for o, _ in found]), np.concatenate([c for _, c in found])

    def _reach(self, guarantee: Guarantee, epsilon: float, about: float) -> float:
        """Estimate the number exceeded with chance ``about``; used to choose points only."""
        some = np.linspace(0, self.n - 1, _FEW).astype(np.intp)
        o, cost = profile_cost(self._rows[self._who[some]], guarantee, epsilon)
        scale = self.n / _FEW
        deviation = max(float(np.sqrt(scale * (o * (1 - o)).sum())), 1e-9)
        centre, spent = scale * float(o.sum()), scale * float(cost.sum())
        # At a distance of d the chance is about the normal one and spent / (1 + d).
        distance = np.geomspace(1.0, self.n + 1.0, 400)
        chance = special.ndtr(-distance / deviation) + spent / (1.0 + distance)
        return (
            centre
            + float(distance[min(int(np.argmax(chance <= about)), 399)])
            + (0.0 if chance[-1] <= about else self.n + spent)
        )

    def _theorem(self, guarantee: Guarantee) -> Theorem:
        return DOMINATION if isinstance(guarantee, PureDP) else INTERPOLATION

    def _assumptions(self, guarantee: Guarantee, *, many: bool = False) -> tuple[str, ...]:
        said = [guarantee.describe()]
        if many:
            said.append("the targets' values are independent given what the attacker knows")
        return (*said, f"the priors of {self.n:,} people are as given")
