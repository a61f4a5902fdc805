"""Pictures of games: the exact profile, and how light predicates isolate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from narcissus.kinds.game.judgement import JudgedGame
from narcissus.kinds.game.result import ExactAnswer, IsolationPoint
from narcissus.kinds.layout import table
from narcissus.profiles.write_out import ROUNDING
from narcissus.report.page import Block, Figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

LOST = f"<{ROUNDING:g}"
"""A delta of 0 that may be lost to rounding."""


def pictures(case: JudgedGame) -> Iterator[Block]:
    if case.exact is not None:
        yield _profile(case, case.exact)
    if case.play is not None and case.play.curve:
        yield _curve(case, case.play.curve)


def _profile(case: JudgedGame, exact: ExactAnswer) -> Block:
    first = exact.profile[0]
    among = f", the largest of the {case.looked_at} written out" if case.looked_at else ""
    delta = f"{first.delta:.4g}" if first.delta else LOST
    return Figure(
        title=f"The best attacker gains {delta} at epsilon {first.epsilon:g}",
        description="A falling curve: the least delta with which the mechanism is resilient, "
        "against every attacker, for each epsilon. The dashed line is the delta of the statement.",
        draw=_draw_profile(exact, case.detail.statement.delta or 0.0),
        table=table(
            f"The exact profile{among}",
            case.findings.select(of="delta"),
            {"epsilon": "epsilon", "delta": lambda row: row.value or LOST},
        ),
        name="profile",
    )


def _draw_profile(exact: ExactAnswer, allowed: float) -> Callable[[MplFigure], None]:
    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, QUIET

        axes = figure.add_subplot()
        epsilon = [point.epsilon for point in exact.profile]
        deltas = [point.delta for point in exact.profile]
        axes.plot(epsilon, deltas, marker="o", markersize=3, color=BLUE)
        axes.axhline(allowed, linestyle="--", linewidth=1, color=QUIET)
        axes.set(xlabel="epsilon", ylabel="delta", ylim=(0, None))

    return draw


def _curve(case: JudgedGame, points: Sequence[IsolationPoint]) -> Block:
    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, QUIET

        axes = figure.add_subplot()
        weights = [point.weight for point in points]
        success = [point.success for point in points]
        axes.plot(weights, success, color=BLUE, label="with the release")
        baseline = [point.baseline for point in points]
        axes.plot(weights, baseline, "--", color=QUIET, label="best without it")
        axes.set(
            xscale="log", xlabel="weight of the predicate, at most", ylabel="chance to isolate"
        )
        axes.legend()

    return Figure(
        title="A light predicate that isolates is the worse attack",
        description="Two curves over the largest weight of a predicate: how often the attacker "
        "isolated one row with one that light, and the best chance without the release.",
        draw=draw,
        table=table(
            "Isolating with light predicates",
            case.findings.select(of="isolated"),
            {
                "weight at most": "weight",
                "with the release": "value",
                "best without it": "baseline",
            },
        ),
        name="predicates",
    )
