"""A figure, table or statement of a paper, reproduced: data, a picture, our numbers and theirs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from narcissus.cli.options import some
from narcissus.cli.playing import SynthOptions
from narcissus.cli.questions import Several
from narcissus.report.panels import Panel

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
    """A number or a sentence printed in a paper."""

    number: str  # as printed, such as ``0.24``, ``65%`` or ``2,458,285``; empty for a sentence
    words: str  # verbatim words of the paper that contain the number; `` ... `` marks omissions
    place: str  # their section, figure or table

    def __post_init__(self) -> None:
        """Raise ValueError if the words lack the number, or no place is named."""
        whole = rf"(?<![\d.,]){re.escape(self.number)}(?!%|[.,]?\d)"
        if not (self.place and self.words and re.search(whole if self.number else "", self.words)):
            raise ValueError(f"{self.number!r} is not in {self.words!r} ({self.place!r})")

    @property
    def value(self) -> float:
        """The number; per cent as a share."""
        return float(self._exact)

    @property
    def within(self) -> float:
        """Half a unit of its last digit; a whole one where the paper rounds roughly."""
        _, _, exponent = self._exact.as_tuple()
        assert isinstance(exponent, int)
        return (1.0 if "roughly" in self.words else 0.5) * 10.0**exponent

    @property
    def _exact(self) -> Decimal:
        plain = Decimal(self.number.rstrip("%").replace(",", ""))
        return plain.scaleb(-2) if self.number.endswith("%") else plain


@dataclass(frozen=True)
class Printed:
    """A number of ours, next to the one a paper prints."""

    what: str  # what it is, in words
    quote: Quote | None  # the paper's number; None if it prints none
    ours: float
    because: str = ""  # why they differ, if they do
    fitted: str = ""  # the constant or reading chosen so that they agree; empty if none was
    noise: float = 0.0  # how much further apart two random numbers may be, of what is fitted

    @property
    def word(self) -> Word:
        if self.quote is None:
            return "no number in print"
        room = self.quote.within * (1 + 1e-9) + (self.noise if self.fitted else 0.0)
        if not abs(self.quote.value - self.ours) <= room:
            return "differs"
        return "fitted" if self.fitted else "agrees"

    @property
    def reason(self) -> str:
        if self.word == "differs":
            return self.because or f"{self.what}: not explained"
        return self.fitted if self.word == "fitted" else ""


@dataclass(frozen=True)
class Held:
    """One claim of a statement, and whether it held."""

    what: str  # the claim, with the cases checked
    holds: bool  # whether it held in all of them
    shown: Shown  # how it was checked
    because: str = ""  # why it fails, if it does: a counterexample, a misprint
    quote: Quote | None = None  # the paper's words, if they contain a number or the claim fails


@dataclass(frozen=True)
class Reproduced:
    """The result of an item."""

    # the pictures; also the data, a row a point. None for a statement or a table
    panels: tuple[Panel, ...] = ()
    printed: tuple[Printed, ...] = ()  # numbers that the paper prints, next to ours
    held: tuple[Held, ...] = ()  # claims of a statement, and whether they held
    cannot: str = "the paper prints none that belongs to it"  # or why it prints no number
    notes: tuple[str, ...] = ()  # chosen readings, substituted data; a sentence each
    # rows of a table, the column names first; None for a figure
    table: tuple[tuple[str | float, ...], ...] = ()
    failed: str = ""  # why it could not be made, if so: there is nothing else then

    @property
    def verdict(self) -> Verdict:
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
    """A data file that an item needs and that does not come with the project."""

    name: str  # in the user's folder of data
    sha256: str  # in hexadecimal; empty if nobody has published it
    source: str  # where to fetch it, in words
    # for a file without a checksum, reads it and raises `InputError` if it is a different one
    check: Callable[[Path], object] | None = None


@dataclass(frozen=True, kw_only=True)
class OwnTable:
    """What is asked of a table of one's own (`narcissus_papers.own`); empty is as in the paper."""

    k: int = 3  # columns of each released table of counts, at least 1
    epsilons: Several = ()  # privacy levels above 0; infinite: exact counts
    levels: Several = ()  # confidence of the bounds on the count, in (0, 1)
    distances: Several = ()  # figure 7 of 001, in units of the column's values, at least 0
    people: int = 100  # in a release
    releases: int = 16  # of each point, at least 2
    # the columns to reconstruct (of 002: those that are released), and how the table is read
    read: Annotated[SynthOptions, some("unknown", "drop", "bins", "missing", "read_as")] = field(
        default_factory=SynthOptions
    )


