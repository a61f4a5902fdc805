"""Bounds on the number of targets, or people with different priors, that are reconstructed.

From above with a confidence, and from below: attained by some mechanism with the guarantee.

Source: Narcissus theory 4, "Which bound?", and 4.10; of people 4.6 for one, 4.4 for the count.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._validation import between, integer
from narcissus.bounds.binomial import PoissonBinomial, upper_tail
from narcissus.bounds.domination import DOMINATION, optimum_of_heads
from narcissus.bounds.interpolation import (
    INTERPOLATION,
    LARGEST,
    interpolation,
    interpolation_tails,
)
from narcissus.bounds.one_target import OPTIMUM, profile_cost
from narcissus.bounds.strengths import Strengths, strengths_of, strongest, whole
from narcissus.bounds.swap import LARGEST_PROGRAM, PROGRAM_POINTS, SWAP_PROGRAM, swap_program
from narcissus.bounds.theorem import Question, Theorem, points_of
from narcissus.bounds.theorems import best, bounds_on, each_success
from narcissus.bounds.threat import Nearby, Threat, prior_kinds, prior_rows, threat
from narcissus.errors import TooLargeError
from narcissus.guarantees import Guarantee, PureDP, require_replace_one
from narcissus.results import Bound, NotAssessed

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def at_most(threat: Threat, guarantee: Guarantee, confidence: float) -> Bound:
    """Bound the number of reconstructed targets, a whole number, with a confidence in [0, 1).

    The number is exceeded with probability at most ``1 - confidence``.
    """
    level = between("confidence", confidence, 0, 1, open_high=True)
    allowed = 1.0 - level

    def closed(v: int) -> Bound:
        return best(bounds_on(threat, guarantee, v, expensive=False))

    counts = range(threat.guesses)
    high = bisect_left(counts, True, key=lambda v: closed(v + 1).value <= allowed)
    chosen = closed(high + 1) if high < threat.guesses else None
    # The closed forms say no more. The program is sharper and expensive: every third point of the
    # profile, which is cheaper and never below all of them, first comes near the answer.
    for points in _program_points(threat, guarantee):
        fewer = _fewer(threat, guarantee, allowed, high, points)
        if fewer < high:
            high = fewer
            q = Question(threat, guarantee, high + 1)
            chosen = SWAP_PROGRAM.claim(0.0, "", SWAP_PROGRAM.assumptions(q))
    if chosen is None:
        chosen = Bound(0.0, "", "every target may be reconstructed")
    quantity = (
        f"number of {threat.targets} targets that are reconstructed, with confidence {level:g}"
    )
    conditions = () if threat.nearby is None else (threat.nearby.describe(),)
    return replace(chosen, value=float(high), quantity=quantity, takes_as_given=conditions)


def _program_points(threat: Threat, guarantee: Guarantee) -> list[FloatArray]:
    points = guarantee.tangents(PROGRAM_POINTS)
    several = guarantee.tangents(2).size > 1
    return [points[::3], points] if several and threat.guesses <= LARGEST_PROGRAM else []


def _fewer(
    threat: Threat, guarantee: Guarantee, allowed: float, high: int, points: FloatArray
) -> int:
    """Descend from ``high`` by doubling steps, then bisect, while the tail is ``allowed``."""
    low, step, doubling = -1, 1, True
    while high - low > 1:
        middle = max(high - step, low + 1) if doubling else (low + high) // 2
        if swap_program(threat, guarantee, middle + 1, epsilons=points) <= allowed:
            high, step = middle, 2 * step
        else:
            low, doubling = middle, False
    return high


STEPS = 400
"""Strengths of the mechanism among which a Gaussian one is shared out."""

_WHAT = "the count that some mechanism reaches"
_NO_PRIOR = "it takes the prior of the targets' values, and guesses that name the very value"
_NEAR = 41  # strengths about the one that decides
_SMALL = 1024  # targets up to which all strengths are summed in one go


def reached_tails(
    priors: ArrayLike, guarantee: Guarantee, *, repeats: ArrayLike | None = None, steps: int = STEPS
) -> FloatArray | NotAssessed:
    """Compute ``Pr[at least v are reconstructed]`` under some mechanism with the guarantee.

    Success is exact match.

    Returns an array for ``v = 0 .. n + 1``, all of one mechanism, or the reason why there is none:
    it is known for the guarantees of this package. ``priors`` has one distribution per row, shape
    (m, V), for ``repeats`` independent targets each; ``steps`` strengths, an even number, stand for
    a Gaussian mechanism or for a curve, and more only raise the tails.

    Source: Narcissus theory 4.10. Gaussian DP with ``mu``: publish ``|Lambda|``, ``Lambda ~ N(mu^2
    / 2, mu^2)``, then run the pure mechanism of that epsilon for all targets. Its tail rises with
    ``|Lambda|``, which is rounded down, so the number never exceeds the tail attained. A curve is
    shared out among its corners.

    >>> from narcissus.guarantees import PureDP
    >>> round(float(reached_tails([[0.7, 0.3]] * 12, PureDP(1.0))[9]), 6)
    0.589582
    """
    rows, many = prior_kinds(priors, repeats)
    law = whole(guarantee, steps)
    return _none(guarantee) if law is None else _whole_tails(rows, many, law)


def _whole_tails(rows: FloatArray, many: IntArray, law: Strengths) -> FloatArray:
    chances = np.repeat(_chances(rows, law.epsilons), many, axis=1)
    mean = np.zeros(chances.shape[1] + 2)
    if chances.shape[1] > _SMALL:
        for p, weight in zip(chances, law.weights, strict=True):
            mean += weight * PoissonBinomial(p).tails()
    else:
        mean = law.weights @ _tails(chances)
    tails = np.minimum(law.told + mean, 1.0)
    tails[0], tails[-1] = 1.0, 0.0
    return tails


class _Reached:
    """What mechanisms that draw a strength in public reach; alike targets may be very many."""

    def __init__(self, rows: FloatArray, many: IntArray, guarantee: Guarantee, law: Strengths):
        self._many, self._n = many, int(many.sum())
        self._guarantee, self._law, self._rows = guarantee, law, rows
        listed = len(rows) == 1 or self._n <= MOST_REACHED
        self._strengths = strengths_of(guarantee) if listed else None

    @cached_property
    def _whole(self) -> FloatArray:
        return _whole_tails(self._rows, self._many, self._law)

    @cached_property
    def _table(self) -> FloatArray:
        assert self._strengths is not None
        return _tails(np.repeat(_chances(self._rows, self._strengths), self._many, axis=1))

    def _alike(self, v: int, strengths: FloatArray) -> FloatArray:
        return upper_tail(self._n, v, special.logit(_chances(self._rows, strengths)[:, 0]))

    def _near(self, share: float, strengths: FloatArray) -> FloatArray:
        """Return strengths at which alike targets are recovered about that often."""
        fine = np.linspace(strengths[0], strengths[-1], 40 * strengths.size)
        deviation = np.sqrt(share * (1 - share) / self._n)
        chances = _chances(self._rows, fine)[:, 0]
        return np.interp(share + deviation * np.linspace(-3, 5, _NEAR), chances, fine)

    def of_one(self, v: int) -> float:
        """Return the tail at ``v`` of the law that uses up the profile."""
        if v <= 0 or v > self._n:
            return float(v <= 0)
        if len(self._rows) > 1:
            return float(self._whole[v])
        law = self._law
        return min(1.0, law.told + float(self._alike(v, law.epsilons) @ law.weights))

    def of_best(self, v: int) -> float:
        """Return the largest tail at ``v`` of any law."""
        tail, strengths = self.of_one(v), self._strengths
        if strengths is None or v <= 0 or v > self._n:
            return tail
        if len(self._rows) == 1:
            strengths = np.union1d(strengths, self._near(v / self._n, strengths))
            tails = self._alike(v, strengths)
        else:
            tails = self._table[:, v]
        law = strongest(self._guarantee, strengths, tails)
        mean = float(law.weights @ np.append(tails[0], tails[: law.weights.size - 1]))
        return max(tail, min(1.0, law.told + mean))

    def number(self, allowed: float) -> int:
        """Return the largest number that is reached with a chance above ``allowed``."""
        low = bisect_left(range(self._n), True, key=lambda v: self.of_one(v + 1) <= allowed)
        if self._strengths is None:
            return low
        step = 1
        while low + step <= self._n and self.of_best(low + step) > allowed:
            low, step = low + step, 2 * step
        high = min(low + step, self._n + 1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.of_best(middle) > allowed else (low, middle)
        return low


def _reached(
    priors: ArrayLike, guarantee: Guarantee, repeats: ArrayLike | None
) -> _Reached | NotAssessed:
    rows, many = prior_kinds(priors, repeats)
    law = whole(guarantee, STEPS)
    return _none(guarantee) if law is None else _Reached(rows, many, guarantee, law)


def reached(
    priors: ArrayLike, guarantee: Guarantee, at_least: int, *, repeats: ArrayLike | None = None
) -> float | NotAssessed:
    """Return the largest tail at ``at_least`` that is known to be reached; exact match.

    It is of a mechanism for this number, and never below that of `reached_tails`. If all targets
    are alike their number is unlimited.

    Source: Narcissus theory 4.10.
    """
    v = integer("at_least", at_least)
    reach = _reached(priors, guarantee, repeats)
    return reach if isinstance(reach, NotAssessed) else reach.of_best(v)


def reached_number(
    priors: ArrayLike, guarantee: Guarantee, confidence: float, *, repeats: ArrayLike | None = None
) -> int | NotAssessed:
    """Return the number that some mechanism stays below with at most that confidence.

    The largest ``v`` that is `reached` with a chance above ``1 - confidence``: a lower bound on
    `narcissus.bounds.at_most`.

    >>> from narcissus.guarantees import GaussianDP
    >>> reached_number([0.5, 0.5], GaussianDP(0.5), 0.95, repeats=[100])
    75
    """
    level = between("confidence", confidence, 0, 1, open_high=True)
    reach = _reached(priors, guarantee, repeats)
    return reach if isinstance(reach, NotAssessed) else reach.number(1.0 - level)


def reached_of_threat(threat: Threat, guarantee: Guarantee, at_least: int) -> float | NotAssessed:
    """Return `reached` for the guessed targets of a threat; exact match.

    If only the best guess is known it is for the worst prior that fits.
    """
    if not _has_prior(threat):
        return NotAssessed(_WHAT, _NO_PRIOR)
    return reached(threat.values or (), guarantee, at_least, repeats=[threat.guesses])


def reached_number_of_threat(
    threat: Threat, guarantee: Guarantee, confidence: float
) -> int | NotAssessed:
    """Return `reached_number` for the guessed targets of a threat; exact match."""
    if not _has_prior(threat):
        return NotAssessed(_WHAT, _NO_PRIOR)
    return reached_number(threat.values or (), guarantee, confidence, repeats=[threat.guesses])


def _has_prior(threat: Threat) -> bool:
    return threat.values is not None and threat.exact_match and threat.guesses > 0


def _none(guarantee: Guarantee) -> NotAssessed:
    return NotAssessed(
        _WHAT, f"no mechanism that is as strong as {guarantee.describe()} allows is known here"
    )


def _chances(rows: FloatArray, epsilons: FloatArray) -> FloatArray:
    """Return each kind's chance to be reconstructed at each strength, shape (strengths, m)."""
    heads = np.cumsum(-np.sort(-rows, axis=1), axis=1)
    ones = np.ones(len(rows))
    return np.array([optimum_of_heads(heads, e * ones) for e in epsilons])


