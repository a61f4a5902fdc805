"""Questions about bits: how many of some places are as the question says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.worlds.base import Array, all_tuples

WRITTEN = 4
"""Bits of a data set up to which all questions are listed, 3^n - 1 of them."""


def bits_of(data: Array) -> NDArray[np.int64]:
    """Return data sets as rows of bits, shape (trials, n).
    Raises InputError: they are not made of bits.
    """
    bits = np.asarray(data).reshape(len(data), -1)
    if bits.dtype.kind not in "biu" or bits.min(initial=0) < 0 or bits.max(initial=0) > 1:
        raise InputError("the mechanism answers questions about bits; the records must be 0 or 1")
    return bits.astype(np.int64)


def pattern(question: Any, n: int) -> NDArray[np.int64]:
    """Return a question as what it asks of each place: 1 for a one, -1 for a zero, 0 for nothing.
    Raises InputError: it is no such list.
    """
    asked = np.asarray(question)
    if asked.shape != (n,) or asked.dtype.kind not in "iu" or np.abs(asked).max(initial=0) > 1:
        raise InputError(
            f"a question is a list of {n} numbers, 1 where a one is counted, -1 where a zero is, "
            "and 0 elsewhere"
        )
    return asked.astype(np.int64)


def agreeing(bits: NDArray[np.int64], asked: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the places that are as asked, shape (trials,).

    One record more or less like it changes the count by one at most.
    """
    return bits @ asked + int((asked < 0).sum())


def all_patterns(n: int) -> list[tuple[int, ...]]:
    """List every question about ``n`` bits but the empty one.
    Raises InputError: they are too many.
    """
    if n > WRITTEN:
        raise InputError(
            f"conversations about {n} bits are not written out, {WRITTEN} at most are; play the "
            "game instead"
        )
    return [tuple(map(int, row)) for row in all_tuples(3, n) - 1 if row.any()]
