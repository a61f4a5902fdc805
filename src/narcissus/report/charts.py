"""What the charts of a report share: marks, axes, limits, edges; and histograms.

One language throughout: an open square is what is guessed without the release, a filled circle
what is recovered with it, a triangle the ceiling; thin lines and bands are confidence limits. What
is proved is a heavy edge with hatching behind it, where no attacker is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MplFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from narcissus.report.svg import BLUE, FAINT, INK, PAPER, QUIET, RUST

HATCH = "////"
DOTS = (0, (1.5, 1.5))
PLATE: dict[str, Any] = {"facecolor": PAPER, "edgecolor": "none", "pad": 2}
OPEN: dict[str, Any] = {"markeredgewidth": 1.2, "linestyle": "none", "clip_on": False}
WITHOUT: dict[str, Any] = {"marker": "s", "color": QUIET, "markerfacecolor": PAPER, "markersize": 6}
WITH: dict[str, Any] = {"marker": "o", "color": BLUE, "markersize": 7}
CEILING: dict[str, Any] = {"marker": "^", "color": RUST, "markersize": 7}


@dataclass(frozen=True)
class Range:
    """A share with its confidence limits, each in [0, 1]; a missing limit is None."""

    share: float
    low: float | None = None
    high: float | None = None


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
    found = [(r.share, r.low, r.high) for r in ranges if r is not None]
    return [v for triple in found for v in triple if v is not None]


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
    """Draw what is allowed, its name beside the line, towards the middle."""
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
