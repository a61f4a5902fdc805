"""The verdict on a game: its evidence, and whether play contradicts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from narcissus._outwards import lower, upper
from narcissus.findings import Finding, contradictions, weakest
from narcissus.game import Play
from narcissus.profiles.write_out import ROUNDING
from narcissus.results import Bound, Estimate, Grade, Status
from narcissus.study.results.game import ExactGame, GameOutcome
from narcissus.success.statements import FixedBaseline, NotMemorizing, Resilience

WHATEVER_IS_TOLD = frozenset({"kaplan-4.8"})  # theorems that hold for every side information


@dataclass(frozen=True)
class Proof:
    """A theorem that applies."""

    bound: Bound
    limits: Literal["success", "delta"]  # which of the two numbers of a game it bounds
    # whether the bound is a difference of numbers near one, which rounding leaves just above
    # 0; tails keep their digits, however small they are
    rounded: bool = False

    def suffices(self, statement: Any) -> bool:
        room = ROUNDING if self.rounded else ROUNDING * statement.delta
        return self.bound.valid and self.bound.value <= statement.delta + room


@dataclass(frozen=True)
class Ground:
    """The evidence on a statement, before it is judged."""

    statement: Any
    scope: str  # what it covers: "this one world", "each of the 12 distributions of the family"
    exact: ExactGame | None
    proofs: Sequence[Proof]
    played: Play | None
    # limits of ``success - e^epsilon baseline`` of each attacker, if the statement is about it
    gaps: Mapping[str, Estimate | None] = field(default_factory=dict[str, "Estimate | None"])
    chosen: tuple[str, ...] = ()  # the statement's own assumptions
    # why nothing is shown for the rates of a family that were not written out; else empty
    between: str = ""
    told: str = ""  # the side information, if the definition quantifies over all of it; else empty

    @property
    def attacker(self) -> str:
        """Ending of "attacker" that names the side information."""
        return f" who is told {self.told}" if self.told else ""

    def quantifier(self, *, is_broken: bool = False) -> str:
        """Describe what was covered of a definition that quantifies over all side information."""
        if not self.told:
            return ""
        asked = f" The definition ({self.statement.definition}) is about every side information"
        return f"{asked}; this one breaks it." if is_broken else f"{asked}; no other was looked at."


@dataclass(frozen=True)
class Judged:
    """The verdict: outcome and status, the sentence, its evidence."""

    outcome: GameOutcome
    status: Status
    words: str
    grade: Grade
    assumptions: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()


def grade_of(assumptions: Sequence[str]) -> Grade:
    return "proved if" if assumptions else "proved"


def judge(ground: Ground) -> Judged:
    """Draw the verdict; contradictory numbers override any other outcome."""
    alone = _uncontradicted(ground)
    found = contradictions(findings(ground))
    sentences = [str(one) for one in found]
    refuted = [text for one in found for text in one.refuted]
    grades: list[Grade] = [one.grade for one in found]
    broken = _broken(ground, alone)
    if broken is not None and not found:
        sentences.append(broken)
        refuted += alone.assumptions
        grades.append("sampled")
    if not sentences:
        return alone
    if refuted:
        named = "; and that ".join(dict.fromkeys(refuted))
        words = f"Refuted: that {named}. What rests on it says nothing about the release."
    else:
        words = (
            "Numbers that are proved and numbers that were played contradict each other, though "
            "nothing is assumed: a false alarm or an error in this software. Run the study again "
            "with another seed, and report it if this comes back."
        )
    if alone.status == "exceeded" and alone.grade == "proved":
        words = f"{words} {alone.words}"
    return Judged(
        "contradicted",
        "contradicted",
        words,
        weakest(grades),
        contradictions=tuple(dict.fromkeys(sentences)),
    )


def _uncontradicted(ground: Ground) -> Judged:
    exact, statement, played = ground.exact, ground.statement, ground.played
    if exact is not None:
        return _exact_verdict(exact, ground)
    proving = [one.bound for one in ground.proofs if one.suffices(statement)]
    if proving:
        # what assumes nothing comes first, then what covers more; of those, the smallest
        best = min(
            proving,
            key=lambda one: (len(one.assumptions), one.id not in WHATEVER_IS_TOLD, one.value),
        )
        anything = best.id in WHATEVER_IS_TOLD
        who = ", whatever is told" if anything and ground.told else ground.attacker
        words = (
            f"Resilient, {grade_of(best.assumptions)}, by {best.theorem}, against every attacker"
            f"{who}, for {ground.scope}: delta at most {upper(best.value, 3)}, "
            f"allowed {statement.delta:g}.{'' if anything else ground.quantifier()}"
        )
        outcome, grade = _resilient(best.assumptions)
        return Judged(outcome, "met", words, grade, best.assumptions)
    if played is None:
        words = "Not assessed: nothing was written out, proved or played."
        return Judged("not assessed", "not assessed", words, "not assessed")
    if played.outcome == "violates":
        return Judged("violates", "exceeded", _violated(ground, played), "sampled", ground.chosen)
    each = f" of each of {played.members:,} distributions" if played.members > 1 else ""
    words = (
        f"No violation found in {played.trials:,} trials{each} of {len(played.attackers)} "
        f"attacker(s){ground.attacker}; other attackers may do better, so this is no proof of "
        f"resilience.{ground.quantifier()}"
    )
    return Judged("no violation found", "inconclusive", words, "sampled", ground.chosen)


def _resilient(assumptions: Sequence[str]) -> tuple[GameOutcome, Grade]:
    return ("resilient, proved if", "proved if") if assumptions else ("resilient, proved", "proved")


def _exact_verdict(exact: ExactGame, ground: Ground) -> Judged:
    given = exact.assumptions
    if exact.holds and ground.between:
        words = (
            f"No violation at the {exact.members:,} rates that were written out ({exact.words}), "
            f"but not shown for {ground.scope}: {ground.between}.{ground.quantifier()}"
        )
        return Judged("no violation found", "inconclusive", words, "not assessed", given)
    if exact.holds:
        outcome, grade = _resilient(given)
        said = f"{exact.words}; {exact.cover.words}" if exact.cover is not None else exact.words
        words = (
            f"Resilient, {grade}, against every attacker{ground.attacker}, for {ground.scope} "
            f"({said}).{ground.quantifier()}"
        )
        return Judged(outcome, "met", words, grade, given)
    words = (
        f"Violated, {exact.grade}: the best attacker{ground.attacker} does better than the "
        f"statement allows ({exact.words}).{ground.quantifier(is_broken=True)}"
    )
    outcome = "violates, proved if" if given else "violates, proved"
    return Judged(outcome, "exceeded", words, exact.grade, given)


def _violated(ground: Ground, played: Play) -> str:
    statement = played.statement
    what = (
        f"Memorizes at least {statement.m} of {statement.n} rows, at a false alarm rate of "
        f"at most {statement.xi:g}"
        if isinstance(statement, NotMemorizing)
        else f"Violates: {statement.words()}"
    )
    where = f" for {played.member}," if played.member else ""
    where = f" for an attacker{ground.attacker},{where}" if ground.told else where
    beyond = (
        ""
        if played.refuted is None
        else f" Refuted up to epsilon {lower(played.refuted, places=2)} at this delta."
    )
    return (
        f"{what},{where} with {100 * played.confidence:g}% confidence, certain after "
        f"{played.decided} trials.{beyond}{ground.quantifier(is_broken=True)}"
    )


def findings(ground: Ground) -> list[Finding]:
    """List comparable statements about the same quantities.

    All sampled limits hold at once with their stated confidence: each of the two kinds, on success
    and on the gap, fails with chance at most ``alpha``.
    """
    played, statement = ground.played, ground.statement
    success = "success of the best attacker"
    about_gap = isinstance(statement, Resilience)
    delta = f"delta at epsilon {statement.epsilon:g}" if about_gap else ""
    found = [] if ground.exact is None else _exact_findings(ground, ground.exact, success, delta)
    for proof in ground.proofs:
        bound, given = proof.bound, proof.bound.assumptions
        if proof.limits == "success":
            found.append(Finding(success, bound.theorem, high=bound.value, assumptions=given))
        if about_gap:
            found.append(Finding(delta, bound.theorem, high=bound.value, assumptions=given))
    if played is not None:
        level = max(0.0, 1 - 2 * (1 - played.confidence))
        for one in played.attackers:
            by = f"the attack `{one.name}`"
            low = one.success.low
            found.append(Finding(success, by, low, kind="sampled", confidence=level))
            gap = ground.gaps.get(one.name)
            if about_gap and gap is not None:
                found.append(Finding(delta, by, gap.low, kind="sampled", confidence=level))
    return found


def _exact_findings(ground: Ground, exact: ExactGame, success: str, delta: str) -> list[Finding]:
    """Return the exact findings, and the best fixed guess that the statement names."""
    statement, by, given = ground.statement, "the exact answer", exact.assumptions
    best, fixed = exact.best_success, exact.best_fixed_guess
    found = [Finding(success, by, best, best, assumptions=given)]
    if delta:
        high = exact.least
        if ground.between:
            high = None
        if exact.cover is not None:
            high = exact.cover.at_most
        found.append(Finding(delta, by, exact.least, high, assumptions=given))
    if isinstance(statement, FixedBaseline) and fixed is not None:
        what = "chance of the best fixed guess"
        found.append(Finding(what, by, fixed, fixed, assumptions=given))
        if statement.best is not None and ground.chosen:
            high = statement.best
            found.append(Finding(what, "[statement]", high=high, assumptions=ground.chosen))
    return found


def _broken(ground: Ground, alone: Judged) -> str | None:
    """Return the contradiction if attackers broke a statement called proved; else None."""
    played = ground.played
    if played is None or played.outcome != "violates" or alone.status != "met":
        return None
    where = f", for {played.member}" if played.member else ""
    event = (
        f"the attackers break the statement at {100 * played.confidence:g}% confidence{where} "
        f"(certain after {played.decided} trials), which is called proved"
    )
    if alone.assumptions:
        return f"Refuted: that {' and that '.join(alone.assumptions)} ({event})."
    chance = f"a false alarm (chance at most {upper(1 - played.confidence, 2)})"
    return f"{event[0].upper()}{event[1:]}: {chance} or an error in this software."
