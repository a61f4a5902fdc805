"""A record on one page, in plain words, for those who decide and read nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from narcissus.findings import weakest
from narcissus.report.about import Subject, numbers_of, shown, subject_of
from narcissus.report.envelope import INTERNAL, page_of
from narcissus.report.format import GRADES, SIGNS, grade_word, percent
from narcissus.report.gives_away import figures_of
from narcissus.report.html import page_html
from narcissus.report.page import Block, Facts, Grid, Items, Page, Section, Text
from narcissus.results import GRADES as FROM_STRONG
from narcissus.results import Grade
from narcissus.study.record import Record
from narcissus.study.shareable import to_show

MOST_NUMBERS, MOST_ITEMS = 6, 3
"""Rows and items that fit on one page; how many more there are is said."""
NO_GROUPS = "Groups of people were not looked at."
AS_DESCRIBED = "the release is made as the study describes it"
TO_FILL_IN = "_" * 24
AT_LEAST = ("beta_star", "bayes_risk")
"""Thresholds of a channel, whose security must be so high."""


def brief_of(record: Record, *, internal: bool = False) -> Page:
    """Turn a record into one page for those who decide.

    Nothing in it is stronger than in the record: the status has the record's grade, assumptions
    and contradictions are with it, and where statements contradict each other no number is
    called proved.

    record: from a run, or read from a file.
    internal: draw also what must not be shown, see `narcissus.report.page_of`.
    Returns Page: the first screen of the report, then what was released, what an attacker gets
        next to what can be guessed, what nobody can exceed, what was not assessed, and who decides.
    """
    record = record if internal else to_show(record)
    whole = page_of(record, internal=internal)
    subject = subject_of(record)
    return Page(
        f"{INTERNAL}: {record.title}" if internal else record.title,
        "",
        whole.verdict,
        [
            Section("What was released", [Text([subject.released])]),
            Section("What an attacker gets, compared with what can be guessed", [_numbers(record)]),
            Section(
                f"What {subject.against or 'nobody'} can{'not' * bool(subject.against)} exceed",
                list(_limits(subject, record)),
            ),
            Section("What was not assessed", list(_missing(subject, record))),
            Section("Who decides", [Facts(_decision(record))]),
        ],
        whole.first,
    )


def render_brief(record: Record, *, internal: bool = False) -> str:
    """Draw a record as one self-contained HTML page that prints on one sheet of A4."""
    return page_html(
        brief_of(record, internal=internal), digest=record.digest, template="brief.html"
    )


def no_stronger(grade: Grade, record: Record) -> Grade:
    """Return the grade of a number, which proves nothing where statements are at odds."""
    is_proof = FROM_STRONG.index(grade) <= FROM_STRONG.index("proved if")
    return weakest([grade, "not assessed"]) if record.contradictions and is_proof else grade


def _numbers(record: Record) -> Grid:
    """Return the numbers where the verdict was decided, each with its grade in words."""
    layout, case = shown(record)
    numbers = numbers_of(record)
    rest = max(0, len(numbers) - MOST_NUMBERS)
    caption = f"What was measured or proved{layout.where(case)}"
    caption += f" ({rest} more in the report)" if rest else ""
    rows = [
        [label, value, notes.partition("; approximately")[0], _graded(no_stronger(grade, record))]
        for label, value, notes, grade in numbers[:MOST_NUMBERS]
    ]
    return Grid(caption, ("Number", "Value", "Limits and notes", "How sure"), rows)


def _graded(grade: Grade) -> str:
    """Return a grade with its sign and what it means, in a few words."""
    return (
        f"{SIGNS[grade]} {grade_word(grade)}: {GRADES[grade].partition(';')[0].partition(':')[0]}"
    )


def _limits(subject: Subject, record: Record) -> Iterator[Block]:
    """Return what the answer needs, what limits every attacker, and what must hold for it."""
    if record.contradictions:
        yield Items("These statements contradict each other", _first(record.contradictions))
    if record.assumptions:
        yield Items("The answer holds only if", _first(record.assumptions))
    if not subject.limits:
        yield Text(
            ["Nothing here limits every attacker: one who was not tried may get everything."]
        )
        return
    texts = [f"{limit.text} {_graded(limit.grade)}" for limit in subject.limits]
    who = subject.against
    title = f"For {who} alone" if who else "No attacker gets more"
    yield Items(title, _first(texts), "plain")
    assumptions = dict.fromkeys(text for limit in subject.limits for text in limit.given)
    yield Items("Only if", _first([*assumptions]) or [AS_DESCRIBED], "plain")


def _missing(subject: Subject, record: Record) -> Iterator[Block]:
    if subject.no_ground:
        yield Text([f"No ground for a decision about people: {subject.no_ground}."])
    questions = [f"{remark.quantity}: {remark.reason}" for remark in record.not_assessed]
    questions += [] if subject.groups else [NO_GROUPS.rstrip(".")]
    if questions:
        yield Items("Asked, or to be asked, and not answered", _first(questions), "warning")
    yield Items("Not covered by any number here", _first(record.not_covered, 5), "warning")


def _first(items: Sequence[str], most: int = MOST_ITEMS) -> list[str]:
    left = len(items) - most
    return [*items[:most], *([f"and {left} more, in the report"] if left > 0 else [])]


def _decision(record: Record) -> list[tuple[str, str]]:
    made = record.provenance
    names = "; ".join(figure.name for figure in figures_of(record))
    return [
        ("Accepted beforehand", accepted(record)),
        ("Decision, by whom, when", f"{TO_FILL_IN}  {TO_FILL_IN}  {TO_FILL_IN}"),
        (
            "Record",
            f"{record.digest or 'no digest'}, by Narcissus {made.narcissus}; it holds no "
            "date, so that the same study gives the same record",
        ),
        ("Depends on real records", names or "nothing on this page"),
    ]


def _asked(key: str) -> str:
    """Describe what a key of a threshold is about."""
    return "excess" if key == "at_most" else key.replace("_", " ")


def accepted(record: Record) -> str:
    """Describe what was accepted beforehand, why and by whom; or that nothing was."""
    layout, case = shown(record)
    if accepted := layout.subject(record, case).accepted:
        return accepted
    threshold = layout.threshold(record, case)
    parts = [
        f"{_asked(key)} at {'least' if key in AT_LEAST else 'most'} "
        f"{percent(value) if isinstance(value, float) else value}"
        for key, value in threshold.items()
        if isinstance(value, int | float)
    ]
    parts += [f"why: {threshold['reason'].rstrip('.')}"] if threshold.get("reason") else []
    parts += [f"set by: {threshold['origin']}"] if threshold.get("origin") else []
    parts += [f"policy: {policy}"] if (policy := record.study.get("policy")) else []
    return "; ".join(parts) or "nothing: no threshold was set"
