"""Which tables are released: all of so many columns, or a list of them with coarser columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from narcissus._validation import did_you_mean
from narcissus.errors import InputError
from narcissus.mechanisms.marginals import MarginalQueries
from narcissus.mechanisms.patterns import Grouping
from narcissus.mechanisms.queries import ChosenQueries
from narcissus.mechanisms.table.columns import Columns
from narcissus.tables.coding import codes_by_labels

Sets = Sequence[Sequence[str]]
"""Tables by the names of their columns."""
Coarser = Mapping[str, Mapping[str, Any]]
"""New column -> ``{of = COLUMN, groups = {NAME = [VALUES]}}``: each value in one group."""


def k_way(columns: Columns, k: int) -> MarginalQueries:
    """Lay out all tables of ``k`` columns that touch an unknown column.
    Raises InputError: there are fewer columns.
    """
    d = len(columns.names)
    if k > d:
        raise InputError(f"`mechanism.k` is {k}, but the table has {d} columns")
    return MarginalQueries(columns.sizes, columns.unknown, k)


def chosen(columns: Columns, sets: Sets, coarser: Coarser) -> ChosenQueries:
    """Lay out a list of tables.
    Raises InputError: a table names no column, one that is not there, or one twice (a column and a
        coarser version of it are one); the groups are not those of the column's values; or no table
        has an unknown column.
    """
    coarse = tuple(_grouping(columns, name, given) for name, given in coarser.items())
    numbers = {name: number for number, name in enumerate([*columns.names, *coarser])}
    d, found = len(columns.names), list[tuple[int, ...]]()
    for names in sets:
        if not names:
            raise InputError("`sets` has a table without columns: name at least one for each")
        for name in names:
            if name not in numbers:
                hint = did_you_mean(name, numbers)
                raise InputError(f"`sets` names `{name}`, which is no column of the table{hint}")
        one = tuple(numbers[name] for name in names)
        if len({c if c < d else coarse[c - d].of for c in one}) < len(one):
            said = ", ".join(names)
            raise InputError(
                f"`sets` has the table [{said}], which has a column twice (a coarser version "
                "counts as the column): name each once"
            )
        found.append(one)
    unknown = {*columns.unknown, *(d + j for j, g in enumerate(coarse) if g.of in columns.unknown)}
    if not any(unknown & set(one) for one in found):
        wanted = ", ".join(f"`{columns.names[c]}`" for c in columns.unknown)
        raise InputError(f"`sets` has no table with an unknown column ({wanted}): add one")
    return ChosenQueries(columns.sizes, columns.unknown, tuple(found), coarse=coarse)


def _grouping(columns: Columns, name: str, given: Mapping[str, Any]) -> Grouping:
    of, groups = given.get("of"), given.get("groups")
    if set(given) != {"of", "groups"} or not isinstance(groups, Mapping) or not groups:
        raise InputError(
            f"`coarser.{name}` must be {{of = COLUMN, groups = {{NAME = [VALUES], ...}}}}"
        )
    if name in columns.names:
        raise InputError(f"`coarser.{name}` has the name of a column: take another")
    if of not in columns.names:
        hint = did_you_mean(str(of), columns.names)
        raise InputError(f"`coarser.{name}` is of `{of}`, which is no column of the table{hint}")
    column = columns.names.index(str(of))
    labels = columns.labels[column]
    group_of: dict[str, int] = {}
    for number, (group, values) in enumerate(groups.items()):
        for given_value, code in zip(values, codes_by_labels(str(of), values, labels), strict=True):
            if code < 0:
                value = str(given_value)
                hint = did_you_mean(value, labels)
                raise InputError(
                    f"`coarser.{name}`: `{of}` has no value '{value}' (in '{group}'){hint}"
                )
            value = labels[code]
            if value in group_of:
                raise InputError(f"`coarser.{name}` has the value '{value}' twice")
            group_of[value] = number
    if missing := [label for label in labels if label not in group_of]:
        raise InputError(
            f"`coarser.{name}` leaves out values of `{of}`: {', '.join(map(repr, missing))}"
        )
    return Grouping(column, tuple(group_of[label] for label in labels))
