"""Statements about a mechanism: inequalities between an attacker's success and its own baseline.

A statement turns the scores of trials into values whose mean is at most 0 if the statement holds
for the attacker who played. `narcissus.evidence.Bets` bets on the contrary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._arrays import Floats
from narcissus._options import FilledIn
from narcissus._validation import between, fraction, integer, non_negative, probability
from narcissus.errors import InputError
from narcissus.evidence.betting import Bets, log_mean
from narcissus.worlds.base import Law, is_derived, members
from narcissus.worlds.finite import Finite, Pairs, RandomNeighbours
from narcissus.worlds.products import Bits, Records
from narcissus.worlds.tardos import Superset, Tardos


class Claim:
    """The base of every statement that a study can name."""

    definition: ClassVar[str]  # paper and number: "Cohen et al. 2024, Definition 1.6"
    # how the tests of one attacker combine: all claimed at once, or an "or" of claims
    rule: ClassVar[Literal["mean", "min"]] = "mean"
    # whether fresh data have a relation of their own, the section [looser] of a study
    two_relations: ClassVar[bool] = False
    # whether the definition covers all side information, of which a study tells one
    whatever_is_told: ClassVar[bool] = False

    @classmethod
    def require(cls, game: Any) -> None:
        """Check that a game fits the statement; raise `InputError` otherwise."""


LARGEST_EPSILON = 100.0
"""Of a statement: beyond, nothing can violate it in floating point."""


@dataclass(frozen=True)
class Scores:
    """Scores of trials, for one attacker."""

    success: NDArray[np.bool_]  # whether the attempt holds for the data set, shape (trials,)
    # rate at which the same attempt holds for a fresh data set: its exact chance, or the share of
    # ``fresh`` fresh data sets; shape (trials,)
    baseline: Floats
    fresh: int  # fresh data sets for each attempt; 0 where ``baseline`` is exact
    weight: Floats  # of the attempt as a predicate, or an upper bound; NaN for others
    made: NDArray[np.bool_] | None = None  # whether an attempt was made at all; None: always


@dataclass(frozen=True)
class Test:
    """Values of a trial whose mean is at most 0 under the statement, and their smallest value."""

    __test__ = False  # no test of pytest's, which collects classes by their names

    values: NDArray[np.floating[Any]]
    lowest: float


def _less(event: NDArray[np.bool_], limit: float) -> Test:
    """Return the test that an event has at most the chance ``limit``."""
    return Test(event - limit, min(-limit, -1e-12))


class Statement(Protocol):
    """An inequality that a mechanism may satisfy against every attacker.

    One that depends on the world has a method ``prepare(game)`` that returns the one to test.
    """

    rule: ClassVar[Literal["mean", "min"]]
    definition: ClassVar[str]
    whatever_is_told: ClassVar[bool]

    @property
    def epsilon(self) -> float: ...

    @property
    def delta(self) -> float: ...

    def tests(self, scores: Scores) -> list[Test]:
        """Compute the values to bet on; always as many tests, in the same order."""
        ...

    def words(self) -> str: ...


@dataclass(frozen=True)
class Resilience(Claim):
    """Success is at most ``e^epsilon`` times the attacker's own baseline, plus ``delta``.

    The papers' definitions that are this inequality differ in world, relation and side information.

    epsilon: At least 0, at most 100.
    delta: In [0, 1].
    """

    epsilon: float = 0.0
    delta: float = 0.0
    definition: ClassVar[str] = "Narcissus theory 1"

    def __post_init__(self) -> None:
        between("epsilon", self.epsilon, 0, LARGEST_EPSILON)
        probability("delta", self.delta)

    def tests(self, scores: Scores) -> list[Test]:
        factor = math.exp(self.epsilon)
        values = scores.success - factor * scores.baseline - self.delta
        return [Test(values, -(factor + self.delta))]

    def words(self) -> str:
        return f"success <= e^{self.epsilon:g} x own baseline + {self.delta:g}"


@dataclass(frozen=True)
class FixedBaseline(Claim):
    """Success is at most ``e^epsilon`` times the best fixed guess, plus ``delta``.

    Source: Cohen et al. 2024, Definition 1.4 (reconstruction robustness).

    epsilon: At least 0, at most 100.
    delta: In [0, 1].
    best: Chance of the best guess made without the release, or an upper limit of it. None: as
        `prepare` finds it, otherwise 1, which nothing can violate.
    """

    epsilon: float = 0.0
    delta: float = 0.0
    best: float | None = None
    definition: ClassVar[str] = "Cohen et al. 2024, Definition 1.4"

    def __post_init__(self) -> None:
        between("epsilon", self.epsilon, 0, LARGEST_EPSILON)
        probability("delta", self.delta)
        if self.best is not None:
            probability("best", self.best)

    def prepare(self, game: Any) -> FixedBaseline:
        """Take the best guess from the relation, where it has a formula for the world."""
        unknown = game.side is not None or is_derived(game.world)
        if unknown or self.best is not None or not hasattr(game.relation, "best"):
            return self
        return replace(self, best=game.relation.best(game.world))

    def tests(self, scores: Scores) -> list[Test]:
        best = 1.0 if self.best is None else self.best
        return [_less(scores.success, math.exp(self.epsilon) * best + self.delta)]

    def words(self) -> str:
        best = "best fixed guess" if self.best is None else f"{self.best:.6g} (best fixed guess)"
        return f"success <= e^{self.epsilon:g} x {best} + {self.delta:g}"


# How much of the chance of a false "violates" goes to sampled baselines in the threshold statement.
_SLACK = 1e-3


@dataclass(frozen=True)
class Threshold(Claim):
    """Success at attempts whose own baseline is at most ``tau`` has chance at most ``epsilon``.

    Source: Cohen et al. 2024, Definition 1.5. Where the baseline of an attempt is sampled, it
    counts as small only if its upper confidence limit at 0.1% is, and 0.1% is added to
    ``epsilon``: "violates" stays valid.

    epsilon: In [0, 1].
    tau: Baseline up to which an attempt is not trivial, in [0, 1].
    """

    epsilon: float
    tau: float
    delta: ClassVar[float] = 0.0
    definition: ClassVar[str] = "Cohen et al. 2024, Definition 1.5"

    def __post_init__(self) -> None:
        probability("epsilon", self.epsilon)
        probability("tau", self.tau)

    def tests(self, scores: Scores) -> list[Test]:
        if not scores.fresh:
            return [_less(scores.success & (scores.baseline <= self.tau), self.epsilon)]
        hits = np.rint(scores.baseline * scores.fresh)
        missed = np.maximum(scores.fresh - hits, 1)
        upper = special.betainccinv(hits + 1, missed, np.full(hits.shape, _SLACK))
        upper = np.where(hits < scores.fresh, upper, 1.0)
        return [_less(scores.success & (upper <= self.tau), self.epsilon + _SLACK)]

    def words(self) -> str:
        return f"success at attempts with baseline <= {self.tau:g} is at most {self.epsilon:g}"


@dataclass(frozen=True)
class NotMemorizing(Claim):
    """The negation of (m, xi)-memorizing, for the attacker who played.

    A violation requires both of the attacker: it answers "in" for at least ``m / n`` of the
    members, and for at most a share ``xi`` of fresh records.

    Source: Kaplan et al. 2025, Definition 1.2 (Attias et al. 2024).

    m, n: Memorized rows, rows of a data set.
    xi: False positive rate, in (0, 1).
    """

    m: int
    n: Annotated[int, FilledIn()]
    xi: float
    epsilon: ClassVar[float] = 0.0
    delta: ClassVar[float] = 0.0
    rule: ClassVar[Literal["mean", "min"]] = "min"
    definition: ClassVar[str] = "Kaplan et al. 2025, Definition 1.2"

    def __post_init__(self) -> None:
        integer("n", self.n, low=1)
        integer("m", self.m, low=1, high=self.n)
        fraction("xi", self.xi)

    def tests(self, scores: Scores) -> list[Test]:
        share = self.m / self.n
        return [Test(scores.success - share, -share), Test(self.xi - scores.baseline, self.xi - 1)]

    def words(self) -> str:
        return (
            f"'in' for fewer than {self.m} of {self.n} members, or for more than "
            f"{self.xi:g} of strangers"
        )


@dataclass(frozen=True)
class KeptSurprisal:
    """The condition on ``h(z | K, others)`` for a recovered row ``z`` of the data set to count.

    Source: Kaplan et al. 2025, Definition 4.4 and Remark 4.5.

    share: Share of ``h(z | others)``, in [0, 1].
    bits: Bits that must be left in addition, whatever the row had before, at least 0.
    fresh_share: The same share for rows of fresh data, which count for the baseline only where they
        keep it; None sets no condition.
    """

    share: float
    bits: float = 0.0
    fresh_share: float | None = None

    def __post_init__(self) -> None:
        probability("share", self.share)
        non_negative("bits", self.bits)
        if self.fresh_share is not None:
            probability("fresh_share", self.fresh_share)

    @classmethod
    def of(cls, asked: float | KeptSurprisal) -> KeptSurprisal:
        return asked if isinstance(asked, KeptSurprisal) else cls(asked)

    @property
    def of_fresh(self) -> KeptSurprisal | None:
        """The condition on rows of fresh data; None for none."""
        return None if self.fresh_share is None else KeptSurprisal(self.fresh_share)

    def enough(self, told: Floats, plain: Floats) -> NDArray[np.bool_]:
        """Check surprisals in bits, with (``told``) and without (``plain``) ``K``."""
        return np.asarray(told >= np.maximum(self.share * plain, self.bits) - 1e-9)


@dataclass(frozen=True)
class NarcissusResilience(Resilience):
    """The mechanism is Narcissus resilient: success against the attacker on a fresh data set."""

    definition: ClassVar[str] = "Cohen et al. 2024, Definition 1.6"


@dataclass(frozen=True)
class PairResilience(Resilience):
    """Narcissus resilience over pairs: the fresh data set is the other one of the pair."""

    definition: ClassVar[str] = "Cohen et al. 2024, Definition A.2"

    @classmethod
    def require(cls, game: Any) -> None:
        worlds = members(game.world).values()
        if not all(isinstance(world, Pairs | RandomNeighbours) for world in worlds):
            raise InputError(
                "the statement `pairs` needs a world of pairs: `pairs`, `neighbours` (each pair "
                "by itself) or `random-neighbours` (one drawn)"
            )


@dataclass(frozen=True)
class BayesianSafety(Resilience):
    """The mechanism is Bayesian extraction-safe: a distribution is drawn from a meta-distribution.

    Data and fresh data are drawn from it independently: the fresh data set is drawn given Nature,
    and not given the release.
    """

    definition: ClassVar[str] = "Kaplan et al. 2025, Definition 3.1"


@dataclass(frozen=True)
class TwoCriteriaSafety(Resilience):
    """Bayesian extraction-safety with a looser relation for the fresh data set."""

    definition: ClassVar[str] = "Kaplan et al. 2025, Definition 3.6"
    two_relations: ClassVar[bool] = True

    @classmethod
    def require(cls, game: Any) -> None:
        if game.looser is None:
            raise InputError("the statement `two-criteria` needs a section [looser]")


@dataclass(frozen=True)
class SafetyGivenKnowledge(Resilience):
    """Extraction-safety against an attacker with side information.

    The definition covers all side information; a study tells one. A violation of the statement
    violates the definition, and resilience is shown for the side information of the study.
    """

    definition: ClassVar[str] = "Kaplan et al. 2025, Definition 4.1"
    whatever_is_told: ClassVar[bool] = True

    @classmethod
    def require(cls, game: Any) -> None:
        if game.side is None:
            raise InputError("the statement `side-information` needs a section [side-information]")


@dataclass(frozen=True)
class SurprisalResilience(Resilience):
    """Resilience where a row counts only if the attacker was not told too much about it.

    Source: Kaplan et al. 2025, Definitions 4.4 and 4.11; Remark 4.5 (``bits``, ``fresh_share``).

    share: xi: share of its surprisal that a row keeps, in [0, 1].
    bits: Bits of surprisal that a row must keep in addition, whatever it had, at least 0.
    fresh_share: Share that recovered rows of fresh data must keep to count for the baseline; by
        default all of them count.
    """

    share: float = field(kw_only=True)
    bits: float = field(default=0.0, kw_only=True)
    fresh_share: float | None = field(default=None, kw_only=True)
    definition: ClassVar[str] = "Kaplan et al. 2025, Definitions 4.4 and 4.11"
    two_relations: ClassVar[bool] = True
    whatever_is_told: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        KeptSurprisal(self.share, self.bits, self.fresh_share)

    def words(self) -> str:
        phrases = [super().words()]
        if self.bits:
            phrases.append(f"where a row counts that keeps {self.bits:g} bits")
        if self.fresh_share is not None:
            phrases.append(
                f"a row of fresh data where it keeps {self.fresh_share:g} of its surprisal"
            )
        return ", ".join(phrases)


@dataclass(frozen=True)
class MembershipResilience(Resilience):
    """Membership inference as resilience: the attempt names a record, in the data set or not."""

    definition: ClassVar[str] = "Cohen et al. 2024, Definition 2.1 and Theorem 2.3"


@dataclass(frozen=True)
class NarcissusSinglingOut(Resilience):
    """Narcissus predicate singling out: a predicate isolates a row, or one of fresh data."""

    definition: ClassVar[str] = "Cohen et al. 2024, Definition 2.5"


@dataclass(frozen=True)
class OneWayness(Resilience):
    """One-wayness as resilience: the attempt is a preimage."""

    definition: ClassVar[str] = "Cohen et al. 2024, Theorem B.5"


@dataclass(frozen=True)
class EncryptionSecurity(Resilience):
    """Security of encryption as resilience: the attempt names the message of a pair."""

    definition: ClassVar[str] = "Cohen et al. 2024, Theorems B.8 and B.12"


SAME = 1e-12
"""Weights that differ by less, relatively, are one: they are sums that were rounded."""


def achievable(law: Law | None) -> Floats | None:
    """Return the weights that predicates on a record can have, rising from 0.

    None where there is no law, or more than some million sums of its probabilities.

    >>> achievable(Law(np.arange(3), np.array([0.5, 0.25, 0.25]))).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if law is None:
        return None
    chances, times = np.unique(law.chances[law.chances > 0], return_counts=True)
    if np.log2(times + 1.0).sum() > 20:
        return None
    sums = np.zeros(1)
    for chance, count in zip(chances, times, strict=True):
        sums = np.sort((sums[:, None] + chance * np.arange(count + 1)).ravel())
        # the largest of those that are equal up to rounding
        sums = sums[np.append(np.diff(sums) > SAME * sums[1:], True)]
    return np.minimum(sums, 1.0)


