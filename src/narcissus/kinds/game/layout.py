"""Games in words and as a page: the statement, who played, the exact profile."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from narcissus._outwards import lower, upper
from narcissus.game.looks import rounded_trials
from narcissus.kinds.game.judgement import GAP, WHATEVER_IS_TOLD, JudgedGame, game_of
from narcissus.kinds.game.numbers import quoted
from narcissus.kinds.layout import Column, Headline, Layout, table
from narcissus.profiles import Cover
from narcissus.profiles.write_out import number as exact_number
from narcissus.report.about import Answered, EveryAttacker, Subject
from narcissus.report.first_screen import Glance, seeks
from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.page import Block, Facts, Figure, Grid, Items, Section, Text
from narcissus.report.reach import NUMBER, SHARE, Reach, RowView, of_100
from narcissus.rows import StudyJudgement, StudyRow
from narcissus.study.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

_STRIKING = 0.05
"""A gain that is shown though its limits still allow none."""

ENDED = {
    "decided": "when the verdict was decided",
    "below": "when each attacker was shown to gain no more than is allowed",
    "budget": "when its time was spent",
    "most": "after the most trials that are played",
}


class GameLayout(Layout):
    """The words and the page of a game."""

    not_covered = ("side channels: running time, access patterns, errors",)

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title

    def subtitle(self, case: StudyJudgement) -> str:
        return case.detail.statement.words

    def verdict(self, case: StudyJudgement) -> str:
        game = game_of(case)
        alone = words = _verdict(game)
        if game.contradictions:
            words = (
                "Proved numbers and played numbers contradict each other, and nothing is assumed. "
                "This is a false alarm or an error in this software. Run the study again with "
                "another seed, and report it if this comes back."
            )
            if game.wrong:
                words = " ".join(f"Refuted: that {assumption}." for assumption in game.wrong)
                words += " What rests on it says nothing about the release."
            if game.status_alone == "exceeded" and game.grade_alone == "proved":
                words += f" {alone}"
        # a reader must not take failures of attackers for safety
        return words + "".join(
            f" The attack {attacker.name} failed with an error on {attacker.failed:,} of "
            f"{game.detail.trials:,} trials, which count as unsuccessful. The first is trial "
            f"{first.trial}, with seed {first.seed}: {first.error.rstrip('.')}."
            for attacker in game.attackers
            for first in attacker.said.failures[:1]
        )

    def assessed(self, case: StudyJudgement) -> list[str]:
        game = game_of(case)
        lines = [
            f"{_class(row) if 'against' in row.facts else 'every attacker'}, by {row.name}"
            for row in game.proofs
        ]
        lines += [
            f"the attacker {attacker.name}, by {game.detail.trials:,} trials"
            for attacker in game.attackers
        ]
        if game.needed is None:
            return lines
        labels = ("data_sets", "data sets"), ("releases", "releases"), ("guesses", "guesses")
        sizes = ", ".join(f"{game.top.facts[key]:,} {words}" for key, words in labels)
        return [f"every attacker, exactly: {sizes}", *lines]

    def uncovered(self, case: StudyJudgement) -> list[str]:
        game = game_of(case)
        played = "attackers other than the ones that were played"
        if game.classes:
            played = f"attackers other than {_class(game.classes[0])} and the ones that were played"
        limited = game.needed is not None or game.universal
        return [
            "attackers who know more than the study says",
            f"distributions other than the study's ({game.detail.statement.scope}), also where a "
            "definition asks for all",
            *self.not_covered,
            *([] if limited else [played]),
        ]

    def glance(self, case: StudyJudgement) -> Glance:
        return _glance(game_of(case))

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        game = game_of(case)
        rows: list[Headline] = []
        if (best := game.decisive) is not None:
            member = game.detail.member
            where = f", for {member}" if member else ""
            for label, row in (
                ("The same attempts against fresh data (own baseline)", best.fresh),
                (f"Success of the attack {best.name}", best.success),
            ):
                quantity = row.quantity
                level = f"{100 * (quantity.confidence or 0.0):g}% limits"
                text = f"{level} {limits(quantity.low, quantity.high)}{where}"
                rows.append((label, percent(quantity.value), text, quantity.grade))
        rows += [] if game.needed is None else _exact_numbers(game, game.needed)
        for bound in game.proofs:
            grade = bound.quantity.grade
            label = f"{grade.capitalize()}: {bound.facts['what']}"
            rows.append((label, _at_most(bound), _theorem(bound), grade))
        return rows

    def top(self, record: Record, case: StudyJudgement) -> dict[str, Any]:
        game = game_of(case)
        good = [] if game.contradictions else list(_for(game))
        return {
            "evidence_for": good,
            "evidence_against": list(_against(game)),
        }

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        game = game_of(case)
        blocks = [*_attackers(game), *_profile(game), *_curve(game)]
        for row in game.findings.select(of="memorized bits"):
            words = f"{row.value:.6g} bits (proved)"
            blocks.append(Facts([("Memorized information I(S; release | Nature)", words)]))
        conversations = list(_conversations(game))
        parts = (
            Section("Results", blocks),
            Section("What was said in the first trials", conversations),
        )
        return [_setting(record, game), *(part for part in parts if part.blocks)]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        game = game_of(case)
        limits, only = [_limit(row) for row in game.universal if row.value < 1], ""
        if game.needed is not None:
            grade, premises = game.top.quantity.grade, game.needed.quantity.takes_as_given
            if game.holds and record.status == "met":
                limits.insert(0, EveryAttacker(_of_all(game), grade, premises))
            largest = 1.0 if game.looked_at else game.top.facts.get("largest", 1.0)
            if float(largest) < 1:
                members = int(game.top.facts["members"])
                text = f"At most {percent(float(largest), 'up')} of attempts fit the data"
                text += f", in each of {number(members)} distributions" * (members > 1)
                limits.append(EveryAttacker(f"{text}.", grade, premises))
        words = game.detail.statement.words
        if game.classes and not limits:  # beside limits for all it would read as one of them
            limits, only = list(map(_limit, game.classes)), _class(game.classes[0])
        return Subject(
            f"Nothing about real people. The statement that was tested: {words}.",
            limits=tuple(limits),
            against=only,
            no_ground="A game tests a statement in a world that is written down, not a release "
            "about people",
            accepted=f"the statement: {words}",
        )

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        statement = case.detail.statement
        if not statement.name.startswith("singling-out"):
            return {}
        outcome = game_of(case).outcome
        text = f"In the world of the game: {outcome}. {statement.words}"
        return {"singling out": Answered(text, record.grade)}


LAYOUT = GameLayout()


def _verdict(case: JudgedGame) -> str:
    """Word what follows, were nothing contradicted."""
    detail = case.detail
    who = f" who is told {detail.told}" if detail.told else ""
    scope = f", for {detail.statement.scope}" if detail.statement.scope else ""
    asks = f" The definition, {detail.statement.definition}, is about every side information."
    others = f"{asks} No other was looked at." if detail.told else ""
    breaks = f"{asks} This one breaks it." if detail.told else ""
    against = f"against every attacker{who}{scope}"
    if case.of_class is not None:
        return _class_verdict(case, case.of_class, f"{who}{scope}") + others
    if case.needed is not None:
        return _exact_verdict(case, who, against) + (others if case.holds else breaks)
    if (proof := case.proof) is not None:
        if proof.quantity.id in WHATEVER_IS_TOLD:
            knowledge, others = ", whatever is told" if detail.told else "", ""
            against = f"against every attacker{knowledge}{scope}"
        return (
            f"Resilient, {_sure(proof)}, {against}. This follows from {proof.name}. Delta is "
            f"{_at_most(proof)}, and {case.limit:g} is allowed.{others}"
        )
    if not case.played:
        return "Not assessed: nothing was written out, proved or played."
    if detail.decided is not None:
        where = f", for an attacker{who}" if who else ""
        where += f", for {detail.member}" if detail.member else ""
        beyond = "" if case.refuted is None else f" {_refuted(case)}"
        return (
            f"{detail.breaks or 'Violated'}. This is certain after {detail.decided:,} trials, with "
            f"{100 * detail.confidence:g}% confidence{where}.{beyond}{breaks}"
        )
    each = f" of each of {detail.members:,} distributions" if detail.members > 1 else ""
    each = " at the given prior" if detail.near else each
    names = ", ".join(attacker.name for attacker in case.attackers)
    knowledge = f" Each was told {detail.told}." if detail.told else ""
    ending = f" {_undecided(case)}".rstrip()
    return (
        f"No violation was found in {detail.trials:,} trials{each}. Attacks: {names}.{knowledge} "
        f"Others may do better, so resilience is not proved.{ending}{others}"
    )


def _limit(row: StudyRow) -> EveryAttacker:
    quantity = row.quantity
    text = f"{row.facts['what']}: {_at_most(row)}."
    return EveryAttacker(text, quantity.grade, quantity.takes_as_given)


def _class(row: StudyRow) -> str:
    return quoted(str(row.facts["against"]))


def _class_verdict(case: JudgedGame, row: StudyRow, about: str) -> str:
    """Word a limit for a class of attackers, and who is shown to be outside of it."""
    limit = f"The limit for {_class(row)} is a delta of {upper(row.value, 3)}"
    if case.undeclared:
        level = f"The excess is shown with {100 * case.detail.confidence:g}% confidence"
        return f"{_undecided(case)} {level}. {limit}. `assume.outside` names attacks outside of it."
    words = (
        f"Resilient, {_sure(row)}, against {_class(row)}{about}. {limit}, and {case.limit:g} is "
        "allowed. Attackers outside of this class may gain more."
    )
    for name in case.beyond:
        words += f" The attack {name} is outside of it, and gained more."
    if case.needed is not None and not case.holds:
        words += f" With unlimited effort an attacker outside of it gains more: {exact_words(case)}"
    return words


def _undecided(case: JudgedGame) -> str:
    """Return the answer of a study that decides nothing, where it is not the usual one."""
    end, trials = case.detail.end, case.trials_needed
    if case.of_class is not None:
        return (
            f"The attack {' and '.join(case.undeclared)} exceeds the limit for "
            f"{_class(case.of_class)}: it is outside of this class, or an assumption is false."
        )
    if case.holds:
        return (
            f"It holds at the {case.looked_at or 'rates'} that were looked at. It is not shown for "
            f"{case.detail.statement.scope}."
        )
    if not case.played:
        return "Nothing was written out, proved or played."
    if end is not None and end.ended == "below":
        return "These attacks are shown to gain no more than is allowed; others may gain more."
    if end is None or trials is None:
        return ""
    needed = rounded_trials(max(trials, case.detail.trials + 1))
    return f"{case.detail.trials:,} trials are too few; about {needed:,} would probably do."


def _exact_verdict(case: JudgedGame, who: str, against: str) -> str:
    detail, words, sure = case.detail, exact_words(case), _sure(case.top)
    if not case.holds:
        return f"Violated, {sure}: the best attacker{who} does better than allowed. {words}"
    if case.status_alone == "met":
        if (cover := detail.cover) is not None:
            fields = {name: getattr(cover, name) for name in type(cover).model_fields}
            text = str(Cover(**fields, at_most=_enough(case)))
            words += f" {text[:1].upper()}{text[1:]}."
        elif detail.near:
            words += f" For {detail.near}, a delta of {upper(_enough(case), 3)} is enough."
        return f"Resilient, {sure}, {against}. {words}"
    return (
        f"No violation at the {case.top.facts['members']:,} {case.looked_at or 'rates'} that were "
        f"written out. {words} "
        f"This is not shown for {detail.statement.scope}: {detail.between}."
    )


def _sure(row: StudyRow) -> str:
    """Return how sure a row is, as the end of a phrase."""
    grade = row.quantity.grade
    return f"{grade} what it assumes holds" if grade == "proved if" else grade


def exact_words(case: JudgedGame) -> str:
    """Word what is needed and what is allowed, in whole sentences."""
    assert case.needed is not None
    minimum, name, member = case.needed.value, case.needed.name, case.needed.facts.get("member")
    text = exact_number(minimum) if name else f"{minimum:.6g}"
    if case.limit < minimum <= case.allowed:
        text = f"{case.limit:g} up to rounding"
    words = f"The {name or 'delta that is needed'} is {text}, and {case.limit:g} is allowed."
    return f"{words} No more is needed than at {member}{_among(case)}." if member else words


def _of_all(case: JudgedGame) -> str:
    """Word what is enough for each member of a family, those not looked at included."""
    if not case.looked_at or case.of_class is not None:
        return exact_words(case)
    return (
        f"For {case.detail.statement.scope}, a delta of {upper(_enough(case), 3)} is enough, and "
        f"{case.limit:g} is allowed."
    )


def _among(case: JudgedGame) -> str:
    """Describe of numbers of a family that they are not about all of its members."""
    return f", of the {case.looked_at} looked at" if case.looked_at else ""


def _enough(case: JudgedGame) -> float:
    high = None if case.needed is None else case.needed.quantity.high
    return 1.0 if high is None else high


def _at_most(bound: StudyRow) -> str:
    return f"at most {upper(bound.value, 3)}"


def _theorem(bound: StudyRow) -> str:
    return f"{bound.name} [{bound.quantity.id}]" if bound.quantity.id else bound.name


def _refuted(case: JudgedGame) -> str:
    assert case.refuted is not None
    return f"Every epsilon up to {lower(case.refuted, places=2)} is refuted at this delta."


def _exact_numbers(case: JudgedGame, needed: StudyRow) -> Iterator[Headline]:
    top, grade = case.top, case.top.quantity.grade
    where = f"at epsilon {top.at['epsilon']:g}"
    rounding = needed.facts.get("rounding")
    if top.value == top.baseline == 0 and rounding is not None:
        where += f": no attempt gains {rounding:g} or more"
    if needed.facts.get("member"):
        where += f", for {top.facts['member']}"
    largest = top.facts.get("largest")
    yield "Baseline of the attacker with the largest gap", percent(top.baseline), where, grade
    yield "Success of the attacker with the largest gap", percent(top.value), where, grade
    yield (
        "Largest success of any attacker",
        percent(None if largest is None else float(largest)),
        f"at any baseline, also one as large{_among(case)}",
        "not assessed" if largest is None else grade,
    )
    if (cover := case.detail.cover) is not None:
        label = f"Delta that is enough for every rate from {cover.low:g} to {cover.high:g}"
        text = f"at epsilon {cover.epsilon:g}; rate {cover.rate:g} needs {cover.least:.4g}"
        yield label, f"at most {upper(_enough(case), 3)}", text, grade
    elif case.detail.near:
        label, text = f"Delta that is enough for {case.detail.near}", where.partition(":")[0]
        yield label, f"at most {upper(_enough(case), 3)}", text.partition(",")[0], grade


def _against(case: JudgedGame) -> Iterator[str]:
    """Describe what speaks against the release."""
    detail = case.detail
    if case.needed is not None and not case.holds:
        yield f"{case.top.quantity.grade.capitalize()} exactly: {exact_words(case)}"
    if detail.decided is not None:
        beyond = "" if case.refuted is None else f" {_refuted(case)}"
        yield (
            f"Estimated: the attackers broke the statement. This is certain after "
            f"{detail.decided:,} trials, with {percent(detail.confidence)} confidence.{beyond}"
        )
    for attacker in case.attackers:
        won, lost = attacker.success.quantity, attacker.fresh.quantity
        is_sure = won.low is not None and lost.high is not None and won.low > lost.high
        if not is_sure and attacker.gain <= _STRIKING:
            continue
        low = f", at least {percent(won.low, 'down')}" if is_sure else ""
        high = f", at most {percent(lost.high, 'up')}" if is_sure else ""
        yield (
            f"Estimated: the attack {attacker.name} succeeds in {percent(won.value)} of "
            f"{number(won.trials or 0)} trials{low}. On fresh data, the same attempts succeed in "
            f"{percent(lost.value)}{high}."
            + ("" if is_sure else " There are too few trials to be sure of a gain.")
        )


def _for(case: JudgedGame) -> Iterator[str]:
    """Describe what speaks for the release: what is proved or limited below what is allowed."""
    if case.holds:
        shown = _of_all(case) if case.status_alone == "met" else exact_words(case)
        yield f"{case.top.quantity.grade.capitalize()} exactly: {shown}"
    for bound in case.proofs:
        if case.suffices(bound) and bound.value < 1:
            words = f"{bound.facts['what']} is {_at_most(bound)}, by {_theorem(bound)}"
            yield f"{bound.quantity.grade.capitalize()}: {words}."
    epsilon, allowed = case.detail.statement.epsilon or 0, case.detail.statement.delta or 0.0
    for attacker in case.attackers:
        # Attempts that fit no data set at all, fresh ones included, show nothing about the release.
        hits = attacker.success.value > 0 or attacker.fresh.value > 0
        if (
            attacker.gap is None
            or not hits
            or not attacker.success.facts.get("attempts")
            or attacker.failed
        ):
            continue
        gap = attacker.gap.quantity
        if gap.high is not None and gap.high < min(allowed, 1.0):
            yield (
                f"Estimated: the attack {attacker.name} gains at most {upper(gap.high, 3)} over "
                f"e^{epsilon:g} times its own baseline, with "
                f"{100 * (gap.confidence or 0.0):g}% confidence. Allowed are {allowed:g}. Other "
                "attackers may gain more."
            )


def _glance(case: JudgedGame) -> Glance:
    """Word the exact numbers where they were written out, else those that were played."""
    member = case.detail.member
    if case.needed is not None:
        member = str(case.needed.facts.get("member") or "")
    who = _who(case)
    without, with_it = _shares(case)
    premises = {text for row in case.proofs for text in row.quantity.takes_as_given}
    premises |= set(case.given if case.of_class is not None else ())
    statement = case.detail.statement
    reason, view, interval = _decided_words(case)
    return Glance(
        unit="attempts",
        without=without,
        with_it=with_it,
        most=_limit_of_all(case),
        unlimited=_unlimited(case, who),
        hardest=_hardest(case, member),
        unseen="attackers who know more than the study says, other worlds, side channels",
        asked=f"The {statement.name} statement",
        kept=f"holds against {who}",
        broken="is violated",
        accepted="" if case.criterion.at_most is None else f"{_measure(case)} {{}}",
        view=view,
        interval=interval,
        why=reason,
        undecided=_undecided(case),
        plainly="The study holds no statement to judge.",
        given=sorted(premises),
        notes=[
            f"The attack {attacker.name} failed with an error on {attacker.failed:,} of "
            f"{case.detail.trials:,} trials."
            for attacker in case.attackers
            if attacker.failed
        ]
        + ["Attacks are played at the given prior."] * bool(case.detail.near and case.attackers),
        about=seeks(
            f"how data are drawn{f' and {case.detail.told}' if case.detail.told else ''}",
            "the data",
            "one release",
        ),
    )


def _who(case: JudgedGame) -> str:
    who = f"every attacker who is told {case.detail.told}" if case.detail.told else "every attacker"
    by_theorem = case.needed is None and case.proof is not None
    if by_theorem and case.proof is not None and case.proof.quantity.id in WHATEVER_IS_TOLD:
        who = "every attacker"
    who = who if case.of_class is None else _class(case.of_class)
    return f"{who}, for {case.detail.near}" if case.detail.near else who


def _measure(case: JudgedGame) -> str:
    """Name what is accepted: a delta, or the epsilon of a threshold."""
    return "an epsilon of" if case.detail.statement.name == "threshold" else "a delta of"


def _decided_words(case: JudgedGame) -> tuple[str, RowView, str]:
    """Word the number that decided, as the end of the answer, and how its row is read."""
    decision = case.decision
    if decision is None:
        return "", NUMBER, ""
    row = decision.row
    if row.of == "success" and row.role == "attack":
        return f"{row.name} succeeds {{}} times", SHARE, f"How often {row.name} succeeds"
    if row.of == GAP:
        return f"{row.name} gains {{}}", NUMBER, f"What {row.name} gains beyond what is allowed it"
    if row.role == "bound":
        return f"{row.facts['what']} is at most {{}}", NUMBER, ""
    return f"the {row.name or 'delta that is needed'} is {{}}", NUMBER, ""


def _shares(case: JudgedGame) -> tuple[Reach, Reach]:
    """Word how often attempts succeed on fresh data, on those released, and what is allowed."""
    best = case.decisive
    if case.undeclared:
        best = next(attacker for attacker in case.attackers if attacker.name == case.undeclared[0])
    if case.needed is not None and not case.undeclared:
        top = case.top
        lost = top.quantity.model_copy(update={"value": top.baseline})
        allowed = _allowed(case, top.baseline)
        return (
            Reach("On fresh data, the best attacker's attempts succeed {} times.", lost),
            Reach(
                f"On the data that were released, they succeed {{}} times{allowed}.", top.quantity
            ),
        )
    if best is None:
        return Reach("No attack was run."), Reach(f"What decides: {_theorem_said(case)}.")
    allowed = _allowed(case, best.fresh.value)
    return (
        Reach.of(f"On fresh data, the attempts of {best.name} succeed {{}} times.", best.fresh),
        Reach.of(
            f"On the data that were released, they succeed {{}} times{allowed}.", best.success
        ),
    )


def _theorem_said(case: JudgedGame) -> str:
    row = case.of_class or case.proof
    return "nothing" if row is None else f"{row.facts['what']} is {_at_most(row)}, by {row.name}"


def _allowed(case: JudgedGame, baseline: float | None) -> str:
    """Say how often attempts may succeed by the statement: e^epsilon times as often, and delta."""
    epsilon = case.detail.statement.epsilon
    if case.criterion.of != GAP or epsilon is None or baseline is None:
        return ""
    limit = min(1.0, math.exp(epsilon) * baseline + case.limit)
    return (
        f". The statement allows {of_100(limit)}: e^{epsilon:g} times the success on fresh data, "
        f"plus {case.limit:g}"
    )


def _limit_of_all(case: JudgedGame) -> Reach | None:
    """Word what no attacker exceeds: by enumeration, or by a theorem about success."""
    if case.needed is not None:
        largest = case.top.facts.get("largest")
        if largest is None or case.looked_at or case.of_class is not None:
            return None
        quantity = case.top.quantity.model_copy(update={"value": float(largest)})
        return Reach("No attacker succeeds more than {} times.", quantity)
    about = [row for row in case.universal if row.facts["limits"] == "success" and row.value < 1]
    if not about:
        return None
    return Reach.of("No attacker succeeds more than {} times.", min(about, key=lambda r: r.value))


def _unlimited(case: JudgedGame, who: str) -> str:
    """Say what limits every attacker, where no figure does."""
    if case.proof is not None and not case.contradictions:
        return f"A theorem shows that the statement holds against {who}."
    if case.of_class is not None:
        return f"The limit is for {who}. Attackers outside of this class might succeed more often."
    if case.holds and case.status == "met":
        return f"The statement holds against {who}, by enumeration."
    largest = None if case.needed is None else case.top.facts.get("largest")
    if largest is not None and case.looked_at and float(largest) < 1 and not case.contradictions:
        return (
            f"At the {case.looked_at} looked at, no attacker succeeds more than "
            f"{of_100(float(largest), 'up')} times; at others one may."
        )
    if case.holds:
        return f"Data of other {case.looked_at or 'rates'} may be hit harder."
    return "Another attacker might succeed every time: nothing here limits all of them."


def _hardest(case: JudgedGame, member: str) -> str:
    """Name a distribution of a family that no other exceeds; elsewhere there is only one."""
    if not member:
        return "Data are drawn in one way here, so there are no groups to compare."
    if case.needed is None:
        return f"These trials hit data of {member} hardest. Other data may be hit harder."
    return f"No data are hit harder than those of {member}{_among(case)}."


def _part(part: Any) -> str:
    """Describe a section of the study in one line."""
    if not isinstance(part, dict):
        return MISSING if part is None else str(part)
    values = _keys(part, "name")
    return f"{part.get('name', '')}: {values}" if values else str(part.get("name", ""))


def _keys(part: dict[str, Any], but: str) -> str:
    options = {k: v for k, v in part.items() if k != but and v not in (None, [], {}, "")}
    return ", ".join(f"{key} = {_short(value)}" for key, value in options.items())


def _short(value: Any) -> str:
    text = _part(value) if isinstance(value, dict) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _setting(record: Record, case: JudgedGame) -> Section:
    study, statement = record.study, case.detail.statement
    world, family, side = (study.get(key) for key in ("world", "family", "side-information"))
    rows = [("World: who the data is about", _part(world))] if world or not family else []
    if family:  # it makes worlds, or varies the one of the study
        keys = {key: value for key, value in family.items() if value is not None}
        rows.append(("Family: for each of", f"{family['kind']}: {_keys(keys, 'kind')}"))
    rows.append(("Mechanism: what is released", _part(study.get("mechanism"))))
    rows.append(("Success: what counts", _part(study.get("success"))))
    if study.get("looser"):
        rows.append(("What counts for fresh data", _part(study["looser"])))
    rows.append(("What the attacker is told besides", _part(side) if side else "nothing"))
    attacks = enumerate(study.get("attack", []), start=1)
    rows += [(f"Attacker {place}", _part(part)) for place, part in attacks]
    facts = {
        "Statement": f"{statement.name} ({statement.definition})",
        "In a formula": statement.words,
        "For": statement.scope,
        "Source of the study": study.get("source"),
        "Expected by the source": study.get("expected"),
    }
    rows += [(name, text) for name, text in facts.items() if text]
    blocks: list[Block] = [Text([study["about"]])] if study.get("about") else []
    blocks.append(Facts(rows))
    proving = [*case.proofs, *([] if case.needed is None else [case.needed])]
    if assumed := dict.fromkeys(text for row in proving for text in row.quantity.takes_as_given):
        title = "Assumed by what is proved if (tested as far as was played)"
        blocks.append(Items(title, list(assumed)))
    return Section("Threat model and statement", blocks)


def _attackers(case: JudgedGame) -> Iterator[Block]:
    detail, several = case.detail, len(case.attackers)
    if not several:
        return
    where = f"; the limits of all {several} attackers hold at once" if several > 1 else ""
    if detail.near:
        where = f" at {detail.member}{where}"
    elif detail.member:
        where = (
            f" of {detail.member}, the one of {number(detail.members)} distributions with the "
            f"strongest evidence; the limits hold for all of them at once{where}"
        )
    fresh = {attacker.name: attacker.fresh.quantity for attacker in case.attackers}
    columns: dict[str, Column] = {
        "attacker": "name",
        "success": "value",
        "limits": "limits",
        "own baseline": "baseline",
        "its limits": lambda row: limits(fresh[row.name].low, fresh[row.name].high),
        "failures": "failed",
    }
    caption = f"Success and own baseline in {number(detail.trials)} trials{where}"
    rows = [attacker.success for attacker in case.attackers]
    yield table(caption, rows, columns, percent=("success", "own baseline"))
    if case.refuted is not None:
        all_ = "these" if case.classes else "all"
        words = f"{lower(case.refuted, places=2)}, by {all_} attackers together (estimated)"
        yield Facts([("Largest epsilon refuted at the statement's delta", words)])
    if (end := detail.end) is not None:
        words = f"{ENDED[end.ended]}, at look {end.look}; the limits hold whenever a run ends"
        yield Facts([("The run ended", words)])
    if detail.remarks:
        yield Items("Remarks", detail.remarks, "warning")


def _conversations(case: JudgedGame) -> Iterator[Block]:
    """Show what was said in the first trials with a mechanism that is talked with."""
    for attacker in case.attackers:
        for talk in attacker.said.transcripts:
            greeting = f" The mechanism begins: {talk.greeting}." if talk.greeting else ""
            shown = len(talk.exchanges)
            first = f", the first {shown} of them here" if shown < talk.questions else ""
            count = "1 question" if talk.questions == 1 else f"{number(talk.questions)} questions"
            fits = "fits the data" if talk.success else "does not fit the data"
            caption = (
                f"{attacker.name} in trial {talk.trial + 1}: {count}{first}.{greeting} It came to "
                f"{talk.attempt}, which {fits}; the same against fresh data: "
                f"{percent(talk.baseline)}"
            )
            yield Grid(
                caption, ["question", "answer"], [[*exchange] for exchange in talk.exchanges]
            )


def _profile(case: JudgedGame) -> Iterator[Block]:
    if case.needed is None:
        return
    rows, rounding = case.profile, case.needed.facts.get("rounding")
    # 0 may be a delta that is lost to rounding
    lost = "0" if rounding is None else f"<{rounding:g}"
    epsilon = [float(row.at["epsilon"]) for row in rows]

    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, QUIET

        axes = figure.add_subplot()
        deltas = [row.value for row in rows]
        axes.plot(epsilon, deltas, marker="o", markersize=3, color=BLUE)
        allowed = case.detail.statement.delta or 0.0
        axes.axhline(allowed, linestyle="--", linewidth=1, color=QUIET)
        axes.set(xlabel="epsilon", ylabel="delta", ylim=(0, None))

    among = f", the largest of the {case.looked_at} written out" if case.looked_at else ""
    columns: dict[str, Column] = {"epsilon": "epsilon", "delta": lambda row: row.value or lost}
    first = f"{rows[0].value:.4g}" if rows[0].value else lost
    yield Figure(
        title=f"The best attacker gains {first} at epsilon {epsilon[0]:g}",
        description="A falling curve: the least delta with which the mechanism is resilient, "
        "against every attacker, for each epsilon. The dashed line is the delta of the statement.",
        draw=draw,
        table=table(f"The exact profile{among}", rows, columns),
        name="profile",
    )


def _curve(case: JudgedGame) -> Iterator[Block]:
    rows = case.findings.select(of="isolated")
    if not rows:
        return
    weights = [float(row.at["weight"]) for row in rows]

    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, QUIET

        axes = figure.add_subplot()
        axes.plot(weights, [row.value for row in rows], color=BLUE, label="with the release")
        baseline = [row.baseline or 0.0 for row in rows]
        axes.plot(weights, baseline, "--", color=QUIET, label="best without it")
        axes.set(
            xscale="log", xlabel="weight of the predicate, at most", ylabel="chance to isolate"
        )
        axes.legend()

    columns = {
        "weight at most": "weight",
        "with the release": "value",
        "best without it": "baseline",
    }
    yield Figure(
        title="A light predicate that isolates is the worse attack",
        description="Two curves over the largest weight of a predicate: how often the attacker "
        "isolated one row with one that light, and the best chance without the release.",
        draw=draw,
        table=table("Isolating with light predicates", rows, columns),
        name="predicates",
    )
