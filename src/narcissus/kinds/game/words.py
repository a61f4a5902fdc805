"""Sentences about games: what follows, and what speaks for the release and against it."""

from __future__ import annotations

from narcissus._outwards import lower, upper
from narcissus.game.looks import rounded_trials
from narcissus.kinds.game.judgement import WHATEVER_IS_TOLD, JudgedGame
from narcissus.kinds.game.numbers import quoted
from narcissus.kinds.game.result import ExactAnswer, GameAttacker, GameBound
from narcissus.profiles.write_out import number as exact_number
from narcissus.rows import Quantity


def verdict_words(case: JudgedGame) -> str:
    """Word what follows, and which attacks failed: nobody must take that for safety."""
    alone = words = _verdict(case)
    if case.contradictions:
        is_proved = case.status_alone == "exceeded" and case.grade_alone == "proved"
        words = (
            "Proved numbers and played numbers contradict each other, and nothing is assumed. "
            "This is a false alarm or an error in this software. Run the study again with "
            "another seed, and report it if this comes back."
        )
        if case.wrong:
            words = " ".join(f"Refuted: that {assumption}." for assumption in case.wrong)
            words += " What rests on it says nothing about the release."
        if is_proved:
            words += f" {alone}"
        elif case.is_seen:
            words = f"{_broken(case)} {words}"
    return words + "".join(
        f" {failed_words(case, attacker)}, which count as unsuccessful. The first is trial "
        f"{first.trial}, with seed {first.seed}: {first.error.rstrip('.')}."
        for attacker in case.attackers
        for first in attacker.failures[:1]
    )


def failed_words(case: JudgedGame, attacker: GameAttacker) -> str:
    return (
        f"The attack {attacker.name} failed with an error on {attacker.failed:,} of "
        f"{case.trials:,} trials"
    )


def _verdict(case: JudgedGame) -> str:
    """Word what follows, were nothing contradicted."""
    result = case.result
    who = f" who is told {result.told}" if result.told else ""
    scope = f", for {result.statement.scope}" if result.statement.scope else ""
    asks = f" The definition, {result.statement.definition}, is about every side information."
    others = f"{asks} No other was looked at." if result.told else ""
    breaks = f"{asks} This one breaks it." if result.told else ""
    against = f"against every attacker{who}{scope}"
    if case.of_class is not None:
        return _class_verdict(case, case.of_class, f"{who}{scope}") + others
    if case.exact is not None:
        return _exact_verdict(case, case.exact, who, against) + (others if case.holds else breaks)
    if (proof := case.proof) is not None:
        if proof.limit.id in WHATEVER_IS_TOLD:
            knowledge, others = ", whatever is told" if result.told else "", ""
            against = f"against every attacker{knowledge}{scope}"
        return (
            f"Resilient, {_sure(proof.limit)}, {against}. This follows from {proof.theorem}. Delta "
            f"is {at_most(proof)}, and {case.limit:g} is allowed.{others}"
        )
    if case.play is None or not case.played:
        return "Not assessed: nothing was written out, proved or played."
    if case.decided is not None:
        return f"{_broken(case)}{breaks}"
    each = f" of each of {result.members:,} distributions" if result.members > 1 else ""
    each = " at the given prior" if result.near else each
    names = ", ".join(attacker.name for attacker in case.attackers)
    knowledge = f" Each was told {result.told}." if result.told else ""
    ending = f" {undecided_words(case)}".rstrip()
    return (
        f"No violation was found in {case.trials:,} trials{each}. Attacks: {names}.{knowledge} "
        f"Others may do better, so resilience is not proved.{ending}{others}"
    )


def _broken(case: JudgedGame) -> str:
    """Word that attackers broke the statement, which of them, and when it was certain."""
    information = case.result.told
    where = f", for an attacker who is told {information}" if information else ""
    where += f", for {case.member}" if case.member else ""
    return f"{'' if case.play is None else case.play.breaks}. {_certain(case, where)}"


def _certain(case: JudgedGame, where: str = "") -> str:
    """Word when a violation was certain, and which epsilon is refuted with it."""
    beyond = ""
    if case.refuted is not None:
        refuted = lower(case.refuted, places=2)
        beyond = f" Every epsilon up to {refuted} is refuted at this delta."
    level = f"{100 * case.result.confidence:g}%"
    return f"This is certain after {case.decided:,} trials, with {level} confidence{where}.{beyond}"


