"""ROC curves with their limits on logarithmic axes, and the rates and precisions next to them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from narcissus.membership.reported import PRECISION, RocCurve
from narcissus.report.format import limits_of, percent
from narcissus.report.page import Cell, Figure, Grid
from narcissus.report.svg import BLUE, GOLD, GREEN, INK, PLUM, QUIET, RUST
from narcissus.rows import StudyRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

COLORS = (BLUE, RUST, GREEN, PLUM, GOLD)


def roc_figure(
    title: str,
    curves: Sequence[RocCurve],
    rows: Sequence[StudyRow],
    *,
    key: str = "fpr",
    proved: Sequence[tuple[float, float]] = (),
) -> Figure | Grid:
    """Return the curves over the table of rates; the table where there are no curves.

    rows: true-positive rates and precisions, each at a place ``key``.
    proved: false-positive rates, each with the true-positive rate that nobody exceeds.
    """
    precise = {(r.name, r.at[key]): r for r in rows if r.of == PRECISION}
    columns = ["Attack", "Others called in, at most", "Members told", "Limits"]
    base = next((r.at["base_rate"] for r in precise.values()), None)
    precision_columns = (
        [] if base is None else [f"Precision, {percent(float(base))} members", "Its limits"]
    )
    rate_rows = [row for row in rows if row.of != PRECISION]
    cells: list[list[Cell]] = []
    for row in rate_rows:
        cells.append([row.name, float(row.at[key]), row.quantity.value, limits_of(row.quantity)])
        if base is not None:
            precision = precise[row.name, row.at[key]]
            cells[-1] += [precision.quantity.value, limits_of(precision.quantity)]
    note = " The heavy line is what nobody exceeds if the training keeps what is declared."
    grid = Grid(
        "Members told at each false-positive rate; limits of an attack hold jointly for all of "
        "them",
        (*columns, *precision_columns),
        cells,
        grades=[row.quantity.grade for row in rate_rows],
        percent=(*columns[1:3], *precision_columns[:1]),
    )
    if not curves:  # a record that was made before there were any
        return grid
    return Figure(
        title,
        "Members told against others called in, both logarithmic: a line for each attack, in an "
        "area that holds the whole curve; dashed what guessing gives." + note * bool(proved),
        lambda figure: _draw(figure, curves, proved),
        grid,
        name="roc",
    )


def _draw(
    figure: MplFigure, curves: Sequence[RocCurve], proved: Sequence[tuple[float, float]]
) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes = figure.subplots()
    floor = min([line.fpr[0] for line in curves] or [1e-3])
    for curve, color in zip(curves, cycle(COLORS), strict=False):
        # between two points the limits are the lower one of the first, the upper of the second
        ends = curve.low, (*curve.high[1:], curve.high[-1]), curve.tpr
        low, high, value = (np.clip(line, floor, 1) for line in ends)
        axes.fill_between(curve.fpr, low, high, color=color, alpha=0.16, linewidth=0, step="post")
        axes.step(curve.fpr, value, where="post", color=color, linewidth=1.6, label=curve.name)
    axes.plot([floor, 1], [floor, 1], color=QUIET, linewidth=1, linestyle="--", label="guessing")
    if proved:
        axes.plot(*zip(*proved, strict=True), color=INK, linewidth=2.2, label="nobody is above")
    axes.set(xscale="log", yscale="log", xlim=(floor, 1), ylim=(floor, 1.05))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 * x:g}%"))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(visible=True)
    axes.legend(loc="lower right")
    axes.set_xlabel("others called in", loc="left")
    axes.set_ylabel("members called in")
