"""Statements about a mechanism: inequalities between an attacker's success and its own baseline.

A statement turns the scores of trials into values whose mean is at most 0 if the statement holds
for the attacker who played. `narcissus.evidence.Bets` bets on the contrary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._options import FilledIn
from narcissus._validation import between, fraction, integer, probability
from narcissus.evidence.betting import Bets, log_mean
from narcissus.worlds.base import is_derived


class Claim:
    """The base of every statement that a study can name."""

    definition: ClassVar[str]  # paper and number: "Cohen et al. 2024, Definition 1.6"
    # whether fresh data have a relation of their own, the section [looser] of a study
    two_relations: ClassVar[bool] = False
    # whether the definition covers all side information, of which a study tells one
    whatever_is_told: ClassVar[bool] = False

    @classmethod
    def require(cls, game: Any) -> None:
        """Check that a game fits the statement; here no game does.

        Raises
        ------
        InputError
            Something is missing, or the world is another.
        """


LARGEST_EPSILON = 100.0
"""Of a statement: beyond, nothing can violate it in floating point."""


@dataclass(frozen=True)
class Scores:
    """Scores of trials, for one attacker.

    ``baseline`` is the rate at which the same attempt holds for a fresh data set: its exact chance,
    or the share of ``fresh`` fresh data sets.
    """

    success: NDArray[np.bool_]  # whether the attempt holds for the data set, shape (trials,)
    baseline: NDArray[np.float64]  # shape (trials,)
    fresh: int  # fresh data sets for each attempt; 0 where ``baseline`` is exact
    # weight of the attempt as a predicate, or an upper bound; NaN for attempts without
    weight: NDArray[np.float64]
    made: NDArray[np.bool_] | None = None  # whether an attempt was made at all; None: always


@dataclass(frozen=True)
class Test:
    """Values of a trial whose mean is at most 0 under the statement, and their smallest value."""

    __test__ = False  # none of pytest's, which takes every class whose name begins so for one

    values: NDArray[np.floating[Any]]
    lowest: float


class Statement(Protocol):
    """An inequality that a mechanism may satisfy against every attacker.

    One that depends on the world has a method ``prepare(game)`` that returns the one to test.
    """

    rule: ClassVar[Literal["mean", "min"]]

    @property
    def epsilon(self) -> float:
        """The epsilon of the statement, or 0."""
        ...

    @property
    def delta(self) -> float:
        """The delta of the statement, or 0."""
        ...

    def tests(self, scores: Scores) -> list[Test]:
        """Compute the values to bet on; always the same number of tests, in the same order."""
        ...

    def words(self) -> str:
        """Write the inequality in words."""
        ...


@dataclass(frozen=True)
class Resilience(Claim):
    """Success is at most ``e^epsilon`` times the attacker's own baseline, plus ``delta``.

    One inequality for most of the table in theory, section 1: Narcissus resiliency, the variant
    over pairs, Bayesian extraction-safety with one or two criteria, with side information, with
    surprisal, membership inference, one-way functions and encryption. They differ in the world,
    the relation and the side information; each has its name in `success.definitions`.

    Parameters
    ----------
    epsilon
        At least 0, at most 100.
    delta
        In [0, 1].
    """

    epsilon: float = 0.0
    delta: float = 0.0
    rule: ClassVar[Literal["mean", "min"]] = "mean"
    definition: ClassVar[str] = "Narcissus theory 1"

    def __post_init__(self) -> None:
        between("epsilon", self.epsilon, 0, LARGEST_EPSILON)
        probability("delta", self.delta)

    def tests(self, scores: Scores) -> list[Test]:
        """Compute ``R(S, z) - e^epsilon R(T, z) - delta``."""
        factor = math.exp(self.epsilon)
        values = scores.success - factor * scores.baseline - self.delta
        return [Test(values, -(factor + self.delta))]

    def words(self) -> str:
        return f"success <= e^{self.epsilon:g} x own baseline + {self.delta:g}"


@dataclass(frozen=True)
class FixedBaseline(Claim):
    """Success is at most ``e^epsilon`` times the best fixed guess, plus ``delta``.

    Parameters
    ----------
    epsilon
        At least 0, at most 100.
    delta
        In [0, 1].
    best
        Chance of the best guess made without the release, or an upper limit of it.
        None: as `prepare` finds it, otherwise 1, which nothing can violate.

    Notes
    -----
    Source: Cohen et al. 2024, Definition 1.4 (reconstruction robustness).
    """

    epsilon: float = 0.0
    delta: float = 0.0
    best: float | None = None
    rule: ClassVar[Literal["mean", "min"]] = "mean"
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
        """Compute ``R(S, z)`` less the limit."""
        best = 1.0 if self.best is None else self.best
        limit = math.exp(self.epsilon) * best + self.delta
        return [Test(scores.success - limit, min(-limit, -1e-12))]

    def words(self) -> str:
        best = "best fixed guess" if self.best is None else f"{self.best:.6g} (best fixed guess)"
        return f"success <= e^{self.epsilon:g} x {best} + {self.delta:g}"


# How much of the chance of a false "violates" goes to sampled baselines in the threshold statement.
_SLACK = 1e-3


@dataclass(frozen=True)
class Threshold(Claim):
    """Success at attempts whose own baseline is at most ``tau`` has chance at most ``epsilon``.

    Parameters
    ----------
    epsilon
        In [0, 1].
    tau
        Baseline up to which an attempt is not trivial, in [0, 1].

    Notes
    -----
    Source: Cohen et al. 2024, Definition 1.5. Where the baseline of an attempt is sampled, it
    counts as small only if its upper confidence limit at 0.1% is, and 0.1% is added to
    ``epsilon``: "violates" stays valid.
    """

    epsilon: float
    tau: float
    rule: ClassVar[Literal["mean", "min"]] = "mean"
    definition: ClassVar[str] = "Cohen et al. 2024, Definition 1.5"

    @property
    def delta(self) -> float:
        return 0.0

    def __post_init__(self) -> None:
        probability("epsilon", self.epsilon)
        probability("tau", self.tau)

    def tests(self, scores: Scores) -> list[Test]:
        """Compute the event of the definition less ``epsilon``."""
        if scores.fresh:
            hits = np.rint(scores.baseline * scores.fresh)
            upper = np.where(
                hits < scores.fresh,
                special.betainccinv(
                    hits + 1, np.maximum(scores.fresh - hits, 1), np.full(hits.shape, _SLACK)
                ),
                1.0,
            )
            limit = self.epsilon + _SLACK
        else:
            upper, limit = scores.baseline, self.epsilon
        event = scores.success & (upper <= self.tau)
        return [Test(event - limit, min(-limit, -1e-12))]

    def words(self) -> str:
        return f"success at attempts with baseline <= {self.tau:g} is at most {self.epsilon:g}"


@dataclass(frozen=True)
class NotMemorizing(Claim):
    """The negation of (m, xi)-memorizing, for the attacker who played.

    A violation requires both of the attacker: it answers "in" for at least ``m / n`` of the
    members, and for at most a share ``xi`` of fresh records.

    Parameters
    ----------
    m, n
        Memorized rows, rows of a data set.
    xi
        False positive rate, in (0, 1).

    Notes
    -----
    Source: Kaplan et al. 2025, Definition 1.2 (Attias et al. 2024).
    """

    m: int
    n: Annotated[int, FilledIn()]
    xi: float
    rule: ClassVar[Literal["mean", "min"]] = "min"
    definition: ClassVar[str] = "Kaplan et al. 2025, Definition 1.2"

    @property
    def epsilon(self) -> float:
        return 0.0

    @property
    def delta(self) -> float:
        return 0.0

    def __post_init__(self) -> None:
        integer("n", self.n, low=1)
        integer("m", self.m, low=1, high=self.n)
        fraction("xi", self.xi)

    def tests(self, scores: Scores) -> list[Test]:
        """Compute "in" for members less ``m / n``, and ``xi`` less "in" for strangers."""
        share = self.m / self.n
        return [Test(scores.success - share, -share), Test(self.xi - scores.baseline, self.xi - 1)]

    def words(self) -> str:
        return (
            f"'in' for fewer than {self.m} of {self.n} members, or for more than "
            f"{self.xi:g} of strangers"
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

    def update(self, scores: Scores) -> NDArray[np.float64]:
        """Bet on further trials; return the log capital after each."""
        tests = self.statement.tests(scores)
        if not self.bets:
            self.bets = [Bets(test.lowest) for test in tests]
        paths = np.stack(
            [bet.update(test.values) for bet, test in zip(self.bets, tests, strict=True)]
        )
        # One of several claims at once: the mean of the capitals is a capital. A claim that is an
        # "or" falls only if each part does: the smallest capital decides.
        return log_mean(paths) if self.statement.rule == "mean" else paths.min(axis=0)


def largest_refuted(
    all_scores: list[Scores], delta: float, hurdle: float, *, step: float = 0.02
) -> float | None:
    """Find the largest ``epsilon`` up to which resilience is refuted by what was played.

    Every ``epsilon`` of a grid from 0, with the given ``step``, is bet against by all attackers
    together, and falls at log capital ``hurdle``, ``log(1 / alpha)``. The last one before the first
    that stands is reported: a report above the truth needs one true claim to be refuted, so it is
    wrong with the chance of a single test. None where not even ``epsilon = 0`` is refuted.
    """
    packed = [_pack(scores) for scores in all_scores]
    found = None
    for number in range(10_000):
        factor = math.exp(number * step)
        logs = [
            Bets(-(factor + delta)).add_counts(success - factor * baseline - delta, counts)
            for success, baseline, counts in packed
        ]
        if float(log_mean(np.asarray(logs)[:, None])[0]) < hurdle:
            break
        found = number * step
    return found


def _pack(scores: Scores) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
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
