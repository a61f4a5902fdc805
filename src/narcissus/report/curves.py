"""Shares against a setting that grows to the right, with what is proved above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MplFigure
from numpy.typing import NDArray

from narcissus.report.charts import DOTS, HATCH, OPEN, PLATE, Range, share_axis, values_of
from narcissus.report.format import percent
from narcissus.report.svg import INK, QUIET, RUST

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A quantity over settings; None where a setting has no value."""

    label: str
    values: Sequence[Range | None]
    look: dict[str, Any]
    line: str = "-"


class _End(NamedTuple):
    """Where a curve ends, and the label that belongs there."""

    at: float
    share: float
    label: str
    color: str


def curves(
    figure: MplFigure,
    lines: Sequence[Curve],
    *,
    places: Sequence[float],
    labels: Sequence[str],
    apart: int | None = None,
    axis: str,
    proved: Sequence[float | None] = (),
    threshold: float | None = None,
) -> None:
    """Draw shares against a setting that grows to the right (less noise).

    figure: empty.
    lines: what is drawn, each with a value for each setting.
    places: where each setting stands on the horizontal axis, such as log10 of epsilon.
    labels: what is written below each setting.
    apart: the setting, by its number, that belongs on no scale (no noise); its points are not
        joined with the others.
    axis: title of the horizontal axis.
    proved: for each setting the proved share; hatched above.
    threshold: a share that is allowed.
    """
    axes = figure.subplots()
    x = np.asarray(places, dtype=float)
    joined = [i for i in range(len(x)) if i != apart]
    values = [v for c in lines for v in values_of(c.values)]
    values += [v for v in (*proved, threshold) if v is not None]
    bottom, top = share_axis(axes, values, vertical=True)
    top = min(top + 0.05 * (top - bottom), 1.0)
    axes.set_ylim(bottom, top)
    width = float(np.ptp(x)) or 1.0
    _proved_area(axes, x, proved, top)
    found = [_curve(axes, x, curve, joined, apart) for curve in lines]
    ends = [end for end in found if end is not None]
    if apart is not None and joined:
        middle = (x[apart] + max(x[joined])) / 2
        axes.axvline(middle, color=QUIET, linewidth=0.8, linestyle=(0, (4, 3)))
    if threshold is not None:
        span = [float(x.min()) - 0.06 * width, float(x.max()) + 0.03 * width]
        axes.plot(span, [threshold] * 2, color=RUST, linewidth=1.4, linestyle=DOTS)
        ends.append(_End(float(x.max()), threshold, f"threshold {percent(threshold)}", RUST))
    _label(axes, ends, gap=0.06 * (top - bottom), right=float(x.max()), width=width)
    axes.set_xlim(x.min() - 0.06 * width, x.max() + 0.44 * width)
    axes.spines["bottom"].set_bounds(x.min() - 0.06 * width, x.max() + 0.03 * width)
    axes.set_xticks(x, labels)
    axes.set_xlabel(axis, loc="left")
    axes.set_ylabel("share recovered")


def _proved_area(axes: Axes, x: Floats, proved: Sequence[float | None], top: float) -> None:
    """Hatch where no attacker is."""
    edge = [i for i, value in enumerate(proved) if value is not None]
    tops = [value for value in proved if value is not None]
    if not tops:
        return
    ends = x[edge]
    if len(ends) == 1:  # one setting: an edge needs some width to be seen
        ends, tops = np.array([ends[0] - 0.08, ends[0] + 0.08]) * 1.0, tops * 2
    axes.fill_between(ends, tops, top, facecolor="none", edgecolor=QUIET, hatch=HATCH, linewidth=0)
    axes.plot(ends, tops, color=INK, linewidth=2.8)
    axes.annotate(
        "no attacker here: proved",
        (ends[0], (tops[0] + top) / 2),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontweight="bold",
        bbox=PLATE,
    )


def _curve(
    axes: Axes, x: Floats, curve: Curve, joined: Sequence[int], apart: int | None
) -> _End | None:
    """Draw one curve with its band, and its point apart; give where it ends."""
    known = [(i, v) for i in joined if (v := curve.values[i]) is not None]
    color = curve.look["color"]
    at = x[[i for i, _ in known]]
    shares = [v.share for _, v in known]
    low = [v.share if v.low is None else v.low for _, v in known]
    high = [v.share if v.high is None else v.high for _, v in known]
    axes.fill_between(at, low, high, color=color, alpha=0.16, linewidth=0)
    look: dict[str, Any] = {**curve.look, "linestyle": curve.line, "linewidth": 1.6}
    axes.plot(at, shares, markeredgewidth=1.2, **look)
    last = None if apart is None else curve.values[apart]
    if apart is not None and last is not None:
        bar = [last.share if v is None else v for v in (last.low, last.high)]
        axes.plot([x[apart]] * 2, bar, color=color, linewidth=2.2, solid_capstyle="butt")
        axes.plot(x[apart], last.share, **OPEN, **curve.look)
        return _End(x[apart], last.share, curve.label, color)
    return _End(at[-1], shares[-1], curve.label, color) if known else None


def _label(axes: Axes, ends: Sequence[_End], *, gap: float, right: float, width: float) -> None:
    """Write the labels of all curves to the right, moved apart where they would overlap."""
    heights = spread([end.share for end in ends], gap)
    label_at = right + 0.045 * width
    for end, height in zip(ends, heights, strict=True):
        if abs(height - end.share) > 0.4 * gap:
            start = max(end.at, label_at - 0.02 * width)
            axes.plot([start, label_at], [end.share, height], color=end.color, linewidth=0.7)
        axes.text(
            label_at + 0.01 * width, height, end.label, color=end.color, va="center", bbox=PLATE
        )


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Move label places apart so that neighbours are at least ``gap`` apart, order kept."""
    order = np.argsort(wanted, kind="stable")
    placed = np.asarray(wanted, dtype=float)[order]
    for _ in range(100):
        moved = False
        for i in range(len(placed) - 1):
            lack = gap - (placed[i + 1] - placed[i])
            if lack > 1e-9:
                placed[i] -= lack / 2
                placed[i + 1] += lack / 2
                moved = True
        if not moved:
            break
    result = np.empty(len(placed))
    result[order] = placed
    return result.tolist()
