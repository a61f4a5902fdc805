"""What a game came to, as one tree: who played, what is exact, what is proved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from narcissus.game.looks import counts
from narcissus.profiles.write_out import ROUNDING
from narcissus.results import Grade
from narcissus.rows import (
    SLACK,
    Count,
    Fact,
    Level,
    Number,
    Positive,
    Quantity,
    Role,
    Share,
    StudyResult,
    StudyRow,
)

EVERYBODY = "any attacker"
GAP = "gap"
"""What a criterion is about where success is compared with the attacker's own baseline."""

NonNegative = Annotated[float, Field(ge=0)]
Chance = Annotated[float, Field(ge=-SLACK, le=1 + SLACK)]
"""A share that was computed, in [0, 1] but for rounding."""


def grade_of(assumptions: Sequence[str]) -> Grade:
    return "proved if" if assumptions else "proved"


def _require_share(quantity: Quantity) -> Quantity:
    ends = (0.0, quantity.low, quantity.value, quantity.high, 1.0)
    for low, high in pairwise(end for end in ends if end is not None):
        if low > high + SLACK:
            words = f"its numbers are outside [0, 1], or out of order: {low:g} above {high:g}"
            raise ValueError(words)
    return quantity


def _require_grade(quantity: Quantity) -> Quantity:
    if quantity.value is None or quantity.grade != grade_of(quantity.takes_as_given):
        raise ValueError("`grade` does not follow from the assumptions")
    return quantity


Rate = Annotated[Quantity, AfterValidator(_require_share)]
"""A share of attempts within its limits."""
Proved = Annotated[Rate, AfterValidator(_require_grade)]
"""A share whose grade is that of its assumptions."""


def value_of(quantity: Quantity) -> float:
    """Return the number; NaN where there is none."""
    return math.nan if quantity.value is None else quantity.value


def _row(
    role: Role,
    of: str,
    name: str,
    quantity: Quantity,
    about: Fact | None = None,
    *,
    baseline: float | None = None,
    at: Mapping[str, float] | None = None,
) -> StudyRow:
    places = at or {}
    return StudyRow(
        role=role, of=of, name=name, quantity=quantity, baseline=baseline, at=places, about=about
    )


class GameStatement(Fact):
    """What was claimed."""

    name: str
    words: str = Field(description="As a formula.")
    definition: str = Field(description="Paper and number.")
    scope: str | None = Field(default=None, description="What it is about: a world, a family.")
    epsilon: NonNegative | None = Field(default=None, description="Null: it has none.")
    delta: Share | None = Field(default=None, description="What is allowed; null: it has none.")


class FailedAttempt(Fact):
    """A trial at which an attacker raised an error."""

    trial: Count
    seed: str
    error: str


class TrialConversation(Fact):
    """What was said in one trial with a mechanism that is talked with."""

    trial: Count
    greeting: str = Field(description="What the mechanism said unasked; empty: nothing.")
    exchanges: tuple[tuple[str, str], ...] = Field(description="The first questions and answers.")
    questions: Count = Field(description="How many were answered in all.")
    attempt: str
    success: bool = Field(description="Whether the attempt holds for the data.")
    baseline: Share = Field(description="How often it holds for fresh data.")

    @model_validator(mode="after")
    def _counted(self) -> Self:
        if len(self.exchanges) > self.questions:
            raise ValueError("more answers than questions")
        return self


class GameAttacker(Fact):
    """How one attacker fared."""

    name: str
    success: Rate
    fresh: Rate = Field(description="The same attempts, against fresh data.")
    gap: Quantity | None = Field(default=None, description="Success less e^epsilon times fresh.")
    attempts: Count
    failed: Count = Field(description="How often it raised an error.")
    baseline_exact_per_attempt: bool
    failures: tuple[FailedAttempt, ...] = Field(default=(), description="The first of them.")
    transcripts: tuple[TrialConversation, ...] = Field(default=(), description="The first.")

    @model_validator(mode="after")
    def _counted(self) -> Self:
        trials = self.success.trials or 0
        if max(self.failed, self.attempts) > trials:
            raise ValueError(f"more attempts or failures than its {trials} trials")
        return self

    @property
    def is_useless(self) -> bool:
        return self.failed == self.success.trials

    @property
    def gain(self) -> float:
        return value_of(self.success) - value_of(self.fresh)

    @property
    def row(self) -> StudyRow:
        """The success, next to what the same attempts reach against fresh data."""
        baseline = self.fresh.value
        return _row("attack", "success", self.name, self.success, self, baseline=baseline)

    @property
    def fresh_row(self) -> StudyRow:
        return _row("fresh", "", self.name, self.fresh, self)

    def gap_row(self, epsilon: float | None) -> StudyRow | None:
        if self.gap is None:
            return None
        at = None if epsilon is None else {"epsilon": epsilon}
        return _row("measure", GAP, self.name, self.gap, self, at=at)


