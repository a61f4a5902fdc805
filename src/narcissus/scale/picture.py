"""The plot of a sweep: success and baseline on the left, gain on the right."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MplFigure
from matplotlib.ticker import FuncFormatter

from narcissus.report.page import Figure, Grid
from narcissus.report.svg import BLUE, INK, PAPER, QUIET, RUST
from narcissus.scale.fit import EVERYBODY, LAWS, Exponent, Known, Quantity, SizeCurve, places
from narcissus.scale.verdict import named

_LOOKS: dict[Quantity, dict[str, Any]] = {
    "success": {"marker": "o", "color": BLUE},
    "baseline": {"marker": "s", "color": QUIET, "markerfacecolor": PAPER},
    "gain": {"marker": "o", "color": BLUE},
    "bound": {"color": INK, "linewidth": 2.4},
    "closed form": {},
}
_DASHES = ("-", "--", ":", "-.")
_DECADE = 5.0
"""From this ratio of the largest to the least on, an axis is logarithmic."""


def picture(curves: Sequence[SizeCurve], further: Sequence[SizeCurve], parameter: str) -> Figure:
    """Draw the plot, with its numbers as a table."""
    rows = [
        [p.size, named(curve), p.value, p.low, p.high] for curve in curves for p in curve.points
    ]
    return Figure(
        title=f"Success, baseline and what is gained, against {parameter}",
        description=(
            "On the left filled circles are success, open squares the baseline, heavy lines bounds "
            "on success by theorems; on the right what is gained, with the law that fits it best "
            "as a thin line. Bars are limits that hold for all values at once; an arrow is an "
            "upper limit where the lower one is 0."
        ),
        draw=partial(_draw, curves=curves, further=further, parameter=parameter),
        table=Grid(
            "The numbers in the picture",
            [parameter, "of", "value", "low", "high"],
            rows,
            [curve.grade for curve in curves for _ in curve.points],
            folded=True,
        ),
        size=(9.6, 4.4),
        name="scale",
    )


def _draw(
    figure: MplFigure, *, curves: Sequence[SizeCurve], further: Sequence[SizeCurve], parameter: str
) -> None:
    left, right = figure.subplots(1, 2)
    whose = list(dict.fromkeys(c.whose for c in curves if c.quantity == "gain"))
    for axes, quantities in ((left, ("success", "baseline")), (right, ("gain",))):
        drawn = [c for c in curves if c.quantity in quantities]
        bounds = [
            c
            for c in (*curves, *further)
            if c.quantity in ("bound", "closed form") and (c.limits == "gain") == (axes is right)
        ]
        is_log = _scales(axes, [p for c in (*drawn, *bounds) for p in c.points])
        for curve in drawn:
            _curve(axes, curve, _DASHES[whose.index(curve.whose) % len(_DASHES)], is_log=is_log)
        for curve in bounds:
            _formula(axes, curve, is_further=curve in further)
        axes.set_xlabel(parameter)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7)
    left.set_title("Success and baseline", loc="left")
    right.set_title("Gain: success less the baseline", loc="left")


def _scales(axes: Axes, points: Sequence[Known]) -> bool:
    """Choose the scales of both axes; return whether the vertical one is logarithmic."""
    sizes = sorted({p.size for p in points})
    steps = np.diff(sizes)
    if len(sizes) > 2 and sizes[0] > 0 and steps.max() > 2 * steps.min():
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [f"{s:g}" for s in sizes])
        axes.minorticks_off()
    values = [p.value for p in points if p.value > 0 and p.high > 0]
    is_log = bool(values) and max(values) > _DECADE * min(values)
    if is_log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axes.grid(visible=True)
    return is_log


def _curve(axes: Axes, curve: SizeCurve, dash: str, *, is_log: bool) -> None:
    look = _LOOKS[curve.quantity]
    color = look["color"] if curve.whose == EVERYBODY or dash == "-" else RUST
    if curve.quantity == "baseline":
        color = QUIET
    shown = [p for p in curve.points if not is_log or p.low > 0]
    if shown:
        x, y = [p.size for p in shown], [p.value for p in shown]
        bars = [[p.value - p.low for p in shown], [p.high - p.value for p in shown]]
        style: dict[str, Any] = {
            **look,
            "color": color,
            "linestyle": dash,
            "markersize": 5,
            "linewidth": 1.2,
        }
        axes.errorbar(
            x, y, yerr=bars, label=f"{curve.quantity}, {curve.whose}", elinewidth=1, **style
        )
    for p in curve.points if is_log else ():
        if p.low <= 0 < p.high:  # an upper limit only
            axes.plot(p.size, p.high, marker="v", color=color, markersize=5)
    if curve.quantity == "gain":
        _law(axes, curve, color)


def _law(axes: Axes, curve: SizeCurve, color: str) -> None:
    """Draw the law that fits, over the sizes of its fit."""
    good = [one for one in curve.exponents if one.fits]
    if curve.direction != "falls" or not good:
        return
    best = min(good, key=lambda one: one.off)
    over = [p for p in curve.points if p.low > 0]
    sizes = np.linspace(best.first, best.last, 100)
    axes.plot(sizes, _line(best, over, sizes.tolist()), color=color, linewidth=0.8, linestyle=":")


def _line(one: Exponent, points: Sequence[Known], sizes: Sequence[float]) -> list[float]:
    """Evaluate the least-squares line of a law at sizes."""
    assert one.law in LAWS
    at = places(one.law, [p.size for p in points])
    logs = np.log2([p.value for p in points])
    x = places(one.law, sizes)
    return (2 ** (logs.mean() - one.value * (x - at.mean()))).tolist()


def _formula(axes: Axes, curve: SizeCurve, *, is_further: bool) -> None:
    x, y = [p.size for p in curve.points], [p.value for p in curve.points]
    if curve.quantity == "closed form":
        look: dict[str, Any] = {"color": RUST, "linestyle": ":", "linewidth": 1.4}
        words = f"formula: {curve.whose}"
    else:
        look = {**_LOOKS["bound"], "linestyle": "--" if is_further else "-"}
        words = "bound, not played" if is_further else f"bound: {curve.whose}"
    axes.plot(x, y, label=words if len(words) <= 46 else f"{words[:45]}...", **look)
