"""What a report says, before it is drawn: a page of sections of blocks.

Each kind of study turns its record into a `Page` (`layout.py` in its folder); HTML and text are
drawn from the page alone, so a new kind of study needs no template and no CSS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from narcissus.report.format import MISSING, Cell
from narcissus.results import Grade

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

    from narcissus.report.first_screen import FirstScreen


@dataclass(frozen=True)
class Text:
    """Paragraphs of plain text."""

    paragraphs: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """Terms and what they are: ``[("People per release", "100"), ...]``."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Items:
    """A list with a title: evidence for, assumptions, what is not covered.

    ``tone`` chooses the box: "plain", "for" and "against" (evidence), "warning" (not covered, not
    assessed).
    """

    title: str
    items: Sequence[str]
    tone: Literal["plain", "for", "against", "warning"] = "plain"


@dataclass(frozen=True)
class Grid:
    """A table; ``grades`` says for each row how far its numbers can be trusted."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    grades: Sequence[Grade] | None = None
    percent: Sequence[str] = ()
    """Columns whose numbers are shares, shown as percentages."""
    folded: bool = False
    """In HTML, shown on demand: for long tables that few readers need."""

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of “{self.caption}” has not one cell a column")

    def where_known(self, *columns: str) -> Grid:
        """Return the same table without those of these columns that hold nothing."""
        empty = {
            place
            for place, column in enumerate(self.columns)
            if column in columns and all(row[place] in (None, "", MISSING) for row in self.rows)
        }

        def kept(row: Sequence[Any]) -> list[Any]:
            return [cell for place, cell in enumerate(row) if place not in empty]

        names, rows = kept(self.columns), [kept(row) for row in self.rows]
        percent = tuple(name for name in self.percent if name in names)
        return replace(self, columns=names, rows=rows, percent=percent)


@dataclass(frozen=True)
class Range:
    """A share with its confidence limits, each in [0, 1]; a missing limit is None."""

    share: float
    low: float | None = None
    high: float | None = None


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


@dataclass(frozen=True)
class Figure:
    """A picture with the table behind it."""

    title: str  # The headline: what the picture shows, as a sentence
    description: str  # For a reader who cannot see it: what is drawn and what it says
    draw: Callable[[MplFigure], None]  # Draws on an empty figure
    table: Grid  # The numbers in the picture
    size: tuple[float, float] = (7.2, 4.0)  # Width and height in inches
    # What it is called from Python, a word of its own in its page: ``audit.plot("attacks")``
    name: str = "figure"


@dataclass(frozen=True)
class Picture:
    """An image of the record."""

    png: str  # A PNG file in base64
    alt: str  # What it shows, for a reader who cannot see it


@dataclass(frozen=True)
class Pictures:
    """Images in rows, each row of them to be compared."""

    caption: str  # What they show, as a sentence
    columns: Sequence[str]  # What each column of images is
    # For each row its images, one a column, and its notes
    rows: Sequence[tuple[Sequence[Picture], Sequence[Cell]]]
    notes: Sequence[str]  # What the notes are: the headings of the last columns

    @property
    def table(self) -> Grid:
        """The notes alone, for where images cannot be shown."""
        rows = [[place, *notes] for place, (_, notes) in enumerate(self.rows, 1)]
        return Grid(self.caption, ("Row", *self.notes), rows)


Block = Text | Facts | Items | Grid | Figure | Pictures


@dataclass(frozen=True)
class Section:
    """A titled part of the page."""

    title: str
    blocks: Sequence[Block]


Headline = tuple[str, str, str, Grade]
"""A number of the verdict: its label, value and limits as texts, and its grade."""


@dataclass(frozen=True)
class Verdict:
    """What a verdict rests on, below the first screen; the top of a page that has none."""

    status: str  # As in the record
    headline: str = ""  # One sentence, of a page that has no first screen
    numbers: Sequence[Headline] = ()  # Of a page that has no first screen
    where: str = ""  # Added to the status where it is not that of all settings: ``"at ε = 1"``
    # The weakest grade that the status depends on; one weaker than "sampled", or an assumption,
    # gives the verdict an edge of dashes
    rests_on: Grade = "not assessed"
    assumptions: Sequence[str] = ()
    contradictions: Sequence[str] = ()  # They come first of all
    cautions: Sequence[str] = ()  # Why little is shown, and what was left out

    @property
    def is_silent(self) -> bool:
        """Whether it says no more than its status and grade, which a first screen has."""
        texts = (self.headline, self.numbers, self.assumptions, self.contradictions, self.cautions)
        return not any(texts)


@dataclass(frozen=True)
class Page:
    """A whole report.

    What was and was not assessed, what is not covered, and the provenance are the same for every
    kind of study: `page_of` adds them around ``sections`` from the record, so a kind says only
    what is its own (threat model and assumptions, results, groups, method; in this order).
    """

    title: str
    subtitle: str
    verdict: Verdict
    sections: Sequence[Section] = field(default_factory=tuple)
    first: FirstScreen | None = None  # What a report of a study opens with
    lead: Figure | None = None  # Of a sweep: the picture of the first screen, the risk by setting

    @property
    def blocks(self) -> Iterator[Block]:
        """Yield all blocks in order, the picture of the first screen before the sections."""
        yield from () if self.lead is None else (self.lead,)
        yield from (block for section in self.sections for block in section.blocks)
