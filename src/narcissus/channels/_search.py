"""The pair of rows with the least overlap: the L1 diameter, computed without cancellation.

The inner loops are compiled where numba is installed, NumPy otherwise. All sums are of non-negative
terms, so that a tiny overlap keeps its relative accuracy; the two forms agree to rounding.
Source: Chatzikokolakis et al. 2023, sections VII-B and VII-C; Narcissus theory 6.1.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from narcissus.observer import SILENT, Observer

Matrix = NDArray[np.float64]
T = TypeVar("T")
R = TypeVar("R")

CHUNK = 512  # Outputs handled at a time, so that a tile of rows stays in the cache


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
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def _subsets(rows: Matrix, best: Matrix) -> None:
    """Lower ``best[last, first]`` to the least probability that a row gives to the subset."""
    low = best.shape[1].bit_length() - 1
    for row in rows:
        np.minimum(best, _subset_sums(row[low:])[:, None] + _subset_sums(row[:low]), out=best)


def _information(rows: Matrix, prior: Matrix) -> float:
    """Return what the output tells of the secret, in nats; -1 unless both are distributions."""
    fits = rows.ndim == 2 and prior.shape == rows.shape[:1]
    if not fits or {rows.dtype, prior.dtype} != {np.dtype(np.float64)}:
        return -1.0
    off = max(abs(rows.sum(axis=1) - 1).max(initial=0), abs(prior.sum() - 1))
    if not (off <= 5e-10 and prior.min() >= 0):
        return -1.0
    nats = special.entr(prior @ rows).sum() - prior @ special.entr(rows).sum(axis=1)
    return max(0.0, float(nats)) if nats < np.inf else -1.0  # entr is -inf of what is negative


_PLAIN: dict[str, Callable[..., Any]] = {
    "overlap": _overlap,
    "excess": _excess,
    "subsets": _subsets,
    "information": _information,
}


@cache
def loops() -> dict[str, Callable[..., Any]]:
    """Return the loops: compiled ones, or NumPy's without numba or with NARCISSUS_NO_NUMBA set."""
    if os.environ.get("NARCISSUS_NO_NUMBA") or find_spec("numba") is None:
        return _PLAIN
    try:
        from narcissus.channels import _compiled
    except RuntimeError:  # numba finds no folder where it may keep compiled code
        return _PLAIN
    made: Any = _compiled
    return {name: getattr(made, name) for name in (*_PLAIN, "capacity")}


