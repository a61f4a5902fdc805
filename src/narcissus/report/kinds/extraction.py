"""Evidence of extraction, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from narcissus._outwards import upper
from narcissus.report.format import MISSING, limits, number, percent
from narcissus.report.page import (
    Block,
    Facts,
    Figure,
    Grid,
    Items,
    Page,
    Section,
    Text,
    Verdict,
)
from narcissus.results import Grade
from narcissus.study.record import Record
from narcissus.study.results.base import SampledShare
from narcissus.study.results.extraction import ExtractionResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure


def page(record: Record) -> Page:
    """Turn the record of an extraction study into a page."""
    results = cast("ExtractionResults", record.results)
    return Page(
        title=record.title,
        subtitle="Does one program extract the data from one release?",
        verdict=_verdict(record, results),
        sections=[
            Section("What was asked", _question(record, results)),
            *evidence_sections(results),
        ],
    )


def evidence_sections(results: ExtractionResults, of: str = "") -> list[Section]:
    """Return the sections on a program's success, its complexity and its sandbox.

    results: what came of the program.
    of: put before each title: a page may be about more than a program.
    """
    titles = ("Success", "Complexity", "What would change the verdict", "The sandbox")
    blocks = (
        [_success_table(results)],
        _complexity(results),
        [_changes(results)],
        _sandbox(results),
    )
    return [Section(f"{of}{title}", own) for title, own in zip(titles, blocks, strict=True)]


def _share(label: str, value: SampledShare | None) -> tuple[str, str, str, Grade]:
    if value is None:
        return label, MISSING, "no shadow data was given", "not assessed"
    text = f"{100 * value.confidence:g}% limits {limits(value.low, value.high)}"
    return label, percent(value.value), text, value.grade


def _verdict(record: Record, results: ExtractionResults) -> Verdict:
    is_found = results.verdict == "extraction"
    runs = results.success.trials
    return Verdict(
        status=record.status,
        headline=record.verdict,
        odds=(
            f"Of 100 runs, {round(100 * results.success_without_release.value)} succeed "
            f"without the release and {round(100 * results.success.value)} with it "
            f"(measured in {runs}); an extractor needs 67.",
            "sampled",
        ),
        # What is inconclusive speaks for nobody; the headline says why it is.
        evidence_for=results.reasons if results.verdict == "no extraction" else [],
        evidence_against=results.reasons if is_found else [],
        numbers=[
            _share("Success without the release", results.success_without_release),
            _share("Success with the release", results.success),
            _share("Shadow data that fit as well", results.success_on_shadow),
            (
                "Quality of the extraction",
                f"at most {upper(results.quality, 3)}",
                f"{number(results.extractable_bits)} extractable bits at most",
                "approximate",
            ),
        ],
    )


def _question(record: Record, results: ExtractionResults) -> list[Block]:
    study = record.study
    return [
        Text(
            [
                "A program extracts a data set from a release if it succeeds at least two times "
                "in three when it is given the release, and no program of its length succeeds "
                "without (Cohen et al. 2024, Definition D.8). Lengths are those of Python programs "
                "with the packages installed on this machine."
            ]
        ),
        Facts(
            [
                ("Data", str(study.get("data", MISSING))),
                ("Release", str(study.get("release", MISSING))),
                ("Program", f"{study.get('program', MISSING)}, {results.program_bytes} bytes "
                 f"({results.program_bytes_compressed} after zlib)"),
                ("It succeeds if", results.relation),
                *([] if results.margin is None else [
                    ("Margin, declared beforehand", f"{results.margin} bytes shorter than every "
                     "program that needs no release")]),
                ("Output", "the same in every run" if results.deterministic
                 else "differs from run to run"),
                ("Runs ended", ", ".join(f"{n} {e}" for e, n in results.endings.items())),
            ]
        ),
    ]  # fmt: skip


def _success_table(results: ExtractionResults) -> Grid:
    rows: list[tuple[str, SampledShare | None]] = [
        ("with the release", results.success),
        *((f"with {name}", value) for name, value in results.stand_ins.items()),
        (
            "outputs with the release: share of shadow data that they fit",
            results.success_on_shadow,
        ),
    ]
    grades: list[Grade] = ["sampled" if v else "not assessed" for _, v in rows]
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


def _complexity(results: ExtractionResults) -> list[Block]:
    sizes = sorted(results.complexity.items(), key=lambda item: item[1])
    grades: list[Grade] = ["approximate" for _ in sizes]
    table = Grid(
        "Programs that print an output that counts, without the release",
        ["Method", "Bytes", "Quality if this were the shortest"],
        [(name, size, round(1 - results.program_bytes / size, 4)) for name, size in sizes],
        grades=grades,
    )

    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, RUST

        axes = figure.add_subplot()
        names = [name for name, _ in sizes][::-1]
        axes.barh(names, [size for _, size in sizes][::-1], color=BLUE, height=0.6)
        axes.axvline(results.program_bytes, color=RUST, linewidth=2)
        axes.set_xscale("log")
        axes.set_xlabel(f"bytes of program (line: the extraction program, {results.program_bytes})")

    best = f"{results.complexity_estimate} bytes by {results.complexity_method}"
    return [
        Text([results.caveat]),
        Figure(
            title=f"The shortest program found that needs no release has {best}",
            description=(
                "Bars of the length in bytes of each program that prints an output that counts "
                f"without the release; the shortest has {best}. A line marks the extraction "
                f"program at {results.program_bytes} bytes."
            ),
            draw=draw,
            table=table,
            size=(7.2, 0.8 + 0.32 * len(sizes)),
            name="programs",
        ),
    ]


def _changes(results: ExtractionResults) -> Items:
    return Items("Any of these would", results.would_change)


def _sandbox(results: ExtractionResults) -> list[Block]:
    isolation = results.isolation
    if isolation.method == "none":
        return [
            Items(
                "No isolation",
                ["The program ran without isolation, as it was told to: it could read anything."],
                tone="warning",
            )
        ]
    reduced: list[Block] = [
        Items(
            "Reduced isolation: Landlock alone does not hide",
            isolation.not_hidden,
            tone="warning",
        )
    ]
    return [
        *(reduced if isolation.reduced else []),
        Facts(
            [
                ("Walls", "; ".join(isolation.layers)),
                *([("Not on this machine", "; ".join(isolation.missing))]
                  if isolation.missing else []),
            ]
        ),
        Grid(
            "Attempts to break out, made before the program was run",
            ["Attempt", "What came of it"],
            [(c.attempt, c.outcome) for c in isolation.checks],
        ),
    ]  # fmt: skip
