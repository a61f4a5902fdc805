"""The charts of a report: curves over settings, rows of dots, histograms; and what they share.

One language throughout: an open square is what is guessed without the release, a filled circle
what is recovered with it, a triangle the ceiling; thin lines and bands are confidence limits. What
is proved is a heavy edge with hatching behind it, where no attacker is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MplFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from narcissus._arrays import Floats
from narcissus.report.format import percent
from narcissus.report.page import Range, Row
from narcissus.report.svg import BLUE, FAINT, INK, PAPER, QUIET, RUST

HATCH = "////"
DOTS = (0, (1.5, 1.5))
PLATE: dict[str, Any] = {"facecolor": PAPER, "edgecolor": "none", "pad": 2}
OPEN: dict[str, Any] = {"markeredgewidth": 1.2, "linestyle": "none", "clip_on": False}
WITHOUT: dict[str, Any] = {"marker": "s", "color": QUIET, "markerfacecolor": PAPER, "markersize": 6}
WITH: dict[str, Any] = {"marker": "o", "color": BLUE, "markersize": 7}
CEILING: dict[str, Any] = {"marker": "^", "color": RUST, "markersize": 7}


def share_axis(axes: Axes, values: Sequence[float], *, vertical: bool) -> tuple[float, float]:
    """Fit an axis of shares around what is drawn on it, in percent; give its ends."""
    low, high = min(values), max(values)
    room = max(0.06 * (high - low), 0.015)
    ends = max(0.0, low - room), min(1.0, high + room)
    axis = axes.yaxis if vertical else axes.xaxis
    (axes.set_ylim if vertical else axes.set_xlim)(*ends)
    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 * x:g}%"))
    axes.grid(axis="y" if vertical else "x")
    return ends


def short(label: str, most: int = 46) -> str:
    """Cut a label that would leave no room for the drawing; the table has it whole."""
    return label if len(label) <= most else label[: most - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"


def values_of(ranges: Sequence[Range | None]) -> list[float]:
    triples = [(r.share, r.low, r.high) for r in ranges if r is not None]
    return [v for triple in triples for v in triple if v is not None]


def edge_line(axes: Axes, at: float, right: float, words: str) -> None:
    """Draw a proved limit: a heavy line, with hatching where no attacker is."""
    if at < right:
        axes.axvspan(at, right, facecolor="none", edgecolor=QUIET, hatch=HATCH, linewidth=0)
    axes.axvline(at, color=INK, linewidth=2.6)
    axes.annotate(
        words,
        (at, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 4),
        textcoords="offset points",
        ha="right" if at > sum(axes.get_xlim()) / 2 else "left",
        fontsize=8.5,
        annotation_clip=False,
    )


def threshold_line(axes: Axes, at: float) -> None:
    """Draw what is allowed, its name next to the line, towards the middle."""
    axes.axvline(at, color=RUST, linewidth=1.4, linestyle=DOTS)
    to_left = at > sum(axes.get_xlim()) / 2
    axes.annotate(
        "threshold",
        (at, 0),
        xycoords=("data", "axes fraction"),
        xytext=(-5 if to_left else 5, 4),
        textcoords="offset points",
        ha="right" if to_left else "left",
        fontsize=8.5,
        color=RUST,
        bbox=PLATE,
    )


def key_of(figure: MplFigure, marks: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Write what the marks mean in one line above the drawing."""
    figure.legend(
        handles=[Line2D([], [], label=text, **OPEN, **look) for text, look in marks],
        loc="outside upper left",
        ncols=len(marks),
        frameon=False,
        fontsize=8.5,
        handletextpad=0.2,
        columnspacing=1.4,
        borderaxespad=0,
    )


