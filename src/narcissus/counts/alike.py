"""Dimensions and labels of several tables that are one, and are spelled otherwise.

Case, blanks, punctuation and plural of a header make no other dimension, and case, composed letters
and leading zeros no other label. Two headers over the same labels may be one dimension: that is
asked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from narcissus._validation import did_you_mean
from narcissus._visible import visible
from narcissus.counts.columns import ColumnUse, option_of
from narcissus.counts.reading import Cell, TableRead
from narcissus.counts.system import Structure
from narcissus.errors import InputError
from narcissus.rows import Unaccounted

Pair = frozenset[str]
MOST_COMPARED = 200
"""Labels of a hierarchy, and of tables, that are compared letter by letter."""


@dataclass(frozen=True)
class SameNames:
    """What is declared of names in several tables.

    Options
    -------
    same: pairs of dimensions, or of labels of one, that are one; it has the first name.
    apart: pairs that are not.
    """

    same: tuple[tuple[str, str], ...] = ()
    apart: tuple[tuple[str, str], ...] = ()

    @property
    def settled(self) -> set[Pair]:
        return {frozenset(pair) for pair in (*self.same, *self.apart)}


@dataclass
class _Names:
    """Where dimensions and labels stand: by name, the labels behind it, and the files."""

    labels: dict[str, dict[str, set[str]]] = field(default_factory=dict[str, dict[str, set[str]]])
    files: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def add(self, name: str, label: str, file: str) -> None:
        self.labels.setdefault(name, {}).setdefault(label, set()).add(file)
        self.files.setdefault(name, set()).add(file)

    def are_in_one_file(self, one: str, other: str) -> bool:
        return bool(self.files[one] & self.files[other])


def fold_name(name: str) -> str:
    """Return a header without case, blanks, punctuation and plural."""
    plain = re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name).casefold())
    return plain[:-1] if len(plain) > 3 and plain.endswith("s") else plain


def fold_label(label: str) -> str:
    """Return a label without case, forms of letters, blanks around dashes, and leading zeros."""
    plain = unicodedata.normalize("NFKC", label).casefold()
    plain = re.sub(r"\s*[-\u2010-\u2015\u2212]\s*", "-", " ".join(plain.split()))
    return re.sub(r"(?<![\d.,])0+(?=\d)", "", plain)


def _bare(label: str) -> str:
    """Return a label without what stands in parentheses, and without punctuation."""
    plain = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", " ", fold_label(label))
    return re.sub(r"[\s.,;:'\"/_*]+", "", plain)


def rename_alike(
    tables: Sequence[TableRead], structure: Structure, flat: Sequence[str], given: SameNames
) -> tuple[list[TableRead], Structure, tuple[str, ...], list[Unaccounted]]:
    """Give dimensions and labels of all tables one spelling, and ask where it is open.

    Returns the tables, the structure and the flat dimensions with these names, and questions.
    """
    names = _find_names(tables)
    _require_names(names, given)
    renamed = _same_dimensions(names, given)
    tables = [_with_names(table, renamed) for table in tables]
    structure, flat = _declared_with_names(structure, flat, renamed)
    names = _find_names(tables)
    labels = _same_labels(names, structure, given)
    tables = [replace(table, cells=_with_labels(table.cells, labels)) for table in tables]
    names = _find_names(tables)
    _require_tree(names, structure)
    questions = [*_ask_for_names(names, given), *_ask_for_labels(names, given)]
    return tables, structure, flat, questions


def _find_names(tables: Iterable[TableRead]) -> _Names:
    names = _Names()
    for table in tables:
        for cell in table.cells:
            for name, label in cell.labels.items():
                names.add(name, label, table.file)
        for second in table.columns.second_names:
            for label in second.labels if not second.is_group else ():
                names.add(second.column, label, table.file)
    return names


def _require_names(names: _Names, given: SameNames) -> None:
    """Refuse a declared pair of which no table has a name, and one that one table has apart."""
    known = {*names.labels, *(label for some in names.labels.values() for label in some)}
    for option, pairs in (("same", given.same), ("apart", given.apart)):
        for name in (name for pair in pairs for name in pair):
            if name not in known:
                raise InputError(
                    f"`--{option}`: no table has a dimension or a label {visible(name)!r}"
                    f"{did_you_mean(name, known)}"
                )
    for one, other in given.same:
        if {one, other} <= set(names.labels) and names.are_in_one_file(one, other):
            raise InputError(
                f"`--same {one}={other}`: one table has both, so they are two dimensions"
            )


def _same_dimensions(names: _Names, given: SameNames) -> dict[str, str]:
    """Return the name that a dimension gets, where it has another one."""
    found: dict[str, str] = {}
    declared = [pair for pair in given.same if set(pair) <= set(names.labels)]
    for one, other in declared:
        found[other] = found.get(one, one)
    first: dict[str, str] = {}
    for name in names.labels:
        if name in found:
            continue
        known = first.setdefault(fold_name(name), name)
        is_apart = frozenset((known, name)) in given.settled
        if known != name and not is_apart and not names.are_in_one_file(known, name):
            found[name] = known
    return {name: found.get(known, known) for name, known in found.items()}


def _with_names(table: TableRead, renamed: Mapping[str, str]) -> TableRead:
    """Return a table whose dimensions have other names."""
    if not renamed:
        return table

    def named(name: str) -> str:
        return renamed.get(name, name)

    columns = table.columns
    seconds = tuple(
        replace(one, column=named(one.column), of=named(one.of)) for one in columns.second_names
    )
    uses = tuple(ColumnUse(named(use.column), use.role, use.detail) for use in columns.uses)
    dimensions = {at: named(name) for at, name in columns.dimensions.items()}
    return replace(
        table,
        cells=[
            replace(cell, labels={named(name): label for name, label in cell.labels.items()})
            if set(cell.labels) & set(renamed)
            else cell
            for cell in table.cells
        ],
        across=named(table.across),
        columns=replace(columns, dimensions=dimensions, second_names=seconds, uses=uses),
        margins={named(name): words for name, words in table.margins.items()},
    )


def _declared_with_names(
    structure: Structure, flat: Sequence[str], renamed: Mapping[str, str]
) -> tuple[Structure, tuple[str, ...]]:
    def named(name: str) -> str:
        return renamed.get(name, name)

    within = {
        file: [replace(part, dimension=named(part.dimension)) for part in parts]
        for file, parts in structure.within.items()
    }
    parents = dict[str, Mapping[str, str]]()
    for name, tree in structure.parents.items():
        parents[named(name)] = {**parents.get(named(name), {}), **tree}
    others = tuple(map(named, structure.others))
    return replace(structure, within=within, parents=parents, others=others), tuple(
        map(named, flat)
    )


def _same_labels(
    names: _Names, structure: Structure, given: SameNames
) -> dict[tuple[str, str], str]:
    """Return the spelling that a label of a dimension gets, where it has another one."""
    found: dict[tuple[str, str], str] = {}
    for name, labels in names.labels.items():
        kept = {label for part in structure.parents.get(name, {}).items() for label in part}
        alike: dict[str, list[str]] = {}
        for label in labels:
            alike.setdefault(fold_label(label), []).append(label)
        for some in alike.values():
            files = [file for label in some for file in labels[label]]
            is_apart = any({*pair} <= {*some} for pair in given.apart)
            if len(some) > 1 and len(files) == len(set(files)) and not is_apart:
                first = next((label for label in some if label in kept), some[0])
                found |= {(name, label): first for label in some if label != first}
        for one, other in given.same:
            if {one, other} <= set(labels):
                found[name, other] = found.get((name, one), one)
    return found


def _with_labels(cells: Sequence[Cell], labels: Mapping[tuple[str, str], str]) -> list[Cell]:
    if not labels:
        return list(cells)
    made: list[Cell] = []
    for cell in cells:
        renamed = {name: labels.get((name, label), label) for name, label in cell.labels.items()}
        made.append(cell if renamed == cell.labels else replace(cell, labels=renamed))
    return made


def _require_tree(names: _Names, structure: Structure) -> None:
    """Refuse a label of a hierarchy that no table has, if it is nearly one that no part names."""
    for name, tree in structure.parents.items():
        shown = set(names.labels.get(name, {}))
        named = {*tree, *tree.values()}
        left = sorted(shown - named)
        alike = {fold_label(label): label for label in left}
        unknown = sorted(named - shown)
        is_few = len(left) <= MOST_COMPARED and len(unknown) <= MOST_COMPARED
        for label in unknown if shown else ():
            near = alike.get(fold_label(label))
            if near is None and is_few and not re.search(r"\d", label):
                near = next(iter(get_close_matches(label, left, n=1, cutoff=0.8)), None)
            if near is not None:
                raise InputError(
                    f"`--hierarchy`: no table has {visible(name)} = {visible(label)}; did you mean "
                    f"`{visible(near)}`?"
                )


def _ask_for_names(names: _Names, given: SameNames) -> Iterator[Unaccounted]:
    """Yield a question for two dimensions, never in one table, whose labels are nearly the same."""
    each = [
        (name, {fold_label(label) for label in labels}) for name, labels in names.labels.items()
    ]
    for at, (one, labels) in enumerate(each):
        for other, more in each[at + 1 :]:
            shared = labels & more
            is_single = len(labels) == len(more) == 1
            if names.are_in_one_file(one, other) or frozenset((one, other)) in given.settled:
                continue
            if shared and not is_single and 2 * len(shared) >= min(len(labels), len(more)):
                words = ", ".join(map(visible, sorted(shared)[:3]))
                yield Unaccounted(
                    subject=f"dimensions `{visible(one)}` and `{visible(other)}`",
                    reason=f"Both have labels such as {words}, in different tables: they may be "
                    "one dimension under two names.",
                    declaration=visible(_both(one, other)),
                )


def _ask_for_labels(names: _Names, given: SameNames) -> Iterator[Unaccounted]:
    """Yield a question for two labels, never in one table, that differ by an addition."""
    for name, labels in names.labels.items():
        first: dict[str, str] = {}
        for label in labels:
            known = first.setdefault(_bare(label), label)
            is_apart = not labels[known] & labels[label] and _bare(label) != ""
            if known != label and is_apart and frozenset((known, label)) not in given.settled:
                yield Unaccounted(
                    subject=f"labels `{visible(known)}` and `{visible(label)}` of "
                    f"`{visible(name)}`",
                    reason="They stand in different tables, and may be one.",
                    declaration=visible(_both(known, label)),
                )


def _both(one: str, other: str) -> str:
    pair = f"{one}={other}"
    return f"{option_of('same', pair)} or {option_of('apart', pair)}"
