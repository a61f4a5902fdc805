"""The page of an audit by shadow models: what is refuted, the ROC curve with its limits, rates."""

from __future__ import annotations

from narcissus._outwards import lower, upper
from narcissus.membership import MembershipAudit
from narcissus.membership.reported import RateTold, RocCurve, area_under, rate_rows, reported_rates
from narcissus.report.format import MISSING, limits, limits_of, number, percent
from narcissus.report.leakage import Asked
from narcissus.report.leakage.sheet import assessed, graded, method, sheet
from narcissus.report.page import Block, Facts, Grid, Items, Page, Section
from narcissus.report.roc import roc_figure
from narcissus.results import Grade

_CALLED: dict[Grade, str] = dict.fromkeys(("sampled", "approximate", "not assessed"), "told")
_NOT_COVERED = (
    "Attacks that use more than one number a model and record, or other shadow models.",
    "Whether other records, or models trained otherwise, are told more easily.",
)


def membership_page(found: MembershipAudit, asked: Asked) -> Page:
    """Show what an attack with shadow models says."""
    level = f"{100 * found.confidence:g}% limits"
    void = found.void
    refuted = (
        f"With {100 * found.confidence:g}% confidence the training is not "
        f"({lower(found.epsilon, 3)}, {found.delta:g})-DP, nor better."
        if found.epsilon > 0
        else f"No epsilon is refuted at delta {found.delta:g}. A stronger attack may refute one."
    )
    headline = f"{void} {refuted}".strip() if found.grade != "not assessed" else void
    # the least of the requested rates that can be seen, or the first
    pairs = list(zip(found.at, found.rates, strict=True))
    first, rate = min([p for p in pairs if found.roc.sees(p[0])] or pairs[:1], key=lambda p: p[0])
    seen = found.roc.sees(first)
    verdict = assessed(
        headline,
        found.grade,
        numbers=[
            (
                "Epsilon refuted",
                lower(found.epsilon, places=2),
                f"delta {found.delta:g}",
                found.grade,
            ),
            ("mu refuted", lower(found.mu, places=2), "of Gaussian DP", found.grade),
            (
                f"Members told, {percent(first)} of others as well",
                percent(rate.value) if seen else MISSING,
                f"{level} {limits(rate.low, rate.high)}" if seen else found.roc.unseen(first),
                rate.grade if seen and not void else "not assessed",
            ),
        ],
    )
    return sheet(
        verdict,
        [
            Section("Who attacks what", [_facts(found), Items("Assumed", found.assumptions)]),
            Section("How well members are told", _rates(found)),
            Section("What is refuted", [_refuted(found)]),
            method(
                "Given the shadows, each coin of a target is fresh: a guarantee about one record "
                "limits how often any attack names it. A third of the canaries chooses how many "
                "are guessed, the others are counted. Folds that share models depend on each "
                "other: half of them must refute, each at half the error.",
                "Limits of the curve, its area and its precisions hold jointly, by exact chances "
                "that an order statistic crosses its limits. Rates over further models count a "
                "target as one trial, at thresholds that the shadows alone have chosen.",
            ),
        ],
        asked,
        title=f"Membership told by shadow models: {found.attack}",
        subtitle=f"{number(found.targets)} of {number(found.models)} models attacked, "
        f"{number(found.records)} records",
        not_assessed=found.not_assessed,
        not_covered=_NOT_COVERED,
    )


def _facts(found: MembershipAudit) -> Facts:
    folds = "none: held-out targets" if found.folds == 1 else number(found.folds)
    return Facts(
        [
            ("Attack", found.attack),
            ("Models, targets", f"{number(found.models)}, {number(found.targets)}"),
            ("Folds", folds),
            ("Records with a coin", number(found.records)),
            ("Records in no model", number(found.outsiders)),
            ("Coins", found.coins),
        ]
    )


def _rates(found: MembershipAudit) -> list[Block]:
    level = f"{100 * found.confidence:g}%"
    name, rates = found.attack, reported_rates(found.at)
    told = [RateTold.of(found.roc, rate, found.base_rate) for rate in rates]
    rows = [*rate_rows(name, told, found.base_rate, of=_CALLED)]
    area = area_under(found.roc)
    blocks: list[Block] = [
        roc_figure("Members told where others are called in", [RocCurve.of(name, found.roc)], rows),
        Facts([("Area under the ROC curve", f"{percent(area.value)}, {limits_of(area)}")]),
    ]
    if found.across:
        heads = ("Aimed at", "Others called in", "Limits", "Members told", "Limits of these")
        across = [
            [
                rate.aimed,
                rate.false_positives.value,
                limits(rate.false_positives.low, rate.false_positives.high),
                rate.true_positives.value,
                limits(rate.true_positives.low, rate.true_positives.high),
            ]
            for rate in found.across
        ]
        blocks.append(
            Grid(
                f"Mean over further models, {found.targets} trials; limits for all at the same "
                f"time at {level}, whatever the records of a model have in common",
                heads,
                across,
                grades=graded("sampled", across),
                percent=(heads[0], heads[1], heads[3]),
            )
        )
    return blocks


def _refuted(found: MembershipAudit) -> Grid:
    rows = [
        [
            number(place + 1),
            f"{number(refutation.correct)} of {number(refutation.guesses)}",
            number(refutation.canaries),
            lower(refutation.epsilon, 4),
            upper(refutation.p_value, 3),
        ]
        for place, refutation in enumerate(found.refutations)
    ]
    confidence = found.refutations[0].confidence
    return Grid(
        f"Each fold at confidence {confidence:.6g}; p-values are against epsilon {found.claimed:g}",
        ("Fold", "Guesses right", "Canaries counted", "Epsilon refuted", "p-value"),
        rows,
        grades=graded("sampled", rows),
        folded=len(rows) > 8,
    )
