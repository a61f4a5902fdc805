"""What disclosure control measures of the data and of the file, in a record and on its page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from narcissus.disclosure import FileMeasures, measure_table
from narcissus.disclosure.measures import proposed_known
from narcissus.report.format import number, percent
from narcissus.report.page import Cell, Grid, Section, Text
from narcissus.rows import Count, Fact, Positive, Share
from narcissus.synthetic import GivenFiles
from narcissus.tables import Table


class MeasuredSecret(Fact):
    """How far those with equal known values share a secret: of the worst class."""

    secret: str
    distinct: Positive = Field(description="Fewest different secrets (distinct l-diversity).")
    entropy: float = Field(ge=1, description="Entropy l-diversity.")
    recursive: Positive = Field(description="Recursive (2, l)-diversity.")
    closeness: Share = Field(description="t-closeness.")
    is_ordered: bool = Field(description="Whether by the ordered distance, or by the equal one.")
    told: Count = Field(description="People whose known values leave one secret only.")
    nearest: Share | None = Field(description="Right by the nearest row of somebody else.")
    commonest: Share = Field(description="Right by the commonest secret.")


class MeasuredFile(Fact):
    """Anonymity, uniqueness and risk in one file, by itself."""

    file: Literal["real", "synthetic"]
    rows: Positive
    people: Positive = Field(description="Units, where they are named.")
    known: tuple[str, ...] = Field(description="Columns that an attacker knows.")
    k: Positive = Field(description="Fewest people with equal known values.")
    unique: Count
    below_3: Count
    below_5: Count
    risk: Share = Field(description="Largest chance to be identified, if the file is everybody.")
    expected: float = Field(ge=0, description="Expected identifications, likewise.")
    secrets: tuple[MeasuredSecret, ...]


def measured_files(
    files: GivenFiles, known: Sequence[str] | None, unknown: Sequence[str]
) -> tuple[MeasuredFile, ...]:
    """Measure the data and the file on the columns that are known, or that names propose."""
    table = files.table
    others = [name for name in table.names if name not in unknown]
    chosen = known or proposed_known(others) or others
    return tuple(_measured(files, which, chosen, unknown) for which in ("real", "synthetic"))


def _measured(
    files: GivenFiles,
    which: Literal["real", "synthetic"],
    known: Sequence[str],
    unknown: Sequence[str],
) -> MeasuredFile:
    table, rows = files.table, files.rows(which)
    part = Table(table.names, table.labels, table.ordered, table.codes[rows], table.values)
    units = None if files.units is None or which == "synthetic" else files.units[rows]
    found: FileMeasures = measure_table(part, known, unknown, units=units)
    return MeasuredFile.taken(
        found, file=which, secrets=tuple(MeasuredSecret.taken(one) for one in found.secrets)
    )


def measured_section(found: Sequence[MeasuredFile]) -> Iterator[Section]:
    """Show the measures of both files side by side, folded."""
    if not found:
        return
    known = ", ".join(found[0].known)
    yield Section(
        "Measures of disclosure control",
        [
            Text(
                [
                    f"Each file by itself, for an attacker who knows {known}. A missing value "
                    "stands for any value. These numbers describe a file and decide nothing: a "
                    "synthetic row need not be a person, and a group of k people may share a "
                    "secret.",
                ]
            ),
            Grid(
                "Anonymity, diversity and risk",
                ("Measure", "Data", "File"),
                [
                    [line[0][0], *(value for _, value in line)]
                    for line in zip(*map(_columns, found), strict=True)
                ],
                folded=True,
            ),
        ],
    )


def _columns(one: MeasuredFile) -> Iterator[tuple[str, Cell]]:
    def of(people: float) -> str:
        return f"{number(people)} ({percent(people / one.people)})"

    yield "People (k-anonymity is counted in people)", number(one.people)
    yield "Fewest people with equal known values (k)", number(one.k)
    yield "People who are unique", of(one.unique)
    yield "People in groups of fewer than 3", of(one.below_3)
    yield "People in groups of fewer than 5", of(one.below_5)
    yield "Largest risk to be identified, if the file is everybody", percent(one.risk)
    yield "Expected identifications, if the file is everybody", of(one.expected)
    for each in one.secrets:
        kind = "ordered" if each.is_ordered else "equal"
        yield f"{each.secret}: distinct l", number(each.distinct)
        yield f"{each.secret}: entropy l", number(each.entropy)
        yield f"{each.secret}: recursive (2, l)", number(each.recursive)
        yield f"{each.secret}: t-closeness, {kind} distance", number(each.closeness)
        yield f"{each.secret}: people whose known values tell it", of(each.told)
        yield f"{each.secret}: right by the nearest row of somebody else", percent(each.nearest)
        yield f"{each.secret}: right by the commonest value", percent(each.commonest)
