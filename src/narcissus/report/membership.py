"""The page of an audit by shadow models: what is refuted, the ROC curve with its limits, rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from narcissus._outwards import lower, upper
from narcissus.membership import MembershipAudit
from narcissus.report.format import limits, number, percent
from narcissus.report.leakage import Asked
from narcissus.report.leakage.sheet import assessed, graded, method, sheet
from narcissus.report.page import Block, Facts, Figure, Grid, Items, Page, Section
from narcissus.report.svg import BLUE, QUIET

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

    from narcissus.evidence.roc import RocBand

_DRAWN = 200  # points of a curve that are drawn, evenly on a logarithmic scale
_NOT_COVERED = (
    "Attacks that use more than one number a model and record, or other shadow models.",
    "Whether other records, or models trained otherwise, are told more easily.",
)


def membership_page(found: MembershipAudit, asked: Asked) -> Page:
    """Show what an attack with shadow models says."""
    level = f"{100 * found.confidence:g}% limits"
    headline = (
        f"With {100 * found.confidence:g}% confidence the training is not "
        f"({lower(found.epsilon, 3)}, {found.delta:g})-DP, nor better."
        if found.epsilon > 0
        else f"No epsilon is refuted at delta {found.delta:g}; that does not show that none could "
        "be."
    )
    first, rate = found.at[0], found.rates[0]
    verdict = assessed(
        headline,
        "sampled",
        numbers=[
            (
                "Epsilon refuted",
                lower(found.epsilon, places=2),
                f"delta {found.delta:g}",
                "sampled",
            ),
            ("mu refuted", lower(found.mu, places=2), "of Gaussian DP", "sampled"),
            (
                f"Members told, {percent(first)} of others as well",
                percent(rate.value),
                f"{level} {limits(rate.low, rate.high)}",
                rate.grade,
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
                "Limits of the curve hold at all thresholds at once (beta limits of order "
                "statistics that share the error). Rates over further models count a target as "
                "one trial, at thresholds that the shadows alone have chosen.",
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
    rows = [
        [at, one.value, one.low, one.high] for at, one in zip(found.at, found.rates, strict=True)
    ]
    columns = ("False positives at most", "Members told", "At least", "At most")
    table = Grid(
        f"Over records; limits for all rates at once at {level}",
        columns,
        rows,
        grades=[one.grade for one in found.rates],
        percent=columns,
    )
    first, rate = found.at[0], found.rates[0]
    blocks: list[Block] = [
        Figure(
            f"{percent(rate.value)} of members are told where {percent(first)} of others are "
            "called in as well",
            "The share of members called in against the share of others called in, both "
            "logarithmic, with limits that hold at every point at once; the dashed line is what "
            "guessing gives.",
            lambda figure: _draw(figure, found.roc),
            table,
            name="roc",
        )
    ]
    if found.across:
        heads = ("Aimed at", "Others called in", "Limits", "Members told", "Limits of these")
        across = [
            [
                one.aimed,
                one.false_positives.value,
                limits(one.false_positives.low, one.false_positives.high),
                one.true_positives.value,
                limits(one.true_positives.low, one.true_positives.high),
            ]
            for one in found.across
        ]
        blocks.append(
            Grid(
                f"Mean over further models, {found.targets} trials; limits for all at once at "
                f"{level}, whatever the records of a model have in common",
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
            f"{number(one.correct)} of {number(one.guesses)}",
            number(one.canaries),
            lower(one.epsilon, 4),
            upper(one.p_value, 3),
        ]
        for place, one in enumerate(found.refutations)
    ]
    confidence = found.refutations[0].confidence
    return Grid(
        f"Each fold at confidence {confidence:.6g}; p-values are against epsilon {found.claimed:g}",
        ("Fold", "Guesses right", "Canaries counted", "Epsilon refuted", "p-value"),
        rows,
        grades=graded("sampled", rows),
        folded=len(rows) > 8,
    )


def _draw(figure: MplFigure, roc: RocBand) -> None:
    """Draw the curve with its limits."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes = figure.subplots()
    least = 0.5 / max(roc.outside, roc.inside)
    grid = np.geomspace(least, 1, _DRAWN)
    at = [roc.tpr_at(float(x)) for x in grid]
    low = np.array([one.low or 0.0 for one in at])
    high = np.array([1.0 if one.high is None else one.high for one in at])
    value = np.array([one.value for one in at])
    axes.fill_between(
        grid, low.clip(least), high.clip(least), color=BLUE, alpha=0.16, linewidth=0, step="post"
    )
    axes.step(grid, value.clip(least), where="post", color=BLUE, linewidth=1.6)
    axes.plot([least, 1], [least, 1], color=QUIET, linewidth=1, linestyle=(0, (4, 3)))
    axes.set(xscale="log", yscale="log", xlim=(least, 1), ylim=(least, 1.05))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 * x:g}%"))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(visible=True)
    axes.set_xlabel("others called in", loc="left")
    axes.set_ylabel("members called in")