class PlayEnd(Fact):
    """How a run ended that plays until it is decided."""

    ended: Literal["decided", "below", "budget", "most"] = Field(
        description="The verdict was decided; each attacker is shown to gain no more than is "
        "allowed; time was up; the most trials were played."
    )
    look: Positive = Field(description="The look at the limits, from 1, at which it ended.")


class IsolationPoint(Fact):
    """How often predicates of at most some weight isolate a row, and the best without a release."""

    weight: Share
    success: Share
    baseline: Chance


class PlayedGame(Fact):
    """What attackers did."""

    trials: Positive
    decided: Positive | None = Field(default=None, description="Trial of a certain violation.")
    end: PlayEnd | None = Field(default=None, description="Null where the trials are given.")
    decides: str = Field(description="The attacker with the strongest evidence.")
    member: str = Field(default="", description="Of a family, the distribution that was played.")
    attackers: tuple[GameAttacker, ...]
    refuted: Quantity | None = Field(default=None, description="Largest epsilon, at the delta.")
    curve: tuple[IsolationPoint, ...] = Field(default=(), description="By weight, sampled.")
    remarks: tuple[str, ...] = ()
    breaks: str = Field(description="What a violation of the statement is, in words.")

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        """Refuse counts that cannot be, and an attacker who did not play."""
        if (self.decided or 0) > self.trials:
            raise ValueError(f"decided after {self.decided} of {self.trials} trials")
        if [attacker.name for attacker in self.attackers].count(self.decides) != 1:
            raise ValueError(f"no attacker, or several, are called {self.decides!r}, who decides")
        if (end := self.end) is not None:
            upper_limit = ([0, *counts()][end.look : end.look + 1] or [0])[0]
            lower_limit = 1 if self.decided is not None else upper_limit
            if not lower_limit <= self.trials <= upper_limit or (
                self.decided and end.ended != "decided"
            ):
                raise ValueError(f"{self.trials} trials do not end as `end` says")
        return self

    @property
    def decisive(self) -> GameAttacker:
        return next(attacker for attacker in self.attackers if attacker.name == self.decides)

    def rows(self, epsilon: float | None) -> Iterator[StudyRow]:
        for attacker in self.attackers:
            yield attacker.row
            yield attacker.fresh_row
            if (gap := attacker.gap_row(epsilon)) is not None:
                yield gap
        if self.refuted is not None:
            yield _row("refuted", "", "epsilon", self.refuted)
        for point in self.curve:
            share, at = Quantity(value=point.success, grade="sampled"), {"weight": point.weight}
            yield _row("measure", "isolated", "attack", share, baseline=point.baseline, at=at)


class GapAtEpsilon(Fact):
    """The least delta at an epsilon."""

    epsilon: Number
    delta: Chance