def _tails(chances: FloatArray) -> FloatArray:
    """Return the tails at each strength, shape (strengths, n + 2); ``chances`` (strengths, n)."""
    strengths, n = chances.shape
    if n > _SMALL:
        return np.array([PoissonBinomial(p).tails() for p in chances])
    law = np.zeros((n + 2, strengths))
    law[0] = 1.0
    with np.errstate(under="ignore"):
        for i, p in enumerate(chances.T):
            fallen = law[: i + 1] * p
            law[: i + 1] -= fallen
            law[1 : i + 2] += fallen
    return np.cumsum(law[::-1], axis=0)[::-1].T


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

    ``priors`` has one distribution per person, shape (n, V); zeros pad. Equal ones are stored once.
    With ``nearby`` true priors may be that far from them: all numbers are of the worst ones.

    >>> from narcissus.guarantees import PureDP
    >>> people = ThreatToPeople([[0.5, 0.5], [0.9, 0.1]])
    >>> people.success(PureDP(1.0)).round(6)
    array([0.731059, 0.9     ])
    """

    def __init__(self, priors: ArrayLike, nearby: Nearby | None = None) -> None:
        rows = prior_rows("priors", priors)
        self._nearby = nearby
        if len(rows) > MOST_PEOPLE:
            raise TooLargeError(
                f"`priors` are of {len(rows):,} people, at most {MOST_PEOPLE:,} are counted; "
                "take a part of them"
            )
        rows = rows if nearby is None else nearby.worst(rows)
        # Values have no order where a guess must name one.
        rows = -np.sort(-rows / rows.sum(axis=1, keepdims=True), axis=1)
        self._rows, back, self._repeats = np.unique(
            rows, axis=0, return_inverse=True, return_counts=True
        )
        self._who = np.ravel(back)
        self._last: tuple[Guarantee, FloatArray] | None = None

    @property
    def n(self) -> int:
        return self._who.size

    @property
    def values(self) -> int:
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
        alike = threat(values=self._rows[0], targets=self.n)
        return alike if self._nearby is None else replace(alike, known=False, nearby=self._nearby)

    @cached_property
    def _no_likelier(self) -> Threat:
        """A dominating threat: all people as vulnerable as the one with the likeliest guess."""
        kappa = float((self._rows**2).sum(axis=1).min())
        prior = float(self._rows[:, 0].max())
        danger = threat(prior=prior, inseparable=min(kappa, 1.0), targets=self.n)
        return replace(danger, nearby=self._nearby)

    def success(self, guarantee: Guarantee) -> FloatArray:
        """Bound each person's chance to be reconstructed, shape (n,); its mean bounds the share."""
        if self._last is None or self._last[0] != guarantee:
            if len(self._rows) <= _FEW_PRIORS:
                each = [best(bounds_on(threat(values=row), guarantee)).value for row in self._rows]
            else:
                each = np.concatenate([each_success(rows, guarantee) for rows in self._blocks()])
            chances = np.maximum(np.asarray(each)[self._who], self.prior)
            self._last = guarantee, chances
        return self._last[1].copy()

    def advantage(self, guarantee: Guarantee) -> FloatArray:
        """Bound each person's advantage, ``(success - prior) / (1 - prior)``, shape (n,)."""
        left = 1.0 - self.prior
        gained = self.success(guarantee) - self.prior
        # A success equal to the prior up to rounding is no advantage.
        gained[gained <= 4 * np.finfo(float).eps] = 0.0
        return np.divide(gained, left, out=np.zeros(self.n), where=left > 0)

    def mean(self, guarantee: Guarantee) -> Bound:
        """Bound the mean share of people who are reconstructed."""
        value = math.fsum(self.success(guarantee)) / self.n
        quantity = f"mean share of {self.n} people that are reconstructed"
        return self._told(OPTIMUM.claim(value, quantity, self._assumptions(guarantee)))

    def tails(self, guarantee: Guarantee, about: float = 0.05) -> FloatArray:
        """Bound ``Pr[at least v are reconstructed]`` for ``v = 0 .. n + 1``, shape (n + 2,).

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
        table = np.ones(self.n + 2)
        for epsilon in points:
            o, cost = self._numbers(guarantee, float(epsilon))
            table = np.minimum(table, interpolation_tails(o[self._who], cost[self._who]))
        return table

    def tail(self, guarantee: Guarantee, at_least: int) -> Bound:
        """Bound the chance that at least ``at_least`` people are reconstructed."""
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
            f"probability that at least {v} of {self.n} people are reconstructed",
            self._assumptions(guarantee, many=True),
        )
        few = self.n <= _OWN
        return best([self._told(claim), *bounds_on(self._no_likelier, guarantee, v, expensive=few)])

    def at_most(self, guarantee: Guarantee, confidence: float) -> Bound:
        """Bound the number of people who are reconstructed, with a confidence in [0, 1)."""
        if self.alike is not None:
            return at_most(self.alike, guarantee, confidence)
        allowed = 1.0 - between("confidence", confidence, 0, 1, open_high=True)
        # the last entry is 0: no more than all can be reconstructed
        number = int(np.argmax(self.tails(guarantee, allowed) <= allowed)) - 1
        while number > 0 and self._own(guarantee, number) <= allowed:
            number -= 1
        claim = self._theorem(guarantee).claim(
            float(number),
            f"number of {self.n} people that are reconstructed, with confidence {confidence:g}",
            self._assumptions(guarantee, many=True),
        )
        if self.n <= _OWN:
            claim = min(
                (claim, at_most(self._no_likelier, guarantee, confidence)), key=lambda b: b.value
            )
        is_bound = claim.value < self.n
        claim = claim if is_bound else replace(claim, theorem="everybody may be reconstructed")
        return self._told(claim)

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
            f"it is computed for up to {MOST_REACHED:,} people with different priors",
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
        pairs = [profile_cost(rows, guarantee, epsilon) for rows in self._blocks()]
        return np.concatenate([o for o, _ in pairs]), np.concatenate([c for _, c in pairs])

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
        assumptions = [*guarantee.assumed]
        if many:
            assumptions.append("the targets' values are independent given what the attacker knows")
        if self._nearby is not None:
            return (*assumptions, self._nearby.describe())
        return (*assumptions, f"the priors of {self.n:,} people are as given")

    def _told(self, claim: Bound) -> Bound:
        near = self._nearby
        return claim if near is None else replace(claim, takes_as_given=(near.describe(),))
