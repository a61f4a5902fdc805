"""The judgement: status, grade, assumptions and deciding row, from rows and criteria alone.

A record keeps criteria and rows; the judgement is a pure function of both, so whoever reads a
record recomputes it. Findings are divided into cases, each judged by itself, and `judge` puts them
together. How contradictions count is the same for every kind of study.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Self

from narcissus.findings import Contradiction, Finding, contradictions, weakest
from narcissus.results import CERTAIN, Grade, Status
from narcissus.rows import SLACK, Conflict, Findings, Role, StudyCriterion, StudyRow, Unaccounted

if TYPE_CHECKING:
    from typing_extensions import TypeVar
else:
    from typing import TypeVar

WORST: tuple[Status, ...] = (
    *("exceeded", "contradicted", "not assessed", "too few trials", "inconclusive"),
    *("not shown", "undeclared", "met", "no threshold"),
)
"""A study has the status of the case that is worst, in this order."""
IN_FAVOUR: tuple[Status, ...] = ("met", "not shown")
"""What no study has while something that was brought in is not accounted for."""


@dataclass(frozen=True)
class Decision:
    """The row that decided a study, and what is accepted of it.

    row: As in the record.
    at_most, at_least: What is accepted, in the unit of the row; None: nothing was asked.
    label: Where, in words.
    """

    row: StudyRow
    at_most: float | None = None
    at_least: float | None = None
    label: str = ""

    @property
    def limit(self) -> float | None:
        return self.at_least if self.at_most is None else self.at_most


@dataclass(frozen=True, kw_only=True)
class Case(ABC):
    """What is judged by itself: a criterion, a setting of a sweep, the statement of a game.

    A kind says what its rows claim, show and rest on, were nothing contradicted. How contradictions
    count is the same for all: only what an attack was seen to do comes before them, and they are
    graded by the weakest of what contradicts.
    """

    elsewhere: tuple[Contradiction, ...] = ()  # Those of other cases that assume the same
    undecided: Status | None = None  # Status of what was weighed elsewhere and left open
    held_back_by: str | None = None  # Label of the case at which a sweep lost its claim

    @abstractmethod
    def claims(self) -> Iterable[Finding]:
        """Yield every statement that another one could contradict."""

    @property
    @abstractmethod
    def status_alone(self) -> Status:
        """The status, were nothing contradicted."""

    @property
    @abstractmethod
    def rests_on(self) -> tuple[StudyRow, ...]:
        """What the status rests on, were nothing contradicted."""

    @property
    @abstractmethod
    def decision(self) -> Decision | None:
        """The row that decided, else the one nearest to deciding; None where no row could."""

    @property
    def label(self) -> str:
        """The place in words."""
        return ""

    @property
    def decides(self) -> bool:
        """Whether the study's status depends on it."""
        return True

    @property
    def refutations(self) -> tuple[Conflict, ...]:
        """Contradictions that do not follow from claims."""
        return ()

    @cached_property
    def seen(self) -> tuple[StudyRow, ...]:
        """Rows by which an attack was seen to exceed it; no contradiction refutes them."""
        return ()

    @property
    def is_seen(self) -> bool:
        """Whether an attack was seen to exceed it, in a case that was not left open."""
        return self.undecided is None and bool(self.seen)

    @property
    def rank(self) -> tuple[float, ...]:
        """Order among cases of the same status: the least stands for all."""
        return ()

    @property
    def given(self) -> tuple[str, ...]:
        """What it assumes, were nothing contradicted."""
        return _premises(self.rests_on)

    @property
    def protection(self) -> float:
        """Grows with protection, within a sweep."""
        return 0.0

    @cached_property
    def clashes(self) -> tuple[Contradiction, ...]:
        """Pairs of claims that cannot both hold, its own before those of other cases."""
        return (*contradictions(list(self.claims())), *self.elsewhere)

    @cached_property
    def contradictions(self) -> tuple[str, ...]:
        texts = [conflict.text for conflict in self.refutations]
        return tuple(dict.fromkeys([*texts, *map(str, self.clashes)]))

    @cached_property
    def status(self) -> Status:
        """The status: what an attack was seen to do, then contradictions, then what rows show."""
        if self.contradictions:
            return "exceeded" if self.is_seen else "contradicted"
        return self.status_alone if self.undecided is None else self.undecided

    @property
    def grade_alone(self) -> Grade:
        """The weakest grade of what the status rests on."""
        return weakest(row.quantity.grade for row in self.rests_on)

    @property
    def grade(self) -> Grade:
        """The weakest grade of what it rests on, and of what contradicts."""
        if self.contradictions:
            conflicts: tuple[Conflict | Contradiction, ...] = (*self.refutations, *self.clashes)
            of_conflicts = weakest(conflict.grade for conflict in conflicts)
            if not self.is_seen:
                return of_conflicts
            return weakest([of_conflicts, weakest(row.quantity.grade for row in self.seen)])
        return "not assessed" if self.status == "not assessed" else self.grade_alone

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the status assumes; of what is contradicted, nothing but what was seen counts."""
        if not self.contradictions:
            return self.given
        return _premises(self.seen if self.is_seen else ())

    @property
    def is_sampled(self) -> bool:
        """Whether the status rests on something sampled."""
        if self.contradictions:
            return self.grade not in CERTAIN
        return any(row.quantity.grade not in CERTAIN for row in self.rests_on)


@dataclass(frozen=True, kw_only=True)
class JudgedCriterion(Case):
    """One criterion, the rows at its place, and what follows."""

    findings: Findings
    criterion: StudyCriterion
    quantity: str = "success of the best attacker"  # What attacks reach and bounds limit
    fails: Status = "inconclusive"  # Status where attacks fail and nothing is proved
    gravest: str = ""  # Name of the criterion that stands for all others that are exceeded too

    @property
    def label(self) -> str:
        return self.criterion.label

    @property
    def decides(self) -> bool:
        return self.criterion.decides

    @property
    def at_most(self) -> float | None:
        return self.criterion.at_most

    @property
    def refutations(self) -> tuple[Conflict, ...]:
        return self.findings.refuted

    @cached_property
    def rows(self) -> tuple[StudyRow, ...]:
        return self.findings.select(self.criterion.at)

    @cached_property
    def attacks(self) -> tuple[StudyRow, ...]:
        """What is compared, in the order of the record."""
        return tuple(row for row in self._compared("attack", "excess") if row.is_known)

    @cached_property
    def measures(self) -> tuple[StudyRow, ...]:
        return self._compared("measure")

    def _compared(self, *roles: Role) -> tuple[StudyRow, ...]:
        of, name = self.criterion.of, self.criterion.name
        return tuple(
            r for r in self.rows if r.of == of and r.role in roles and name in ("", r.name)
        )

    @cached_property
    def bounds(self) -> tuple[StudyRow, ...]:
        return tuple(r for r in self.rows if r.role == "bound")

    @property
    def best(self) -> StudyRow:
        """The attack with the largest number; the first of equals."""
        return max(self.attacks, key=_value)

    @property
    def surest(self) -> StudyRow:
        """The attack with the highest lower limit; the first of equals."""
        return max(self.attacks, key=_low)

    @property
    def bound(self) -> StudyRow | None:
        """The least of what no attacker exceeds; None where nothing is proved."""
        return min(self.bounds, key=_high, default=None)

    @property
    def guess(self) -> float:
        """What is guessed without an attack; 0 where that is not a question."""
        return max((row.value for row in self.rows if row.role == "guess"), default=0.0)

    def claims(self) -> Iterator[Finding]:
        """Yield what attacks and exact guesses reached, and what none can exceed."""
        subject = f"{self.quantity}, {self.label}" if self.label else self.quantity
        for row in self.bounds:
            high, premises = row.quantity.high, row.quantity.takes_as_given
            yield Finding(subject, row.name, high=high, assumptions=premises)
        for row in self.rows:
            if row.role == "guess" and row.is_exact:
                yield Finding(subject, f"the guess `{row.name}`", row.value)
            if row.role == "attack" and row.of == self.criterion.of:
                by, low = f"the attack `{row.name}`", row.quantity.low
                level = self.findings.confidence
                yield Finding(subject, by, low, kind="sampled", confidence=level)

    @cached_property
    def seen(self) -> tuple[StudyRow, ...]:
        """Attacks, and measures of what attacks did, that are above what is accepted."""
        limit, of_attacks = self.criterion.at_most, self.criterion.of in self.findings.decided
        rows = self.measures if of_attacks else self.attacks
        return () if limit is None else tuple(row for row in rows if _low(row) > limit)

    @property
    def status_alone(self) -> Status:
        """Decide by the worse end: a bound shows that it is kept, a measure's limits show either.

        An attack that fails proves nothing.
        """
        upper_limit, lower_limit = self.criterion.at_most, self.criterion.at_least
        if upper_limit is None and lower_limit is None:
            return "no threshold"
        if self.seen:
            return "exceeded"
        return (
            self._by_measures(upper_limit, lower_limit)
            if self.measures
            else self._by_attacks(upper_limit)
        )

    def _by_attacks(self, limit: float | None) -> Status:
        if limit is not None and self.bounds and min(map(_high, self.bounds)) <= limit + SLACK:
            return "met"
        if not self.attacks:
            return "not assessed"
        if self.fails == "inconclusive" and limit is not None and self.best.value > limit:
            return "too few trials"
        return self.fails

    def _by_measures(self, upper_limit: float | None, lower_limit: float | None) -> Status:
        high = max(map(_high, self.measures))
        low = min(map(_low, self.measures))
        if (lower_limit is not None and high < lower_limit) or (
            upper_limit is not None and low > upper_limit
        ):
            return "exceeded"
        is_kept = (lower_limit is None or low >= lower_limit) and (
            upper_limit is None or high <= upper_limit
        )
        return "met" if is_kept else "inconclusive"

    @property
    def rank(self) -> tuple[float, ...]:
        """The gravest, if it is exceeded; then the one where the best attack gains most, or may.

        Of measures that are kept, the one that leaves the least room.
        """
        is_gravest = self.status == "exceeded" and self.criterion.name == self.gravest
        if not self.attacks:
            return (not is_gravest, self._room)
        if self.status not in ("inconclusive", "not shown"):
            return (not is_gravest, self.guess - self.best.value)
        return tuple(-part for part in self._nearness(self._open))

    @property
    def _room(self) -> float:
        """Part of what is accepted that a kept measure leaves; 0 where none is accepted."""
        if self.status != "met" or not self.measures or not self.at_most:
            return 0.0
        return 1 - max(map(_high, self.measures)) / self.at_most

    @property
    def decision(self) -> Decision | None:
        if (row := self.decided_by) is None:
            return None
        return Decision(row, self.at_most, self.criterion.at_least, self.label)

    @property
    def decided_by(self) -> StudyRow | None:
        """The row that decided, and else the one that is nearest to deciding; None: there is none.

        Exceeded or refuted by an attack, its surest one; met by the least bound. What is open is
        open most where an attack may gain most.
        """
        if self.undecided == "not assessed":
            return None
        if self.measures:
            return self._deciding_measure()
        if self.status == "met" or not self.attacks:
            return self.bound
        if self.status in ("exceeded", "contradicted"):
            return self.surest
        if self.status in ("inconclusive", "not shown"):
            return self._open
        return self.best

    @property
    def _open(self) -> StudyRow:
        """The row nearest to be shown, of those that may be beyond what is accepted."""
        return max(self.attacks, key=self._nearness)

    def _nearness(self, row: StudyRow) -> tuple[float, ...]:
        """Order rows that are open: a share by itself, an excess by what speaks for it.

        That is how far its estimate is beyond what is accepted, in widths to its lower limit; where
        no estimate is, the upper limit.
        """
        value, limit = _value(row), self.at_most or 0.0
        if row.role != "excess" or row.quantity.low is None:
            return (value - self.guess,)
        is_open, beyond = _high(row) > limit, value - limit
        if not is_open or beyond <= 0:
            return (is_open, 0.0, _high(row))
        return (is_open, beyond / max(value - _low(row), 1e-12), _high(row))

    def _deciding_measure(self) -> StudyRow:
        """Return the measure that is beyond what is accepted, or nearest to it."""
        upper_limit, lower_limit = self.criterion.at_most, self.criterion.at_least
        rises = max(self.measures, key=_low if self.status == "exceeded" else _high)
        falls = min(self.measures, key=_high if self.status == "exceeded" else _low)
        if lower_limit is None:
            return rises
        if upper_limit is None:
            return falls
        beyond = (
            _low(rises) - upper_limit if self.status == "exceeded" else _high(rises) - upper_limit
        )
        below = lower_limit - (_high(falls) if self.status == "exceeded" else _low(falls))
        return rises if beyond >= below else falls

    @property
    def rests_on(self) -> tuple[StudyRow, ...]:
        if self.measures:
            return self.measures
        if self.status_alone == "met" and self.undecided is None:
            return tuple(row for row in self.bounds if row is self.bound)
        return self.attacks


def _premises(rows: Sequence[StudyRow]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for row in rows for text in row.quantity.takes_as_given))


def _value(row: StudyRow) -> float:
    return -math.inf if row.quantity.value is None else row.quantity.value


def _low(row: StudyRow) -> float:
    if row.is_exact:
        return row.value
    low = row.quantity.low
    return -math.inf if low is None else low


def _high(row: StudyRow) -> float:
    if row.is_exact:
        return row.value
    high = row.quantity.high
    return math.inf if high is None else high


if TYPE_CHECKING:
    CaseT = TypeVar("CaseT", bound=Case, default=JudgedCriterion)
else:
    CaseT = TypeVar("CaseT", bound=Case)  # a default needs Python 3.13


@dataclass(frozen=True)
class StudyJudgement(Generic[CaseT]):
    """What follows from findings: of each case, and of all that decide together.

    is_sweep: Whether its cases assume the same: what is refuted at one is refuted for all.
    """

    findings: Findings
    each: tuple[CaseT, ...]
    is_sweep: bool = False

    @property
    def result(self) -> Any:
        return self.findings.result

    @property
    def alone(self) -> Self:
        """It without the settings of a sweep that its status is not about."""
        return replace(self, each=(self.worst,)) if self.is_sweep else self

    @cached_property
    def deciding(self) -> tuple[CaseT, ...]:
        return tuple(case for case in self.each if case.decides) or self.each

    @cached_property
    def worst(self) -> CaseT:
        """The worst that decides, or that contradicts; of equals the first in their own order."""
        worst = self._worst_deciding
        if not self._is_refuted or worst.contradictions:
            return worst
        return min(self.alike, key=_badness)

    @cached_property
    def _worst_deciding(self) -> CaseT:
        return min(self.deciding, key=_badness)

    @property
    def decision(self) -> Decision | None:
        """The row that decided, with what is accepted of it; None where no row could decide."""
        return self.worst.decision

    @property
    def decided_by(self) -> StudyRow | None:
        """The row that decided: the first screen is about it."""
        return None if self.decision is None else self.decision.row

    @property
    def status(self) -> Status:
        """The status by the rows, unless it is in favour while something is not accounted for."""
        status = self.status_by_rows
        return "undeclared" if status in IN_FAVOUR and self.unaccounted else status

    @property
    def status_by_rows(self) -> Status:
        """What follows from rows and criteria, were everything accounted for."""
        return "contradicted" if self._is_refuted else self._worst_deciding.status

    @cached_property
    def _is_refuted(self) -> bool:
        """Whether something is contradicted, also where nothing decides; what exceeds stays so."""
        return bool(self.contradictions) and self._worst_deciding.status != "exceeded"

    @property
    def unaccounted(self) -> tuple[Unaccounted, ...]:
        """What was brought in and not understood; none of it counts in favour."""
        return self.findings.unaccounted

    @property
    def alike(self) -> tuple[CaseT, ...]:
        """Those that the status is from."""
        if self._is_refuted:
            return tuple(case for case in self.each if case.contradictions)
        status = self._worst_deciding.status
        return tuple(case for case in self.deciding if case.status == status)

    @property
    def grade(self) -> Grade:
        return weakest(case.grade for case in self.alike)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the status assumes."""
        if self.status == "not assessed":
            return ()
        premises = [text for case in self.alike for text in case.assumptions]
        sampled = any(case.is_sampled for case in self.alike)
        return tuple(dict.fromkeys([*premises, *(self.findings.premises if sampled else ())]))

    @property
    def contradictions(self) -> tuple[str, ...]:
        """Those of every case, also where nothing decides."""
        return tuple(dict.fromkeys(text for case in self.each for text in case.contradictions))


