"""Evidence of extraction, in words and as a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from narcissus._outwards import upper
from narcissus.kinds.extraction.program import WITH, ProgramFound
from narcissus.kinds.layout import Headline, Layout
from narcissus.report.about import RealFigure, Subject
from narcissus.report.first_screen import Glance, seeks
from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.gives_away import FOUND, VERDICT
from narcissus.report.page import Block, Facts, Figure, Grid, Items, Section, Text
from narcissus.report.reach import AT_MOST, Reach, decided
from narcissus.results import Grade
from narcissus.rows import Quantity, StudyJudgement, StudyRow
from narcissus.study.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

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
        return None if row.of == "quality" else {}

    def glance(self, case: StudyJudgement) -> Glance:
        program = program_of(case)
        detail = program.detail
        walls, notes = detail.isolation, list[str]()
        if walls.method == "none":
            notes.append("The program ran without isolation: it could read anything.")
        elif walls.reduced:
            notes.append("Isolation was reduced: the program could see what is on the machine.")
        if not detail.deterministic:
            notes.append("The output of the program differs from run to run.")
        undecided = "The runs do not settle whether the program extracts the data."
        if detail.more:
            undecided = f"There are too few runs: {detail.more} would probably settle it."
        return quality_glance(program, undecided=undecided, notes=notes)

    def numbers(self, record: Record, case: StudyJudgement) -> list[Headline]:
        program = program_of(case)
        return [
            _share("Success without the release", program.without),
            _share("Success with the release", program.success),
            _share("Shadow data that fit as well", program.on_shadow),
            (
                "Quality of the extraction",
                f"at most {upper(program.detail.quality, 3)}",
                f"{number(program.detail.extractable_bits)} extractable bits at most",
                "approximate",
            ),
        ]

    def top(self, record: Record, case: StudyJudgement) -> dict[str, Any]:
        program = program_of(case)
        # What is inconclusive speaks for nobody; the headline says why it is.
        verdict, reasons = program.detail.verdict, program.detail.reasons
        return {
            "evidence_for": reasons if verdict == "no extraction" else [],
            "evidence_against": reasons if verdict == "extraction" else [],
        }

    def sections(self, record: Record, case: StudyJudgement) -> list[Section]:
        program = program_of(case)
        question = Section("What was asked", _question(record, program))
        return [question, *evidence_sections(program)]

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


def program_of(case: StudyJudgement) -> ProgramFound:
    return ProgramFound(case.detail, case.findings.select(of="success"))


def quality_glance(found: ProgramFound, undecided: str, notes: list[str]) -> Glance:
    """Word the quality of an extraction, which is judged, and the runs that it rests on."""
    detail = found.detail
    success, without = found.success, found.without
    shown = "The quality of the extraction is {}, at most: a shorter program may need no release."
    if detail.verdict == "no extraction":
        shown = "The program is no extraction, so its quality is {}."
    elif detail.verdict == "inconclusive":
        shown = "The quality of the extraction is not known."
    return Glance(
        unit="runs",
        without=_runs("Without the release, the program succeeds in {} runs.", without),
        with_it=_runs(
            "With the release, it succeeds in {}. An extractor needs two in three.", success
        ),
        most=decided(shown, AT_MOST),
        unlimited="Another program might always succeed: one program sets no limit.",
        hardest="We looked at one program and one data set, and at nobody in it.",
        unseen="other programs, the true complexity, how the program was found",
        accepted="a quality of {}",
        view=AT_MOST,
        interval="The quality",
        undecided=undecided,
        plainly=f"{_HEADS[detail.verdict]}.",
        notes=notes,
        about=seeks(
            f"a program of {number(detail.program_bytes)} bytes",
            "the data behind it",
            f"one release; it succeeds if {detail.relation}",
        ),
    )


def _runs(text: str, found: Quantity) -> Reach:
    """Word how many runs counted, as they were observed."""
    runs = found.trials
    counted = None if runs is None else (round((found.value or 0.0) * runs), runs)
    return Reach(text, found, counted=counted)


def evidence_sections(found: ProgramFound, of: str = "") -> list[Section]:
    """Return the sections on a program's success, its complexity and its sandbox.

    of: put before each title: a page may be about more than a program.
    """
    changes = Items("Any of these would", found.detail.would_change)
    return [
        Section(f"{of}Success", [_success_table(found)]),
        Section(f"{of}Complexity", _complexity(found)),
        Section(f"{of}What would change the verdict", [changes]),
        Section(f"{of}The sandbox", _sandbox(found)),
    ]


def _share(label: str, found: Quantity | None) -> Headline:
    if found is None:
        return label, MISSING, "no shadow data was given", "not assessed"
    text = f"{100 * (found.confidence or 0.0):g}% limits {limits(found.low, found.high)}"
    return label, percent(found.value), text, found.grade


def _question(record: Record, found: ProgramFound) -> list[Block]:
    study, detail = record.study, found.detail
    return [
        Text(
            [
                "A program extracts a data set from a release if it succeeds at least two times "
                "in three when it is given the release (Cohen et al. 2024, Definition D.8). "
                "Without it, all programs of its length must fail. Lengths are those of Python "
                "programs with the packages installed on this machine."
            ]
        ),
        Facts(
            [
                ("Data", str(study.get("data", MISSING))),
                ("Release", str(study.get("release", MISSING))),
                (
                    "Program",
                    f"{study.get('program', MISSING)}, {detail.program_bytes} bytes "
                    f"({detail.program_bytes_compressed} after zlib)",
                ),
                ("It succeeds if", detail.relation),
                *(
                    []
                    if detail.margin is None
                    else [
                        (
                            "Margin, declared beforehand",
                            f"{detail.margin} bytes shorter than every "
                            "program that needs no release",
                        )
                    ]
                ),
                (
                    "Output",
                    "the same in every run" if detail.deterministic else "differs from run to run",
                ),
                ("Runs ended", ", ".join(f"{n} {e}" for e, n in detail.endings.items())),
            ]
        ),
    ]


def _success_table(found: ProgramFound) -> Grid:
    rows: list[tuple[str, Quantity | None]] = [
        (WITH, found.success),
        *((f"with {name}", quantity) for name, quantity in found.stand_ins.items()),
        ("outputs with the release: share of shadow data that they fit", found.on_shadow),
    ]
    grades: list[Grade] = ["sampled" if quantity else "not assessed" for _, quantity in rows]
    return Grid(
        "How often the output counts",
        ["Runs", "Share that counts", "Limits", "Trials"],
        [
            (name, *((v.value, limits(v.low, v.high), v.trials) if v else (None,) * 3))
            for name, v in rows
        ],
        grades=grades,
        percent=("Share that counts",),
    )


def _complexity(found: ProgramFound) -> list[Block]:
    detail = found.detail
    length = detail.program_bytes
    sizes = sorted(detail.complexity.items(), key=lambda item: item[1])
    grades: list[Grade] = ["approximate" for _ in sizes]
    table = Grid(
        "Programs that print an output that counts, without the release",
        ["Method", "Bytes", "Quality if this were the shortest"],
        [(name, size, round(1 - length / size, 4)) for name, size in sizes],
        grades=grades,
    )

    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, RUST

        axes = figure.add_subplot()
        names = [name for name, _ in sizes][::-1]
        axes.barh(names, [size for _, size in sizes][::-1], color=BLUE, height=0.6)
        axes.axvline(length, color=RUST, linewidth=2)
        axes.set_xscale("log")
        axes.set_xlabel(f"bytes of program (line: the extraction program, {length})")

    best = f"{detail.shortest} bytes by {detail.method}"
    return [
        Text([detail.caveat]),
        Figure(
            title=f"The shortest program found that needs no release has {best}",
            description=(
                "Bars of the length in bytes of each program that prints an output that counts "
                f"without the release; the shortest has {best}. A line marks the extraction "
                f"program at {length} bytes."
            ),
            draw=draw,
            table=table,
            size=(7.2, 0.8 + 0.32 * len(sizes)),
            name="programs",
        ),
    ]


def _sandbox(found: ProgramFound) -> list[Block]:
    walls = found.detail.isolation
    if walls.method == "none":
        warnings = ["The program ran without isolation, as it was told to: it could read anything."]
        return [Items("No isolation", warnings, tone="warning")]
    hidden = "Reduced isolation: Landlock alone does not hide"
    facts = [("Isolation", "; ".join(walls.layers))]
    if walls.missing:
        facts.append(("Not on this machine", "; ".join(walls.missing)))
    return [
        *([Items(hidden, walls.not_hidden, tone="warning")] if walls.reduced else []),
        Facts(facts),
        Grid(
            "Attempts to break out, made before the program was run",
            ["Attempt", "Result"],
            walls.checks,
        ),
    ]
