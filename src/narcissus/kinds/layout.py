"""What a kind says in words: its page, built from rows, and what other pages ask of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from narcissus.judgement import JudgedCriterion, StudyJudgement
from narcissus.report.about import Answered, RealFigure, Subject
from narcissus.report.first_screen import Glance, paragraph
from narcissus.report.format import limits, percent
from narcissus.report.page import Cell, Grid, Headline, Page, Row, Section, Verdict
from narcissus.results import Grade, NotAssessed
from narcissus.rows import Quantity, StudyRow
from narcissus.study.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure


class Layout:
    """The words of a kind: a subclass says what is its own."""

    not_covered: ClassVar[Sequence[str]] = ()
    phrases: ClassVar[Mapping[str, str]] = {}
    """For `sentence`, by status."""

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

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        """Return the numbers of the verdict."""
        raise NotImplementedError

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        raise NotImplementedError

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        """Describe the record for somebody who decides."""
        raise NotImplementedError

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]:
        """Answer items of frameworks (`narcissus.report.mapping`)."""
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

    def top(self, record: Record, case: StudyJudgement) -> dict[str, Any]:
        """Return more fields of the `narcissus.report.page.Verdict`."""
        sentences = {
            status: [
                f"{judgement.label}: {sentence(judgement, self.phrases)}"
                for judgement in case.deciding
                if judgement.status == status
            ]
            for status in ("met", "exceeded")
        }
        label, met_count = case.worst.label, len(sentences["met"])
        return {
            "evidence_against": sentences["exceeded"],
            "evidence_for": [] if record.contradictions or case.unaccounted else sentences["met"],
            "setting": label if len(case.each) > 1 else "",
            "where": f"at {label}" if 0 < met_count < len(case.each) else "",
        }

    def page(self, record: Record, case: StudyJudgement) -> Page:
        """Return what is the kind's own of a report."""
        numbers = self.numbers(record, case)
        top = Verdict(status=record.status, headline=record.verdict, numbers=numbers)
        return Page(
            title=record.title,
            subtitle=self.subtitle(case),
            verdict=replace(top, **self.top(record, case)),
            sections=self.sections(record, case),
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


def sentence(one: JudgedCriterion, phrases: Mapping[str, str], which: str = "") -> str:
    """Fill the phrase of a criterion's status, or another one, with the numbers at its place.

    Shares are percentages; limits and bounds are rounded outwards. ``{proved}`` is the phrase of
    that name where something is proved, else nothing. A status without a phrase has that of a
    study without a threshold, which says what was found.
    """
    if not which and one.status == "contradicted":
        return " ".join(one.contradictions)
    high = None if one.bound is None else one.bound.quantity.high
    words = {
        "label": one.label,
        "name": one.best.name,
        "value": percent(one.best.value),
        "limits": limits(one.best.quantity.low, one.best.quantity.high),
        "guess": percent(one.guess),
        "surest": one.surest.name,
        "low": percent(one.surest.quantity.low or 0.0, "down"),
        "at_most": percent(one.at_most),
        "high": percent(high, "up"),
    }
    words["proved"] = "" if high is None else phrases.get("proved", "").format_map(words)
    phrase = phrases.get(which or one.status, phrases.get("no threshold", ""))
    return phrase.format_map(words)