def _badness(case: Case) -> tuple[int, tuple[float, ...]]:
    return WORST.index(case.status), case.rank


def cases_of(findings: Findings, **options: Any) -> tuple[JudgedCriterion, ...]:
    """Return a case for each criterion, with the rows at its place.

    options: `JudgedCriterion.quantity`, `JudgedCriterion.fails` and `JudgedCriterion.gravest`.
    """
    return tuple(
        JudgedCriterion(
            findings=findings,
            criterion=criterion,
            undecided=None if criterion.of in findings.decided else findings.undecided,
            **options,
        )
        for criterion in findings.criteria
    )


def judge(
    findings: Findings, cases: Sequence[CaseT], *, is_sweep: bool = False
) -> StudyJudgement[CaseT]:
    """Judge findings, case by case; the same findings give the same judgement.

    is_sweep: The cases are settings of one sweep. The assumptions of one belong together with those
        of the others (the same prior, declarations by the same hand): refuted at one, none of them
        counts at another. A case without assumptions is judged by itself. "Met" is claimed in
        sequence, from most protection to least.
    """
    if is_sweep:
        refuting = [clash for case in cases for clash in case.clashes if clash.refuted]
        cases = in_sequence([_with_others(case, refuting) for case in cases])
    return StudyJudgement(findings, tuple(cases), is_sweep)


def _with_others(case: CaseT, refuting: Sequence[Contradiction]) -> CaseT:
    elsewhere = tuple(clash for clash in refuting if clash not in case.clashes)
    return replace(case, elsewhere=elsewhere) if elsewhere and case.given else case


def in_sequence(cases: Sequence[CaseT]) -> list[CaseT]:
    """Take back "met" after the first case, from most protection to least, that is not met.

    Each is compared with the threshold at the full level. "Met" is claimed in an order fixed
    beforehand, up to the first failure: so all claims together have the level of one. A case that
    was named beforehand, so that it decides and others do not, is by itself.
    """
    judged = list(cases)
    order = sorted(range(len(judged)), key=lambda number: -judged[number].protection)
    failed = next((place for place, n in enumerate(order) if judged[n].status != "met"), len(order))
    are_named = not all(case.decides for case in judged)
    for number in order[failed:]:
        case = judged[number]
        if case.status == "met" and not (are_named and case.decides):
            label = judged[order[failed]].label
            judged[number] = replace(case, undecided="inconclusive", held_back_by=label)
    return judged