@dataclass(frozen=True)
class SinglingOut(Claim):
    """Predicate singling out: for every ``w <= w_max``, isolating with weight at most ``w``.

    Source: Cohen et al. 2024, Definition 2.4. The baseline is the supremum over the predicates
    of D with weight at most ``w``, that is over ``n w' (1 - w')^(n - 1)`` for weights ``w'`` that
    a predicate can have.

    epsilon: At least 0, at most 100.
    delta: In [0, 1].
    n: Rows of a data set, drawn independently from one distribution D.
    w_max: Largest weight that counts as light, in (0, 1].
    points: Most weights at which the curve is evaluated. The curve changes only at weights of some
        predicate; where these are more, or unknown, the points are spread evenly on a logarithmic
        scale from ``1e-9 * w_max`` to ``w_max``.
    possible: Weights of the predicates on a record of D, rising from 0. None: unknown; then every
        weight is taken to be possible, which allows the mechanism more than the definition does. A
        violation of the statement stays valid, satisfaction may not.
    """

    n: Annotated[int, FilledIn()]
    w_max: float
    epsilon: float = 0.0
    delta: float = 0.0
    points: int = 28
    possible: Annotated[Floats | None, FilledIn()] = field(default=None, repr=False, compare=False)
    rule: ClassVar[Literal["mean", "min"]] = "mean"
    definition: ClassVar[str] = "Cohen et al. 2024, Definition 2.4"

    def __post_init__(self) -> None:
        integer("n", self.n, low=1)
        between("epsilon", self.epsilon, 0, LARGEST_EPSILON)
        probability("delta", self.delta)
        between("w_max", self.w_max, 0, 1, open_low=True)
        integer("points", self.points, low=1, high=1000)

    @classmethod
    def require(cls, game: Any) -> None:
        for world in members(game.world).values():
            name = type(world).__name__
            if isinstance(world, Bits | Records) and world.law is None:
                raise InputError(
                    "the statement `singling-out` is about rows that are drawn from one "
                    f"distribution, and those of the world {name} are not alike"
                )
            if isinstance(world, Finite | Pairs | RandomNeighbours | Superset | Tardos):
                raise InputError(
                    "the statement `singling-out` is about rows that are drawn independently from "
                    f"one distribution, and those of the world {name} are not; it works for bits, "
                    "records, uniform, mona-lisa, or a custom world"
                )

    def prepare(self, game: Any) -> SinglingOut:
        return replace(self, possible=achievable(getattr(game.world, "law", None)))

    @property
    def weights(self) -> Floats:
        """The weights ``w`` of the curve, from light to heavy."""
        if self.possible is not None:
            light = self.possible[self.possible <= self.w_max * (1 + SAME)]
            if len(light) <= self.points:
                return light
        if self.points == 1:
            return np.array([self.w_max])
        return self.w_max * np.logspace(-9, 0, self.points)

    def baseline(self, w: Floats | float) -> Floats:
        """Compute the best chance to isolate without the release, at weight at most ``w``."""
        if self.possible is None:
            return self._isolates(np.minimum(w, 1 / self.n))
        best = np.maximum.accumulate(self._isolates(self.possible))
        return best[np.searchsorted(self.possible, np.multiply(w, 1 + SAME), side="right") - 1]

    def _isolates(self, weight: Floats) -> Floats:
        """Compute the chance that a predicate of a weight holds for exactly one of ``n`` rows."""
        if self.n == 1:
            return np.asarray(weight)
        with np.errstate(divide="ignore"):
            return self.n * weight * np.exp((self.n - 1) * np.log1p(-np.asarray(weight)))

    def tests(self, scores: Scores) -> list[Test]:
        light = np.nan_to_num(scores.weight, nan=np.inf)
        limits = math.exp(self.epsilon) * self.baseline(self.weights) + self.delta
        return [
            _less(scores.success & (light <= w * (1 + SAME)), limit)
            for w, limit in zip(self.weights, limits, strict=True)
        ]

    def words(self) -> str:
        return (
            f"for every w <= {self.w_max:g}: isolating with weight <= w has chance at most "
            f"e^{self.epsilon:g} x max n w'(1-w')^(n-1) + {self.delta:g}, over the weights w' <= w "
            "that a predicate can have"
        )


