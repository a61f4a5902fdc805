"""A figure, table or statement of a paper, made again: the data, a picture, ours beside theirs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
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
Word = Literal["agrees", "differs", "fitted", "no number in print"]
"""How a number of ours compares with the print: the same to the print's last digit; not; the same
because a constant or a reading of ours was chosen so; or with nothing, a curve or a sentence."""
Verdict = Literal["agrees", "differs", "fitted", "no number in print", "failed"]
Shown = Literal["proved", "checked", "played"]
"""How a statement is shown: for all that it speaks of, exactly (a proof in the documentation, or
all cases computed); exactly, in the cases named; by sampling, with limits. Strongest first."""


@dataclass(frozen=True)
class Quote:
    """What stands in a paper: a number, or a sentence that is none.

    Attributes
    ----------
    number
        As printed, such as ``0.24``, ``65%`` or ``2,458,285``; empty for a sentence.
    words
        A few words of the paper, letter by letter, with the number among them; `` ... `` where some
        are left out.
    place
        The section, figure or table that they stand in.

    Raises
    ------
    ValueError
        The words do not hold the number, or no place is named.
    """

    number: str
    words: str
    place: str

    def __post_init__(self) -> None:
        """Refuse a number that nobody printed."""
        whole = rf"(?<![\d.,]){re.escape(self.number)}(?!%|[.,]?\d)"
        if not (self.place and self.words and re.search(whole if self.number else "", self.words)):
            raise ValueError(f"{self.number!r} is not in {self.words!r} ({self.place!r})")

    @property
    def value(self) -> float:
        """The number; per cent as a share."""
        return float(self._exact)

    @property
    def within(self) -> float:
        """Half a unit of its last digit; a whole one where the paper says roughly."""
        _, _, exponent = self._exact.as_tuple()
        assert isinstance(exponent, int)
        return (1.0 if "roughly" in self.words else 0.5) * 10.0**exponent

    @property
    def _exact(self) -> Decimal:
        plain = Decimal(self.number.rstrip("%").replace(",", ""))
        return plain.scaleb(-2) if self.number.endswith("%") else plain


@dataclass(frozen=True)
class Printed:
    """A number of ours, beside what a paper prints.

    Attributes
    ----------
    what
        What it is, in words.
    quote
        The paper's number, where it stands; None where the paper prints none.
    ours
        Our number.
    because
        Why they differ, where they do.
    fitted
        Which constant or reading of ours was chosen so that they agree; empty where none was.
    noise
        How much further apart two numbers that are drawn at random may be, of what is fitted.
    """

    what: str
    quote: Quote | None
    ours: float
    because: str = ""
    fitted: str = ""
    noise: float = 0.0

    @property
    def word(self) -> Word:
        """How the two compare."""
        if self.quote is None:
            return "no number in print"
        room = self.quote.within * (1 + 1e-9) + (self.noise if self.fitted else 0.0)
        if not abs(self.quote.value - self.ours) <= room:
            return "differs"
        return "fitted" if self.fitted else "agrees"

    @property
    def reason(self) -> str:
        """Why the word is what it is, where that needs one."""
        if self.word == "differs":
            return self.because or f"{self.what}: not explained"
        return self.fitted if self.word == "fitted" else ""


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
    quote
        What the paper says of it, where a number of the print is in it or it does not hold.
    """

    what: str
    holds: bool
    shown: Shown
    because: str = ""
    quote: Quote | None = None


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
        Why the print has no number to compare with, where it has none.
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
        """Whether what is printed agrees and what is claimed held; the worst of all decides."""
        if self.failed:
            return "failed"
        words = {one.word for one in self.printed}
        if "differs" in words or not all(one.holds for one in self.held):
            return "differs"
        if "fitted" in words:
            return "fitted"
        return "agrees" if "agrees" in words or self.held else "no number in print"

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
        if self.verdict == "no number in print":
            return self.cannot
        reasons = [one.reason for one in self.printed if one.word == self.verdict != "agrees"]
        reasons += [
            one.because or f"{one.what}: not explained" for one in self.held if not one.holds
        ]
        return "; ".join(dict.fromkeys(reasons)) or self._all_well

    @property
    def _all_well(self) -> str:
        agree = sum(one.word == "agrees" for one in self.printed)
        said = [f"all {agree} printed numbers, to their last digit"] if agree else []
        said += [f"all {len(self.held)} claims held ({self.shown})"] if self.held else []
        return "; ".join(said)

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
        Its checksum, in hexadecimal; empty where nobody has published it.
    source
        Where to fetch it, in words.
    check
        Reads the file and raises `InputError` where it is another than the one that is needed: for
        one without a checksum.
    """

    name: str
    sha256: str
    source: str
    check: Callable[[Path], object] | None = None


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
        Data of the user's that it takes where they are there; `Reproduced.notes` say what was left
        out without them.
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
