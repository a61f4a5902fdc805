"""Overlap of the values of a column in two files, which shows whether they are of one kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from narcissus.errors import InputError
from narcissus.tables.spelling import Value, examples, remedy

FEW = 30
"""Numbers of a column up to which each is a value, and not a place on a scale."""
FEWEST = 5
"""People below whom nothing is said."""
HARDLY = 0.5
"""Share of the people from which on values that the other file does not have stop the run."""
OUTSIDE = 0.9
"""The same of the first file's numbers that lie outside those of the other."""
SOME = 0.05
"""Share from which on they are told."""


def require_overlap(
    column: str,
    names: tuple[str, str],
    first: Mapping[Value, int],
    other: Mapping[Value, int],
    *,
    binned: bool = False,
) -> str:
    """Refuse a column whose values hardly overlap between two files; return a remark, or "".

    The commonest value is left out: a code such as "N" may be all that two files of different
    spelling have in common. Texts, codes and up to `FEW` different numbers are compared one by one,
    texts with allowance for values that are new in any sample (Good 1953: as many people as have a
    value alone in the first file). Other numbers, and ``binned`` ones, are compared by their range.
    ``names`` are what the message calls the files; ``first`` and ``other`` count people by value.
    """
    people = dict(other)
    if shared := [value for value in people if value in first]:
        people.pop(max(shared, key=lambda value: (people[value], str(value))))
    total = sum(people.values())
    if total < FEWEST:
        return ""
    numbers = [value for value in first if not isinstance(value, str)]
    by_place = len(numbers) > FEW or (binned and len(numbers) > 0)
    low, high = (min(numbers), max(numbers)) if by_place else (math.inf, -math.inf)
    strange = [
        value
        for value in sorted(people, key=lambda value: (-people[value], str(value)))
        if value not in first and (isinstance(value, str) or not low <= value <= high)
    ]
    missed = sum(people[value] for value in strange) / total
    # As many have a new value as are the only one with theirs (Good 1953).
    alone = sum(times == 1 for times in first.values()) / sum(first.values())
    new = 0.0 if by_place else alone
    here, there = names
    if missed > min(HARDLY + new, (1 + OUTSIDE) / 2):
        raise _unlike(column, names, missed, strange, first)
    beyond = _outside(first, [v for v in people if not isinstance(v, str)]) if by_place else 0.0
    if beyond > OUTSIDE:
        raise _unlike(column, names, beyond, sorted(people, key=str), first, reverse=True)
    if missed <= SOME + new:
        return ""
    return (
        f"`{column}`: {missed:.0%} of the people of the {there} file who do not share its commonest"
        f" value have one that nobody in the {here} file has, such as {examples(strange)}"
    )


def _outside(first: Mapping[Value, int], numbers: Sequence[int | float]) -> float:
    """Return the share of the first file's numbers that lie outside the other's."""
    if not numbers:
        return 0.0
    low, high = min(numbers), max(numbers)
    own = {value: times for value, times in first.items() if not isinstance(value, str)}
    outside = sum(times for value, times in own.items() if not low <= value <= high)
    return outside / sum(own.values())


def _unlike(
    column: str,
    names: tuple[str, str],
    missed: float,
    strange: Sequence[Value],
    first: Mapping[Value, int],
    *,
    reverse: bool = False,
) -> InputError:
    here, there = names if not reverse else names[::-1]
    apart = set(strange)
    own = [value for value in sorted(first, key=str) if value not in apart] or list(first)
    return InputError(
        f"column `{column}` is {_kind(own)} in the {names[0]} file, {_kind(strange)} in the "
        f"{names[1]} file, and their values hardly overlap: {examples(own)} in the {names[0]} "
        f"file, {examples(strange)} in the {names[1]} file ({missed:.0%} of the people of the "
        f"{there} file have a value that the {here} file does not reach, the commonest shared one "
        f"aside). Write them alike; or {remedy(column, 'text', 'numbers')}"
    )


def _kind(values: Sequence[Value]) -> str:
    kinds = {isinstance(value, str) for value in values}
    return "numbers and text" if len(kinds) == 2 else "text" if True in kinds else "numbers"
