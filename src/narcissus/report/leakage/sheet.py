"""A page about one result that no study made: what was asked, found, and not assessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from narcissus.report.envelope import grades
from narcissus.report.gives_away import figures_of_files, given_away
from narcissus.report.page import Facts, Grid, Items, Page, Section, Text, Verdict
from narcissus.results import Grade, NotAssessed
from narcissus.study.record import provenance

NOT_COVERED = (
    "Secrets, outputs and uses of the channel other than those described: how long an answer "
    "takes, what is sent alongside it.",
    "The information in the secret itself once it is guessed.",
)


@dataclass(frozen=True)
class Asked:
    """Where a page's numbers come from."""

    command: str  # What was asked, as a command
    # Names of the files that were read, by what they hold
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    seed: int | None = None  # Of what is random; None if nothing is


def sheet(
    verdict: Verdict,
    sections: Sequence[Section],
    asked: Asked,
    *,
    title: str,
    subtitle: str,
    not_assessed: Sequence[NotAssessed] = (),
    not_covered: Sequence[str] = NOT_COVERED,
) -> Page:
    """Put around a result what every page says: what is missing, and how to make it again."""
    left: list[Items] = []
    if verdict.contradictions:
        words = "Statements on this page that contradict each other"
        left.append(Items(words, verdict.contradictions, "against"))
    if not_assessed:
        texts = [
            f"{remark.quantity}: {remark.reason}."
            + (f" Remedy: {remark.remedy}." if remark.remedy else "")
            for remark in not_assessed
        ]
        left.append(Items("Not assessed, so it may be unsafe", texts, "warning"))
    if not_covered:
        left.append(Items("What this does not cover", not_covered, "warning"))
    open_ = [Section("What this leaves open", left)] if left else []
    made = provenance(asked.seed or 0)
    packages = ", ".join(f"{name} {version}" for name, version in made.packages.items())
    rows = [("Command", asked.command)]
    rows += [] if asked.seed is None else [("Seed", str(asked.seed))]
    rows += [("Narcissus", made.narcissus), ("Python", f"{made.python}; {packages}")]
    whence = Section("Provenance", [Facts(rows), *grades()])
    gives = given_away(figures_of_files(asked.files, asked.seed))
    return Page(title, subtitle, verdict, [*sections, *open_, gives, whence])


def assessed(headline: str, grade: Grade, **more: Any) -> Verdict:
    """Return the verdict of a result that is compared with no threshold."""
    return Verdict("no threshold", headline, rests_on=grade, **more)


def method(*paragraphs: str) -> Section:
    """Return how it was found."""
    return Section("Method", [Text(paragraphs)])


def graded(grade: Grade, rows: Sequence[object]) -> list[Grade]:
    """Return one grade to every row of a table."""
    return [grade] * len(rows)


def table(
    caption: str, columns: Sequence[str], rows: Sequence[Any], grade: Grade = "proved", **more: Any
) -> Grid:
    """Return a table of one grade."""
    return Grid(caption, columns, rows, grades=graded(grade, rows), **more)
