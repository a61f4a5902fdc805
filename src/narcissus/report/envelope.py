"""What every report says, whatever the kind of study: what was assessed, and where it is from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from narcissus.judgement import StudyJudgement
from narcissus.report.about import shown, uncovered_of
from narcissus.report.first_screen import first_screen
from narcissus.report.format import GRADES, grade_word
from narcissus.report.gives_away import figures_of, given_away
from narcissus.report.page import Facts, Grid, Items, Page, Section, Text
from narcissus.results import LEFT_OUT, WEAK
from narcissus.study.record import Record
from narcissus.study.shareable import to_show

ASSESSMENT = "What was assessed, and what was not"
PROVENANCE = "Provenance"
ELSEWHERE = "Assumed by other numbers here than those of the verdict"
OPEN = "Not assessed, so it may be unsafe"
CAUTIONS = {WEAK: "", LEFT_OUT: "Left out: "}
"""What was not assessed that the first screen tells, by its name: the words before it."""


def assumed_elsewhere(record: Record, case: StudyJudgement) -> list[str]:
    """Return what numbers of a page assume that the verdict does not rest on."""
    quantities = [row.quantity for row in case.findings.rows]
    assumptions = [text for quantity in quantities for text in quantity.takes_as_given]
    if any(quantity.grade == "sampled" for quantity in quantities):
        assumptions += case.findings.premises
    return [text for text in dict.fromkeys(assumptions) if text not in record.assumptions]


def assessment(record: Record, elsewhere: Sequence[str] = ()) -> Section:
    """Return what was assessed, what was not (with the remedy), and what nothing here covers.

    elsewhere: What other numbers of the page assume than those of the verdict.
    """
    blocks: list[Items] = []
    if record.contradictions:
        title = "Statements of this record that contradict each other"
        blocks.append(Items(title, record.contradictions, "against"))
    if record.assessed:
        blocks.append(Items("Assessed", record.assessed))
    if elsewhere:
        blocks.append(Items(ELSEWHERE, elsewhere))
    if record.not_assessed:
        remarks = [
            f"{r.quantity}: {r.reason}." + (f" Remedy: {r.remedy}." if r.remedy else "")
            for r in record.not_assessed
        ]
        tidy = [text.replace("..", ".") for text in remarks]
        blocks.append(Items(OPEN, tidy, "warning"))
    else:
        blocks.append(Items("Not assessed", ["Everything that the study asked was assessed."]))
    if uncovered := uncovered_of(record):
        blocks.append(Items("What this does not cover", uncovered, "warning"))
    return Section(ASSESSMENT, blocks)


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the settings of a study as dotted keys and texts; what is not set is left out."""
    if isinstance(value, Mapping) and value:
        for key, inner in cast("Mapping[str, Any]", value).items():
            yield from flat(inner, f"{prefix}.{key}" if prefix else key)
    elif isinstance(value, list) and any(isinstance(v, dict) for v in cast("list[Any]", value)):
        for place, inner in enumerate(cast("list[Any]", value), start=1):
            yield from flat(inner, f"{prefix}[{place}]")
    elif isinstance(value, list):
        # a record holds no infinity: inside a list, where nothing is left out, None was one
        texts = ("infinite" if v is None else str(v) for v in cast("list[Any]", value))
        if text := ", ".join(texts):
            yield prefix, text
    elif value is None or value == "" or isinstance(value, Mapping):
        return  # not set
    elif isinstance(value, bool):
        yield prefix, "yes" if value else "no"
    else:
        yield prefix, str(value)


def grades() -> list[Text | Facts]:
    return [
        Text(["How far each number can be trusted is written next to it:"]),
        Facts([(grade_word(grade), text) for grade, text in GRADES.items()]),
    ]


def provenance(record: Record) -> Section:
    """Return what is needed to get the same numbers again, and the study as it was played."""
    made = record.provenance
    packages = ", ".join(f"{name} {version}" for name, version in made.packages.items())
    rows = [
        ("Digest of the record", record.digest or "none"),
        *(
            [("Digest of what is the same on every machine", record.portable_digest)]
            if record.portable_digest and made.entropy
            else []
        ),
        *((f"Digest of the {name}", digest) for name, digest in made.digests.items()),
        ("Seed", made.entropy or "withheld: it stays with the record"),
        ("Narcissus", made.narcissus),
        ("Python", f"{made.python}; {packages}" if packages else made.python),
        ("Machine", made.machine),
        ("Record format", record.schema_),
    ]
    settings = Grid(
        "The study as it was played, defaults filled in",
        ("Setting", "Value"),
        list(flat(record.study)),
        folded=True,
    )
    blocks = [
        Text(
            [
                "The record that this report is drawn from holds every number in it in full "
                "precision. The same version with the same seed gives the same numbers on any "
                "number of processors."
            ]
        ),
        Facts(rows),
        settings,
        *grades(),
        Text(
            [
                "A report about a world in which there is nothing to find says “exceeded” at most "
                "as often as its level allows: once in twenty at 95%. The page “Error rates” of "
                "the documentation has the rates that were measured."
            ]
        ),
    ]
    return Section(PROVENANCE, blocks)


INTERNAL = "Internal, not to be shown"


def complete(
    page: Page, record: Record, *, internal: bool = False, elsewhere: Sequence[str] = ()
) -> Page:
    """Put what every report says around what a kind of study says."""
    verdict = replace(
        page.verdict,
        rests_on=record.grade,
        assumptions=record.assumptions,
        contradictions=record.contradictions,
        cautions=[
            f"{CAUTIONS[r.quantity]}{r.reason}."
            for r in record.not_assessed
            if r.quantity in CAUTIONS
        ],
    )
    gives = given_away(figures_of(record))
    sections = (assessment(record, elsewhere), *page.sections, gives, provenance(record))
    title = f"{INTERNAL}: {page.title}" if internal else page.title
    return replace(page, title=title, verdict=verdict, sections=sections)


def page_of(record: Record, *, internal: bool = False) -> Page:
    """Turn a record into a page: what its kind says, within what every report says.

    internal: draw all that the steward may see; else what may be shown
        (`narcissus.study.shareable`).
    Raises InputError: it has groups of so few real people that it cannot be shown.
    """
    record = record if internal else to_show(record)
    layout, case = shown(record)
    page = layout.page(record, case)
    first = first_screen(record, case, layout.glance(case))
    elsewhere = assumed_elsewhere(record, case)
    return replace(complete(page, record, internal=internal, elsewhere=elsewhere), first=first)
