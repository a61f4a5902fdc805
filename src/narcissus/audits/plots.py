"""The report's figures, drawn for a notebook or a script."""

from __future__ import annotations

from typing import Any, cast

import matplotlib as mpl
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MplFigure

from narcissus._validation import did_you_mean
from narcissus.errors import InputError
from narcissus.report import Figure, page_of
from narcissus.report.svg import PAPER, STYLE
from narcissus.study.record import Record


def figures_of(record: Record) -> dict[str, Figure]:
    """Return the figures of a record's report by their names, in the order of the report."""
    blocks = page_of(record, internal=True).blocks
    return {block.name: block for block in blocks if isinstance(block, Figure)}


def plot(record: Record, name: str | None, ax: Axes | None) -> Axes:
    """Draw a figure; see `narcissus.audits.Audit.plot`."""
    figures = figures_of(record)
    if not figures:
        raise InputError("the report of this study has no figures")
    if name is not None and name not in figures:
        raise InputError(
            f"there is no figure `{name}`{did_you_mean(name, figures)}; there are: "
            f"{', '.join(figures)}"
        )
    figure = figures[name or next(iter(figures))]
    with mpl.rc_context():
        # as in the report whatever the user's settings are, but on paper
        mpl.rcdefaults()
        mpl.rcParams.update({**STYLE, "figure.facecolor": PAPER, "axes.facecolor": PAPER})
        if ax is not None:
            figure.draw(cast(MplFigure, _OnAxes(ax)))
            return ax
        drawn = pyplot.figure(figsize=figure.size)
        figure.draw(drawn)
        return drawn.axes[0]


class _OnAxes:
    """A figure of one pair of axes that are in somebody else's: drawings are made on it."""

    def __init__(self, ax: Axes) -> None:
        self._ax = ax

    def subplots(self, rows: int = 1, columns: int = 1, **_: Any) -> Axes:
        if rows * columns > 1:
            raise InputError("this figure needs several axes: leave out `ax`")
        return self._ax

    def add_subplot(self) -> Axes:
        return self._ax

    def legend(self, **options: Any) -> None:
        """Write the key above the axes, where a figure would have it above its drawing."""
        self._ax.legend(**{**options, "loc": "lower left", "bbox_to_anchor": (0, 1.04)})
