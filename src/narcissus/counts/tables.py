"""Published tables, understood together: columns, totals, groups, and what is left over.

Tables are read one by one, columns of codes and groups are matched over all of them, percentages
narrow the counts, and sums show totals and groups. What nothing explains is a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from narcissus._validation import did_you_mean
from narcissus._visible import visible
from narcissus.counts.alike import (
    SameNames,
    ask_for_names,
    fold_name,
    list_tied,
    rename_alike,
)
from narcissus.counts.columns import (
    DIFFERENT_FLAGS,
    ColumnUse,
    SecondName,
    ask_for_column,
    join_columns,
    option_of,
)
from narcissus.counts.further_columns import FurtherColumns
from narcissus.counts.layout import PublishedLayout, layout_of
from narcissus.counts.marks import Rules
from narcissus.counts.notes import tells_threshold
from narcissus.counts.order import ask_for_order, find_order, list_orders
from narcissus.counts.percents import OF_PRINTED
from narcissus.counts.reading import COLUMNS, Cell, TableRead, require_single
from narcissus.counts.system import EVERYBODY, Structure
from narcissus.counts.texts import ask_for_texts, list_named, list_texts, list_unknown_columns
from narcissus.counts.totals import FoundLabels, ask_for_gaps, find_labels
from narcissus.counts.unmarked import ask_for_marks, unmarked
from narcissus.errors import InputError
from narcissus.rows import Unaccounted


@dataclass(frozen=True)
class PublishedTables:
    """Published tables, ready to be audited.

    Options
    -------
    cells: of all tables.
    structure: what is declared of dimensions, with the groups that were recognized.
    layouts: how each table was understood.
    unaccounted: what was not, with the declaration that decides it.
    takes_as_given: what a verdict in favour assumes that nobody declares, in words.
    supposes: of these, what limits follow from, so that a verdict against takes it as given, too.
    slices: where a label may be a total or a group: cells whose sums hold all the same, those
        next to each label of its dimension and those next to none. They have no sum over it.
    """

    cells: list[Cell]
    structure: Structure
    layouts: tuple[PublishedLayout, ...]
    unaccounted: tuple[Unaccounted, ...]
    slices: tuple[list[Cell], Structure] | None = None
    takes_as_given: tuple[str, ...] = ()
    supposes: tuple[str, ...] = ()

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
    count: Mapping[str, Sequence[str]] | None = None,
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
    count: of a file, columns that are declared to hold counts, or labels with counts.
    order: of a file, the order in which its labels are, one of `narcissus.counts.order.ORDERS`.
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
    wholes = {
        name: {*labels.parents.get(name, {}).values(), *known.get(name, {}).values()}
        for name in {*labels.parents, *known}
    }
    further = _read_further(tables, each, labels, structure, rules, margins or {}, wholes)
    each, questions = further.cells, [*questions, *further.questions]
    labels = labels.joined(find_labels(further.narrowed, structure, rules, flat, indented))
    cells = [cell for some in each.values() for cell in some]
    plain, open_marks = _without_marks(tables, labels.without_totals(cells), rules)
    questions += open_marks
    cells = labels.without_overlaps(plain)
    questions += labels.questions
    groups = {
        name: {**labels.parents.get(name, {}), **structure.parents.get(name, {})}
        for name in {**labels.parents, **structure.parents}
    }
    structure = replace(structure, parents=groups, ranges=labels.ranges)
    require_single(cells)
    questions += [
        *ask_for_names(cells, structure, same),
        *ask_for_gaps(cells, structure),
        *_ask_for_shares(tables, plain, count or {}, rules),
    ]
    order = _of_files(tables, order or {})
    questions += ask_for_order(cells, groups, order)
    structure = replace(structure, ordered=find_order(cells, groups, order))
    texts = list_texts(tables, cells, structure, rules, count or {})
    unknown = {table.file: _list_others(table, texts[table.file]) for table in tables}
    if not texts_tell_nothing:
        questions += _ask_for_wording(texts, unknown)
        plain, cells = (
            [cell for cell in some if cell.column not in unknown[cell.file]]
            for some in (plain, cells)
        )
    layouts = tuple(
        replace(
            layout_of(table, further.uses[table.file], cells, labels, groups, rules),
            texts=texts[table.file],
        )
        for table in tables
    )
    slices = _slices(plain, structure, labels.open_names) if labels.questions else None
    supposes = (*_of_codes(labels.coded), *_of_exact(tables))
    premises = (
        *_one_population(tables, structure),
        *_of_printed(further.uses),
        *_of_flags(layouts),
        *_of_columns(tables),
        *list_tied(cells, same),
        *(() if texts_tell_nothing else list_named(tables, cells, structure, rules)),
        *list_orders(cells, groups, order),
        *supposes,
    )
    if all(cell.count.kind in ("exact", "derived") for cell in cells):
        premises = supposes = ()
    premises = (*premises, *further.possible_parts)
    return PublishedTables(
        cells, structure, layouts, tuple(join_columns(questions)), slices, premises, supposes
    )


@dataclass
class _FurtherRead:
    """What the further columns of all tables tell, by file."""

    cells: dict[str, list[Cell]]
    uses: dict[str, list[ColumnUse]] = field(default_factory=dict)
    narrowed: list[Cell] = field(default_factory=list)
    questions: list[Unaccounted] = field(default_factory=list)
    possible_parts: list[str] = field(default_factory=list)


def _read_further(
    tables: Sequence[TableRead],
    cells: Mapping[str, list[Cell]],
    labels: FoundLabels,
    structure: Structure,
    rules: Rules,
    margins: Mapping[str, Mapping[str, tuple[str, ...]]],
    wholes: Mapping[str, Set[str]],
) -> _FurtherRead:
    """Read the columns besides dimensions and counts of each table: percentages, codes, parts."""
    further = _FurtherRead(dict(cells))
    for table in tables:
        others = {name for other in tables if other is not table for name in other.header}
        read = FurtherColumns(
            table,
            labels.without_totals(cells[table.file]),
            rules,
            structure.others,
            margins.get(table.file, {}),
            others,
            wholes,
        ).read()
        further.uses[table.file], further.cells[table.file] = read.uses, read.cells
        further.questions += read.questions
        further.possible_parts += _of_possible_parts(table.file, read.possible_parts)
        further.narrowed += read.narrowed
    return further


def _of_files(tables: Sequence[TableRead], order: Mapping[str, str]) -> Mapping[str, str]:
    """Return a declared order of files. Raises `InputError` for a file that is not there."""
    files = [table.file for table in tables]
    if unknown := next((file for file in order if file not in files), None):
        raise InputError(
            f"`--order`: no table is named {visible(unknown)}{did_you_mean(unknown, files)}"
        )
    return order


def _one_population(tables: Sequence[TableRead], structure: Structure) -> Iterator[str]:
    """Yield that tables are about the same people, where they are joined and no part is named."""
    whole = [table.file for table in tables if not structure.within.get(table.file)]
    if len(whole) > 1:
        yield "all tables are about the same people, but for what `--within` names"


def _of_possible_parts(file: str, columns: Iterable[str]) -> Iterator[str]:
    """Yield that columns that are declared irrelevant count other people, or other things."""
    for column in columns:
        yield (
            f"`{visible(column)}` of {visible(file)} counts none of these people, though it is "
            "nowhere above their counts and has sums where these have them"
        )


def _of_codes(names: Iterable[str]) -> Iterator[str]:
    """Yield that codes tell which labels are parts of others, where hidden numbers cannot."""
    for name in sorted(names):
        yield f"labels of `{visible(name)}` are all parts of the label that their code begins with"


def _of_exact(tables: Sequence[TableRead]) -> Iterator[str]:
    """Yield that totals are printed exactly next to counts that are rounded."""
    for table in tables:
        if table.is_exact:
            yield f"totals of {visible(table.file)} are printed exactly, and other counts rounded"


def _of_printed(uses: Mapping[str, Sequence[ColumnUse]]) -> Iterator[str]:
    """Yield that percentages are of rounded numbers: those of the counts themselves tell more."""
    names = [use.column for some in uses.values() for use in some if use.detail == OF_PRINTED]
    for name in dict.fromkeys(names):
        yield f"percentages of `{visible(name)}` are made of the printed numbers, not of the counts"


def _of_flags(layouts: Iterable[PublishedLayout]) -> Iterator[str]:
    """Yield that flags, which tell hidden cells apart, say nothing of their counts."""
    uses = (use for layout in layouts for use in layout.columns)
    names = [use.column for use in uses if use.detail == DIFFERENT_FLAGS]
    for name in dict.fromkeys(names):
        yield f"flags of `{visible(name)}` say nothing of hidden counts"


def _without_marks(
    tables: Sequence[TableRead], cells: Sequence[Cell], rules: Rules
) -> tuple[list[Cell], list[Unaccounted]]:
    """Return cells narrowed by marks that they lack, or the question whether they may have any."""
    is_noted = any(tells_threshold(note, rules.below) for table in tables for note in table.notes)
    question = ask_for_marks(cells, rules, is_noted=is_noted)
    return (unmarked(cells, rules), []) if question is None else ([*cells], [question])


def _ask_for_shares(
    tables: Sequence[TableRead],
    cells: Sequence[Cell],
    declared: Mapping[str, Sequence[str]],
    rules: Rules,
) -> Iterator[Unaccounted]:
    """Yield a question for each table whose numbers sum to 100 in each row, as percentages do.

    Parameters
    ----------
    tables, cells: with all cells, totals without their label.
    declared: of a file, columns that are declared to hold counts.
    rules: how they are declared to be printed.
    """
    for table in tables:
        columns = [use.column for use in table.uses if use.role == "count"]
        names = {name.casefold() for name in declared.get(table.file, ())}
        is_declared = any(column.casefold() in names for column in columns)
        some = [cell for cell in cells if cell.file == table.file]
        if rules.unit is not None or is_declared or not _sum_to_hundred(some):
            continue
        way = "dimension" if table.labels_across else "count"
        options = " ".join(option_of(way, column).strip("`") for column in columns)
        yield Unaccounted(
            subject=f"the numbers of {visible(table.file)}",
            reason="They sum to 100 in each row, as percentages do, which tell of people "
            "only next to the number that they are of.",
            declaration=visible(
                f"`{options}` if they are counts, or a copy with the counts of the same rows, and "
                "the percentages next to them in columns such as `percent`"
            ),
        )


def _sum_to_hundred(cells: Sequence[Cell]) -> bool:
    """Return whether the parts of a dimension sum to 100 next to all labels of the others.

    Each number may be rounded. Rows with hidden numbers say nothing.
    """
    depth = max((len(cell.labels) for cell in cells), default=0)
    finest = [cell for cell in cells if len(cell.labels) == depth > 1]
    for name in finest[0].labels if finest else ():
        rows: dict[frozenset[tuple[str, str]], list[Cell]] = {}
        for cell in finest:
            rest = frozenset(item for item in cell.labels.items() if item[0] != name)
            rows.setdefault(rest, []).append(cell)
        whole = [
            [cell.count.low for cell in row]
            for row in rows.values()
            if len(row) > 1 and all(cell.count.kind == "exact" for cell in row)
        ]
        are_hundred = all(abs(sum(row) - 100) <= len(row) / 2 for row in whole)
        if are_hundred and len({*map(tuple, whole)}) > 1:
            return True
    return False


def _ask_for_wording(
    texts: Mapping[str, Sequence[str]], unknown: Mapping[str, Mapping[str, str]]
) -> Iterator[Unaccounted]:
    """Yield questions of columns that may count other things, and the one of all other texts."""
    for file, columns in unknown.items():
        yield from (_ask_for_people(file, column) for column in columns)
    yield from ask_for_texts(
        {
            file: [text for text in some if text not in unknown[file].values()]
            for file, some in texts.items()
        }
    )


def _list_others(table: TableRead, texts: Sequence[str]) -> dict[str, str]:
    """Return columns that may count other things than people, each with the text that names it.

    They are those of a wide table that are not understood, where nothing names their dimension.
    Raises `InputError` where no other column is left.
    """
    if table.across != COLUMNS:
        return {}
    unknown = list_unknown_columns(table, texts)
    counts = [use.column for use in table.uses if use.role == "count"]
    if len(unknown) < len(counts):
        return unknown
    names = ", ".join(map(visible, counts[:4])) + ", and more" * (len(counts) > 4)
    raise InputError(
        f"{visible(table.file)}: which dimension has the labels {names}? If each column counts "
        f"people of one table, name it: {option_of('across', f'{table.file}=NAME')}. Leave other "
        f"columns out, such as {option_of('irrelevant', counts[-1])}, once for each. A long table "
        f"has one column of counts: {option_of('count', counts[-1])}"
    )


def _ask_for_people(file: str, column: str) -> Unaccounted:
    """Return the question whether a column counts people, next to others that do."""
    reason = "A column that is not understood may count other things, and tell of hidden counts."
    question = ask_for_column(file, column, reason, "irrelevant")
    rest = ", or `--texts-tell-nothing` for columns of people, once you have read all texts"
    return question.model_copy(update={"declaration": f"{question.declaration}{rest}"})


def _of_columns(tables: Sequence[TableRead]) -> Iterator[str]:
    """Yield that columns are labels of a dimension that nothing names."""
    for table in tables:
        if table.across == COLUMNS:
            yield (
                f"each column of counts of {visible(table.file)} is of other people (`--across` "
                "names what they differ in)"
            )


def _slices(
    cells: Sequence[Cell], structure: Structure, names: Set[str]
) -> tuple[list[Cell], Structure]:
    """Return cells without sums over some dimensions, whose labels may be totals or groups.

    What appears next to one label of them is about the same people, whatever that label is, and so
    is what appears next to none: each is a separate part here.
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
