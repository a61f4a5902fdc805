"""Tallies: the different values of a column in order of appearance, with their counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any
from unicodedata import is_normalized, normalize

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import TooLargeError
from narcissus.tables.spelling import leave_out

MOST_VALUES = 1_000_000
"""Most different values of a column, before binning, that are kept while a table is counted."""
MOST_TEXT = 2**28
"""Most letters of all different values of a column that are kept while a table is counted."""
_NEW = -2
_SHOWN = 3  # rows without a value that are named


@dataclass(frozen=True)
class RawColumn:
    name: str
    # different values: strings from a text file, Python objects from a data frame, None where
    # missing
    distinct: list[Any]
    codes: NDArray[np.integer]  # position of each row's value in ``distinct``, shape (rows,)
    is_as_written: bool = False  # whether the values are the cells of a text, missing ones included

    def __post_init__(self) -> None:
        """Write letters with accents as one character each, whatever the source does."""
        if self.is_as_written:
            return
        if any(isinstance(v, str) and not is_normalized("NFC", v) for v in self.distinct):
            composed = [normalize("NFC", v) if isinstance(v, str) else v for v in self.distinct]
            object.__setattr__(self, "distinct", composed)

    @property
    def gaps(self) -> NDArray[np.bool_]:
        """Which rows have no value, shape (rows,)."""
        if None not in self.distinct:
            return np.zeros(len(self.codes), dtype=np.bool_)
        return self.codes == self.distinct.index(None)


class ValueTally:
    """The tally of a column, updated part by part."""

    def __init__(self, name: str) -> None:
        self.name = name
        # the different values in order of appearance, without the missing one
        self.values: list[Any] = []
        self.counts: list[int] = []  # number of people with each value
        self.first: list[int] = []  # first row with each value (from 0)
        self.missing = 0
        self.gaps: list[int] = []  # the first three rows without a value (from 0)
        self.rows = 0
        self._place: dict[Any, int] = {}
        self._letters = 0

    def add(self, part: RawColumn) -> None:
        first: NDArray[np.int64] | None = None
        counts = np.bincount(part.codes, minlength=len(part.distinct)).tolist()
        for number, (value, times) in enumerate(zip(part.distinct, counts, strict=True)):
            if times == 0:  # the rows with it were left out
                continue
            if value is None:
                self.missing += times
                rows = np.flatnonzero(part.codes == number)[: _SHOWN - len(self.gaps)]
                self.gaps += (rows + self.rows).tolist()
            elif (place := self._place.setdefault(value, len(self.values))) < len(self.values):
                self.counts[place] += times
            else:
                first = first_rows(part.codes, len(part.distinct)) if first is None else first
                self.values.append(value)
                self.counts.append(times)
                self.first.append(int(first[number]) + self.rows)
                self._letters += len(value) if isinstance(value, str | bytes) else 0
        self.rows += len(part.codes)

    def only(self, places: Sequence[int]) -> ValueTally:
        tally = ValueTally(self.name)
        tally.values = [self.values[i] for i in places]
        tally.counts = [self.counts[i] for i in places]
        tally.first = [self.first[i] for i in places]
        tally.missing, tally.gaps, tally.rows = self.missing, self.gaps, self.rows
        return tally

    def meaning(self, values: list[Any]) -> ValueTally:
        """Return the tally with each value replaced by its meaning; two may mean the same."""
        tally = self.only(range(len(self.values)))
        tally.values = values
        return tally

    def merged(self) -> ValueTally:
        places: dict[Any, list[int]] = {}
        for place, value in enumerate(self.values):
            places.setdefault(value, []).append(place)
        tally = self.only([same[0] for same in places.values()])
        tally.counts = [sum(self.counts[i] for i in same) for same in places.values()]
        return tally

    def require_room(self) -> None:
        """Refuse more different values than are kept while a table is counted."""
        if len(self.values) > MOST_VALUES or self._letters > MOST_TEXT:
            raise TooLargeError(
                f"column `{self.name}` has {len(self.values):,} different values of "
                f"{self._letters:,} letters in the first {self.rows:,} rows; at most "
                f"{MOST_VALUES:,} of {MOST_TEXT:,} letters are counted: write it "
                f"rounded or grouped, or {leave_out(self.name)}"
            )

    def places(self, part: RawColumn) -> NDArray[np.int64]:
        """Return the position in ``values`` of each of a part's values, -1 for the missing one.

        Raises `KeyError` for a value of somebody that was never added.
        """
        places = [-1 if v is None else self._place.get(v, _NEW) for v in part.distinct]
        for number in [n for n, place in enumerate(places) if place == _NEW]:
            if (part.codes == number).any():
                raise KeyError(part.distinct[number])
        return np.array(places, dtype=np.int64)


def first_rows(codes: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """Return the first row with each of ``size`` codes, shape (size,); -1 where there is none."""
    first = np.full(size, -1, dtype=np.int64)
    for length in (4096, len(codes)):  # few values are found soon
        some = codes[:length]
        first[some[::-1]] = np.arange(len(some) - 1, -1, -1)  # the last that is written
        if (first >= 0).all():
            break
    return first


def joined(columns: Sequence[RawColumn]) -> RawColumn:
    """Join parts of one column, in their order."""
    if len(columns) == 1:
        return columns[0]
    place: dict[Any, int] = {}
    codes: list[NDArray[np.integer]] = []
    for column in columns:
        new = np.array([place.setdefault(value, len(place)) for value in column.distinct])
        codes.append(new.astype(np.min_scalar_type(-len(place)))[column.codes])
    return replace(columns[0], distinct=list(place), codes=np.concatenate(codes))


def plain_name(value: object) -> str:
    """Write the name of a person or household, equal numbers alike."""
    try:
        return str(Decimal(str(value)).normalize())
    except InvalidOperation:
        return str(value)
