"""What a page shows of membership: who attacks what, members told, what is refuted, the method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from narcissus._outwards import lower, upper
from narcissus.judgement import StudyJudgement
from narcissus.kinds.layout import table
from narcissus.kinds.membership.kind import (
    ABOUT,
    EPSILON,
    OVER_MODELS,
    TOLD,
    MembershipResult,
    RateOverModels,
)
from narcissus.membership.reported import AREA, PRECISION
from narcissus.report.format import MISSING, limits_of, number, percent
from narcissus.report.page import Block, Facts, Text
from narcissus.report.roc import roc_figure

UNSEEN = (
    "attacks that use more than one number for each model and record, models trained in another way"
)
WITHOUT_LIMITS = (
    "Records share models here, so no rate over them has limits that hold: attack several "
    "held-out models."
)


def describe_facts(result: MembershipResult) -> Facts:
    blind = [("Without any model", " ".join(map(str, result.blind)))] if result.blind else []
    guarantee = MISSING if result.declared is None else result.declared.words
    return Facts(
        [
            ("Models, attacked", f"{number(result.models)}, {number(result.targets)}"),
            ("Folds", "none: held-out targets" if result.folds == 1 else number(result.folds)),
            ("Records with a coin", number(result.records)),
            ("Records in no model", number(result.outsiders)),
            ("Coins", result.coins),
            ("Declared of the training", guarantee),
            *blind,
        ]
    )


def describe_told(case: StudyJudgement) -> list[Block]:
    """Show members told next to others called in: of records, of models, and what none exceeds."""
    over_models = [r for r in case.findings.select(of=TOLD) if isinstance(r.about, RateOverModels)]
    bounds = case.findings.select(role="bound")
    blocks = [_picture(case), _areas(case)]
    if over_models:
        blocks.append(
            table(
                "Mean over further models, a trial each; limits hold jointly",
                over_models,
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
        )
    if bounds:
        blocks.append(
            table(
                "What no attacker exceeds, if the training keeps what is declared",
                bounds,
                {
                    "Others called in": "fpr",
                    "Members told at most": lambda row: percent(row.quantity.high, "up"),
                    "By": "name",
                },
                percent=("Others called in",),
            )
        )
    return blocks


def describe_refutations(case: StudyJudgement) -> Block:
    claimed = case.result.declared
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
        f"At delta {case.result.delta:g}; p-values are against epsilon {against:g}",
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
        [attack.curve for attack in case.result.attacks],
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


def describe_method(result: MembershipResult) -> Text:
    sentences: Sequence[str] = [
        "Given the shadows, each coin of a target is fresh: a guarantee about one record limits "
        "how often any attack names it. A third of the canaries chooses how many are guessed, the "
        "others are counted.",
        "Limits of a curve, of its area, rates and precisions hold jointly at all thresholds, by "
        "exact chances that order statistics cross their limits.",
        "Rates over further models count a target as one trial, at thresholds that the shadows "
        "alone have chosen. Rates over records have approximate limits, since records share "
        "models; these decide nothing.",
        f"The refutations of each attack and both families of rates hold together at level "
        f"{result.confidence:g}, each at {result.each_confidence:.6g} (Bonferroni).",
    ]
    return Text(sentences)
