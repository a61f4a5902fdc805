"""The words for how a published table was understood: columns, totals, groups, marks, texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from narcissus._visible import visible
from narcissus.counts.columns import (
    ColumnUse,
)
from narcissus.counts.marks import Rules
from narcissus.counts.ranges import CodedRange, cut_ranges
from narcissus.counts.reading import Cell, TableRead
from narcissus.counts.totals import FoundLabels

_SHOWN = 6
_MOST_TEXTS = 30


@dataclass(frozen=True)
class PublishedLayout:
    """What the columns and labels of one table were taken for.

    Options
    -------
    file: its name.
    shape: ``long`` or ``wide``.
    columns: what each column is.
    totals: by dimension, labels that stand for all people.
    summed: of these, those that sums show and no word.
    groups: by dimension, the group of each label.
    ranges: by dimension, labels that are ranges of whole numbers and overlap.
    marks: marks of hidden cells.
    notes: titles above the table and notes below it.
    texts: labels, headers, lines and other texts that are not understood.
    """

    file: str
    shape: str
    columns: tuple[ColumnUse, ...]
    totals: Mapping[str, tuple[str, ...]]
    summed: Mapping[str, tuple[str, ...]]
    groups: Mapping[str, Mapping[str, str]]
    ranges: Mapping[str, Mapping[str, CodedRange]]
    marks: tuple[str, ...]
    notes: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``narcissus tables --json`` prints it."""
        return {
            "file": self.file,
            "shape": self.shape,
            "columns": [use.to_dict() for use in self.columns],
            "totals": {name: list(labels) for name, labels in self.totals.items()},
            "totals_by_sums": {name: list(labels) for name, labels in self.summed.items()},
            "groups": {name: dict(parents) for name, parents in self.groups.items()},
            "ranges": {name: list(labels) for name, labels in self.ranges.items()},
            "marks": list(self.marks),
            "notes": list(self.notes),
            "texts": list(self.texts),
        }

    def lines(self) -> list[str]:
        """Return it in words, a line for each column, total, group and mark."""
        shown = [f"{visible(self.file)}, a {self.shape} table:"]
        roles: dict[str, list[ColumnUse]] = {}
        for use in self.columns:
            roles.setdefault(f"{use.role}\n{use.detail if use.role != 'count' else ''}", []).append(
                use
            )
        for key, uses in roles.items():
            role, _, detail = key.partition("\n")
            names = _listed([f"`{visible(use.column)}`" for use in uses])
            shown.append(f"  {role}: {names}{f' ({visible(detail)})' if detail else ''}")
        for name, labels in self.totals.items():
            by_sums = [label for label in labels if label in self.summed.get(name, ())]
            why = f"; sums show {_listed(by_sums)}" if by_sums else ""
            shown.append(f"  total of `{visible(name)}`: {_listed(labels)}{why}")
        for name, parents in self.groups.items():
            wholes: dict[str, list[str]] = {}
            for part, whole in parents.items():
                wholes.setdefault(whole, []).append(part)
            shown += [
                f"  group of `{visible(name)}`: {visible(whole)} = {' + '.join(_cut(parts))}"
                for whole, parts in list(wholes.items())[:_SHOWN]
            ]
        for name, labels in self.ranges.items():
            pieces = _cut(list(cut_ranges(labels)))
            shown.append(f"  ranges of `{visible(name)}` that overlap, read by {', '.join(pieces)}")
        if self.marks:
            shown.append(f"  hidden: {_listed([mark or '(empty)' for mark in self.marks])}")
        lines = [f"line `{visible(note)}`" for note in self.notes]
        shown += [
            f"  note: {visible(n)}"
            for n, line in zip(self.notes, lines, strict=True)
            if line not in self.texts
        ][:_SHOWN]
        shown += [f"  not understood: {text}" for text in self.texts[:_MOST_TEXTS]]
        if len(self.texts) > _MOST_TEXTS:
            shown.append(f"  and {len(self.texts) - _MOST_TEXTS:,} texts more")
        return shown


def layout_of(
    table: TableRead,
    uses: Sequence[ColumnUse],
    cells: Sequence[Cell],
    found: FoundLabels,
    groups: Mapping[str, Mapping[str, str]],
    rules: Rules,
) -> PublishedLayout:
    """Return what the columns and labels of a table were taken for."""
    names = {name for cell in cells if cell.file == table.file for name in cell.labels}
    grouped = {use.column for use in table.columns.uses if use.role == "group"}
    dimensions = [
        ColumnUse(name, "dimension", "blank cells have the label above" * (name in table.filled))
        for name in table.columns.dimensions.values()
        if name not in grouped
    ]
    dimensions += [
        ColumnUse(name, "dimension", "across")
        for name in (table.across, table.second_across)
        if name
    ]
    shown = {cell.labels[name] for cell in table.cells for name in cell.labels}
    summed = {
        name: tuple(label for label in labels if label in shown)
        for name, labels in found.totals.items()
    }
    summed = {name: labels for name, labels in summed.items() if labels}
    margins = {
        name: (*table.margins.get(name, ()), *summed.get(name, ()))
        for name in {**table.margins, **summed}
    }
    marks = dict.fromkeys(cell.printed for cell in table.cells if cell.count.kind == "suppressed")
    return PublishedLayout(
        table.file,
        table.shape,
        (*dimensions, *table.uses, *table.columns.uses, *uses),
        margins,
        summed,
        {name: tree for name, tree in groups.items() if name in names},
        {name: ranges for name, ranges in found.ranges.items() if name in names},
        tuple(marks),
        table.notes,
    )


def _cut(labels: Sequence[str]) -> list[str]:
    shown = [visible(label) for label in labels[:_SHOWN]]
    return [*shown, "..."] if len(labels) > _SHOWN else shown


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(_cut(labels))
