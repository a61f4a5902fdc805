"""Curves side by side, as data: drawn for a page, or as SVG and PDF files fit for print."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure

_STYLES: dict[str, dict[str, Any]] = {
    "line": {"linestyle": "-", "linewidth": 1.6},
    "dashed": {"linestyle": "--", "linewidth": 1.3},
    "dotted": {"linestyle": ":", "linewidth": 1.3},
    "points": {"linestyle": "none", "marker": "o", "markersize": 6},
}
_INSIDE = 8  # lines up to which their legend has room in the picture


@dataclass(frozen=True)
class Line:
    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: Literal["line", "dashed", "dotted", "points"] = "line"


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False
    names: Sequence[str] = ()
    """What is at x = 0, 1, 2, ... where x are no numbers; points may be a little beside."""


def draw(canvas: MplFigure, *, panels: Sequence[Panel]) -> None:
    """Draw panels side by side on an empty figure."""
    axes = canvas.subplots(1, len(panels), squeeze=False)[0]
    for ax, panel in zip(axes, panels, strict=True):
        _panel(ax, panel)


def _panel(axes: Axes, panel: Panel) -> None:
    for line in panel.lines:
        axes.plot(line.x, line.y, label=line.label, **_STYLES[line.style])
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    if panel.names:
        axes.set_xticks(range(len(panel.names)), panel.names, rotation=60, ha="right", fontsize=7)
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    axes.grid(visible=True)
    if len(panel.lines) > _INSIDE:
        axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        axes.legend(fontsize=7)


def size_of(panels: Sequence[Panel]) -> tuple[float, float]:
    """Return width and height of the picture, in inches."""
    return 6.4 * len(panels), 4.6


def picture(panels: Sequence[Panel], form: Literal["svg", "pdf"]) -> bytes:
    """Draw panels as a file: the same bytes each time, with text that stays text."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    fonts: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "narcissus",
        "pdf.fonttype": 42,
    }
    with mpl.rc_context(fonts):
        canvas = Figure(figsize=size_of(panels), layout="constrained")
        draw(canvas, panels=panels)
        file = io.BytesIO()
        when = "Date" if form == "svg" else "CreationDate"
        canvas.savefig(file, format=form, metadata={when: None})
    return file.getvalue()
