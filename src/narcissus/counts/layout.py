"""How published tables were understood: columns, totals, groups, marks, and what is left over.

Tables are read one by one, columns of codes and groups are matched over all of them, percentages
narrow the counts, and sums show totals and groups. What nothing explains is a question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from narcissus._visible import visible
from narcissus.counts.columns import (
    ColumnUse,
    SecondName,
    ask_for_column,
    ask_for_numbers,
    is_percent_name,
)
from narcissus.counts.marks import Rules
from narcissus.counts.percents import DERIVED, read_shares, use_percents, use_rates
from narcissus.counts.reading import Cell, TableRead, require_single
from narcissus.counts.system import Structure
from narcissus.counts.totals import find_labels
from narcissus.counts.unmarked import unmarked
from narcissus.errors import InputError
from narcissus.rows import Unaccounted

_SHOWN = 6


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
    marks: marks of hidden cells.
    notes: titles above the table and notes below it, which are not read.
    """

    file: str
    shape: str
    columns: tuple[ColumnUse, ...]
    totals: Mapping[str, tuple[str, ...]]
    summed: Mapping[str, tuple[str, ...]]
    groups: Mapping[str, Mapping[str, str]]
    marks: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``narcissus tables --json`` prints it."""
        return {
            "file": self.file,
            "shape": self.shape,
            "columns": [use.to_dict() for use in self.columns],
            "totals": {name: list(labels) for name, labels in self.totals.items()},
            "totals_by_sums": {name: list(labels) for name, labels in self.summed.items()},
            "groups": {name: dict(parents) for name, parents in self.groups.items()},
            "marks": list(self.marks),
            "notes": list(self.notes),
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
        if self.marks:
            shown.append(f"  hidden: {_listed([mark or '(empty)' for mark in self.marks])}")
        shown += [f"  note, not read: {visible(note)}" for note in _cut(self.notes)]
        return shown


@dataclass(frozen=True)
class PublishedTables:
    """Published tables, ready to be audited.

    Options
    -------
    cells: of all tables.
    structure: what is declared of dimensions, with the groups that were recognized.
    layouts: how each table was understood.
    unaccounted: what was not, with the declaration that decides it.
    are_labels_open: whether a label may be a total or a group, so that nothing is proved of sums.
    """

    cells: list[Cell]
    structure: Structure
    layouts: tuple[PublishedLayout, ...]
    unaccounted: tuple[Unaccounted, ...]
    are_labels_open: bool = False

    def require_understood(self) -> PublishedTables:
        """Return the tables themselves. Raises `InputError` where something was not understood."""
        for question in self.unaccounted:
            raise InputError(
                f"{question.subject} is not accounted for. {question.reason} Declare it: "
                f"{question.declaration}"
            )
        return self


def understand(
    tables: Sequence[TableRead], structure: Structure, rules: Rules, flat: Sequence[str] = ()
) -> PublishedTables:
    """Put tables together, and list what none of their numbers explains.

    Raises `InputError` for percentages that contradict the counts, and for cells that appear twice.
    """
    questions = [q for table in tables for q in (*table.columns.unaccounted, *table.unaccounted)]
    seconds = [second for table in tables for second in table.columns.second_names]
    parents = _group_parents(seconds)
    known = {
        name: {**parents.get(name, {}), **structure.parents.get(name, {})}
        for name in {*parents, *structure.parents}
    }
    structure = replace(structure, parents=known)
    each = {
        table.file: [_renamed(cell, seconds, parents) for cell in table.cells] for table in tables
    }
    labels = find_labels([cell for some in each.values() for cell in some], structure, rules, flat)
    uses: dict[str, list[ColumnUse]] = {}
    for table in tables:
        before = labels.without_totals(each[table.file])
        uses[table.file], more, each[table.file] = _with_percents(table, before, rules)
        questions += more
    cells = [cell for some in each.values() for cell in some]
    labels = labels.joined(find_labels(cells, structure, rules, flat))
    cells = unmarked(_without_derived(labels.without_totals(cells)))
    questions += labels.questions
    groups = {**labels.parents, **structure.parents}
    structure = replace(structure, parents=groups)
    require_single(cells)
    layouts = tuple(
        _layout(table, uses[table.file], cells, labels.totals, groups, rules) for table in tables
    )
    left = tuple(dict.fromkeys(questions))
    return PublishedTables(cells, structure, layouts, left, bool(labels.questions))


def _group_parents(seconds: Sequence[SecondName]) -> dict[str, dict[str, str]]:
    """Return the group of each label, where columns hold groups."""
    parents: dict[str, dict[str, str]] = {}
    for second in seconds:
        if second.is_group:
            tree = parents.setdefault(second.of, {})
            for label, group in second.labels.items():
                tree.setdefault(label, _group_name(second, group))
    return parents


def _group_name(second: SecondName, group: str) -> str:
    """Return the name of a group; it is told apart from a label of the same name."""
    return f"{group} ({second.column})" if group in second.labels else group


def _renamed(
    cell: Cell, seconds: Sequence[SecondName], parents: Mapping[str, Mapping[str, str]]
) -> Cell:
    """Return a cell whose labels are those of dimensions, and not of codes and groups."""
    labels = dict(cell.labels)
    for second in seconds:
        label = labels.get(second.column)
        if label is None:
            continue
        if second.of in labels:
            group = parents.get(second.of, {}).get(labels[second.of])
            if not second.is_group or group == _group_name(second, label):
                del labels[second.column]
            continue
        if second.is_group and label in second.labels.values():
            del labels[second.column]
            labels[second.of] = _group_name(second, label)
        elif not second.is_group and label in second.labels:
            del labels[second.column]
            labels[second.of] = second.labels[label]
    return cell if labels == cell.labels else replace(cell, labels=labels)


def _with_percents(
    table: TableRead, cells: Sequence[Cell], rules: Rules
) -> tuple[list[ColumnUse], list[Unaccounted], list[Cell]]:
    """Return what columns of numbers are, questions of them, and cells that they narrow."""
    columns, cells = table.columns, list(cells)
    uses: list[ColumnUse] = []
    questions: list[Unaccounted] = []
    texts = {at: [row[at] for _, row in table.rows] for at in (*columns.percents, *columns.numbers)}
    wholes = {table.header[at]: texts[at] for at in columns.numbers}
    used: set[str] = set()
    count = len(cells)
    for at in columns.percents:
        name = table.header[at]
        why = "Percentages of a wide table's rows are not read."
        words = ""
        if table.shape == "long" and rules.unit is None:
            try:
                shares = read_shares(texts[at], rules)
            except InputError as error:
                uses.append(ColumnUse(name, "not understood"))
                why = f"It was not read as percentages: {error}."
                questions.append(ask_for_column(table.file, name, why, "irrelevant"))
                continue
            read = use_percents(cells[:count], shares, rules, is_named=is_percent_name(name))
            rates = None if read.of else use_rates(cells[:count], shares, wholes, rules)
            if rates is not None:
                cells[:count] = rates[0]
                used.add(rates[1])
                words, why = f"of `{rates[1]}`", ""
            else:
                cells = [*read.cells, *cells[count:]] if read.of else cells
                words, why = read.of, read.why
        uses.append(ColumnUse(name, "percent" if not why else "not understood", words))
        if why:
            questions.append(ask_for_column(table.file, name, why, "irrelevant"))
    for at in columns.numbers:
        name = table.header[at]
        if name in used:
            uses.append(ColumnUse(name, "magnitude", "what rates are of"))
            continue
        uses.append(ColumnUse(name, "not understood"))
        questions.append(ask_for_numbers(table.file, name))
    return uses, questions, cells


def _without_derived(cells: Sequence[Cell]) -> list[Cell]:
    """Leave out derived numbers where a cell of the same table is about the same people."""
    printed = {
        (cell.file, frozenset(cell.labels.items())) for cell in cells if cell.count.kind != DERIVED
    }
    return [
        cell
        for cell in cells
        if cell.count.kind != DERIVED or (cell.file, frozenset(cell.labels.items())) not in printed
    ]


def _layout(
    table: TableRead,
    uses: Sequence[ColumnUse],
    cells: Sequence[Cell],
    totals: Mapping[str, tuple[str, ...]],
    groups: Mapping[str, Mapping[str, str]],
    rules: Rules,
) -> PublishedLayout:
    names = {name for cell in cells if cell.file == table.file for name in cell.labels}
    grouped = {use.column for use in table.columns.uses if use.role == "group"}
    dimensions = [
        ColumnUse(name, "dimension")
        for name in table.columns.dimensions.values()
        if name not in grouped
    ]
    if table.across:
        dimensions.append(ColumnUse(table.across, "dimension", "across"))
    shown = {cell.labels[name] for cell in table.cells for name in cell.labels}
    summed = {
        name: tuple(label for label in labels if label in shown) for name, labels in totals.items()
    }
    summed = {name: labels for name, labels in summed.items() if labels}
    margins = {
        name: (*table.margins.get(name, ()), *summed.get(name, ()))
        for name in {**table.margins, **summed}
    }
    marks = dict.fromkeys(
        cell.printed for cell in table.cells if rules.suppressed(cell.printed) is not None
    )
    return PublishedLayout(
        table.file,
        table.shape,
        (*dimensions, *table.uses, *table.columns.uses, *uses),
        margins,
        summed,
        {name: tree for name, tree in groups.items() if name in names},
        tuple(marks),
        table.notes,
    )


def _cut(labels: Sequence[str]) -> list[str]:
    shown = [visible(label) for label in labels[:_SHOWN]]
    return [*shown, "..."] if len(labels) > _SHOWN else shown


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(_cut(labels))
