"""A figure, table or statement of a paper, made again: the data, a picture, ours beside theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

PAPERS: Mapping[str, str] = {
    "000": "Narcissus resiliency, first version",
    "001": "Swanberg et al. 2025, Beyond the Worst Case",
    "002": "Bayes security",
    "003": "Narcissus resiliency",
    "004": "Bayesian extraction-safety",
}
"""The papers by their number here."""

Kind = Literal["figure", "table", "statement"]
Verdict = Literal["agrees", "differs", "cannot be compared", "failed"]
Shown = Literal["proved", "checked", "played"]
"""How a statement is shown: for all that it speaks of, exactly (a proof in the documentation, or
all cases computed); exactly, in the cases named; by sampling, with limits. Strongest first."""


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
class Held:
    """One claim of a statement, and whether it held.

    Attributes
    ----------
    what
        The claim, with the cases in which it was looked at.
    holds
        Whether it held in all of them.
    shown
        How it was looked at.
    because
        Why it does not hold, where it does not: a counterexample, a misprint.
    """

    what: str
    holds: bool
    shown: Shown
    because: str = ""


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
    log_y: bool = False
    names: Sequence[str] = ()
    """What stands at x = 0, 1, 2, ... where x are no numbers; points may stand a little beside."""


@dataclass(frozen=True)
class Reproduced:
    """What came out.

    Attributes
    ----------
    panels
        What is drawn; also the data, a row a point. None for a statement or a table.
    printed
        Numbers that the paper prints, beside ours.
    held
        Claims of a statement, and whether they held.
    cannot
        Why there is nothing to compare with, where there is nothing.
    notes
        Readings that were chosen, data that stand in for others; a sentence each.
    table
        Rows of a table, the names of its columns first; None for a figure.
    failed
        Why it could not be made, if so: there is nothing else then.
    """

    panels: tuple[Panel, ...] = ()
    printed: tuple[Printed, ...] = ()
    held: tuple[Held, ...] = ()
    cannot: str = ""
    notes: tuple[str, ...] = ()
    table: tuple[tuple[str | float, ...], ...] = ()
    failed: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether what is printed agrees and what is claimed held; one that does not decides."""
        if self.failed:
            return "failed"
        if not self.printed and not self.held:
            return "cannot be compared"
        fine = all(one.agrees for one in self.printed) and all(one.holds for one in self.held)
        return "agrees" if fine else "differs"

    @property
    def shown(self) -> Shown | None:
        """How the claims were shown, the weakest of all; None without claims."""
        weakest: Shown | None = None
        for shown in get_args(Shown):
            if any(one.shown == shown for one in self.held):
                weakest = shown
        return weakest

    @property
    def because(self) -> str:
        """Why the verdict is what it is."""
        if self.failed:
            return self.failed
        if not self.printed and not self.held:
            return self.cannot
        apart = [one for one in self.printed if not one.agrees]
        failed = [one for one in self.held if not one.holds]
        if not apart and not failed:
            said: list[str] = []
            if self.printed:
                said.append(f"all {len(self.printed)} printed numbers, as near as they should be")
            if self.held:
                said.append(f"all {len(self.held)} claims held ({self.shown})")
            return "; ".join(said)
        reasons = dict.fromkeys(
            one.because or f"{one.what}: not explained" for one in (*apart, *failed)
        )
        return "; ".join(reasons)

    @property
    def rows(self) -> tuple[tuple[str | float, ...], ...]:
        """The data, the names of its columns first."""
        if self.table:
            return self.table
        points = [
            (panel.title, line.label, panel.names[round(x)] if panel.names else float(x), float(y))
            for panel in self.panels
            for line in panel.lines
            for x, y in zip(line.x, line.y, strict=True)
        ]
        return (("panel", "line", "x", "y"), *points)


@dataclass(frozen=True)
class Needed:
    """A data file that an item is made from, and that does not come with the project.

    Attributes
    ----------
    name
        Its name in the user's folder of data.
    sha256
        Its checksum, in hexadecimal; empty where any file of that form does.
    source
        Where to fetch it, in words.
    """

    name: str
    sha256: str
    source: str


@dataclass(frozen=True)
class Given:
    """What an item is made from.

    Attributes
    ----------
    answers
        What its pieces gave, by their names; empty for a piece.
    data
        The user's folder of data; None where nobody named one.
    """

    answers: Mapping[str, Any] = field(default_factory=dict)
    data: Path | None = None


@dataclass(frozen=True)
class Item:
    """A figure, table or statement that can be made again.

    Attributes
    ----------
    paper
        A number of `PAPERS`.
    kind, number
        Such as "figure" and "2a"; of a statement "Theorem 3.2".
    title
        What it shows or says, in one line.
    seconds
        Roughly how long it takes on one core, all pieces together.
    make
        Makes it, from what its pieces gave.
    pieces
        Long work, in pieces that can be done in any order, each by its name: each gives what JSON
        can hold, is done by any worker and is kept once done. Functions of a module, or `partial`.
    needs
        Data of the user's that it takes where they are there; `Reproduced.notes` say what stood in.
    command
        What a user runs to see it at work in their own setting; empty: ``narcissus reproduce``.
    """

    paper: str
    kind: Kind
    number: str
    title: str
    seconds: float
    make: Callable[[Given], Reproduced]
    pieces: Mapping[str, Callable[[Given], Any]] = field(default_factory=dict)
    needs: tuple[Needed, ...] = ()
    command: str = ""

    @property
    def name(self) -> str:
        """What it is called here, such as ``001/figure-2a``; also its folder."""
        words = f"{self.kind} {self.number}".lower().split()
        return f"{self.paper}/{'-'.join(words)}"
