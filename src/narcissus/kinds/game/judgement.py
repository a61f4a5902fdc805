"""What follows from the rows of a game: one statement, exact answers before proofs before play."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, Self, cast

from pydantic import Field, model_validator

from narcissus._outwards import upper
from narcissus.findings import Finding, weakest
from narcissus.game.looks import counts, most_needed
from narcissus.profiles.write_out import ROUNDING
from narcissus.results import Grade, Status
from narcissus.rows import (
    Case,
    Count,
    Decision,
    Fact,
    Findings,
    Level,
    Positive,
    Share,
    StudyCriterion,
    StudyJudgement,
    StudyRow,
)

WHATEVER_IS_TOLD = frozenset({"kaplan-4.8"})  # theorems that hold for every side information
OF_PRIVACY = frozenset({"cohen-a.4", "cohen-e.1"})  # theorems whose delta is such a difference
EVERYBODY = "any attacker"
SUCCESS = "success of the best attacker"
GAP = "gap"
"""What a criterion is about where success is compared with the attacker's own baseline."""
NonNegative = Annotated[float, Field(ge=0)]


class GameStatement(Fact):
    """What was claimed."""

    name: str
    words: str = Field(description="As a formula.")
    definition: str = Field(description="Paper and number.")
    scope: str | None = Field(None, description="What it speaks of: this one world, a family.")
    epsilon: NonNegative | None = Field(None, description="Null where the statement has none.")
    delta: Share | None = Field(None, description="What is allowed; null where it has none.")


class FailedAttempt(Fact):
    """A trial at which an attacker raised an error."""

    trial: Count
    seed: str
    error: str


class SaidInTrial(Fact):
    """What was said in one trial with a mechanism that is talked with."""

    trial: Count
    greeting: str = Field(description="What the mechanism said unasked; empty: nothing.")
    exchanges: tuple[tuple[str, str], ...] = Field(description="The first questions and answers.")
    questions: Count = Field(description="How many were answered in all.")
    attempt: str
    success: bool = Field(description="Whether the attempt holds for the data.")
    baseline: Share = Field(description="How often it holds for fresh data.")


class AttackerDetail(Fact):
    """What no number says of an attacker."""

    name: str
    baseline_exact_per_attempt: bool
    failures: tuple[FailedAttempt, ...] = Field((), description="The first of them.")
    transcripts: tuple[SaidInTrial, ...] = Field((), description="The first conversations.")


class PlayedUntil(Fact):
    """How a run ended that plays until it is decided."""

    ended: Literal["decided", "below", "budget", "most"] = Field(
        description="The verdict was decided; each attacker is shown to gain no more than is "
        "allowed; time was up; the most trials were played."
    )
    look: Positive = Field(description="The look at the limits, from 1, at which it ended.")


class CoverDetail(Fact):
    """How every rate of an interval was looked at, not those written out only."""

    low: Share
    high: Share
    epsilon: NonNegative
    rate: Share = Field(description="The worst rate that was looked at.")
    least: NonNegative = Field(description="What it needs.")
    looked_at: Positive = Field(description="Intervals.")
    tolerance: NonNegative


class GameDetail(Fact):
    """The statement, and how it was tested."""

    statement: GameStatement
    confidence: Level
    trials: Count
    decided: Positive | None = Field(None, description="Trial at which a violation was certain.")
    end: PlayedUntil | None = Field(None, description="Null where the trials are given.")
    decides: str = Field("", description="The attacker with the strongest evidence; empty: none.")
    member: str = Field("", description="Of a family, the distribution that was played.")
    members: Positive
    attackers: tuple[AttackerDetail, ...] = ()
    remarks: tuple[str, ...] = ()
    cover: CoverDetail | None = None
    near: str = Field("", description="Which near priors are meant; empty: the given one alone.")
    between: str = Field("", description="Why not all rates or near priors are shown to hold.")
    told: str = Field("", description="Side information, where a definition is about all of it.")
    outside: tuple[str, ...] = Field((), description="Attacks outside of the class assumed.")
    breaks: str = Field("", description="What a violation of the statement is, in words.")

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        """Refuse counts that cannot be; no row tells of them."""
        transcripts = [
            transcript for attacker in self.attackers for transcript in attacker.transcripts
        ]
        if (self.decided or 0) > self.trials or (self.attackers and not self.trials):
            raise ValueError(f"decided after {self.decided} of {self.trials} trials")
        if (end := self.end) is not None:
            upper_limit = ([0, *counts()][end.look : end.look + 1] or [0])[0]
            lower_limit = 1 if self.decided is not None else upper_limit
            if not lower_limit <= self.trials <= upper_limit or (
                self.decided and end.ended != "decided"
            ):
                raise ValueError(f"{self.trials} trials do not end as `end` says")
        if any(len(transcript.exchanges) > transcript.questions for transcript in transcripts):
            raise ValueError("more answers than questions")
        if self.cover is not None and not self.cover.low <= self.cover.rate <= self.cover.high:
            raise ValueError("the worst rate is not in the interval")
        return self