def prepared(statement: Statement, game: Any) -> Statement:
    """Return the statement to test in a game whose world is one distribution."""
    prepare = getattr(statement, "prepare", None)
    return statement if prepare is None else prepare(game)


class Evidence:
    """Bets against a statement, carried from batch to batch."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.bets: list[Bets] = []

    def update(self, scores: Scores) -> Floats:
        """Bet on further trials; return the log capital after each."""
        tests = self.statement.tests(scores)
        if not self.bets:
            self.bets = [Bets(test.lowest) for test in tests]
        paths = np.stack(
            [bet.update(test.values) for bet, test in zip(self.bets, tests, strict=True)]
        )
        # The mean of capitals is a capital; an "or" falls only if each part does: the smallest.
        return log_mean(paths) if self.statement.rule == "mean" else paths.min(axis=0)


def largest_refuted(
    all_scores: list[Scores], delta: float, hurdle: float, *, step: float = 0.02
) -> float | None:
    """Find the largest ``epsilon`` on a grid up to which the scores refute resilience.

    Each is bet against by all attackers together, and falls at log capital ``hurdle``,
    ``log(1 / alpha)``. The last one before the first that holds is wrong only if one true claim
    is refuted, so with the chance of a single test. None where ``epsilon = 0`` holds.
    """
    packed = [_pack(scores) for scores in all_scores]
    epsilon = None
    for number in range(10_000):
        factor = math.exp(number * step)
        logs = [
            Bets(-(factor + delta)).add_counts(success - factor * baseline - delta, counts)
            for success, baseline, counts in packed
        ]
        if float(log_mean(np.asarray(logs)[:, None])[0]) < hurdle:
            break
        epsilon = number * step
    return epsilon


def _pack(scores: Scores) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return distinct pairs of scores and their counts; baselines are rounded up, never down."""
    baseline = scores.baseline
    if len(np.unique(baseline)) > 4096:
        # Steps of 0.5% on a logarithmic scale; upwards, so that nothing is refuted by rounding.
        with np.errstate(divide="ignore"):
            steps = np.ceil(np.log(np.maximum(baseline, 1e-300)) / 0.005)
        baseline = np.minimum(np.exp(steps * 0.005), 1.0)
        baseline[scores.baseline == 0] = 0
    pairs = np.stack([scores.success.astype(np.float64), baseline], axis=1)
    unique, counts = np.unique(pairs, axis=0, return_counts=True)
    return unique[:, 0], unique[:, 1], counts.astype(np.int64)
