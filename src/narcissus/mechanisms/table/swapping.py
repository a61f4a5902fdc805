"""Record swapping: some people's values are exchanged between pairs, and the rows released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from narcissus._options import Level
from narcissus._validation import did_you_mean, probability
from narcissus.errors import InputError
from narcissus.mechanisms.queries import Codes
from narcissus.mechanisms.table.base import TableMechanism
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.rows import PreparedRows


@dataclass(frozen=True)
class Swapping(TableMechanism):
    """Rows in which a share of the people have exchanged values with another person.

    As in statistical offices: people are paired at random with somebody who agrees with them on
    the columns of ``match``, and a share of them exchange their values of ``columns`` within
    their pair; a pair may have the same values. Fewer are swapped where too few agree. Rows are
    released in random order. Nothing is guaranteed: most people's rows are released as they are.

    Parameters
    ----------
    rate
        Share of the people who are swapped, in [0, 1]; rounded to whole pairs. A list is a sweep.
    columns
        Whose values are exchanged; the unknown columns if left out.
    match
        Columns on which the two people of a pair agree.
    """

    rate: Level
    columns: Sequence[str] | None = None
    match: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Refuse a rate that is no share, and columns that cannot change."""
        probability("rate", self.rate)
        if self.columns is not None and not self.columns:
            raise InputError("`columns` must name at least one column, or be left out")
        if both := sorted(set(self.columns or ()) & set(self.match)):
            raise InputError(f"`match` and `columns` both name `{both[0]}`, which would not change")

    @property
    def label(self) -> str:
        """The rate."""
        return f"rate {self.rate:g}"

    @property
    def title(self) -> str:
        """That rows are swapped."""
        return "Swapped rows"

    @property
    def strength(self) -> float:
        """The rate."""
        return float(self.rate)

    def prepare(self, columns: Columns) -> PreparedRows:
        """Find the columns; the rows are read as tables of three columns."""
        swapped = (
            list(columns.unknown)
            if self.columns is None
            else _numbers(columns, "columns", self.columns)
        )
        match = _numbers(columns, "match", self.match)
        if both := sorted(set(swapped) & set(match)):
            raise InputError(
                f"`match` names `{columns.names[both[0]]}`, which is unknown and thus swapped: "
                "name other `columns`, or leave it out"
            )

        make = partial(swap, rate=float(self.rate), swapped=swapped, match=match)
        return PreparedRows.of(columns, make)


def _numbers(columns: Columns, option: str, names: Sequence[str]) -> list[int]:
    for name in names:
        if name not in columns.names:
            hint = did_you_mean(name, columns.names)
            raise InputError(f"`{option}` names `{name}`, which is no column of the table{hint}")
    return [columns.names.index(name) for name in names]


def swap(
    rows: Codes,
    rng: np.random.Generator,
    *,
    rate: float,
    swapped: Sequence[int],
    match: Sequence[int],
) -> Codes:
    """Swap values between pairs of rows, and give all rows in random order, shape (n, d).

    rows: value numbers, shape (n, d).
    rng: source of the pairs and of the order.
    rate: share of the rows that are swapped.
    swapped: columns whose values are exchanged.
    match: columns on which the two rows of a pair agree.
    """
    rows = rng.permutation(rows)
    first, second = _pairs(rows[:, match])
    wanted = min(int(np.floor(rate * len(rows) / 2 + 0.5)), first.size)
    chosen = rng.permutation(first.size)[:wanted]
    one, other = first[chosen][:, None], second[chosen][:, None]
    result = rows.copy()
    result[one, swapped], result[other, swapped] = rows[other, swapped], rows[one, swapped]
    return rng.permutation(result)  # whom a row stands beside tells nothing


def _pairs(keys: Codes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pair rows of equal keys, neighbours within each; the last of an odd number is left over."""
    if keys.shape[1]:
        _, group = np.unique(keys, axis=0, return_inverse=True)
        group = np.ravel(group)
    else:
        group = np.zeros(len(keys), dtype=np.intp)
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group) if len(keys) else np.zeros(0, dtype=np.intp)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if sizes.size else sizes
    place = np.arange(len(keys)) - np.repeat(starts, sizes)
    leads = np.flatnonzero((place % 2 == 0) & (place + 1 < np.repeat(sizes, sizes)))
    return order[leads], order[leads + 1]
