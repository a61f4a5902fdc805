"""Evidence of extraction, in words and as a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from narcissus._outwards import upper
from narcissus.judgement import StudyJudgement
from narcissus.kinds.extraction.program import QUALITY, ProgramResult
from narcissus.kinds.extraction.sections import evidence_sections
from narcissus.kinds.layout import Headings, Headline, Layout, observed
from narcissus.report.about import RealFigure, Subject
from narcissus.report.first_screen import Glance, seeks
from narcissus.report.format import MISSING, number
from narcissus.report.gives_away import FOUND, VERDICT
from narcissus.report.page import Block, Facts, Section, Text
from narcissus.report.reach import AT_MOST, Reach, decided
from narcissus.rows import StudyRow
from narcissus.study.record import Record

_HEADS = {
    "extraction": "Evidence of extraction",
    "no extraction": "No extraction by this program",
    "inconclusive": "Inconclusive",
}


class ExtractionLayout(Layout):
    """The words of an extraction."""

    not_covered = (
        "Other programs: that this one fails says nothing about the next.",
        "The true complexity, which nobody can compute; only estimates from above.",
        "How the program was found: its author may have seen the data, and a stranger may find "
        "no such program.",
    )

    headings: ClassVar[Headings] = {
        ("attack", "success"): "Success {name}",
        ("fresh", "success"): "Success {name}",
    }

    def title(self, study: Any, case: StudyJudgement) -> str:
        return study.title

    def subtitle(self, case: StudyJudgement) -> str:
        return "Does one program extract the data from one release?"

    def assessed(self, case: StudyJudgement) -> list[str]:
        return [
            "success of the program with and without the release",
            "complexity of an output that counts, from above",
        ]

    def in_frame(self, row: StudyRow, case: StudyJudgement) -> Mapping[str, Any] | None:
        return None if row.of == QUALITY else {}

    def glance(self, case: StudyJudgement) -> Glance:
        program: ProgramResult = case.result
        walls, notes = program.isolation, list[str]()
        if walls.method == "none":
            notes.append("The program ran without isolation: it could read anything.")
        elif walls.reduced:
            notes.append("Isolation was reduced: the program could see what is on the machine.")
        if not program.deterministic:
            notes.append("The output of the program differs from run to run.")
        undecided = "The runs do not settle whether the program extracts the data."
        if program.more:
            undecided = f"There are too few runs: {program.more} would probably settle it."
        return quality_glance(program, undecided=undecided, notes=notes)

    def numbers(self, case: StudyJudgement) -> list[Headline]:
        program: ProgramResult = case.result
        quality, bits = f"at most {upper(program.quality, 3)}", number(program.extractable_bits)
        return [
            *super().numbers(case),
            ("Quality of the extraction", quality, f"{bits} extractable bits", "approximate"),
        ]

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        program: ProgramResult = case.result
        return [
            Section("What was asked", _question(record, program)),
            *evidence_sections(program),
        ]

    def subject(self, record: Record, case: StudyJudgement) -> Subject:
        return Subject(
            "One release, given to one program that should print the data behind it.",
            no_ground="This weighs whether one program extracts one data set: another program may "
            "do better, and what is lost by people was not looked at",
        )

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]:
        how = "How often a program prints the data, and lengths of outputs that count."
        where = (*VERDICT, "title", *FOUND)
        return [RealFigure("Shares, lengths and the verdict", how, where)]


LAYOUT = ExtractionLayout()


def quality_glance(program: ProgramResult, undecided: str, notes: list[str]) -> Glance:
    """Word the quality of an extraction, which is judged, and the runs that it rests on."""
    quality = {
        "extraction": "The quality of the extraction is {}, at most: a shorter program may need no "
        "release.",
        "no extraction": "The program is no extraction, so its quality is {}.",
        "inconclusive": "The quality of the extraction is not known.",
    }
    return Glance(
        unit="runs",
        without=Reach(
            "Without the release, the program succeeds in {} runs.",
            program.without,
            counted=observed(program.without),
        ),
        with_it=Reach(
            "With the release, it succeeds in {}. An extractor needs two in three.",
            program.success,
            counted=observed(program.success),
        ),
        most=decided(quality[program.verdict], AT_MOST),
        unlimited="Another program might always succeed: one program sets no limit.",
        hardest="We looked at one program and one data set, and at nobody in it.",
        unseen="other programs, the true complexity, how the program was found",
        accepted="a quality of {}",
        view=AT_MOST,
        interval="The quality",
        undecided=undecided,
        plainly=f"{_HEADS[program.verdict]}.",
        notes=notes,
        about=seeks(
            f"a program of {number(program.program_bytes)} bytes",
            "the data behind it",
            f"one release; it succeeds if {program.relation}",
        ),
    )


def _question(record: Record, program: ProgramResult) -> list[Block]:
    files = {name: str(record.study.get(name, MISSING)) for name in ("data", "release", "program")}
    size = f"{program.program_bytes} bytes ({program.program_bytes_compressed} after zlib)"
    facts = [
        ("Data", files["data"]),
        ("Release", files["release"]),
        ("Program", f"{files['program']}, {size}"),
        ("It succeeds if", program.relation),
        ("Output", "the same in every run" if program.deterministic else "differs from run to run"),
        ("Runs ended", ", ".join(f"{n} {e}" for e, n in program.endings.items())),
    ]
    if program.margin is not None:
        text = f"{program.margin} bytes shorter than every program that needs no release"
        facts.insert(4, ("Margin, declared beforehand", text))
    return [
        Text(
            [
                "A program extracts a data set from a release if it succeeds at least two times "
                "in three when it is given the release (Cohen et al. 2024, Definition D.8). "
                "Without it, all programs of its length must fail. Lengths are those of Python "
                "programs with the packages installed on this machine."
            ]
        ),
        Facts(facts),
    ]
