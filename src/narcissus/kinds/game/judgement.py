"""What follows for a game: one statement, exact answers before proofs before play."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from narcissus._outwards import upper
from narcissus.findings import Finding, weakest
from narcissus.game.looks import most_needed
from narcissus.judgement import Case, Decision, StudyJudgement
from narcissus.kinds.game.result import (
    GAP,
    ExactAnswer,
    GameAttacker,
    GameBound,
    GameResult,
    PlayedGame,
    value_of,
)
from narcissus.profiles.write_out import ROUNDING
from narcissus.results import Grade, Status
from narcissus.rows import Conflict, Findings, StudyCriterion, StudyRow

WHATEVER_IS_TOLD = frozenset({"kaplan-4.8"})  # theorems that hold for every side information
OF_PRIVACY = frozenset({"cohen-a.4", "cohen-e.1"})  # theorems whose delta is such a difference
SUCCESS = "success of the best attacker"
FIXED_GUESS = "chance of the best fixed guess"


@dataclass(frozen=True, kw_only=True)
class JudgedGame(Case):
    """The statement of a game, and what follows."""

    findings: Findings

    def _require_end(self) -> None:
        """Refuse a run that did not end as it says."""
        end = None if self.play is None else self.play.end
        if end is None:
            return
        if end.ended == "decided" and not (self.decided or self.exact or self.proof):
            raise ValueError("nothing decides what `end` says was decided")
        gaps = [attacker.gap and attacker.gap.high for attacker in self.attackers]
        if end.ended == "below" and any(high is None or high > self.limit for high in gaps):
            raise ValueError("an attacker may gain more than is allowed, which `end` denies")

    @property
    def result(self) -> GameResult:
        return self.findings.result

    @property
    def criterion(self) -> StudyCriterion:
        [study_criterion] = self.findings.criteria
        return study_criterion

    @property
    def limit(self) -> float:
        """What is allowed of what is needed."""
        return 0.0 if self.criterion.at_most is None else self.criterion.at_most

    @property
    def play(self) -> PlayedGame | None:
        return self.result.play

    @property
    def exact(self) -> ExactAnswer | None:
        return self.result.exact

    @property
    def bounds(self) -> tuple[GameBound, ...]:
        return self.result.bounds

    @property
    def attackers(self) -> tuple[GameAttacker, ...]:
        return () if self.play is None else self.play.attackers

    @property
    def trials(self) -> int:
        return 0 if self.play is None else self.play.trials

    @property
    def decided(self) -> int | None:
        """The trial at which a violation was certain."""
        return None if self.play is None else self.play.decided

    @property
    def member(self) -> str:
        """The distribution of a family that was played."""
        return "" if self.play is None else self.play.member

    @property
    def trials_needed(self) -> int | None:
        """About how many trials would decide whether the attackers gain more than is allowed."""
        gaps = [attacker.gap for attacker in self.attackers if attacker.gap is not None]
        return most_needed(gaps, self.limit) if self.status == "inconclusive" else None

    @property
    def decisive(self) -> GameAttacker | None:
        """The attacker of every sentence about the best one; None where nobody played."""
        return None if self.play is None else self.play.decisive

    @property
    def played(self) -> bool:
        """Whether some attacker did not fail at every trial."""
        return not all(attacker.is_useless for attacker in self.attackers)

    @property
    def refuted(self) -> float | None:
        """The largest epsilon refuted at the statement's delta."""
        quantity = None if self.play is None else self.play.refuted
        return None if quantity is None else quantity.value

    @property
    def allowed(self) -> float:
        """What is allowed of an exact answer, rounding included."""
        return self.limit + ROUNDING

    @property
    def holds(self) -> bool:
        """Whether the exact answer is within what is allowed, where it was written out."""
        return self.exact is not None and self.exact.least <= self.allowed

    @property
    def looked_at(self) -> str:
        """What is written out of a family that has more members; empty where all of it is."""
        return "priors" if self.result.near else "rates" if self.result.cover is not None else ""

    @property
    def is_enough(self) -> bool:
        """Whether what is allowed is enough for all members, those not written out included."""
        high = None if self.exact is None else self.exact.needed.high
        return self.holds and high is not None and high <= self.allowed

    def suffices(self, bound: GameBound) -> bool:
        """Return whether a theorem proves the statement.

        A tail keeps its digits, however small; a difference of numbers near one does not.
        """
        room = ROUNDING if bound.limit.id in OF_PRIVACY else ROUNDING * self.limit
        return bound.value <= self.limit + room

    @cached_property
    def proof(self) -> GameBound | None:
        """The theorem that decides: what assumes least, then what covers more, then the least.

        One for a class of attackers is none.
        """

        def order(bound: GameBound) -> tuple[int, bool, float]:
            limit = bound.limit
            return len(limit.takes_as_given), limit.id not in WHATEVER_IS_TOLD, bound.value

        return min(filter(self.suffices, self.universal), key=order, default=None)

    @cached_property
    def universal(self) -> tuple[GameBound, ...]:
        """Theorems about every attacker."""
        return tuple(bound for bound in self.bounds if not bound.against)

    @cached_property
    def classes(self) -> tuple[GameBound, ...]:
        """Limits for a class of attackers, as in [assume]; others may exceed them."""
        return tuple(bound for bound in self.bounds if bound.against)

    @cached_property
    def of_class(self) -> GameBound | None:
        """Return the class bound if it decides, else None."""
        if self.proof is not None or self.is_enough:
            return None
        return next(filter(self.suffices, self.classes), None)

    @cached_property
    def beyond(self) -> tuple[str, ...]:
        """Attacks that exceed the limit for a class of attackers, where one decides."""
        if self.of_class is None:
            return ()
        limit, best, names = self.of_class.value, math.inf, list[str]()
        exact = self.exact
        if self.result.fixed_guess is not None:
            best = value_of(self.result.fixed_guess.chance)
        elif exact is not None and exact.fixed is not None and exact.member == self.member:
            best = exact.fixed
        fixed = math.exp(self.result.statement.epsilon or 0.0) * best
        for attacker in self.attackers:
            reached, less = attacker.gap or attacker.success, 0.0 if attacker.gap else fixed
            if reached.low is not None and reached.low - less > limit:
                names.append(attacker.name)
        if self.decided is not None and self.decisive is not None:
            names.append(self.decisive.name)
        return tuple(dict.fromkeys(names))

    @cached_property
    def undeclared(self) -> tuple[str, ...]:
        """Those that the study does not call outside of the class."""
        return tuple(name for name in self.beyond if name not in self.result.outside)

    @property
    def status_alone(self) -> Status:
        """The status, were nothing contradicted."""
        self._require_end()
        if self.of_class is not None:
            return "inconclusive" if self.undeclared else "met"
        if self.exact is not None:
            if not self.holds:
                return "exceeded"
            return "met" if self.is_enough else "inconclusive"
        if self.proof is not None:
            return "met"
        if not self.played:
            return "not assessed"
        return "exceeded" if self.decided is not None else "inconclusive"

    @property
    def is_proved(self) -> bool:
        """Whether the verdict is proved, whatever is played."""
        return self.status_alone in ("met", "exceeded") and self.grade_alone == "proved"

    @property
    def shown_by(self) -> GameAttacker | None:
        """The attacker whose numbers stand for what was played."""
        names = self.undeclared
        return next((one for one in self.attackers if one.name in names[:1]), self.decisive)

    @property
    def decision(self) -> Decision | None:
        """What is proved or written out, where that decides; else the decisive attacker."""
        if self.shown is not None:
            return Decision(self.shown.row, at_most=self.limit)
        attacker = self.shown_by
        if attacker is None or not self.played:
            return None
        gap = attacker.gap_row(self.result.statement.epsilon)
        return Decision(attacker.row) if gap is None else Decision(gap, at_most=self.limit)

    @property
    def shown(self) -> ExactAnswer | GameBound | None:
        """What is written out or proved, where that decides."""
        return None if self.contradictions and self.is_seen else self._proved

    @property
    def _proved(self) -> ExactAnswer | GameBound | None:
        """What is written out or proved, where that decides, were nothing contradicted."""
        return None if self.undeclared else self.of_class or self.exact or self.proof

    @property
    def rests_on(self) -> tuple[StudyRow, ...]:
        """What the status rests on, were nothing contradicted."""
        if (proved := self._proved) is not None:
            # a class is compared with the best fixed guess as given
            return (proved.row, *(self._guesses if self.of_class is not None else ()))
        return self._played

    @property
    def _guesses(self) -> tuple[StudyRow, ...]:
        guess = self.result.fixed_guess
        return () if guess is None else (guess.row,)

    @property
    def _played(self) -> tuple[StudyRow, ...]:
        """What was played, and the best fixed guess that it is compared with."""
        rows = [attacker.row for attacker in self.attackers] if self.played else []
        return (*rows, *self._guesses) if rows else ()

    @cached_property
    def seen(self) -> tuple[StudyRow, ...]:
        """What was played, where attackers broke the statement; not if their baseline is refuted.

        What breaks the limit for a class may be outside of it.
        """
        premises = {text for row in self._guesses for text in row.quantity.takes_as_given}
        is_off = any(
            clash.quantity == FIXED_GUESS or premises & set(clash.refuted) for clash in self.clashes
        )
        is_broken = self.decided is not None and self.of_class is None and not is_off
        return self._played if is_broken else ()

    def claims(self) -> Iterator[Finding]:
        """Yield what is said of success, of the gap where it counts, of the best fixed guess.

        Limits of success and gaps each hold at the level.
        """
        delta = ""
        if self.criterion.of == GAP:
            delta = f"delta at epsilon {self.result.statement.epsilon:g}"
        yield from self._exactly(delta)
        for bound in self.universal:  # the best attacker may be outside of a class
            limits = [SUCCESS] if bound.limits == "success" else []
            for quantity in [*limits, *filter(None, [delta])]:
                premises = bound.limit.takes_as_given
                yield Finding(quantity, bound.theorem, high=bound.value, assumptions=premises)
        level = max(0.0, 1 - 2 * (1 - self.result.confidence))
        for attacker in self.attackers if self.played else ():
            for quantity, reached in ((SUCCESS, attacker.success), (delta, attacker.gap)):
                if quantity and reached is not None:
                    by = f"the attack `{attacker.name}`"
                    yield Finding(quantity, by, reached.low, kind="sampled", confidence=level)

    def _exactly(self, delta: str) -> Iterator[Finding]:
        if (exact := self.exact) is None:
            return
        by, premises = "the exact answer", exact.needed.takes_as_given
        yield Finding(SUCCESS, by, exact.largest, exact.largest, assumptions=premises)
        if delta:
            yield Finding(delta, by, exact.least, exact.needed.high, assumptions=premises)
        if exact.fixed is not None:
            yield Finding(FIXED_GUESS, by, exact.fixed, exact.fixed, assumptions=premises)
            if (guess := self.result.fixed_guess) is not None:
                high, premises = guess.chance.value, guess.chance.takes_as_given
                yield Finding(FIXED_GUESS, guess.name, high=high, assumptions=premises)

    @property
    def broken(self) -> str:
        """The contradiction if attackers broke what is called proved, though no limits cross."""
        is_proved = self.holds or self.status_alone == "met"  # also at what was looked at alone
        if self.decided is None or not is_proved or not self.played or self.clashes:
            return ""
        if self.of_class is not None:  # whoever broke it is outside of the class
            return ""
        where, level = f", for {self.member}" if self.member else "", self.result.confidence
        event = (
            f"the attackers break the statement at {100 * level:g}% confidence{where} "
            f"(certain after {self.decided} trials), which is called proved"
        )
        if self.given:
            return f"Refuted: that {' and that '.join(self.given)} ({event})."
        chance = f"a false alarm (chance at most {upper(1 - level, 2)})"
        return f"{event[0].upper()}{event[1:]}: {chance} or an error in this software."

    @property
    def refutations(self) -> tuple[Conflict, ...]:
        return (Conflict(self.broken),) if self.broken else ()

    @property
    def wrong(self) -> tuple[str, ...]:
        """Assumptions that the contradictions refute, of which at least one is wrong."""
        assumptions = [text for clash in self.clashes for text in clash.refuted]
        return tuple(dict.fromkeys([*assumptions, *(self.given if self.broken else ())]))

    @property
    def grade_alone(self) -> Grade:
        if self.exact is not None and self.status_alone == "inconclusive":
            return "not assessed"
        return weakest(row.quantity.grade for row in self.rests_on if row.role != "guess")

    @property
    def outcome(self) -> str:
        """The status and how sure it is, in the words of a game."""
        sure = "proved if" if self.given else "proved"
        against = "" if self.of_class is None else f" against “{self.of_class.against}”"
        is_shown = isinstance(self.shown, ExactAnswer | GameBound)
        words: dict[Status, str] = {
            "met": f"resilient{against}, {sure}",
            "exceeded": f"violates, {sure}" if is_shown else "violates",
            "inconclusive": "no violation found",
        }
        return words.get(self.status, self.status)


def game_of(case: StudyJudgement) -> JudgedGame:
    [game] = cast("StudyJudgement[JudgedGame]", case).each
    return game