def histograms(
    figure: MplFigure,
    rows: Sequence[tuple[str, Sequence[int], Sequence[int], bool]],
    *,
    people: int,
    edge: int | None = None,
    edge_words: str = "",
    threshold: int | None = None,
) -> None:
    """Draw how many targets were recovered in how many trials, a row for each attack.

    figure: empty.
    rows: from top to bottom: label, numbers of targets, numbers of trials, whether it is the
        ceiling.
    people: targets in a trial.
    edge: a proved number of targets.
    edge_words: what is written at the edge.
    threshold: a number of targets that is allowed.
    """
    axes = figure.subplots()
    every = [t for _, targets, _, _ in rows for t in targets]
    every += [value for value in (edge, threshold) if value is not None]
    low, high = min(every), max(every)
    step = max(1, -(-(high - low + 1) // 45))
    edges = np.arange(low - 0.5, high + 0.5 + step, step)
    for place, (label, targets, trials, is_ceiling) in enumerate(rows):
        counts, _ = np.histogram(targets, bins=edges, weights=trials)
        color = RUST if is_ceiling else BLUE
        # upwards on an axis that points down
        heights = place + 0.35 - 0.8 * counts / max(counts.max(), 1)
        axes.stairs(heights, edges, baseline=place + 0.35, fill=True, color=color, label=label)
        axes.plot(edges[[0, -1]], [place + 0.35] * 2, color=FAINT, linewidth=0.8)
    ends = max(0, low - 2 * step), min(people, high + 2 * step)
    axes.set_xlim(ends[0] - 0.5, ends[1] + 0.5)
    axes.set_ylim(len(rows) - 0.4, -0.65)
    if edge is not None:
        edge_line(axes, edge + 0.5, ends[1] + 0.5, edge_words)
    if threshold is not None:
        threshold_line(axes, threshold + 0.5)
    axes.set_yticks(range(len(rows)), [short(label) for label, *_ in rows])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.set_xlabel(f"targets recovered in one release, of {people}", loc="left")


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
    places: where each setting is on the horizontal axis, such as log10 of epsilon.
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
    line_ends = [_curve(axes, x, curve, joined, apart) for curve in lines]
    ends = [end for end in line_ends if end is not None]
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


def dot_plot(
    figure: MplFigure,
    rows: Sequence[Row],
    *,
    without: str = "guessed without the release",
    with_it: str = "recovered with the release",
    edge: float | None = None,
    edge_words: str = "proved: no attacker beyond",
    threshold: float | None = None,
) -> None:
    """Draw a row for each attack, column or group.

    figure: empty.
    rows: from top to bottom.
    without: what the open squares are.
    with_it: what the circles are.
    edge: a proved share that no attacker exceeds.
    edge_words: what is written at the edge.
    threshold: a share that is allowed.
    """
    axes = figure.subplots()
    places = _places(axes, rows)
    shares = [row.without for row in rows if row.without is not None]
    shares += values_of([row.with_it for row in rows]) + values_of([row.ceiling for row in rows])
    shares += [value for value in (edge, threshold) if value is not None]
    _, right = share_axis(axes, shares or [0.0, 1.0], vertical=False)
    for at, row in zip(places, rows, strict=True):
        _draw_row(axes, at, row)
    if edge is not None:
        edge_line(axes, edge, right, edge_words)
    if threshold is not None:
        threshold_line(axes, threshold)
    axes.set_ylim(max(places, default=0) + 0.6, -0.6)
    axes.set_yticks(places, [short(row.label) for row in rows])
    for text, row in zip(axes.get_yticklabels(), rows, strict=True):
        text.set_fontweight("bold" if row.bold else "normal")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    key_of(
        figure,
        [
            mark
            for mark, is_drawn in (
                ((without, WITHOUT), any(row.without is not None for row in rows)),
                ((with_it, WITH), any(row.with_it for row in rows)),
                (("ceiling", CEILING), any(row.ceiling for row in rows)),
            )
            if is_drawn
        ],
    )


def _places(axes: Axes, rows: Sequence[Row]) -> list[float]:
    """Compute the height of each row, and write the headings between them."""
    places: list[float] = []
    place = 0.0
    for row in rows:
        if row.heading:
            place += 0.35 if places else 0
            axes.annotate(
                short(row.heading, 60),
                (0, place),
                xycoords=("axes fraction", "data"),
                xytext=(4, -3),
                textcoords="offset points",
                fontsize=8.5,
                fontweight="bold",
                bbox=PLATE,
            )
            place += 0.8
        places.append(place)
        place += 1
    return places


def _draw_row(axes: Axes, at: float, row: Row) -> None:
    """Draw the marks of one row, its limits, and the number at its end."""
    marks = [row.without, row.with_it and row.with_it.share, row.ceiling and row.ceiling.share]
    known = [m for m in marks if m is not None]
    if known:
        axes.plot([min(known), max(known)], [at, at], color=FAINT, linewidth=1.2, zorder=0.9)
    if row.without is not None:
        axes.plot(row.without, at, **OPEN, **WITHOUT)
    if row.ceiling is not None:
        _limits(axes, at, row.ceiling, RUST)
        axes.plot(row.ceiling.share, at, **OPEN, **CEILING)
    if row.with_it is not None:
        _limits(axes, at, row.with_it, BLUE)
        axes.plot(row.with_it.share, at, **OPEN, **WITH)
    shown = row.with_it or row.ceiling
    if shown is not None:
        axes.annotate(
            percent(shown.share),
            (1, at),
            xycoords=("axes fraction", "data"),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontweight="bold" if row.bold else "normal",
            annotation_clip=False,
        )


def _limits(axes: Axes, place: float, value: Range, color: str) -> None:
    """Draw horizontal confidence limits."""
    low = value.share if value.low is None else value.low
    high = value.share if value.high is None else value.high
    axes.plot([low, high], [place, place], color=color, linewidth=2.2, solid_capstyle="butt")