def pair_block(left: Matrix, right: Matrix, *, kind: str = "overlap") -> Matrix:
    """Return a block of pairwise sums, shape (rows of left, rows of right).

    kind: "overlap" for ``sum_o min(left, right)``, "excess" for ``sum_o max(0, left - right)``.
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


Found = tuple[float, tuple[int, int]]

BLOCK = 256
SLACK = 4e-9
"""Room for rounding, and for rows that sum to one within 1e-9, wherever a pair is ruled out."""
WORTH_TELLING = 20  # Fewest blocks of rows whose progress is worth telling
MOST_SUBSETS = 20  # Largest number of outputs for which all subsets are ever tried


def pair_overlap(first: Matrix, second: Matrix) -> float:
    """Return ``sum_o min(first_o, second_o)`` of two rows, correctly rounded."""
    return min(1.0, math.fsum(np.minimum(first, second)))


def overlaps_with(rows: Any, row: Matrix) -> Matrix:
    """Return the overlap of every row with ``row``, shape (rows,)."""
    if not isinstance(rows, np.ndarray):
        return _sparse_overlaps(rows.tocsc(), row)
    step = max(1, 2**20 // rows.shape[1])
    out = np.empty(rows.shape[0])

    def part(low: int) -> None:
        out[low : low + step] = np.minimum(rows[low : low + step], row).sum(axis=1)

    in_threads(part, list(range(0, rows.shape[0], step)))
    return out


def _sparse_overlaps(columns: Any, row: Matrix) -> Matrix:
    """Return the overlap of every row of a CSC matrix with ``row``; only shared outputs count."""
    support = np.flatnonzero(row)
    starts, ends = columns.indptr[support], columns.indptr[support + 1]
    lengths = ends - starts
    if not lengths.sum():
        return np.zeros(columns.shape[0])
    offsets = np.repeat(starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    entries = offsets + np.arange(offsets.size)
    terms = np.minimum(columns.data[entries], np.repeat(row[support], lengths))
    counted = np.bincount(columns.indices[entries], weights=terms, minlength=columns.shape[0])
    return np.asarray(counted, dtype=np.float64)


def column_minima(rows: Any) -> Matrix:
    """Return the smallest entry of each column, on all cores."""
    if not isinstance(rows, np.ndarray):
        return rows.min(axis=0).toarray().ravel()
    parts = np.array_split(rows, min(workers(), rows.shape[0]))
    return np.minimum.reduce(in_threads(lambda part: part.min(axis=0), parts))


def least_overlap(rows: Any, *, spread: Matrix | None = None, observer: Observer = SILENT) -> Found:
    """Find the pair of rows that overlaps least: the value and the pair, smaller number first.

    Certificates come first: the column minima (tight for randomized response), a pair with
    nothing in common, and a double sweep from the row farthest from the centroid. Rows too close
    to the centroid to belong to the answer are dropped; what is left is searched over all subsets
    of outputs where these are few, over all pairs otherwise.

    rows: shape (n, m), n >= 2, a NumPy array or SciPy CSR array of distributions.
    spread: shape (n,), non-negative: subtract ``sqrt(spread_a + spread_b)`` from the overlap of
        each pair (how far empirical rows may be from the true ones). None: nothing.
    """
    n, m = rows.shape
    if not isinstance(rows, np.ndarray) and n * m <= 2**24:
        rows = rows.toarray()
    floor = -math.inf
    if spread is None:
        floor = math.fsum(column_minima(rows)) * (1 + 1e-13)
        best = pair_overlap(_row(rows, 0), _row(rows, 1))
        if best <= floor:
            return best, (0, 1)
    keys = _radii(rows, spread)
    value, pair = _double_sweep(rows, spread, int(np.argmax(keys)))
    if spread is None and (value == 0 or value <= floor):
        return value, pair
    order = np.argsort(-keys, kind="stable")
    reach = keys[order]
    count = int(np.count_nonzero(reach + reach[0] >= 1 - value - SLACK))
    order, reach = order[:count], reach[:count]
    if count < 2:
        return value, pair
    if (
        isinstance(rows, np.ndarray)
        and spread is None
        and m <= MOST_SUBSETS
        and 2**m < count * m / 2
    ):
        candidate = _all_subsets(rows, order)
    else:
        search = _all_blocks if isinstance(rows, np.ndarray) else _all_sparse
        candidate = search(rows, spread, order, reach, value, observer)
    return min(candidate, (value, pair))


def _row(rows: Any, number: int) -> Matrix:
    return rows[number] if isinstance(rows, np.ndarray) else rows[[number]].toarray()[0]


def _radii(rows: Any, spread: Matrix | None) -> Matrix:
    """Return each row's distance from the centroid, with its own share of the spread.

    The value of a pair is at least one minus the sum of its two radii (triangle inequality, and
    ``sqrt(u + v) <= sqrt(u) + sqrt(v)``).
    """
    centroid = np.asarray(rows.mean(axis=0)).ravel()
    radii = np.maximum(0.0, 1 - overlaps_with(rows, centroid))
    return radii if spread is None else radii + np.sqrt(spread)


def _double_sweep(rows: Any, spread: Matrix | None, start: int) -> Found:
    """Go to the row farthest from ``start``, then to the one farthest from that."""

    def farthest(a: int) -> tuple[float, int]:
        values = overlaps_with(rows, _row(rows, a))
        if spread is not None:
            values = values - np.sqrt(spread[a] + spread)
        values[a] = np.inf
        b = int(np.argmin(values))
        return float(values[b]), b

    first, b = farthest(start)
    second, c = farthest(b)
    a, b = (start, b) if first <= second else (b, c)
    value = min(first, second)
    if spread is None:
        value = pair_overlap(_row(rows, a), _row(rows, b))
    return value, (min(a, b), max(a, b))


def _all_subsets(rows: Matrix, order: NDArray[np.intp]) -> Found:
    """Search all subsets ``A`` of outputs: ``beta* = min_A [min_a C_a(A) + min_b C_b(not A)]``.

    The isometric embedding of L1 into L-infinity, written with sums of probabilities only.
    """
    rows = rows[order]
    minima = subset_minima(rows)
    subset = int(np.argmin(minima + minima[::-1]))
    inside = np.array([bool(subset >> k & 1) for k in range(rows.shape[1])])
    a = int(np.argmin(rows @ inside))
    b = int(np.argmin(rows @ ~inside))
    if a == b:  # then no pair differs by more than rounding
        b = (a + 1) % len(rows)
    value = pair_overlap(rows[a], rows[b])
    i, j = sorted((int(order[a]), int(order[b])))
    return value, (i, j)


def _least_of_block(
    left: Matrix, right: Matrix, wide: Matrix | None, *, is_square: bool
) -> tuple[float, int, int]:
    values = pair_block(left, right)
    if wide is not None:
        values -= np.sqrt(wide)
    if is_square:
        np.fill_diagonal(values, np.inf)
    p, q = np.unravel_index(int(np.argmin(values)), values.shape)
    return float(values[p, q]), int(p), int(q)


def _all_blocks(
    rows: Matrix,
    spread: Matrix | None,
    order: NDArray[np.intp],
    reach: Matrix,
    value: float,
    observer: Observer,
) -> Found:
    """Search all pairs, block by block on all cores, nearest to the rim first."""
    starts = list(range(0, len(order), BLOCK))
    lock = threading.Lock()
    state = {"best": value, "stop": len(starts)}
    candidates: list[tuple[float, int, tuple[int, int]]] = []
    if len(starts) < WORTH_TELLING:
        observer = SILENT
    observer.start("blocks of secrets", len(starts))

    def block_row(i: int) -> None:
        mine = order[starts[i] : starts[i] + BLOCK]
        left = rows[mine]
        for j in range(i, len(starts)):
            # The order of threads must not matter: a row of blocks gives up only for one before it.
            if i > state["stop"] or reach[starts[i]] + reach[starts[j]] < 1 - state["best"] - SLACK:
                break
            others = order[starts[j] : starts[j] + BLOCK]
            wide = None if spread is None else spread[mine][:, None] + spread[others]
            overlap, p, q = _least_of_block(left, rows[others], wide, is_square=i == j)
            with lock:
                if overlap <= state["best"]:
                    state["best"] = overlap
                    a, b = sorted((int(mine[p]), int(others[q])))
                    candidates.append((overlap, i, (a, b)))
                if overlap == 0 and spread is None:
                    state["stop"] = min(state["stop"], i)
            if overlap == 0 and spread is None:
                break
        observer.advance()

    in_threads(block_row, list(range(len(starts))))
    observer.finish()
    if not candidates:
        return math.inf, (0, 1)
    overlap, _, pair = min(candidates)
    if spread is None:
        overlap = pair_overlap(rows[pair[0]], rows[pair[1]])
    return overlap, pair


def _all_sparse(
    rows: Any,
    spread: Matrix | None,
    order: NDArray[np.intp],
    reach: Matrix,
    value: float,
    observer: Observer,
) -> Found:
    """Search all pairs of a matrix too large to be made dense, a row at a time."""
    columns = sparse.csc_array(rows[order])
    wide = None if spread is None else spread[order]
    best: Found = (value, (-1, -1))
    if len(order) < WORTH_TELLING * BLOCK:
        observer = SILENT
    observer.start("secrets", len(order))
    for a in range(len(order) - 1):
        if reach[a] + reach[a + 1] < 1 - best[0] - SLACK:
            break
        values = _sparse_overlaps(columns, _row(rows, order[a]))
        if wide is not None:
            values = values - np.sqrt(wide[a] + wide)
        values[: a + 1] = np.inf
        b = int(np.argmin(values))
        if values[b] < best[0]:
            i, j = sorted((int(order[a]), int(order[b])))
            best = float(values[b]), (i, j)
        observer.advance()
        if best[0] == 0 and spread is None:
            break
    observer.finish()
    return best if best[1][0] >= 0 else (math.inf, (0, 1))
