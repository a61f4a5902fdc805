"""People whose values are together in columns of the file alone, adjacent or in a text.

A column of the file alone may be a person's record once more: under other names, or written into
one cell. Rows are compared with everybody by how many of a person's values they hold there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.synthetic.files import Raw, folded
from narcissus.tables.spelling import Value, number_in

Counts = NDArray[np.int64]
HELD_ERROR = 0.0005
"""Error of telling that columns hold people, at each number of values that is tried."""
FEWEST_VALUES = 3
"""Fewest values of a person that are called that person."""
_MOST_WORK = 2 * 10**8  # rows, people and columns
_MOST_PARTS = 60  # of one cell
_LEAST = 4
_PARTS = re.compile(r"[^\s,;|/:_()\[\]{}\"'=]+")


@dataclass(frozen=True)
class HeldPeople:
    """People of whom a row of the file holds several values in columns that the data lack."""

    columns: tuple[str, ...]
    values: int  # of a person, at least
    people: int
    standing: int
    expected: float  # with each column of the data shuffled


def people_held(real: Raw, made: Raw, columns: Sequence[str]) -> HeldPeople | None:
    """Return the people whom columns of the file alone hold, where these are too many."""
    known = [column for column in real.values() if len(column.distinct) > 1]
    if len(known) < FEWEST_VALUES or not columns:
        return None
    places = [_places(column.distinct) for column in known]
    codes = [column.codes.astype(np.int64) for column in known]
    rng = child(len(codes[0]), len(columns))
    shuffled = [rng.permutation(each) for each in codes]
    people = len(codes[0])
    many = len(made[columns[0]].codes)
    limit = max(1, _MOST_WORK // (people * len(known)))
    rows = np.arange(many) if many <= limit else np.sort(rng.permutation(many)[:limit])
    held, chance = np.zeros((2, people), np.int64)
    parts = [[_values(value) for value in made[name].distinct] for name in columns]
    cells = [made[name].codes for name in columns]
    for row in rows.tolist():
        told = {v for some, code in zip(parts, cells, strict=True) for v in some[code[row]]}
        is_told = [_told(at, told, len(c.distinct)) for at, c in zip(places, known, strict=True)]
        for side, most_held in ((codes, held), (shuffled, chance)):
            votes = np.zeros(people, np.int64)
            for flags, each in zip(is_told, side, strict=True):
                if flags is not None:
                    votes += flags[each]
            np.maximum(most_held, votes, out=most_held)
    for least in range(len(known), FEWEST_VALUES - 1, -1):
        standing, expected = int((held >= least).sum()), int((chance >= least).sum())
        high = expected + 2 * np.sqrt(expected + 1)
        if standing > max(_LEAST, float(scipy.stats.poisson.isf(HELD_ERROR, high))):
            return HeldPeople(tuple(columns), least, people, standing, float(expected))
    return None


def _places(distinct: Sequence[Value | None]) -> dict[Value, int]:
    return {_plain(value): at for at, value in enumerate(distinct) if value is not None}


def _told(places: dict[Value, int], told: set[Value], size: int) -> NDArray[np.bool_] | None:
    """Return which values of a column a row tells; None: it tells none."""
    at = [places[value] for value in told if value in places]
    if not at:
        return None
    flags = np.zeros(size, np.bool_)
    flags[at] = True
    return flags


def _values(value: Value | None) -> set[Value]:
    """Return a value of a cell, and what still holds in it between blanks and marks."""
    if value is None:
        return set()
    parts = _PARTS.findall(str(value))[:_MOST_PARTS] if isinstance(value, str) else []
    return {_plain(value), *map(_plain, parts)}


def _plain(value: Value) -> Value:
    number = number_in(value)
    return folded(str(value)) if number is None else float(number)
