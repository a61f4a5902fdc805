"""The inner loops over pairs of rows: compiled where numba is installed, NumPy otherwise.

Everything is a sum of non-negative terms: no cancellation, so that a tiny overlap keeps its
relative accuracy (Narcissus theory 6.1). The two forms agree to rounding.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
T = TypeVar("T")
R = TypeVar("R")

CHUNK = 512
"""Outputs handled at a time, so that a tile of rows stays in the cache."""


def _overlap(a: Matrix, b: Matrix, out: Matrix) -> None:
    """Add ``sum_k min(a[i, k], b[j, k])`` to ``out[i, j]``."""
    scratch, columns = np.empty_like(out), np.ascontiguousarray(b.T)
    for k, column in enumerate(columns):
        np.minimum(a[:, k, None], column, out=scratch)
        out += scratch


def _excess(a: Matrix, b: Matrix, out: Matrix) -> None:
    """Add ``sum_k max(0, a[i, k] - b[j, k])`` to ``out[i, j]``."""
    scratch, columns = np.empty_like(out), np.ascontiguousarray(b.T)
    for k, column in enumerate(columns):
        np.subtract(a[:, k, None], column, out=scratch)
        np.maximum(scratch, 0, out=scratch)
        out += scratch


def _subset_sums(values: Matrix) -> Matrix:
    """Return the sum of each subset of ``values``, in the order of its bits."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def _subsets(rows: Matrix, best: Matrix) -> None:
    """Lower ``best[last, first]`` to the least probability that a row gives to the subset."""
    low = best.shape[1].bit_length() - 1
    for row in rows:
        np.minimum(best, _subset_sums(row[low:])[:, None] + _subset_sums(row[:low]), out=best)


_PLAIN: dict[str, Callable[..., None]] = {
    "overlap": _overlap,
    "excess": _excess,
    "subsets": _subsets,
}


@cache
def loops() -> dict[str, Callable[..., None]]:
    """Return the loops: compiled ones, or NumPy's without numba or with NARCISSUS_NO_NUMBA set."""
    if os.environ.get("NARCISSUS_NO_NUMBA") or find_spec("numba") is None:
        return _PLAIN
    try:
        from narcissus.channels import _compiled
    except RuntimeError:  # numba finds no folder where it may keep compiled code
        return _PLAIN
    made: Any = _compiled
    return {name: getattr(made, name) for name in _PLAIN}


def pair_block(left: Matrix, right: Matrix, *, kind: str = "overlap") -> Matrix:
    """Return a block of pairwise sums, shape (rows of left, rows of right).

    Parameters
    ----------
    left, right
        Rows, shapes (a, outputs) and (b, outputs).
    kind
        "overlap" for ``sum_o min(left, right)``, "excess" for ``sum_o max(0, left - right)``.
    """
    loop = loops()[kind]
    out = np.zeros((left.shape[0], right.shape[0]))
    for k in range(0, left.shape[1], CHUNK):
        columns = slice(k, k + CHUNK)
        loop(np.ascontiguousarray(left[:, columns]), np.ascontiguousarray(right[:, columns]), out)
    return out


def subset_minima(rows: Matrix) -> Matrix:
    """Return the least probability that any row gives to each subset of outputs, shape (2 ** m,).

    Bit ``k`` of the index says whether output ``k`` is in the subset.
    """
    loop = loops()["subsets"]
    m = rows.shape[1]
    high = m // 2
    shape = (1 << high, 1 << (m - high))

    def part(block: Matrix) -> Matrix:
        best = np.full(shape, np.inf)
        loop(np.ascontiguousarray(block), best)
        return best

    pieces = in_threads(part, np.array_split(rows, min(workers(), rows.shape[0])))
    return np.minimum.reduce(pieces).ravel()


def workers() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def in_threads(work: Callable[[T], R], tasks: list[T]) -> list[R]:
    """Do tasks on all cores; the loops above let go of the interpreter's lock."""
    if len(tasks) < 2 or workers() < 2:
        return [work(task) for task in tasks]
    with ThreadPoolExecutor(workers()) as pool:
        return list(pool.map(work, tasks))
