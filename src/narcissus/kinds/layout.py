"""What a kind says in words: its page, built from rows, and what other pages ask of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from narcissus._outwards import lower, upper
from narcissus.judgement import StudyJudgement
from narcissus.report.about import Answered, RealFigure, Subject
from narcissus.report.first_screen import Glance, paragraph
from narcissus.report.format import (
    MISSING,
    between_points,
    limits,
    limits_of,
    number,
    percent,
    points,
)
from narcissus.report.page import Cell, Figure, Grid, Headline, Page, Row, Section, Verdict
from narcissus.results import Grade, NotAssessed
from narcissus.rows import Quantity, Role, StudyRow
from narcissus.study.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure


Headings = Mapping[tuple[Role, str], str]
"""What rows are called, by role and measure; "{name}" is the row's name."""


class Layout:
    """The words of a kind: a subclass says what is its own."""

    not_covered: ClassVar[Sequence[str]] = ()

    def title(self, study: Any, case: StudyJudgement) -> str:
        raise NotImplementedError

    def subtitle(self, case: StudyJudgement) -> str:
        raise NotImplementedError

    def verdict(self, case: StudyJudgement) -> str:
        """Return the answer and the three sentences of the first screen."""
        return paragraph(case, self.glance(case))

    def assessed(self, case: StudyJudgement) -> list[str]:
        raise NotImplementedError

    def not_assessed(self, case: StudyJudgement) -> Iterable[NotAssessed]:
        """Return what was asked and not answered, and what would answer it."""
        return []

    def left_open(self, study: Any, case: StudyJudgement) -> Iterable[NotAssessed]:
        """Return the same where the study itself tells more."""
        return self.not_assessed(case)

    def uncovered(self, case: StudyJudgement) -> list[str]:
        """Return what no number speaks about."""
        return list(self.not_covered)

    def glance(self, case: StudyJudgement) -> Glance:
        """Return the numbers of the first screen."""
        raise NotImplementedError

    headings: ClassVar[Headings] = {}
    """What rows are called that decide; where they hold is added if it is not the same for all."""

    def deciding(self, case: StudyJudgement) -> Iterable[StudyRow]:
        """Return the rows where the verdict was decided."""
        return case.worst.rows

    def grade(self, case: StudyJudgement, row: StudyRow) -> Grade:
        """Return how sure a row is within the study."""
        return row.quantity.grade

    def numbers(self, case: StudyJudgement) -> list[Headline]:
        """Return the numbers where the verdict was decided, for a page that has no tables."""
        rows = [
            row
            for row in self.deciding(case)
            if (row.role, row.of) in self.headings and row.is_known
        ]
        are_apart = len({tuple(row.at.items()) for row in rows}) > 1
        return [
            (*headline(self.headings[row.role, row.of], row, are_apart), self.grade(case, row))
            for row in rows
        ]

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        raise NotImplementedError

    def lead(self, case: StudyJudgement) -> Figure | None:
        """Return the picture that opens the report of a sweep; its sections leave it out."""
        return None

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        """Describe the record for somebody who decides."""
        raise NotImplementedError

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        """Answer criteria of a statement, by name (`narcissus.report.statement`)."""
        return {}

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        """Return the figures that real records decide."""
        return []

    columns: ClassVar[Sequence[str]] = ()
    """The kind's own columns of the frame that come first, in order."""

    def in_frame(self, row: StudyRow, case: StudyJudgement) -> Mapping[str, Any] | None:
        """More columns of a row of the frame; None leaves the row out."""
        return {}

    def threshold(self, record: Record, case: StudyJudgement) -> Mapping[str, Any]:
        """Return what was accepted beforehand, why and by whom."""
        return record.study.get("threshold") or {}

    def where(self, case: StudyJudgement) -> str:
        """Return where the numbers of the verdict are from, after a caption."""
        return ""

    def page(self, record: Record, case: StudyJudgement) -> Page:
        """Return what is the kind's own of a report."""
        # a status that one setting earns must not look like one of all
        is_of_one = case.is_sweep and len({judged.status for judged in case.each}) > 1
        where = f"at {case.worst.label}" if is_of_one else ""
        return Page(
            title=record.title,
            subtitle=self.subtitle(case),
            verdict=Verdict(status=record.status, where=where),
            sections=self.sections(record, case),
            lead=self.lead(case),
        )