def _class_verdict(case: JudgedGame, bound: GameBound, about: str) -> str:
    """Word a limit for a class of attackers, and who is shown to be outside of it."""
    limit = f"The limit for {quoted(bound.against)} is a delta of {upper(bound.value, 3)}"
    if case.undeclared:
        level = f"The excess is shown with {100 * case.result.confidence:g}% confidence"
        return (
            f"{undecided_words(case)} {level}. {limit}. `assume.outside` names attacks outside of "
            "it."
        )
    words = (
        f"Resilient, {_sure(bound.limit)}, against {quoted(bound.against)}{about}. {limit}, and "
        f"{case.limit:g} is allowed. Attackers outside of this class may gain more."
    )
    for name in case.beyond:
        words += f" The attack {name} is outside of it, and gained more."
    if case.exact is not None and not case.holds:
        words += (
            " With unlimited effort an attacker outside of it gains more: "
            f"{exact_words(case, case.exact)}"
        )
    return words


def undecided_words(case: JudgedGame) -> str:
    """Return the answer of a study that decides nothing, where it is not the usual one."""
    if case.of_class is not None:
        return (
            f"The attack {' and '.join(case.undeclared)} exceeds the limit for "
            f"{quoted(case.of_class.against)}: it is outside of this class, or an assumption is "
            "false."
        )
    if case.holds:
        return (
            f"It holds at the {case.looked_at or 'rates'} that were looked at. It is not shown for "
            f"{case.result.statement.scope}."
        )
    if case.play is None or not case.played:
        return "Nothing was written out, proved or played."
    end, trials = case.play.end, case.trials_needed
    if end is not None and end.ended == "below":
        return "These attacks are shown to gain no more than is allowed; others may gain more."
    if end is None or trials is None:
        return ""
    needed = rounded_trials(max(trials, case.trials + 1))
    return f"{case.trials:,} trials are too few; about {needed:,} would probably do."


def _exact_verdict(case: JudgedGame, exact: ExactAnswer, who: str, against: str) -> str:
    result, words, sure = case.result, exact_words(case, exact), _sure(exact.needed)
    if not case.holds:
        return f"Violated, {sure}: the best attacker{who} does better than allowed. {words}"
    if case.status_alone == "met":
        if (cover := result.cover) is not None:
            words += (
                f" At every rate from {cover.low:g} to {cover.high:g} a delta of "
                f"{upper(exact.enough, 3)} is enough, by {cover.looked_at:,} intervals."
            )
        elif result.near:
            words += f" For {result.near}, a delta of {upper(exact.enough, 3)} is enough."
        return f"Resilient, {sure}, {against}. {words}"
    return (
        f"No violation at the {exact.members:,} {case.looked_at or 'rates'} that were written out. "
        f"{words} This is not shown for {result.statement.scope}: {result.between}."
    )


def _sure(limit: Quantity) -> str:
    """Return how sure a number is, as the end of a phrase."""
    grade = limit.grade
    return f"{grade} what it assumes holds" if grade == "proved if" else grade


def exact_words(case: JudgedGame, exact: ExactAnswer) -> str:
    """Word what is needed and what is allowed, in whole sentences."""
    text = exact_number(exact.least)
    if case.limit < exact.least <= case.allowed:
        text = f"{case.limit:g} up to rounding"
    words = f"The {exact.name} is {text}, and {case.limit:g} is allowed."
    if exact.member:
        words += f" No more is needed than at {exact.member}{among(case)}."
    return words


def enough_words(case: JudgedGame, exact: ExactAnswer) -> str:
    """Word what is enough for each member of a family, those not looked at included."""
    if not case.looked_at or case.of_class is not None:
        return exact_words(case, exact)
    return (
        f"For {case.result.statement.scope}, a delta of {upper(exact.enough, 3)} is enough, and "
        f"{case.limit:g} is allowed."
    )


def among(case: JudgedGame) -> str:
    """Describe of numbers of a family that they are not about all of its members."""
    return f", of the {case.looked_at} looked at" if case.looked_at else ""


def at_most(bound: GameBound) -> str:
    return f"at most {upper(bound.value, 3)}"


def theorem_of(bound: GameBound) -> str:
    return f"{bound.theorem} [{bound.limit.id}]" if bound.limit.id else bound.theorem
