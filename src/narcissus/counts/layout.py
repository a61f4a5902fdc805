"""How published tables were understood: columns, totals, groups, marks, and what is left over.

Tables are read one by one, columns of codes and groups are matched over all of them, percentages
narrow the counts, and sums show totals and groups. What nothing explains is a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from narcissus._validation import did_you_mean
from narcissus._visible import visible
from narcissus.counts.alike import (
    SameNames,
    ask_for_names,
    fold_name,
    list_tied,
    rename_alike,
)
from narcissus.counts.codes import find_count_signs
from narcissus.counts.columns import (
    ColumnUse,
    SecondName,
    ask_for_numbers,
    is_percent_name,
    is_rate_name,
    option_of,
)
from narcissus.counts.marks import Rules, read_number
from narcissus.counts.order import ask_for_order, find_order
from narcissus.counts.percents import PercentRead, read_shares, use_percents, use_rates
from narcissus.counts.ranges import CodedRange, cut_ranges
from narcissus.counts.reading import Cell, TableRead, require_single
from narcissus.counts.relations import are_means, find_pair, find_relation
from narcissus.counts.system import EVERYBODY, Structure
from narcissus.counts.texts import ask_for_texts, list_named, list_texts
from narcissus.counts.totals import FoundLabels, ask_for_gaps, find_labels
from narcissus.counts.unmarked import unmarked
from narcissus.errors import InputError
from narcissus.rows import Unaccounted

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


@dataclass(frozen=True)
class PublishedTables:
    """Published tables, ready to be audited.

    Options
    -------
    cells: of all tables.
    structure: what is declared of dimensions, with the groups that were recognized.
    layouts: how each table was understood.
    unaccounted: what was not, with the declaration that decides it.
    takes_as_given: what a verdict in favour takes as given that nobody declares, in words.
    slices: where a label may be a total or a group: cells whose sums hold all the same, those
        beside each label of its dimension and those beside none. They have no sum over it.
    """

    cells: list[Cell]
    structure: Structure
    layouts: tuple[PublishedLayout, ...]
    unaccounted: tuple[Unaccounted, ...]
    slices: tuple[list[Cell], Structure] | None = None
    takes_as_given: tuple[str, ...] = ()

    @property
    def are_labels_open(self) -> bool:
        """Whether a label may be a total or a group, so that sums over its dimension are open."""
        return self.slices is not None

    @property
    def sure(self) -> tuple[list[Cell], Structure]:
        """Cells and structure of which everything that follows holds, whatever labels are."""
        return self.slices or (self.cells, self.structure)

    def require_understood(self) -> PublishedTables:
        """Return the tables themselves. Raises `InputError` where something was not understood."""
        for question in self.unaccounted:
            raise InputError(
                f"{question.subject} is not accounted for. {question.reason} Declare it: "
                f"{question.declaration}"
            )
        return self


def understand(
    tables: Sequence[TableRead],
    structure: Structure,
    rules: Rules,
    flat: Sequence[str] = (),
    margins: Mapping[str, Mapping[str, tuple[str, ...]]] | None = None,
    same: SameNames | None = None,
    count: str | None = None,
    order: Mapping[str, str] | None = None,
    *,
    texts_tell_nothing: bool = False,
) -> PublishedTables:
    """Put tables together, and list what none of their numbers explains.

    Options
    -------
    tables: as they were read.
    structure, rules: how they were made.
    flat: dimensions of which no label is the sum of others.
    margins: of a file's columns of percentages, the dimensions of whose labels together they are.
    same: names in several tables that are one, or are not.
    count: the header of counts, where it is declared.
    order: of a file, whether its labels stand in the order of their counts (``count``), or not.
    texts_tell_nothing: the user has read all texts that are not understood.

    Raises `InputError` for declarations that numbers refute, percentages that contradict the
    counts, and cells that appear twice.
    """
    questions = [q for table in tables for q in (*table.columns.unaccounted, *table.unaccounted)]
    same = same or SameNames()
    tables, structure, flat = rename_alike(tables, structure, flat, same)
    flat = _require_flat(tables, flat)
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
    indented = {table.file: table.indented for table in tables}
    cells = [cell for some in each.values() for cell in some]
    labels = find_labels(cells, structure, rules, flat, indented)
    uses: dict[str, list[ColumnUse]] = {}
    narrowed: list[Cell] = []
    for table in tables:
        before = labels.without_totals(each[table.file])
        of = (margins or {}).get(table.file, {})
        several = {name for other in tables if other is not table for name in other.header}
        read = _Columns(table, before, rules, structure.others, of, several).read()
        uses[table.file], each[table.file] = read.uses, read.cells
        questions += read.questions
        narrowed += read.narrowed
    labels = labels.joined(find_labels(narrowed, structure, rules, flat, indented))
    cells = [cell for some in each.values() for cell in some]
    plain = unmarked(labels.without_totals(cells), rules)
    cells = labels.without_overlaps(plain)
    questions += labels.questions
    groups = {
        name: {**labels.parents.get(name, {}), **structure.parents.get(name, {})}
        for name in {**labels.parents, **structure.parents}
    }
    structure = replace(structure, parents=groups, ranges=labels.ranges)
    require_single(cells)
    questions += [*ask_for_names(cells, structure, same), *ask_for_gaps(cells, structure)]
    order = order or {}
    _require_files(tables, order)
    questions += ask_for_order(cells, groups, order)
    structure = replace(structure, ordered=find_order(cells, groups, order))
    texts = list_texts(tables, cells, structure, rules, () if count is None else (count,))
    questions += [] if texts_tell_nothing else ask_for_texts(texts)
    layouts = tuple(
        replace(
            _layout(table, uses[table.file], cells, labels, groups, rules),
            texts=texts[table.file],
        )
        for table in tables
    )
    left = tuple(dict.fromkeys(questions))
    slices = _slices(plain, structure, labels.open_names) if labels.questions else None
    hides = any(cell.count.kind not in ("exact", "derived") for cell in cells)
    names = [] if texts_tell_nothing else list_named(tables, cells, structure, rules)
    premises = (*_one_population(tables, structure), *list_tied(cells, same), *names)
    premises = premises if hides else ()
    return PublishedTables(cells, structure, layouts, left, slices, premises)


def _require_files(tables: Sequence[TableRead], order: Mapping[str, str]) -> None:
    """Refuse an order that is declared of a file that is not there."""
    files = [table.file for table in tables]
    if unknown := next((file for file in order if file not in files), None):
        raise InputError(
            f"`--order`: no table is named {visible(unknown)}{did_you_mean(unknown, files)}"
        )


def _one_population(tables: Sequence[TableRead], structure: Structure) -> Iterator[str]:
    """Yield that tables are about the same people, where they are joined and no part is named."""
    whole = [table.file for table in tables if not structure.within.get(table.file)]
    if len(whole) > 1:
        yield "all tables are about the same people, but for what `--within` names"


def _slices(
    cells: Sequence[Cell], structure: Structure, names: Set[str]
) -> tuple[list[Cell], Structure]:
    """Return cells without sums over some dimensions, whose labels may be totals or groups.

    What stands beside one label of them is about the same people, whatever that label is, and so
    is what stands beside none: each is a part of its own here.
    """
    of_part = {
        file for file, parts in structure.within.items() if {p.dimension for p in parts} & names
    }

    def whole(file: str) -> str:
        return f"{EVERYBODY} of {file}" if file in of_part else EVERYBODY

    found = [
        replace(cell, labels={**dict.fromkeys(names, whole(cell.file)), **cell.labels}, share=None)
        for cell in cells
    ]
    within = {
        file: left
        for file, parts in structure.within.items()
        if (left := [part for part in parts if part.dimension not in names])
    }
    return found, replace(
        structure,
        within=within,
        parents={name: tree for name, tree in structure.parents.items() if name not in names},
        ranges={name: spans for name, spans in structure.ranges.items() if name not in names},
        others=tuple(name for name in structure.others if name not in names),
    )


def with_own_labels(cell: Cell) -> Cell:
    """Return a cell of `PublishedTables.sure` with the labels that it prints."""
    shown = {name: label for name, label in cell.labels.items() if not label.startswith(EVERYBODY)}
    return replace(cell, labels=shown)


def _require_flat(tables: Sequence[TableRead], flat: Sequence[str]) -> tuple[str, ...]:
    """Return flat dimensions as tables name them. Raises `InputError` for one that none has."""
    known = dict.fromkeys(name for table in tables for cell in table.cells for name in cell.labels)
    known |= dict.fromkeys(
        name for table in tables for name in (table.across, table.second_across) if name
    )
    known |= dict.fromkeys(name for table in tables for name in table.columns.dimensions.values())
    known |= dict.fromkeys(use.column for table in tables for use in table.columns.uses)
    known |= dict.fromkeys(
        second_name.column for table in tables for second_name in table.columns.second_names
    )
    folded = {fold_name(name): name for name in known}
    names = [name if name in known else folded.get(fold_name(name), name) for name in flat]
    if wrong := next((name for name in names if name not in known), None):
        raise InputError(
            f"`--flat`: no table has a dimension {visible(wrong)!r}{did_you_mean(wrong, known)}"
        )
    return tuple(names)


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


@dataclass
class _WithShares:
    """The cells of a table with their percentages, and what its further columns are.

    Options
    -------
    cells: with their shares.
    narrowed: the same with narrower counts, and wholes that no cell prints, to see sums by.
    uses: what columns are.
    questions: of columns that were not understood.
    """

    cells: list[Cell]
    narrowed: list[Cell]
    uses: list[ColumnUse] = field(default_factory=list[ColumnUse])
    questions: list[Unaccounted] = field(default_factory=list[Unaccounted])

    def add(self, read: PercentRead) -> None:
        """Take the shares of a column; a cell keeps the one that it has."""
        many = len(self.cells)
        for at, cell in enumerate(read.cells):
            if self.cells[at].share is None:
                self.cells[at] = replace(self.cells[at], share=cell.share)
        for at, cell in enumerate(read.narrowed[:many]):
            self.narrowed[at] = replace(self.narrowed[at], count=cell.count)
        self.narrowed += read.narrowed[many:]


_LONG = (
    "a copy with a row for each part (its label, a mark for its count, its percentage) if they are "
    "of parts that no count shows"
)
_NO_OPTION = "the labels that its percentages are of, as `--percent COLUMN=LABEL,...`"


class _Columns:
    """The columns of one table that are neither labels nor counts."""

    def __init__(
        self,
        table: TableRead,
        cells: Sequence[Cell],
        rules: Rules,
        others: Sequence[str],
        margins: Mapping[str, tuple[str, ...]],
        several: Set[str] = frozenset(),
    ) -> None:
        self.table, self.rules, self.others = table, rules, others
        self.several = several  # columns that other tables have, too
        self.margins = {name.casefold(): margin for name, margin in margins.items()}
        self.found = _WithShares(list(cells), list(cells))
        columns = table.columns
        self.texts = {
            table.header[at]: [row[at] for _, row in table.rows]
            for at in (*columns.percents, *columns.numbers)
        }
        self.used: set[str] = set()  # columns that rates are of

    def read(self) -> _WithShares:
        """Recognize percentages and rates, and ask for what is left."""
        columns, header = self.table.columns, self.table.header
        for name, texts in self.table.percents_across.items():
            self._take(name, self._across(name, texts))
        for name in (header[at] for at in columns.percents):
            if name not in self.table.percents_across:
                self._take(name, self._of_rows(name, self.texts[name]))
        for name in (header[at] for at in columns.numbers):
            if name in self.used:
                self.found.uses.append(ColumnUse(name, "magnitude", "what rates are of"))
                continue
            self.found.uses.append(ColumnUse(name, "not understood"))
            self.found.questions.append(ask_for_numbers(self.table.file, name))
        for name, (option, texts) in self.table.unread.items():
            self._require_unread(name, option, texts)
        return self.found

    def _of_rows(self, name: str, texts: Sequence[str]) -> PercentRead:
        """Read a column with a percentage for each row of the file."""
        if self.table.labels_across:
            return self._across(name, texts)
        return self._percents(name, texts)

    def _take(self, name: str, read: PercentRead) -> None:
        if read.is_used:
            self.found.add(read)
            self.found.uses.append(ColumnUse(name, "percent", read.of))
            return
        self.found.uses.append(ColumnUse(name, "not understood", read.of))
        column = f"{self.table.file}:{name}" if name in self.several else name
        ways = [("percent", f"{column}={','.join(margin)}") for margin in read.margins[:3]]
        ways += (
            [("others", dimension) for dimension in read.ways]
            if isinstance(read, _AskForOthers)
            else []
        )
        options = [option_of(*way) for way in ways]
        # whoever declares percentages of these counts irrelevant declares something false
        is_of_counts = bool(read.of) or isinstance(read, _AskForOthers)
        options += (
            []
            if is_of_counts
            else [
                f"{option_of('irrelevant', column)} if they are not of these counts",
                *([_LONG] if "%" in name and name not in self.table.percents_across else []),
            ]
        )
        self.found.questions.append(
            Unaccounted(
                subject=f"column `{visible(name)}` of {visible(self.table.file)}",
                reason=read.why,
                declaration=visible(" or ".join(options or [_NO_OPTION])),
            )
        )

    def _percents(
        self, name: str, texts: Sequence[str], places: Sequence[int] | None = None
    ) -> PercentRead:
        """Read a column of percentages; ``places`` are the cells of its rows."""
        cells = self.found.cells
        places = range(len(cells)) if places is None else places
        if self.rules.unit is not None or len(places) != len(texts):
            return PercentRead(cells, cells, why="Its percentages may tell of hidden totals.")
        try:
            printed = dict(zip(places, read_shares(texts, self.rules), strict=True))
        except InputError as error:
            why = f"It was not read as percentages: {error}."
            return PercentRead(cells, cells, why=why)
        shares = [printed.get(at) for at in range(len(cells))]
        margin = self.margins.get(name.casefold(), ())
        is_named = is_percent_name(name)
        read = use_percents(
            cells, shares, self.rules, is_named=is_named, others=self.others, margin=margin
        )
        if read.of or margin:
            return read
        if rates := use_rates(cells, shares, self.texts, self.rules):
            self.used.add(rates[1])
            return rates[0]
        if not read.margins and (open_to := self._with_others(cells, shares, name)):
            return open_to
        return read

    def _with_others(
        self, cells: Sequence[Cell], shares: Sequence[Any], name: str
    ) -> PercentRead | None:
        """Return the question of percentages whose whole has people with none of the labels."""
        names = dict.fromkeys(label for cell in cells for label in cell.labels)
        for dimension in () if is_rate_name(name) else names:  # rates are of other people
            read = use_percents(
                cells, shares, self.rules, is_named=is_percent_name(name), others=[dimension]
            )
            if read.is_used and read.of:
                why = f"They are percentages {read.of}, and of people with none of these labels."
                ways = (dimension,)
                return _AskForOthers(list(cells), list(cells), why=why, ways=ways)
        return None

    def _across(self, name: str, texts: Sequence[str]) -> PercentRead:
        """Read a column of percentages among the counts of a wide table: of which label it is."""
        labels = self.table.labels_across
        words = re.findall(r"\w+", name.casefold())
        named = [k for k, label in enumerate(labels) if label.casefold() in words]
        named = named or [
            k for k, label in enumerate(labels) if label.casefold() in name.casefold()
        ]
        reads = [
            self._percents(name, texts, range(at, len(self.table.cells), len(labels)))
            for at in named or range(len(labels))
        ]
        used = [read for read in reads if read.is_used]
        if len(used) == 1 or (used and named):
            return used[0]
        if used:
            why = "It is not settled of which column of counts its percentages are."
            return replace(used[0], why=why)
        return next((read for read in reads if read.of or read.margins), reads[0])

    def _find_sign(
        self,
        name: str,
        texts: Sequence[str],
        counts: Sequence[int | None],
        cells: Sequence[Cell],
    ) -> str:
        """Return how a column that is left out tells counts, alone or with another; or empty."""
        if sign := find_count_signs(texts, counts) or find_relation(texts, counts):
            return sign
        if are_means(texts, counts, [cell.labels for cell in cells]):
            return "those of sums are means of their parts, weighted by the counts"
        for other, (_, other_texts) in self.table.unread.items():
            if other > name and (sign := find_pair(texts, other_texts, counts)):
                return f"with `{visible(other)}`, {sign}"
        return ""

    def _require_unread(self, name: str, option: str, texts: Sequence[str]) -> None:
        """Refuse to leave out a column from which hidden counts can be computed."""
        cells = [_without(cell, name) for cell in self.found.cells]
        if all(cell.count.kind == "exact" for cell in cells):
            return
        many = max(1, len(self.table.labels_across))
        for at in range(many):
            some = cells[at::many]
            counts = [cell.count.low if cell.count.kind == "exact" else None for cell in some]
            if len(some) != len(texts):
                continue
            if sign := self._find_sign(name, texts, counts, some):
                raise _refuted(self.table.file, name, option, sign)
        if option == "code" or not any(read_number(text.rstrip("% ")) for text in texts):
            return
        known, self.found.cells = self.found.cells, cells
        read = self._of_rows(name, texts)
        self.found.cells = known
        if read.is_used and read.of:
            raise _refuted(self.table.file, name, option, f"its numbers are shares {read.of}")
        if isinstance(read, _AskForOthers):
            raise _refuted(self.table.file, name, option, read.why[0].lower() + read.why[1:-1])


@dataclass(frozen=True)
class _AskForOthers(PercentRead):
    """Percentages of people of whom some have none of the labels."""

    ways: tuple[str, ...] = ()


def _without(cell: Cell, name: str) -> Cell:
    labels = {key: label for key, label in cell.labels.items() if key != name}
    return replace(cell, labels=labels, share=None)


def _refuted(file: str, name: str, option: str, sign: str) -> InputError:
    return InputError(
        f"{visible(file)}: the column `{visible(name)}` is declared by `--{option}`, and tells "
        f"hidden counts: {sign}. Leave the declaration out, or the column out of the publication"
    )


def _layout(
    table: TableRead,
    uses: Sequence[ColumnUse],
    cells: Sequence[Cell],
    found: FoundLabels,
    groups: Mapping[str, Mapping[str, str]],
    rules: Rules,
) -> PublishedLayout:
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
