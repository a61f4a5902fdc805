"""Evidence of extraction as sections of a page: of a program alone, or of a model's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from narcissus._outwards import upper
from narcissus.kinds.extraction.program import WITH, ProgramResult
from narcissus.kinds.layout import table
from narcissus.report.format import limits, number
from narcissus.report.page import Block, Facts, Figure, Grid, Items, Section, Text
from narcissus.rows import Quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure


def evidence_sections(program: ProgramResult, of: str = "") -> list[Section]:
    """Return the sections on a program's success, its complexity and its sandbox.

    of: put before each title: a page may be about more than a program.
    """
    blocks: dict[str, list[Block]] = {
        "Success": [_success(program)],
        "Why": [Items("What the runs show", program.reasons)],
        "Complexity": [Text([program.caveat]), _quality(program), _complexity(program)],
        "What would change the verdict": [Items("Any of these would", program.would_change)],
        "The sandbox": _sandbox(program),
    }
    return [Section(f"{of}{title}", parts) for title, parts in blocks.items()]


def _success(program: ProgramResult) -> Grid:
    shares: list[tuple[str, Quantity | None]] = [
        (WITH, program.success),
        *((f"with {name}", share) for name, share in program.stand_ins.items()),
        ("outputs with the release: share of shadow data that they fit", program.on_shadow),
    ]
    return table(
        "How often the output counts",
        shares,
        {
            "Runs": lambda pair: pair[0],
            "Share that counts": lambda pair: pair[1] and pair[1].value,
            "Limits": lambda pair: pair[1] and limits(pair[1].low, pair[1].high),
            "Trials": lambda pair: pair[1] and pair[1].trials,
        },
        graded=["sampled" if share else "not assessed" for _, share in shares],
        percent=("Share that counts",),
    )


def _quality(program: ProgramResult) -> Grid:
    return table(
        "What the release was needed for",
        [
            ("Quality of the extraction", upper(program.quality, 3)),
            ("Extractable bits", number(program.extractable_bits)),
        ],
        {"What": lambda pair: pair[0], "At most": lambda pair: pair[1]},
        graded="approximate",
    )


def _complexity(program: ProgramResult) -> Figure:
    length = program.program_bytes
    sizes = sorted(program.complexity.items(), key=lambda item: item[1])

    def draw(figure: MplFigure) -> None:
        from narcissus.report.svg import BLUE, RUST

        axes = figure.add_subplot()
        names, lengths = zip(*sizes[::-1], strict=True)
        axes.barh(names, lengths, color=BLUE, height=0.6)
        axes.axvline(length, color=RUST, linewidth=2)
        axes.set_xscale("log")
        axes.set_xlabel(f"bytes of program (line: the extraction program, {length})")

    best = f"{program.shortest} bytes by {program.method}"
    return Figure(
        title=f"The shortest program found that needs no release has {best}",
        description=(
            "Bars of the length in bytes of each program that prints an output that counts "
            f"without the release; the shortest has {best}. A line marks the extraction "
            f"program at {length} bytes."
        ),
        draw=draw,
        table=table(
            "Programs that print an output that counts, without the release",
            sizes,
            {
                "Method": lambda pair: pair[0],
                "Bytes": lambda pair: pair[1],
                "Quality if this were the shortest": lambda pair: round(1 - length / pair[1], 4),
            },
            graded=["approximate" for _ in sizes],
        ),
        size=(7.2, 0.8 + 0.32 * len(sizes)),
        name="programs",
    )


def _sandbox(program: ProgramResult) -> list[Block]:
    walls = program.isolation
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
        table(
            "Attempts to break out, made before the program was run",
            walls.checks,
            {"Attempt": lambda pair: pair[0], "Result": lambda pair: pair[1]},
            graded=False,
        ),
    ]