NodeT = TypeVar("NodeT")
"""A row, or another part of a result."""
Column = str | Callable[[StudyRow], Cell]
"""How a cell follows from a row: "name", "value", "limits", "baseline", a key of ``at``;
from another part of a result, the name of its field; from either, a function."""


def cell_of(node: NodeT, column: str | Callable[[NodeT], Cell]) -> Cell:
    if callable(column):
        return column(node)
    if not isinstance(node, StudyRow):
        return getattr(node, column)
    quantity = node.quantity
    if column in ("value", "trials"):
        return getattr(quantity, column)
    if column == "limits":
        return limits(quantity.low, quantity.high)
    if column in ("name", "baseline"):
        return getattr(node, column)
    return node.at.get(column)


def table(
    caption: str,
    nodes: Sequence[NodeT],
    columns: Mapping[str, str | Callable[[NodeT], Cell]],
    *,
    graded: bool | Grade | Sequence[Grade] = True,
    percent: Sequence[str] = (),
    folded: bool = False,
) -> Grid:
    """Return a table with a row for each row or part of a result, and a column for each heading.

    graded: Whether each row has its own grade; or the grade of all, or of each part.
    """
    grades: Sequence[Grade] = [node.quantity.grade for node in nodes if isinstance(node, StudyRow)]
    if isinstance(graded, str):
        of_all: Grade = graded
        grades = [of_all for _ in nodes]
    elif not isinstance(graded, bool):
        grades = graded
    return Grid(
        caption,
        tuple(columns),
        [[cell_of(node, column) for column in columns.values()] for node in nodes],
        grades=grades if graded else None,
        percent=percent,
        folded=folded,
    )


def numbers_table(caption: str, rows: Sequence[StudyRow], headings: Headings) -> Grid:
    """Return a table of numbers of several forms: what each is, the number, its limits."""
    columns: dict[str, str | Callable[[StudyRow], Cell]] = {
        "What": lambda row: headline(headings[row.role, row.of], row, False)[0],
        "Number": lambda row: headline("", row, False)[1],
        "Limits": lambda row: headline("", row, False)[2],
    }
    compared = "Of the others"
    columns[compared] = lambda row: None if row.baseline is None else percent(row.baseline)
    return table(caption, rows, columns).where_known(compared)


def observed(share: Quantity) -> tuple[int, int] | None:
    """Return how many counted of how many trials; None where no trials are known."""
    if share.trials is None or share.value is None:
        return None
    return round(share.value * share.trials), share.trials


def dots(rows: Sequence[Row], **look: Any) -> Callable[[MplFigure], None]:
    """Return what draws a row for each attack, column or group; ``look`` is of `dot_plot`."""

    def draw(figure: MplFigure) -> None:
        from narcissus.report.charts import dot_plot

        dot_plot(figure, rows, **look)

    return draw


def headline(label: str, row: StudyRow, is_placed: bool) -> tuple[str, str, str]:
    """Return a row's label, number and limits; numbers are worded by the row's role."""
    where = [f"{key} {place}" for key, place in row.at.items() if is_placed and place != ""]
    label = ", ".join([label.format(name=row.name), *where])
    quantity = row.quantity
    value, low, high = quantity.value, quantity.low, quantity.high
    between = limits_of(quantity)
    if row.role in ("gain", "excess"):
        shown = f"{points(value)} points"
        between = quantity.why if low is None or high is None else between_points(low, high)
    elif row.of != "success" and (row.role in ("measure", "refuted") or (value or 0) > 1):
        shown = MISSING if value is None else number(value)
        if value is not None and (row.role == "refuted" or low == value != high):
            shown = lower(value, places=4)  # a lower limit
        ends = [] if low is None or low == value else [f"at least {lower(low, places=4)}"]
        ends += [] if high is None or high == value else [f"at most {upper(high, places=4)}"]
        between = quantity.why or ", ".join(ends)
    else:
        shown = percent(value, "up" if row.role == "bound" else "nearest")
    if quantity.counted is not None and low is None and high is None:
        between = "{:,} of {:,}".format(*quantity.counted)
    if row.role == "bound":
        people = getattr(row.about, "people", None)
        between = "at most" if people is None else f"at most, of {number(people)}"
        if people is not None and quantity.confidence is not None:
            between += f", with {100 * quantity.confidence:g}% confidence"
    return label, shown, between.replace(MISSING, "")
