"""A row for each attack, column or group: what is guessed without, recovered with, at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure as MplFigure

from narcissus.report.charts import (
    CEILING,
    OPEN,
    PLATE,
    WITH,
    WITHOUT,
    Range,
    edge_line,
    key_of,
    share_axis,
    short,
    threshold_line,
    values_of,
)
from narcissus.report.format import percent
from narcissus.report.svg import BLUE, FAINT, RUST


@dataclass(frozen=True)
class Row:
    """A row of a dot plot: what is guessed without, recovered with, and at most by sampling."""

    label: str
    without: float | None = None
    with_it: Range | None = None
    ceiling: Range | None = None
    bold: bool = False
    heading: str = ""
    """A heading above the row, where a new group of rows begins."""


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
    used = [(without, WITHOUT), (with_it, WITH)]
    if any(row.ceiling for row in rows):
        used.append(("ceiling", CEILING))
    key_of(figure, used)


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
