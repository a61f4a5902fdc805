"""Membership in words and as a page: members told against others called in, and what is refuted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from narcissus._outwards import lower, upper
from narcissus.judgement import JudgedCriterion, StudyJudgement
from narcissus.kinds.layout import Headline, Layout, sentence, table
from narcissus.kinds.membership.kind import (
    ABOUT,
    EPSILON,
    OVER_MODELS,
    TOLD,
    MembershipResult,
    RateOverModels,
)
from narcissus.membership.reported import AREA, PRECISION, is_void, refutation_stands, void_text
from narcissus.report.about import Answered, EveryAttacker, RealFigure, Subject
from narcissus.report.first_screen import Glance, seeks, voided
from narcissus.report.format import MISSING, number, percent
from narcissus.report.gives_away import FOUND, VERDICT
from narcissus.report.page import Block, Facts, Items, Section, Text
from narcissus.report.reach import AT_LEAST, Reach, decided
from narcissus.report.roc import limits_of, roc_figure
from narcissus.results import NotAssessed
from narcissus.rows import StudyRow
from narcissus.study.record import Record

_FOUND = "The attack {name} finds {value} of members, at a false-positive rate of {guess}.{proved}"
PHRASES = {
    "proved": " No attacker finds more than {high}, if the training keeps what is declared.",
    "no threshold": _FOUND,
    "met": "No attacker finds more than {high} of members, and {at_most} is accepted.",
    "exceeded": "The attack {surest} finds at least {low} of members, at a false-positive rate of "
    "{guess}. Accepted are {at_most}.",
    "too few trials": f"{_FOUND} Accepted are {{at_most}}, and the limits are too wide to decide.",
    "inconclusive": f"{_FOUND} Accepted are {{at_most}}. No attack shows more, but one may exist.",
}


def _said(one: JudgedCriterion) -> str:
    """Word a criterion about rates by its phrase, one about epsilon by what is refuted."""
    if one.status == "contradicted":
        return " ".join(one.contradictions)
    if one.criterion.of == EPSILON:
        row = one.measures[0]
        shown = "No epsilon is refuted."
        if row.value > 0:
            shown = f"The attack {row.name} refutes every epsilon below {lower(row.value, 3)}."
        if one.at_most is None:
            return shown
        text = f"{shown} By your threshold, epsilon {one.at_most:g} must stand."
        return text if one.status == "exceeded" else f"{text} It stands so far, without a proof."
    if one.attacks:
        return sentence(one, PHRASES)
    if one.status == "met" and one.bound is not None:
        return PHRASES["met"].format(
            high=percent(one.bound.quantity.high, "up"), at_most=percent(one.at_most)
        )
    return "How many members are found has no limits that hold. Attack several held-out models."


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


UNSEEN = (
    "attacks that use more than one number for each model and record, models trained in another way"
)
HARDEST = "We did not look at groups of records. An average can hide the most exposed."


def _about(case: StudyJudgement, at: str) -> str:
    records = f"the {number(case.detail.records)} records and how models are trained"
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
        contradicted=_BROKEN,
        about=_about(case, f"at a {first.label}"),
    )


def _of_epsilon(case: StudyJudgement, beyond: StudyRow, why: str) -> Glance:
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
        unlimited="An ε that stands so far may still be too small.",
        hardest=HARDEST,
        unseen=UNSEEN,
        accepted="ε = {}",
        view=AT_LEAST,
        interval="What is refuted",
        why=why if case.status == "exceeded" else "",
        contradicted=_BROKEN,
        about=_about(case, "as it was trained"),
    )


_BROKEN = "The guarantee that was declared is refuted."


class MembershipLayout(Layout):
    """The words of membership."""

    not_covered = (
        "attacks that use more than one number for each model and record, or other shadow models",
        "whether members are found more easily among other records, or in other models",
    )

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title or "Membership told by shadow models"

    def subtitle(self, case: StudyJudgement) -> str:
        return "Which records was the model trained on?"

    def verdict(self, case: StudyJudgement) -> str:
        void, worst = void_text(case.detail.blind), case.worst
        if not void:
            where = f"{worst.label}: " if worst.criterion.of != EPSILON else ""
            return f"{where}{_said(worst)}"
        of_coins = [judgement for judgement in case.each if judgement.criterion.of == EPSILON]
        return (
            f"{void} {_said(of_coins[0])}"
            if of_coins and refutation_stands(case.detail.blind)
            else void
        )

    def assessed(self, case: StudyJudgement) -> list[str]:
        detail: MembershipResult = case.detail
        names = ", ".join(attack.name for attack in detail.attacks)
        lines = [
            f"{detail.targets} of {detail.models} models, {detail.records:,} records: the attacks "
            f"{names}"
        ]
        if detail.declared is not None:
            lines.append(f"every attacker, if the training keeps {detail.declared.words}")
        return lines

    def not_assessed(self, case: StudyJudgement) -> Iterator[NotAssessed]:
        if case.detail.declared is None:
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
        if is_void(case.detail.blind):
            void = voided("members", UNSEEN)
            if not refutation_stands(case.detail.blind) or beyond.value <= 0:
                return void
            over = case.status == "exceeded"
            return replace(
                void,
                accepted="ε = {}" if over else "",
                why=why if over else "",
                view=AT_LEAST,
                interval="What is refuted",
                without=Reach("A classifier that never saw the model tells outsiders from others."),
                unlimited=f"What is refuted stands, as it rests on coins alone: {why}.",
                undecided="Rates are void: outsiders differ in ways that need no model.",
                contradicted=_BROKEN,
            )
        if worst.criterion.of == EPSILON:
            return _of_epsilon(case, beyond, why)
        return _of_rate(case)

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        first, beyond = _main(case), _refuted(case)
        row, bound = _best(first), first.bound
        return [
            ("Told by guessing", percent(first.guess), first.label, "proved"),
            (
                f"Members told, by {row.name}",
                percent(row.quantity.value),
                limits_of(row.quantity),
                row.quantity.grade,
            ),
            (
                "Told by any attacker",
                MISSING if bound is None else percent(bound.value, "up"),
                "nothing is declared" if bound is None else "at most, if what is declared holds",
                "not assessed" if bound is None or record.contradictions else "proved if",
            ),
            (
                "Epsilon refuted",
                lower(beyond.value, places=2),
                f"at delta {case.detail.delta:g}",
                beyond.quantity.grade,
            ),
        ]

    def top(self, record: Record, case: StudyJudgement) -> dict[str, Any]:
        over = [
            f"{judgement.label}: {_said(judgement)}"
            for judgement in case.deciding
            if judgement.status == "exceeded"
        ]
        return {
            "evidence_against": over,
            "setting": case.worst.label,
        }

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        detail: MembershipResult = case.detail
        return [
            Section("Who attacks what", [_facts(detail), Items("Assumed", detail.premises)]),
            Section("How well members are told", [_picture(case), _areas(case), *_rates(case)]),
            Section("What is refuted", [_refutations(case)]),
            Section("Method", [_method(detail)]),
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
        return Subject(f"A model trained on some of {case.detail.records:,} records.", limits=some)

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        detail, first = case.detail, _main(case)
        row = _best(first)
        replies = {
            "inference": Answered(
                f"membership: {percent(row.quantity.value)} of members told by {row.name}, "
                f"{first.label}",
                row.quantity.grade,
            ),
        }
        if detail.declared is not None:
            replies["parameters"] = Answered(f"{detail.declared.words}, as declared", None)
            replies["unit"] = Answered("one record of the training data", None)
        return replies

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        return [
            RealFigure(
                "Rates, limits, what is refuted and the verdict",
                f"Counts over {case.detail.records:,} records of {case.detail.targets} models.",
                (*VERDICT, *FOUND, "assessed*", "title"),
            )
        ]


LAYOUT = MembershipLayout()


def _facts(detail: MembershipResult) -> Facts:
    blind = [("Without any model", " ".join(map(str, detail.blind)))] if detail.blind else []
    guarantee = MISSING if detail.declared is None else detail.declared.words
    return Facts(
        [
            ("Models, attacked", f"{number(detail.models)}, {number(detail.targets)}"),
            ("Folds", "none: held-out targets" if detail.folds == 1 else number(detail.folds)),
            ("Records with a coin", number(detail.records)),
            ("Records in no model", number(detail.outsiders)),
            ("Coins", detail.coins),
            ("Declared of the training", guarantee),
            *blind,
        ]
    )


def _rates(case: StudyJudgement) -> Iterator[Block]:
    rows = [r for r in case.findings.select(of=TOLD) if isinstance(r.about, RateOverModels)]
    if rows:
        yield table(
            "Mean over further models, a trial each; limits hold for all at once",
            rows,
            {
                "Attack": "name",
                "Aimed at": "fpr",
                "Others called in": lambda row: row.about.false_positives.value,
                "Limits": lambda row: limits_of(row.about.false_positives),
                "Members told": "value",
                "Limits of these": lambda row: limits_of(row.about.told),
            },
            percent=("Aimed at", "Others called in", "Members told"),
        )


def _refutations(case: StudyJudgement) -> Block:
    claimed = case.detail.declared
    against = 0.0 if claimed is None else claimed.epsilon or 0.0
    columns: dict[str, Any] = {
        "Attack": "name",
        "Guesses right": lambda row: (
            f"{row.about.refuted.correct:,} of {row.about.refuted.guesses:,}"
        ),
        "Canaries": lambda row: row.about.refuted.canaries,
        "Epsilon refuted": lambda row: lower(row.value, 4),
        "mu refuted": lambda row: lower(row.about.refuted.mu, 4),
        "p-value": lambda row: upper(row.about.refuted.p_value, 3),
    }
    return table(
        f"At delta {case.detail.delta:g}; p-values are against epsilon {against:g}",
        case.findings.select(role="refuted"),
        columns,
    )


def _picture(case: StudyJudgement) -> Block:
    """Draw members told against others called in, with what nobody exceeds."""
    each = [rate for rate in case.each if rate.criterion.of != EPSILON]
    kinds = TOLD, ABOUT, PRECISION
    rows = [r for r in case.findings.rows if r.of in kinds and OVER_MODELS not in r.name]
    return roc_figure(
        "Members told where others are called in",
        [attack.curve for attack in case.detail.attacks],
        rows,
        proved=[(rate.guess, rate.bound.value) for rate in each if rate.bound is not None],
    )


def _areas(case: StudyJudgement) -> Block:
    return table(
        "Area under the ROC curve; 50% is chance",
        case.findings.select(of=AREA),
        {"Attack": "name", "Area": "value", "Limits": lambda row: limits_of(row.quantity)},
        percent=("Area",),
    )


def _method(detail: MembershipResult) -> Text:
    sentences: Sequence[str] = [
        "Given the shadows, each coin of a target is fresh: a guarantee about one record limits "
        "how often any attack names it. A third of the canaries chooses how many are guessed, the "
        "others are counted.",
        "Limits of a curve, of its area, rates and precisions hold at all thresholds at once, by "
        "exact chances that order statistics cross their limits.",
        "Rates over further models count a target as one trial, at thresholds that the shadows "
        "alone have chosen. Rates over records have approximate limits, since records share "
        "models; these decide nothing.",
        f"What each attack refutes, and both families of rates, hold together at level "
        f"{detail.confidence:g}, each at {detail.each_confidence:.6g} (Bonferroni).",
    ]
    return Text(sentences)
