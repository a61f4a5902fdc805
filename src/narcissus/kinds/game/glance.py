"""The first screen of a game: what attempts reach, what is allowed, what limits all attackers."""

from __future__ import annotations

import math

from narcissus.kinds.game.judgement import WHATEVER_IS_TOLD, JudgedGame
from narcissus.kinds.game.numbers import quoted
from narcissus.kinds.game.result import GAP, GameBound, value_of
from narcissus.kinds.game.words import among, at_most, failed_words, undecided_words
from narcissus.report.first_screen import Glance, seeks
from narcissus.report.reach import NUMBER, SHARE, Reach, RowView, of_100


def glance_of(case: JudgedGame) -> Glance:
    """Word the exact numbers where they were written out, else those that were played."""
    who = _who(case)
    without, with_it = _shares(case)
    premises = {text for bound in case.bounds for text in bound.limit.takes_as_given}
    premises |= set(case.given if case.of_class is not None else ())
    result = case.result
    reason, view, interval = _decided_words(case)
    unit = "an epsilon of" if result.statement.name == "threshold" else "a delta of"
    return Glance(
        unit="attempts",
        without=without,
        with_it=with_it,
        most=_limit_of_all(case),
        allowed=_allowed(case, None if without.found is None else without.found.value),
        unlimited=_unlimited(case, who),
        hardest=_hardest(case),
        signs=("on fresh data", "more on the released data"),
        unseen="attackers who know more than the study says, other worlds, side channels",
        asked=f"The {result.statement.name} statement",
        kept=f"holds against {who}",
        broken="is violated",
        accepted="" if case.criterion.at_most is None else f"{unit} {{}}",
        view=view,
        interval=interval,
        why=reason,
        undecided=undecided_words(case),
        plainly="The study holds no statement to judge.",
        given=sorted(premises),
        notes=[
            *(f"{failed_words(case, attacker)}." for attacker in case.attackers if attacker.failed),
            *["Attacks are played at the given prior."] * bool(result.near and case.attackers),
        ],
        about=seeks(
            f"how data are drawn{f' and {result.told}' if result.told else ''}",
            "the data",
            "one release",
        ),
    )


def _who(case: JudgedGame) -> str:
    result, proof = case.result, case.proof if case.exact is None else None
    who = "every attacker"
    if result.told and (proof is None or proof.limit.id not in WHATEVER_IS_TOLD):
        who = f"every attacker who is told {result.told}"
    who = who if case.of_class is None else quoted(case.of_class.against)
    return f"{who}, for {result.near}" if result.near else who


def _decided_words(case: JudgedGame) -> tuple[str, RowView, str]:
    """Word the number that decided, as the end of the answer, and how its row is read."""
    shown, decision = case.shown, case.decision
    if isinstance(shown, GameBound):
        return f"{shown.what} is at most {{}}", NUMBER, ""
    if shown is not None:
        return f"the {shown.name} is {{}}", NUMBER, ""
    if decision is None:
        return "", NUMBER, ""
    name = decision.row.name
    if decision.row.of == GAP:
        return f"{name} gains {{}}", NUMBER, f"The excess of {name} over what is allowed"
    return f"{name} succeeds {{}} times", SHARE, f"How often {name} succeeds"


def _shares(case: JudgedGame) -> tuple[Reach, Reach]:
    """Word how often attempts succeed on fresh data, on those released, and what is allowed."""
    if case.exact is not None and case.shown is not None:
        exact = case.exact
        lost, won = exact.quantity(exact.baseline), exact.quantity(exact.success)
        return (
            Reach("On fresh data, the best attacker's attempts succeed {} times.", lost),
            Reach(_released(case, exact.baseline), won),
        )
    if (attacker := case.shown_by) is None:
        bound, decides = case.of_class or case.proof, "nothing"
        if bound is not None:
            decides = f"{bound.what} is {at_most(bound)}, by {bound.theorem}"
        return Reach("No attack was run."), Reach(f"Decided by: {decides}.")
    before = f"On fresh data, the attempts of {attacker.name} succeed {{}} times."
    after = _released(case, value_of(attacker.fresh))
    return Reach.of(before, attacker.fresh_row), Reach.of(after, attacker.row)


def _released(case: JudgedGame, baseline: float) -> str:
    """Word success, and what the statement allows: e^epsilon times as often, and delta."""
    words = "On the data that were released, they succeed {} times"
    limit = _allowed(case, baseline)
    if limit is None:
        return f"{words}."
    return (
        f"{words}. The statement allows {of_100(limit)}: e^{case.result.statement.epsilon:g} "
        f"times the success on fresh data, plus {case.limit:g}."
    )


def _allowed(case: JudgedGame, baseline: float | None) -> float | None:
    """Return the success that the statement allows; None where it limits no success."""
    epsilon = case.result.statement.epsilon if case.criterion.of == GAP else None
    if epsilon is None or baseline is None:
        return None
    return min(1.0, math.exp(epsilon) * baseline + case.limit)


def _limit_of_all(case: JudgedGame) -> Reach | None:
    """Word what no attacker exceeds: by enumeration, or by a theorem about success."""
    words = "No attacker succeeds more than {} times."
    if (exact := case.exact) is not None:
        if case.looked_at or case.of_class is not None:
            return None
        return Reach(words, exact.quantity(exact.largest))
    bounds = [b for b in case.universal if b.limits == "success" and b.value < 1]
    return Reach.of(words, min(bounds, key=lambda b: b.value).row) if bounds else None


def _unlimited(case: JudgedGame, who: str) -> str:
    """Say what limits every attacker, where no figure does."""
    if case.proof is not None and not case.contradictions:
        return f"A theorem shows that the statement holds against {who}."
    if case.of_class is not None:
        return f"The limit is for {who}. Attackers outside of this class might succeed more often."
    if case.holds and case.status == "met":
        return f"The statement holds against {who}, by enumeration."
    largest = 1.0 if case.exact is None else case.exact.largest
    if case.looked_at and largest < 1 and not case.contradictions:
        return (
            f"At the {case.looked_at} looked at, no attacker succeeds more than "
            f"{of_100(largest, 'up')} times; at others one may."
        )
    if case.holds:
        return f"Data of other {case.looked_at or 'rates'} may be hit harder."
    return "Another attacker might succeed every time: nothing here limits all of them."


def _hardest(case: JudgedGame) -> str:
    """Name a distribution of a family that no other exceeds; elsewhere there is only one."""
    member = case.member if case.exact is None else case.exact.member
    if not member:
        return ""
    if case.exact is None:
        return f"These trials hit data of {member} hardest. Other data may be hit harder."
    return f"The highest risk is that of {member}{among(case)}."