class ExactAnswer(Fact):
    """The game written out, against every attacker; all numbers have the grade of the first."""

    needed: Proved = Field(
        description="At the worst member written out; `high`: enough for all there are, null: "
        "unknown."
    )
    name: str = Field(description="What is needed: the least delta at an epsilon, or an epsilon.")
    member: str = Field(default="", description="Of a family, the worst member.")
    epsilon: Number = Field(description="Where the attacker with the largest gap is taken.")
    success: Chance = Field(description="Of the attacker with the largest gap.")
    baseline: Chance = Field(description="Of the same attempts, against fresh data.")
    gap_member: str = Field(default="", description="Of a family, the member at which that is.")
    largest: Chance = Field(description="Success of any attacker, whatever the baseline.")
    fixed: Chance | None = Field(
        default=None, description="The best fixed guess, if it is about that."
    )
    data_sets: Count
    releases: Count
    guesses: Count
    members: Positive
    profile: tuple[GapAtEpsilon, ...]

    @model_validator(mode="after")
    def _is_exact(self) -> Self:
        if self.needed.low != self.needed.value:
            raise ValueError("what is needed is exact: `low` is its value")
        return self

    @property
    def least(self) -> float:
        """What is needed at the worst member written out."""
        return value_of(self.needed)

    @property
    def enough(self) -> float:
        """What is enough for all members; 1 where that is not known."""
        return 1.0 if self.needed.high is None else self.needed.high

    def quantity(self, value: float, high: float | None = None) -> Quantity:
        """Return a number of the same grade."""
        return Quantity(value=value, high=high, grade=self.needed.grade)

    @property
    def row(self) -> StudyRow:
        return _row("measure", "", self.name, self.needed, self)

    def rows(self) -> Iterator[StudyRow]:
        """Yield the attacker with the largest gap, what is needed and what is enough, deltas."""
        success, at = self.quantity(self.success), {"epsilon": self.epsilon}
        yield _row("measure", "success", EVERYBODY, success, baseline=self.baseline, at=at)
        yield self.row
        for point in self.profile:
            # members that were not written out may need more
            is_all = self.needed.high == self.needed.value
            delta = self.quantity(point.delta, (point.delta or ROUNDING) if is_all else None)
            yield _row("measure", "delta", EVERYBODY, delta, at={"epsilon": point.epsilon})


Limits = Literal["success", "delta"]
"""Which of the two numbers of a game a theorem bounds."""


class GameBound(Fact):
    """What no attacker exceeds, or none of a class, by a theorem."""

    theorem: str
    what: str = Field(description="What is limited, in words.")
    limits: Limits
    against: str = Field(
        default="", description="The class that it is about; empty: every attacker."
    )
    limit: Proved

    @property
    def value(self) -> float:
        return value_of(self.limit)

    @property
    def row(self) -> StudyRow:
        return _row("bound", "bound", self.theorem, self.limit, self)


class BestFixedGuess(Fact):
    """The chance of the best fixed guess: as the statement assumes, or as the world has it."""

    chance: Proved

    @property
    def name(self) -> str:
        return "[statement]" if self.chance.takes_as_given else "[world]"

    @property
    def row(self) -> StudyRow:
        return _row("guess", "", self.name, self.chance)


class RateCover(Fact):
    """How every rate of an interval was looked at, not those written out only."""

    low: Share
    high: Share
    epsilon: NonNegative
    rate: Share = Field(description="The worst rate that was looked at.")
    least: NonNegative = Field(description="What it needs.")
    looked_at: Positive = Field(description="Intervals.")
    tolerance: NonNegative

    @model_validator(mode="after")
    def _inside(self) -> Self:
        if not self.low <= self.rate <= self.high:
            raise ValueError("the worst rate is not in the interval")
        return self


class GameResult(StudyResult):
    """The statement, and what is known of it: played, exact, proved."""

    statement: GameStatement
    confidence: Level
    members: Positive
    play: PlayedGame | None = Field(default=None, description="Null: nobody played.")
    exact: ExactAnswer | None = Field(
        default=None, description="Null: the game was not written out."
    )
    bounds: tuple[GameBound, ...] = ()
    fixed_guess: BestFixedGuess | None = None
    memorized: Quantity | None = Field(default=None, description="Memorized information, in bits.")
    cover: RateCover | None = None
    near: str = Field(
        default="", description="Which near priors are meant; empty: the given one alone."
    )
    between: str = Field(
        default="", description="Why not all rates or near priors are shown to hold."
    )
    told: str = Field(
        default="", description="Side information, where a definition is about all of it."
    )
    outside: tuple[str, ...] = Field(
        default=(), description="Attacks outside of the class assumed."
    )

    def rows(self) -> Iterator[StudyRow]:
        """Yield what attackers did, what is exact, what is proved."""
        if self.play is not None:
            yield from self.play.rows(self.statement.epsilon)
        if self.exact is not None:
            yield from self.exact.rows()
        yield from (bound.row for bound in self.bounds)
        if self.fixed_guess is not None:
            yield self.fixed_guess.row
        if self.memorized is not None:
            yield _row("measure", "memorized bits", "release", self.memorized)
