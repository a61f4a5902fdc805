"""The interface of a record prior, with the checks and groupings that implementations share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._random import RandomSource
from narcissus.errors import InputError, TooLargeError

MAX_JOINT = 100_000
"""Largest number of joint values of the unknown columns."""

MAX_ANSWER = 2_000_000_000
"""Largest answer of `RecordPrior.conditional`, in bytes."""

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@runtime_checkable
class RecordPrior(Protocol):
    """A known distribution of records with finitely many values in each of ``d`` columns.

    Any class with these members can serve as a prior.
    """

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def sizes(self) -> tuple[int, ...]: ...

    def sample(self, n: int, *, rng: RandomSource = None) -> Codes:
        """Draw ``n`` independent records: codes, shape (n, d)."""
        ...

    def conditional(self, codes: ArrayLike, unknown: Sequence[int]) -> Floats:
        """Compute the exact probabilities of the unknown columns given the others, shape (n, V).

        ``codes`` has shape (n, d); the unknown columns, all different, are ignored. V is the
        product of their sizes, their joint values in C order of ``unknown`` (the last one changes
        fastest).
        """
        ...

    def log_probability(self, codes: ArrayLike) -> Floats:
        """Compute the natural logarithm of each record's probability, shape (n,)."""
        ...

    def describe(self) -> str:
        """Describe the prior in a few readable lines."""
        ...


def check_codes(codes: ArrayLike, sizes: Sequence[int], ignore: Sequence[int] = ()) -> Codes:
    """Check records and return them as an int32 array of shape (n, d), with zeros in ``ignore``."""
    records = np.asarray(codes)
    if records.ndim != 2 or records.shape[1] != len(sizes):
        raise InputError(f"`codes` must have shape (n, {len(sizes)}), got {records.shape}")
    if not np.issubdtype(records.dtype, np.integer):
        raise InputError(f"`codes` must be integers, got {records.dtype}")
    if ignore:
        records = records.copy()
        records[:, list(ignore)] = 0
    wrong = (records < 0) | (records >= np.asarray(sizes))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(
            f"`codes` of column {column} must be in 0..{sizes[column] - 1}, "
            f"got {records[row, column]} in row {row}"
        )
    return np.ascontiguousarray(records, dtype=np.int32)


def check_columns(unknown: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...]:
    columns = tuple(int(u) for u in unknown)
    d = len(sizes)
    if not columns:
        raise InputError("`unknown` must name at least one column")
    if len(set(columns)) < len(columns) or min(columns) < 0 or max(columns) >= d:
        raise InputError(
            f"`unknown` must be different positions in 0..{d - 1}, got {list(columns)}"
        )
    return columns


def check_unknown(unknown: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...]:
    """Check the unknown columns, and that their joint values, at most 100,000, can be listed."""
    columns = check_columns(unknown, sizes)
    joint = math.prod(sizes[u] for u in columns)
    if joint > MAX_JOINT:
        raise TooLargeError(
            f"the {len(columns)} unknown columns have {joint:,} joint values "
            f"({' x '.join(str(sizes[u]) for u in columns)}), more than {MAX_JOINT:,}: "
            "take fewer unknown columns, or bin them"
        )
    return columns


def check_question(
    codes: ArrayLike, unknown: Sequence[int], sizes: Sequence[int]
) -> tuple[Codes, tuple[int, ...]]:
    """Check the arguments of `RecordPrior.conditional`, and that the answer needs at most 2 GB."""
    columns = check_unknown(unknown, sizes)
    checked = check_codes(codes, sizes, ignore=columns)
    joint = math.prod(sizes[u] for u in columns)
    size = len(checked) * joint * 8
    if size > MAX_ANSWER:
        raise TooLargeError(
            f"the probabilities of {joint:,} joint values for {len(checked):,} rows need "
            f"{size / 1e9:.1f} GB, more than {MAX_ANSWER / 1e9:.0f} GB: ask for fewer "
            "rows at a time, or take fewer unknown columns"
        )
    return checked, columns


def check_sizes(names: Sequence[str], sizes: Sequence[int]) -> None:
    """Refuse priors without columns, or whose names are not one for each column."""
    if len(sizes) == 0:
        raise InputError("a prior must have at least one column")
    if len(names) != len(sizes) or len(set(names)) < len(names):
        raise InputError(
            f"`names` must be {len(sizes)} different names, one for each column, got {names}"
        )


def row_keys(
    codes: NDArray[np.integer], columns: Sequence[int], sizes: Sequence[int]
) -> NDArray[np.int64]:
    """Assign each row a number, equal exactly where rows agree on ``columns``; shape (n,).

    Numbers are mixed-radix, and renumbered before they would overflow.
    """
    keys = np.zeros(len(codes), dtype=np.int64)
    radix = 1
    for j in columns:
        if radix * sizes[j] > 2**62:
            _, keys = np.unique(keys, return_inverse=True)
            radix = len(codes) + 1
        keys = keys * sizes[j] + codes[:, j]
        radix *= sizes[j]
    return keys


def per_distinct(
    codes: Codes, known: Sequence[int], sizes: Sequence[int], answer: Callable[[Codes], Floats]
) -> Floats:
    """Compute ``answer``, (m, d) to (m, V), once for each distinct ``known`` part."""
    keys = row_keys(codes, known, sizes)
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if 2 * len(distinct) > len(codes):  # little repeats: a second copy would only cost memory
        return answer(codes)
    return answer(codes[first])[inverse]
