"""Membership in words and as a page: members told against others called in, and what is refuted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from narcissus._outwards import lower
from narcissus.judgement import JudgedCriterion, StudyJudgement
from narcissus.kinds.layout import Headings, Layout
from narcissus.kinds.membership.blocks import (
    UNSEEN,
    WITHOUT_LIMITS,
    describe_facts,
    describe_method,
    describe_refutations,
    describe_told,
)
from narcissus.kinds.membership.kind import (
    ABOUT,
    EPSILON,
    TOLD,
    MembershipResult,
)
from narcissus.membership.reported import is_void, refutation_stands
from narcissus.report.about import Answered, EveryAttacker, RealFigure, Subject
from narcissus.report.first_screen import Glance, seeks, voided
from narcissus.report.format import number, percent
from narcissus.report.gives_away import FOUND, VERDICT
from narcissus.report.page import Items, Section
from narcissus.report.reach import AT_LEAST, Reach, decided
from narcissus.results import NotAssessed
from narcissus.rows import StudyRow
from narcissus.study.record import Record


def _main(case: StudyJudgement) -> JudgedCriterion:
    """Return the rate that decided; where none did, the first asked for, or that can be seen."""
    worst = case.worst
    if worst.criterion.of != EPSILON and (worst.at_most is not None or worst.attacks):
        return worst
    rates = [judgement for judgement in case.each if judgement.criterion.of != EPSILON]
    seen = [judgement for judgement in rates if _best(judgement).quantity.value is not None]
    return next(
        (judgement for judgement in rates if judgement.at_most is not None), (seen or rates)[0]
    )


def _best(one: JudgedCriterion) -> StudyRow:
    """Return the attack that tells most at a rate: one with limits that hold, if there is one."""
    about = [row for row in one.rows if row.of == ABOUT]
    return max(one.attacks or about, key=lambda row: row.quantity.value or 0.0)


def _refuted(case: StudyJudgement) -> StudyRow:
    return case.findings.select(of=EPSILON)[0]


HARDEST = "We did not look at groups of records. An average can hide the most exposed."


def _about(case: StudyJudgement, at: str) -> str:
    records = f"the {number(case.result.records)} records and how models are trained"
    return seeks(records, "those trained on", f"the model, {at}")


def _of_rate(case: StudyJudgement) -> Glance:
    """Word the share of members that are found at one rate of false alarms."""
    first = _main(case)
    attack = _best(first)
    if case.decided_by in first.attacks:
        attack = case.decided_by or attack
    name, _, _ = attack.name.partition(",")
    guess = next(row for row in first.rows if row.role == "guess")
    return Glance(
        unit="members",
        without=Reach.of("Guessing finds {} members, at the same rate of false alarms.", guess),
        with_it=Reach.of(f"With the model, the attack {name} finds {{}}.", attack),
        most=None
        if first.bound is None
        else Reach.of("No attacker finds more than {}.", first.bound),
        unlimited="Any attacker might find all 100: no lower limit is proved.",
        hardest=HARDEST,
        unseen=UNSEEN,
        accepted="{} members found",
        undecided="" if first.attacks else WITHOUT_LIMITS,
        contradicted=_BROKEN,
        about=_about(case, f"at a {first.label}"),
    )


def _of_epsilon(case: StudyJudgement, beyond: StudyRow) -> Glance:
    """Word what is refuted, which no share of members decides."""
    first = _main(case)
    bound = first.bound
    text = f"The attack {beyond.name} refutes every ε below {{}}."
    if beyond.value <= 0:
        text = f"The attack {beyond.name} refutes no ε."
    limit = None
    if bound is not None:
        limit = Reach.of(f"No attacker finds more than {{}} of members ({first.label}).", bound)
    return Glance(
        unit="members",
        without=Reach("Coin by coin, no guess without the model refutes an ε."),
        with_it=decided(text, AT_LEAST),
        most=limit,
        unlimited="An ε that is not refuted so far may still be too small.",
        hardest=HARDEST,
        unseen=UNSEEN,
        accepted="ε = {}",
        view=AT_LEAST,
        interval="The refuted ε",
        contradicted=_BROKEN,
        about=_about(case, "as it was trained"),
    )


_BROKEN = "The guarantee that was declared is refuted."


class MembershipLayout(Layout):
    """The words of membership."""

    headings: ClassVar[Headings] = {
        ("guess", "guess"): "Told by guessing",
        ("attack", TOLD): "Members told, by {name}",
        ("attack", ABOUT): "Members told, by {name}",
        ("bound", "bound"): "Told by any attacker",
        ("measure", EPSILON): "Epsilon refuted, by {name}",
    }
    not_covered = (
        "attacks that use more than one number for each model and record, or other shadow models",
        "whether members are found more easily among other records, or in other models",
    )

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title or "Membership told by shadow models"

    def subtitle(self, case: StudyJudgement) -> str:
        return "Which records was the model trained on?"

    def assessed(self, case: StudyJudgement) -> list[str]:
        result: MembershipResult = case.result
        names = ", ".join(attack.name for attack in result.attacks)
        lines = [
            f"{result.targets} of {result.models} models, {result.records:,} records: the attacks "
            f"{names}"
        ]
        if result.declared is not None:
            lines.append(f"every attacker, if the training keeps {result.declared.words}")
        return lines

    def not_assessed(self, case: StudyJudgement) -> Iterator[NotAssessed]:
        if case.result.declared is None:
            yield NotAssessed(
                "what no attacker exceeds",
                "nothing is declared of the training",
                "train with a guarantee, and declare it under [guarantee]",
            )
        if case.findings.select(of=ABOUT):
            yield NotAssessed(
                "limits of the rates over records that hold",
                "records share models, so their scores depend on each other",
                "hold out more models as targets: rates over models have limits that hold",
            )

    def glance(self, case: StudyJudgement) -> Glance:
        beyond, worst = _refuted(case), case.worst
        why = f"{beyond.name} refutes every ε below {lower(beyond.value, 3)}"
        if is_void(case.result.blind):
            void = voided("members", UNSEEN)
            if not refutation_stands(case.result.blind) or beyond.value <= 0:
                return void
            over = case.status == "exceeded"
            return replace(
                void,
                accepted="ε = {}" if over else "",
                why=why if over else "",
                view=AT_LEAST,
                interval="The refuted ε",
                without=Reach("A classifier that never saw the model tells outsiders from others."),
                unlimited=f"The refutation still holds, as it rests on coins alone: {why}.",
                undecided="Rates are void: outsiders differ in ways that need no model.",
                contradicted=_BROKEN,
            )
        if worst.criterion.of == EPSILON:
            return _of_epsilon(case, beyond)
        return _of_rate(case)

    def deciding(self, case: StudyJudgement) -> Iterator[StudyRow]:
        """Yield the guess, the best attack and the bound at a rate, and what is refuted."""
        main = _main(case)
        best = _best(main)
        yield from (row for row in main.rows if row.role in ("guess", "bound") or row is best)
        yield _refuted(case)

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        result: MembershipResult = case.result
        return [
            Section(
                "Who attacks what", [describe_facts(result), Items("Assumed", result.premises)]
            ),
            Section("How well members are told", describe_told(case)),
            Section("What is refuted", [describe_refutations(case)]),
            Section("Method", [describe_method(result)]),
        ]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        first = _main(case)
        bound = first.bound
        some = (
            ()
            if bound is None
            else (
                EveryAttacker(
                    f"At most {percent(bound.value, 'up')} of members are told at a {first.label}.",
                    "proved if",
                    bound.quantity.takes_as_given,
                ),
            )
        )
        return Subject(f"A model trained on some of {case.result.records:,} records.", limits=some)

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        result, first = case.result, _main(case)
        row = _best(first)
        replies = {
            "inference": Answered(
                f"membership: {percent(row.quantity.value)} of members told by {row.name}, "
                f"{first.label}",
                row.quantity.grade,
            ),
        }
        if result.declared is not None:
            replies["parameters"] = Answered(f"{result.declared.words}, as declared", None)
            replies["unit"] = Answered("one record of the training data", None)
        return replies

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        return [
            RealFigure(
                "Rates, limits, what is refuted and the verdict",
                f"Counts over {case.result.records:,} records of {case.result.targets} models.",
                (*VERDICT, *FOUND, "assessed*", "title"),
            )
        ]


LAYOUT = MembershipLayout()
