"""Findings of a record next to what its readers must document: frameworks, item by item.

Help for documentation, no legal advice: an item that nothing in a record answers is "not
assessed", with what would assess it. `docs/reading/deciding.md` says where the items are from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files

from narcissus._toml import read_toml
from narcissus.report.about import Answered, numbers_of, shown, subject_of, verdict_of
from narcissus.report.brief import no_stronger
from narcissus.report.envelope import INTERNAL, page_of
from narcissus.report.format import SIGNS, grade_word
from narcissus.report.gives_away import figures_of, given_away
from narcissus.report.page import Grid, Page, Section, Text
from narcissus.results import Grade
from narcissus.study.record import Record
from narcissus.study.shareable import to_show


@dataclass(frozen=True)
class FrameworkItem:
    """An item of a framework, of ``frameworks.toml``."""

    item: str  # Its name there
    asks: str  # What it is about, in our words
    finding: str = ""  # Which finding of a record answers a part of it; empty for none, ever
    # What would assess it, or the rest of it
    otherwise: str = (
        "the organisation's own documents; nothing that is computed from a release answers it"
    )


FRAMEWORKS: dict[str, tuple[FrameworkItem, ...]] = {
    name: tuple(FrameworkItem(item, **texts) for item, texts in items.items())
    for name, items in read_toml(
        files("narcissus.report").joinpath("frameworks.toml").read_text(encoding="utf-8")
    ).items()
}
"""By the name of the framework, its items in order."""


def mapping_of(record: Record, *, internal: bool = False) -> Page:
    """Turn a record into a page of frameworks, each item next to its finding and grade.

    record: from a run, or read from a file.
    internal: draw also what must not be shown, see `narcissus.report.page_of`.
    Returns Page: the verdict, then a table for each framework.
    """
    record = record if internal else to_show(record)
    whole, findings = page_of(record, internal=internal), answers(record)
    sections = [
        Section(
            "How to read this",
            [
                Text(
                    [
                        "Help for documentation, not legal advice: whether a framework is met is "
                        "decided by "
                        "people, from more than this. A finding answers an item in part at most. "
                        "“Not assessed” "
                        "may be unsafe. “As stated” is what the study says and nothing here tests.",
                    ]
                )
            ],
        )
    ]
    for name, items in FRAMEWORKS.items():
        rows = [
            [
                requirement.item,
                requirement.asks,
                *_said(requirement, findings),
                requirement.otherwise,
            ]
            for requirement in items
        ]
        columns = ("Item", "Asks", "This record says", "How sure", "The rest, or all of it, by")
        sections.append(Section(name, [Grid(f"{len(items)} items", columns, rows)]))
    sections.append(given_away(figures_of(record)))
    verdict = replace(whole.verdict, headline=verdict_of(record))
    title = f"Findings by framework: {record.title}"
    return Page(f"{INTERNAL}: {title}" if internal else title, whole.subtitle, verdict, sections)


def _said(one: FrameworkItem, found: dict[str, Answered]) -> tuple[str, str]:
    answer = found.get(one.finding)
    if answer is None:
        return "nothing", f"{SIGNS['not assessed']} not assessed"
    grade = answer.grade
    return answer.text, "as stated" if grade is None else f"{SIGNS[grade]} {grade_word(grade)}"


_ASKED_OF_A_MODEL = {
    **dict.fromkeys(
        ("classifier", "image-model", "language-model"), ("extraction", "queries", "model tests")
    ),
    "secrets": ("extraction", "model tests"),
    "membership": ("model tests",),
}
"""Kinds of study about a model -> the findings that what they infer answers."""


def answers(record: Record) -> dict[str, Answered]:
    """Return what a record says, by the names that items use; what it says nothing about is left
    out.

    No grade is stronger than the record allows: where statements contradict each other, nothing is
    proved.
    """
    subject = subject_of(record)
    layout, case = shown(record)
    if_so = f" Only if {'; and if '.join(record.assumptions)}." if record.assumptions else ""
    findings = {
        "outcome": Answered(f"{layout.verdict(case)}{if_so}", record.grade),
        "released": Answered(subject.released, None),
        "threat": Answered("; ".join(record.assessed) or "nothing is said", None),
        **_testing(record),
        **layout.answers(record, case),
    }
    if "inference" in findings:
        findings |= dict.fromkeys(_ASKED_OF_A_MODEL.get(record.kind, ()), findings["inference"])
    if subject.groups:
        findings["worst"] = Answered(layout.glance(case).hardest, "sampled")
    if subject.limits and not subject.against:
        first = subject.limits[0]
        findings["limit"] = Answered(first.text, first.grade)
    if record.contradictions:
        findings["correctness"] = Answered(record.contradictions[0], record.grade)
    return {
        name: replace(finding, grade=finding.grade and no_stronger(finding.grade, record))
        for name, finding in findings.items()
    }


_SEEN: tuple[Grade, ...] = ("sampled", "counted")


def _testing(record: Record) -> dict[str, Answered]:
    """Return what attacks reached: numbers of the verdict that were estimated or counted."""
    numbers = numbers_of(record)
    sampled = [f"{label}: {value}" for label, value, _, grade in numbers if grade in _SEEN]
    return {"testing": Answered("; ".join(sampled), "sampled")} if sampled else {}