@dataclass(frozen=True)
class PlayedAttacker:
    """How one attacker fared."""

    success: StudyRow
    fresh: StudyRow  # The same attempts, against fresh data
    gap: StudyRow | None  # Success less ``e^epsilon`` times the baseline, if it is about that
    said: AttackerDetail

    @property
    def name(self) -> str:
        return self.success.name

    @property
    def failed(self) -> int:
        return int(self.success.facts["failed"])

    @property
    def is_useless(self) -> bool:
        return self.failed == self.success.quantity.trials

    @property
    def gain(self) -> float:
        return self.success.value - self.fresh.value


@dataclass(frozen=True, kw_only=True)
class JudgedGame(Case):
    """The statement of a game, and what follows; numbers at odds override any other outcome."""

    findings: Findings

    @property
    def detail(self) -> GameDetail:
        return self.findings.detail

    @property
    def criterion(self) -> StudyCriterion:
        [study_criterion] = self.findings.criteria
        return study_criterion

    @property
    def limit(self) -> float:
        """What is allowed of what is needed."""
        return 0.0 if self.criterion.at_most is None else self.criterion.at_most

    def _only(self, role: str, of: str = "") -> StudyRow | None:
        return next((r for r in self.findings.rows if (r.role, r.of) == (role, of)), None)

    @cached_property
    def needed(self) -> StudyRow | None:
        """The exact answer; up to `high` whatever lies between the members written out."""
        return None if (row := self._only("measure")) is None else _graded(row)

    @property
    def top(self) -> StudyRow:
        """The exact success of the attacker with the largest gap."""
        [row] = self.findings.select(of="success", role="measure")
        return row

    @property
    def profile(self) -> tuple[StudyRow, ...]:
        return self.findings.select(of="delta")

    @cached_property
    def proofs(self) -> tuple[StudyRow, ...]:
        return tuple(map(_graded, self.findings.select(role="bound")))

    @cached_property
    def attackers(self) -> tuple[PlayedAttacker, ...]:
        """The attackers of the run; one whose rows do not fit each other raises an error."""
        rows = self.findings.select(role="attack")
        fresh = {row.name: row for row in self.findings.select(role="fresh")}
        gaps = {row.name: row for row in self.findings.select(of=GAP)}
        details = {detail.name: detail for detail in self.detail.attackers}
        if not {row.name for row in rows} == fresh.keys() == details.keys() >= gaps.keys():
            raise ValueError("its attackers are not those of its detail")
        for row in rows:
            count = row.quantity.trials or 0
            if max(int(row.facts["failed"]), int(row.facts.get("attempts", 0))) > count:
                raise ValueError(f"more attempts or failures than its {count} trials")
        end, decided = self.detail.end, self.detail.decided or self.needed or self.proof
        if end is not None and end.ended == "decided" and not decided:
            raise ValueError("nothing decides what `end` says was decided")
        if end is not None and end.ended == "below":
            ends = [gap.quantity.high for gap in gaps.values()]
            if len(gaps) < len(rows) or any(high is None or high > self.limit for high in ends):
                raise ValueError("an attacker may gain more than is allowed, which `end` denies")
        return tuple(
            PlayedAttacker(r, fresh[r.name], gaps.get(r.name), details[r.name]) for r in rows
        )

    @property
    def trials_needed(self) -> int | None:
        """About how many trials would decide whether the attackers gain more than is allowed."""
        gaps = [attacker.gap.quantity for attacker in self.attackers if attacker.gap is not None]
        return most_needed(gaps, self.limit) if self.status == "inconclusive" else None

    @property
    def decisive(self) -> PlayedAttacker | None:
        """The attacker of every sentence about the best one; None where nobody played.

        A record that does not say who decides is of a time before: of its attackers the one that
        gains most by the statement, as far as the record holds what that is about.
        """
        if self.detail.decides:
            return next(
                attacker for attacker in self.attackers if attacker.name == self.detail.decides
            )

        def gain(one: PlayedAttacker) -> float:
            if one.gap is not None:
                return one.gap.value
            fixed = self.detail.statement.name == "fixed-baseline"
            return one.success.value if fixed else one.gain

        return max(self.attackers, key=gain, default=None)

    @property
    def played(self) -> bool:
        """Whether some attacker did not fail at every trial."""
        return not all(attacker.is_useless for attacker in self.attackers)

    @property
    def refuted(self) -> float | None:
        """The largest epsilon refuted at the statement's delta."""
        return None if (row := self._only("refuted")) is None else row.value

    @property
    def best_fixed(self) -> StudyRow | None:
        """The chance of the best fixed guess that the statement names."""
        return self._only("guess")

    @property
    def allowed(self) -> float:
        """What is allowed of an exact answer, rounding included."""
        assert self.needed is not None
        return self.limit + min(float(self.needed.facts.get("rounding", 0.0)), ROUNDING)

    @property
    def holds(self) -> bool:
        """Whether the exact answer is within what is allowed, where it was written out."""
        return self.needed is not None and self.needed.value <= self.allowed

    @property
    def looked_at(self) -> str:
        """What is written out of a family that has more members; empty where all of it is."""
        return "priors" if self.detail.near else "rates" if self.detail.cover is not None else ""

    def suffices(self, proof: StudyRow) -> bool:
        """Return whether a theorem proves the statement.

        A tail keeps its digits, however small; a difference of numbers near one does not.
        """
        rounded = proof.quantity.id in OF_PRIVACY or "rounded" in proof.facts
        room = ROUNDING if rounded else ROUNDING * self.limit
        return proof.value <= self.limit + room

    @cached_property
    def proof(self) -> StudyRow | None:
        """The theorem that decides: what assumes least, then what covers more, then the least.

        One for a class of attackers is none.
        """

        def order(row: StudyRow) -> tuple[int, bool, float]:
            quantity = row.quantity
            return len(quantity.takes_as_given), quantity.id not in WHATEVER_IS_TOLD, row.value

        return min(filter(self.suffices, self.universal), key=order, default=None)

    @cached_property
    def universal(self) -> tuple[StudyRow, ...]:
        """Theorems about every attacker."""
        return tuple(row for row in self.proofs if "against" not in row.facts)

    @cached_property
    def classes(self) -> tuple[StudyRow, ...]:
        """Limits for a class of attackers, as in [assume]; others may exceed them."""
        return tuple(row for row in self.proofs if "against" in row.facts)

    @cached_property
    def of_class(self) -> StudyRow | None:
        """The limit for a class that decides; None where what is about every attacker does."""
        high = self.needed.quantity.high if self.needed is not None and self.holds else None
        if self.proof is not None or (high is not None and high <= self.allowed):
            return None
        return next(filter(self.suffices, self.classes), None)

    @cached_property
    def beyond(self) -> tuple[str, ...]:
        """Attacks that exceed the limit for a class of attackers, where one decides."""
        if self.of_class is None:
            return ()
        limit, best, names = self.of_class.value, math.inf, list[str]()
        written = {} if self.needed is None else self.needed.facts
        if self.best_fixed is not None:
            best = self.best_fixed.value
        elif "fixed" in written and written.get("member") == self.detail.member:
            best = float(written["fixed"])
        fixed = math.exp(self.detail.statement.epsilon or 0.0) * best
        for attacker in self.attackers:
            row, less = (attacker.success, fixed) if attacker.gap is None else (attacker.gap, 0.0)
            if row.quantity.low is not None and row.quantity.low - less > limit:
                names.append(attacker.name)
        if self.detail.decided is not None and self.decisive is not None:
            names.append(self.decisive.name)
        return tuple(dict.fromkeys(names))

    @cached_property
    def undeclared(self) -> tuple[str, ...]:
        """Those that the study does not call outside of the class."""
        return tuple(name for name in self.beyond if name not in self.detail.outside)

    @property
    def status_alone(self) -> Status:
        """The status, were nothing contradicted."""
        if self.of_class is not None:
            return "inconclusive" if self.undeclared else "met"
        if self.needed is not None:
            if not self.holds:
                return "exceeded"
            high = self.needed.quantity.high
            return "met" if high is not None and high <= self.allowed else "inconclusive"
        if self.proof is not None:
            return "met"
        if not self.played:
            return "not assessed"
        return "exceeded" if self.detail.decided is not None else "inconclusive"

    @property
    def is_proved(self) -> bool:
        """Whether the verdict is proved, whatever is played."""
        return self.status_alone in ("met", "exceeded") and self.grade_alone == "proved"

    @property
    def decision(self) -> Decision | None:
        """What is proved or written out, where that decides; else the decisive attacker."""
        if self.undeclared:
            attacker = next(
                attacker for attacker in self.attackers if attacker.name == self.undeclared[0]
            )
            return self._of_attacker(attacker)
        if self.shown is not None:
            return Decision(self.shown, at_most=self.limit)
        if self.decisive is None or not self.played:
            return None
        return self._of_attacker(self.decisive)

    def _of_attacker(self, one: PlayedAttacker) -> Decision:
        if one.gap is None:
            return Decision(one.success)
        return Decision(one.gap, at_most=self.limit)

    @property
    def shown(self) -> StudyRow | None:
        """What is written out or proved, where that decides."""
        return None if self.undeclared else self.of_class or self.needed or self.proof

    @property
    def rests_on(self) -> tuple[StudyRow, ...]:
        """What the status rests on, were nothing contradicted."""
        row = self.shown
        if row is not None:  # one for a class is compared with the best fixed guess as given
            best = None if self.of_class is None else self.best_fixed
            return (row,) if best is None else (row, best)
        rows = [attacker.success for attacker in self.attackers] if self.played else []
        return (*rows, self.best_fixed) if rows and self.best_fixed is not None else tuple(rows)

    def claims(self) -> Iterator[Finding]:
        """Yield what is said of success, of the gap where it counts, of the best fixed guess.

        Limits of success and gaps each hold at the level.
        """
        delta = ""
        if self.criterion.of == GAP:
            delta = f"delta at epsilon {self.detail.statement.epsilon:g}"
        yield from self._exactly(delta)
        for row in self.universal:  # the best attacker may be outside of a class
            limits = [SUCCESS] if row.facts["limits"] == "success" else []
            for quantity in [*limits, *filter(None, [delta])]:
                premises = row.quantity.takes_as_given
                yield Finding(quantity, row.name, high=row.value, assumptions=premises)
        level = max(0.0, 1 - 2 * (1 - self.detail.confidence))
        for attacker in self.attackers if self.played else ():
            for quantity, row in ((SUCCESS, attacker.success), (delta, attacker.gap)):
                if quantity and row is not None:
                    by, low = f"the attack `{attacker.name}`", row.quantity.low
                    yield Finding(quantity, by, low, kind="sampled", confidence=level)

    def _exactly(self, delta: str) -> Iterator[Finding]:
        if self.needed is None:
            return
        answer, facts, by = self.needed.quantity, self.needed.facts, "the exact answer"
        premises, largest = answer.takes_as_given, self.top.facts.get("largest")
        success = None if largest is None else float(largest)
        yield Finding(SUCCESS, by, success, success, assumptions=premises)
        if delta:
            yield Finding(delta, by, answer.value, answer.high, assumptions=premises)
        if "fixed" in facts:
            fixed, quantity = float(facts["fixed"]), "chance of the best fixed guess"
            yield Finding(quantity, by, fixed, fixed, assumptions=premises)
            if (best_fixed := self.best_fixed) is not None:
                premises = best_fixed.quantity.takes_as_given
                yield Finding(
                    quantity, best_fixed.name, high=best_fixed.value, assumptions=premises
                )

    @property
    def broken(self) -> str:
        """The contradiction if attackers broke what is called proved, though no limits cross."""
        detail = self.detail
        if detail.decided is None or self.status_alone != "met" or not self.played or self.clashes:
            return ""
        if self.of_class is not None:  # whoever broke it is outside of the class
            return ""
        where = f", for {detail.member}" if detail.member else ""
        event = (
            f"the attackers break the statement at {100 * detail.confidence:g}% confidence{where} "
            f"(certain after {detail.decided} trials), which is called proved"
        )
        if self.given:
            return f"Refuted: that {' and that '.join(self.given)} ({event})."
        chance = f"a false alarm (chance at most {upper(1 - detail.confidence, 2)})"
        return f"{event[0].upper()}{event[1:]}: {chance} or an error in this software."

    @property
    def refutations(self) -> tuple[str, ...]:
        return (self.broken,) if self.broken else ()

    @property
    def wrong(self) -> tuple[str, ...]:
        """Assumptions that the contradictions refute, of which at least one is wrong."""
        assumptions = [text for clash in self.clashes for text in clash.refuted]
        return tuple(dict.fromkeys([*assumptions, *(self.given if self.broken else ())]))

    @property
    def grade_alone(self) -> Grade:
        if self.needed is not None and self.status_alone == "inconclusive":
            return "not assessed"
        return weakest(row.quantity.grade for row in self.rests_on if row.role != "guess")

    @property
    def outcome(self) -> str:
        """The status and how sure it is, in the words of a game."""
        sure = "proved if" if self.given else "proved"
        against = "" if self.of_class is None else f" against “{self.of_class.facts['against']}”"
        is_shown = self.needed is not None or self.proof is not None
        words: dict[Status, str] = {
            "met": f"resilient{against}, {sure}",
            "exceeded": f"violates, {sure}" if is_shown else "violates",
            "inconclusive": "no violation found",
        }
        return words.get(self.status, self.status)


def game_of(case: StudyJudgement) -> JudgedGame:
    [game] = cast("StudyJudgement[JudgedGame]", case).each
    return game


def grade_of(assumptions: Sequence[str]) -> Grade:
    return "proved if" if assumptions else "proved"


def _graded(row: StudyRow) -> StudyRow:
    """Refuse a grade that does not follow from the assumptions; early records have none."""
    quantity = row.quantity
    if quantity.grade not in (grade_of(quantity.takes_as_given), "not assessed"):
        raise ValueError("`grade` does not follow from the assumptions")
    return row
