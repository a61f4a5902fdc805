"""What a model gives back of what it was trained on, on a page: the frame of three kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from narcissus.report.format import MISSING, between_points, limits, percent
from narcissus.report.page import Cell, Facts, Figure, Grid
from narcissus.results import Grade
from narcissus.study.record import Record
from narcissus.study.results.base import SampledShare
from narcissus.study.results.image import ImageGroup
from narcissus.study.results.language import DocumentGroup
from narcissus.study.results.recovered import GainOverFresh, copies_text, shown_gain

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure


@dataclass(frozen=True)
class Counted:
    """How much of some of it came back, and how much of fresh ones: a row of a table.

    ``beside`` is what a model that was not trained on them gives, None where that is no question;
    ``more`` are cells after the gain.
    """

    label: str
    total: int
    recovered: int
    share: float
    fresh: SampledShare | None
    gain: GainOverFresh | None
    beside: tuple[SampledShare | None] | None = None
    more: Sequence[Cell] = ()

    def headline(self, of: str) -> tuple[str, str, str, Grade]:
        """Return it as a number of the verdict."""
        if self.fresh is None or self.gain is None:
            return self.label, percent(self.share), f"no fresh {of}", "not assessed"
        between = between_points(self.gain.low, self.gain.high)
        text = f"never seen {percent(self.fresh.value)}; gain {between} points"
        if self.gain.low > 0 >= shown_gain(self.share, self.total, self.fresh):
            text += "; chance alone may give as much"
        return self.label, percent(self.share), text, "sampled"

    def cells(self) -> list[Cell]:
        """Return it as a row."""
        cells: list[Cell] = [self.label, self.total, self.recovered, self.share]
        for one in (self.fresh, *(self.beside or ())):
            cells += [None, MISSING] if one is None else [one.value, limits(one.low, one.high)]
        gain = MISSING if self.gain is None else between_points(self.gain.low, self.gain.high)
        return [*cells, gain, *self.more]


def copies_words(group: DocumentGroup | ImageGroup, of: str) -> str:
    """Name a group by how often its members are in the training data."""
    return copies_text(group.copies, group.and_copies) if group.copies else f"all {of}"


def facts(
    rows: Sequence[tuple[str, str]], record: Record, most_gain: float | None, of: str
) -> Facts:
    """Add to facts what whoever approves the release accepts, and why."""
    accepted = [("Accepted", f"a gain of {percent(most_gain, 'down')} of {of}")]
    reason = (record.study.get("threshold") or {}).get("reason")
    why = [("Why", str(reason))] if reason else []
    return Facts([*rows, *(accepted if most_gain is not None else []), *why])


def shares_figure(
    title: str,
    description: str,
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Counted],
    name: str,
    of: str,
) -> Figure:
    """Draw for each row a dot and, for fresh ones, an open square, over the table."""

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import Range
        from narcissus.report.dot_plot import Row, dot_plot

        dot_plot(
            figure,
            [Row(one.label, one.fresh and one.fresh.value, Range(one.share)) for one in rows],
            without=f"fresh {of}, by the same rule",
            with_it=f"{of} trained on",
        )

    grades: list[Grade] = ["not assessed" if one.gain is None else "sampled" for one in rows]
    shares = ("Share", "Never seen", *(c for c in columns if c.startswith(("From ", "By shadow"))))
    table = Grid(caption, columns, [one.cells() for one in rows], grades, shares)
    return Figure(title, description, draw, table, (7.2, 1.3 + 0.45 * len(rows)), name)
