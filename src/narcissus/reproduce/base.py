"""A figure, table or statement of a paper, made again: the data, a picture, ours beside theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

PAPERS: Mapping[str, str] = {
    "000": "Narcissus resiliency, first version",
    "001": "Swanberg et al. 2025, Beyond the Worst Case",
    "002": "Bayes security",
    "003": "Narcissus resiliency",
    "004": "Bayesian extraction-safety",
}
"""The papers by their number here."""

Kind = Literal["figure", "table", "statement"]
Verdict = Literal["agrees", "differs", "cannot be compared"]


@dataclass(frozen=True)
class Printed:
    """One number that a paper prints, and ours.

    Attributes
    ----------
    what
        What it is, in words.
    paper, ours
        The two numbers.
    within
        How far they may be apart: half a unit of the last digit printed, where nothing is random.
    because
        Why they differ, where they do.
    """

    what: str
    paper: float
    ours: float
    within: float
    because: str = ""

    @property
    def agrees(self) -> bool:
        """Whether they are as near as they should be."""
        return abs(self.paper - self.ours) <= self.within


@dataclass(frozen=True)
class Line:
    """One curve, or points, of a picture."""

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


@dataclass(frozen=True)
class Reproduced:
    """What came out.

    Attributes
    ----------
    panels
        What is drawn; also the data, a row a point. None for a statement or a table.
    printed
        Numbers that the paper prints, beside ours.
    cannot
        Why there is nothing to compare with, where there is nothing.
    notes
        Readings that were chosen, data that stand in for others; a sentence each.
    table
        Rows of a table, the names of its columns first; None for a figure.
    """

    panels: tuple[Panel, ...] = ()
    printed: tuple[Printed, ...] = ()
    cannot: str = ""
    notes: tuple[str, ...] = ()
    table: tuple[tuple[str | float, ...], ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether what is printed agrees; one number that does not decides."""
        if not self.printed:
            return "cannot be compared"
        return "agrees" if all(one.agrees for one in self.printed) else "differs"

    @property
    def because(self) -> str:
        """Why the verdict is what it is."""
        if not self.printed:
            return self.cannot
        apart = [one for one in self.printed if not one.agrees]
        if not apart:
            return f"all {len(self.printed)} printed numbers, to the digits printed"
        reasons = dict.fromkeys(one.because or f"{one.what}: not explained" for one in apart)
        return "; ".join(reasons)

    @property
    def rows(self) -> tuple[tuple[str | float, ...], ...]:
        """The data, the names of its columns first."""
        if self.table:
            return self.table
        points = [
            (panel.title, line.label, float(x), float(y))
            for panel in self.panels
            for line in panel.lines
            for x, y in zip(line.x, line.y, strict=True)
        ]
        return (("panel", "line", "x", "y"), *points)


@dataclass(frozen=True)
class Item:
    """A figure, table or statement that can be made again.

    Attributes
    ----------
    paper
        A number of `PAPERS`.
    kind, number
        Such as "figure" and "2a".
    title
        What it shows, in one line.
    seconds
        Roughly how long it takes on one core.
    make
        Makes it.
    """

    paper: str
    kind: Kind
    number: str
    title: str
    seconds: float
    make: Callable[[], Reproduced]

    @property
    def name(self) -> str:
        """What it is called here, such as ``001/figure-2a``; also its folder."""
        return f"{self.paper}/{self.kind}-{self.number}"