@dataclass(frozen=True, kw_only=True)
class OwnModel:
    """What is asked of a language model of one's own (`narcissus_papers.own_model`)."""

    model: Path = Path()  # a folder as `save_pretrained` leaves it: a causal model, its tokenizer
    # candidates for figure 2, a value a line; for figure 3 what `narcissus canaries write` wrote
    secrets: Path | None = None
    text: str = "{}"  # around a candidate, which stands at `{}`
    alternatives: int = 99  # other secrets that each planted one is compared with
    epsilons: tuple[float, ...] = ()  # of the bounds of figure 3; empty: the paper's
    documents: Path | None = None  # that the model was trained on, a line each
    fresh: Path | None = None  # of the same source, that it was not trained on
    reference: Path | None = None  # a folder of a model that was trained without the documents
    program: Path | None = None  # Python that is said to extract documents from the model
    prompt: int = 50  # tokens of a document that the completing attack knows
    samples: int = 500  # that the generating attack draws


@dataclass(frozen=True)
class Given:
    """The inputs of an item."""

    # results of its pieces, by their names; empty for a piece
    answers: Mapping[str, Any] = field(default_factory=dict)
    data: Path | None = None  # the user's folder of data; None if none is named


@dataclass(frozen=True)
class Item:
    """A figure, table or statement that can be reproduced."""

    paper: str  # a number of `PAPERS`
    kind: Kind
    number: str  # with the kind, such as "figure" and "2a"; of a statement "Theorem 3.2"
    title: str  # what it shows or states, in one line
    seconds: float  # rough time on one core, all pieces together
    make: Callable[[Given], Reproduced]  # makes it, from the results of its pieces
    # long work in independent named pieces, each with a JSON result, played by any worker and
    # kept once done. Functions of a module, or `partial`
    pieces: Mapping[str, Callable[[Given], Any]] = field(default_factory=dict)
    # optional data of the user; `Reproduced.notes` name what was left out without them
    needs: tuple[Needed, ...] = ()
    command: str = ""  # what a user runs for their own setting; empty: ``reproduce``
    # arguments that make each piece as short as it can be: its own code, with one repeat of each
    small: Mapping[str, Any] = field(default_factory=dict)

    def smallest(self) -> Item:
        """Return the item with the same pieces, each as short as it can be: to see that it runs."""
        pieces = {name: partial(piece, **self.small) for name, piece in self.pieces.items()}
        return replace(self, pieces=pieces)

    @property
    def name(self) -> str:
        """Name, such as ``001/figure-2a``; also its folder."""
        words = f"{self.kind} {self.number}".lower().split()
        return f"{self.paper}/{'-'.join(words)}"


Make = Callable[..., Reproduced]
Told = Iterator[Panel | Printed | Held | str]
"""What the function of an item may yield: pictures, printed numbers, claims, notes."""
_PARTS = {"panels": Panel, "printed": Printed, "held": Held, "notes": str}


def yields(function: Callable[..., Reproduced | Told]) -> Make:
    """Collect what a function yields, as the result of an item."""

    @wraps(function)
    def make(given: Given, **how: Any) -> Reproduced:
        found = function(given, **how)
        if isinstance(found, Reproduced):
            return found
        parts: dict[type, list[Any]] = {}
        for one in found:
            parts.setdefault(type(one), []).append(one)
        made: Any = {name: tuple(parts.get(kind, ())) for name, kind in _PARTS.items()}
        return Reproduced(**made)

    return make


class Statements(list[Item]):
    """The items of a module, in its order: it decorates the function that makes each."""

    def __init__(
        self,
        paper: str,
        seconds: float,
        command: str = "",
        *,
        prefix: str = "",
        kind: Kind = "statement",
    ) -> None:
        super().__init__()
        self._paper, self._seconds = paper, seconds
        self._kind: Kind = kind
        self._command, self._prefix = command, prefix

    def __call__(
        self,
        number: str,
        title: str,
        command: str = "",
        *,
        seconds: float | None = None,
        paper: str = "",
    ) -> Callable[[Callable[[Given], Reproduced | Told]], Make]:
        """Return a decorator that adds the item; a function may make several."""

        def add(function: Callable[[Given], Reproduced | Told]) -> Make:
            make = yields(function)
            time = self._seconds if seconds is None else seconds
            run = self._prefix + (command or self._command)
            self.append(
                Item(paper or self._paper, self._kind, number, title, time, make, command=run)
            )
            return make

        return add


def checked(what: str, holds: bool, because: str = "", quote: Quote | None = None) -> Held:
    """Mark a claim as computed exactly in the named cases, next to the paper's words."""
    return Held(what, bool(holds), "checked", because, quote)


def played(what: str, holds: bool, because: str = "", quote: Quote | None = None) -> Held:
    return Held(what, bool(holds), "played", "" if holds else because, quote)
