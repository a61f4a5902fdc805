"""Weak audits: columns that determine one another, few rows, a guess that is nearly sure.

Who knows a column that determines another needs no release for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from narcissus.results import WEAK, NotAssessed
from narcissus.tables import Table
from narcissus.tables.spelling import number_in
from narcissus.tables.tally import RawColumn

CERTAIN = 0.95
"""Share of the people who are guessed right above which an audit is weak."""
FEW_ROWS = 50
"""Rows below which hardly anything can be shown."""
ROWS = 20_000
"""Most rows that are looked at, the first ones."""
ALMOST_ALL = 0.995
"""Share of the people of whom one column must determine another."""
FEWEST = 20
"""Fewest people with a value that others have too from whom that is concluded."""


@dataclass(frozen=True)
class Twins:
    """The first rows of a table, asked for columns that determine one another."""

    head: Sequence[RawColumn]
    _ranks: dict[str, NDArray[np.float64] | None] = field(
        default_factory=dict[str, "NDArray[np.float64] | None"], init=False
    )

    @cached_property
    def _columns(self) -> dict[str, RawColumn]:
        return {
            column.name: RawColumn(column.name, column.distinct, column.codes[:ROWS])
            for column in self.head
        }

    def tells(self, known: str, unknown: str) -> bool:
        """Whether a column determines another, of nearly all people with a value in both."""
        if known not in self._columns or unknown not in self._columns:
            return False
        one, other = self._columns[known], self._columns[unknown]
        there = ~(one.gaps | other.gaps)
        here, target = one.codes[there], other.codes[there]
        if len(here) < FEWEST:
            return False
        return _settles(here, target) or self._in_step(known, unknown, there)

    def _in_step(self, known: str, unknown: str, there: NDArray[np.bool_]) -> bool:
        """Whether the order of two columns of many numbers is the same, or reversed."""
        numbers = [self._numbers(name) for name in (known, unknown)]
        if numbers[0] is None or numbers[1] is None:
            return False
        a, b = (_ranked(column[there]) for column in numbers if column is not None)
        if min(a.max(), b.max()) < FEWEST:
            return False
        return abs(float(np.corrcoef(a, b)[0, 1])) > 1 - (1 - ALMOST_ALL) / 10

    def _numbers(self, name: str) -> NDArray[np.float64] | None:
        if name not in self._ranks:
            column = self._columns[name]
            found = [number_in(value) for value in column.distinct]
            known = sum(number is not None for number in found)
            values = np.array([np.nan if n is None else n for n in found], dtype=np.float64)
            is_of_numbers = known >= len(found) - (None in column.distinct)
            self._ranks[name] = values[column.codes] if is_of_numbers else None
        return self._ranks[name]


def _ranked(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def _settles(here: NDArray[np.int64], target: NDArray[np.int64]) -> bool:
    """Whether people with one value in common nearly all share another that most have not."""
    cells = np.unique(np.stack([here, target]), axis=1, return_counts=True)
    (of, _), counts = cells
    size = int(of.max()) + 1
    total = np.bincount(of, weights=counts, minlength=size)
    most = np.zeros(size)
    np.maximum.at(most, of, counts)
    shared = total >= 2
    people = total[shared].sum()
    if people < max(FEWEST, len(here) / 4):
        return False
    commonest = np.bincount(target[shared[here]]).max() / people
    return commonest < 2 * ALMOST_ALL - 1 and most[shared].sum() >= ALMOST_ALL * people


def weak(rows: int, known: int, guess: Mapping[str, tuple[float, str]]) -> Iterator[str]:
    """Describe why an audit would show little, a sentence each.

    known: number of columns that the attacker knows.
    guess: by unknown column, the share of the people who are guessed right without a release, and
        the known column that they are guessed from; empty for none.
    """
    if rows < FEW_ROWS:
        yield f"{rows:,} rows are few: below {FEW_ROWS} limits are wide, and little can be shown"
    if known == 0:
        yield "no column is left that the attacker knows: only the frequencies are attacked"
    for name, (share, by) in guess.items():
        if share >= CERTAIN:
            source = f" from `{by}` alone" if by else ""
            yield (
                f"`{name}` is guessed right for {100 * share:.0f} of 100 people{source}, before "
                "any release: little is left to recover"
            )


def cautions(table: Table, unknown: Sequence[str]) -> Iterator[NotAssessed]:
    """Yield why an audit of a table, for these unknown columns, would show little."""
    secrets = [table.index(name) for name in unknown]
    known = [j for j in range(table.columns) if j not in secrets]
    guess = {table.names[j]: _guessed(table, j, known) for j in secrets}
    for text in weak(table.rows, len(known), guess):
        yield NotAssessed(
            WEAK, text, "take more people, another unknown column, or leave out what tells it"
        )


def _guessed(table: Table, secret: int, known: Sequence[int]) -> tuple[float, str]:
    """Return the largest share that is guessed right from one known column, and its name.

    The guess is the commonest value of all others with the same known value.
    """
    records = table.records
    weights = np.ones(len(records), np.int64) if table.counts is None else table.counts
    found = [(float(np.bincount(records[:, secret], weights).max() / table.rows), "")]
    size = table.sizes[secret]
    for j in known:
        keys = records[:, j].astype(np.int64) * size + records[:, secret]
        cells, place = np.unique(keys, return_inverse=True)
        people = np.bincount(place, weights)
        first = np.unique(cells // size, return_index=True)[1]
        most = np.maximum.reduceat(people, first)
        total = np.add.reduceat(people, first)
        # without themselves people with the commonest value must not be outnumbered
        right = most[(total >= 2) & (most - 1 >= total - most)]
        found.append((float(right.sum() / table.rows), table.names[j]))
    best, by = max(found, key=lambda one: one[0])
    return (best, by) if best > found[0][0] + (1 - CERTAIN) / 2 else found[0]
