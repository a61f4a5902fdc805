"""What disclosure control measures of the data and of the file, on the page of a given file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from narcissus.disclosure import FileMeasures, measure_table
from narcissus.disclosure.measures import proposed_known
from narcissus.kinds.layout import table
from narcissus.report.page import Section, Text
from narcissus.synthetic import GivenFiles
from narcissus.tables import Table


def measured_files(
    files: GivenFiles, known: Sequence[str] | None, unknown: Sequence[str]
) -> dict[str, FileMeasures]:
    """Measure the data and the file on the columns that are known, or that names propose."""
    table, measures = files.table, dict[str, FileMeasures]()
    others = [name for name in table.names if name not in unknown]
    for which in ("real", "synthetic"):
        rows = files.rows(which)
        part = Table(table.names, table.labels, table.ordered, table.codes[rows], table.values)
        units = None if files.units is None or which == "synthetic" else files.units[rows]
        chosen = known or proposed_known(others) or others
        measures[which] = measure_table(part, chosen, unknown, units=units)
    return measures


def measured_section(found: Mapping[str, FileMeasures]) -> Iterator[Section]:
    """Show the measures of both files side by side, folded."""
    if found:
        text = (
            f"Each file by itself, for an attacker who knows {', '.join(found['real'].known)}. A "
            "missing value stands for any value, and each file is taken for everybody. These "
            "numbers describe a file and decide nothing: a synthetic row need not be a person, "
            "and a group of k people may share a secret."
        )
        sides = zip(*(found[which].lines() for which in ("real", "synthetic")), strict=True)
        measures = table(
            "Anonymity, diversity and risk",
            list(sides),
            {
                "Measure": lambda pair: pair[0][0],
                "Data": lambda pair: pair[0][1],
                "File": lambda pair: pair[1][1],
            },
            graded=False,
            folded=True,
        )
        yield Section("Measures of disclosure control", [Text([text]), measures])
