"""The loops of `_search`, compiled by numba (the extra ``fast``). Imported only where it is there.

A tile of four rows by four rows keeps its sixteen sums in registers; the loop over the outputs
becomes vector instructions once the compiler may reorder a sum (``reassoc``), which moves the last
bits of a result and nothing else.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_FAST = {"reassoc", "nsz", "nnan", "contract"}
_jit: Any = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)


@_jit
def overlap(a: Any, b: Any, out: Any) -> None:
    """Add ``sum_k min(a[i, k], b[j, k])`` to ``out[i, j]``."""
    rows, depth = a.shape
    width = b.shape[0]
    full_rows, full_width = rows - rows % 4, width - width % 4
    for i in range(0, full_rows, 4):
        for j in range(0, full_width, 4):
            s00 = s01 = s02 = s03 = 0.0
            s10 = s11 = s12 = s13 = 0.0
            s20 = s21 = s22 = s23 = 0.0
            s30 = s31 = s32 = s33 = 0.0
            for k in range(depth):
                a0, a1, a2, a3 = a[i, k], a[i + 1, k], a[i + 2, k], a[i + 3, k]
                b0, b1, b2, b3 = b[j, k], b[j + 1, k], b[j + 2, k], b[j + 3, k]
                s00 += min(a0, b0)
                s01 += min(a0, b1)
                s02 += min(a0, b2)
                s03 += min(a0, b3)
                s10 += min(a1, b0)
                s11 += min(a1, b1)
                s12 += min(a1, b2)
                s13 += min(a1, b3)
                s20 += min(a2, b0)
                s21 += min(a2, b1)
                s22 += min(a2, b2)
                s23 += min(a2, b3)
                s30 += min(a3, b0)
                s31 += min(a3, b1)
                s32 += min(a3, b2)
                s33 += min(a3, b3)
            out[i, j] += s00
            out[i, j + 1] += s01
            out[i, j + 2] += s02
            out[i, j + 3] += s03
            out[i + 1, j] += s10
            out[i + 1, j + 1] += s11
            out[i + 1, j + 2] += s12
            out[i + 1, j + 3] += s13
            out[i + 2, j] += s20
            out[i + 2, j + 1] += s21
            out[i + 2, j + 2] += s22
            out[i + 2, j + 3] += s23
            out[i + 3, j] += s30
            out[i + 3, j + 1] += s31
            out[i + 3, j + 2] += s32
            out[i + 3, j + 3] += s33
    for i in range(rows):
        for j in range(full_width if i < full_rows else 0, width):
            s = 0.0
            for k in range(depth):
                s += min(a[i, k], b[j, k])
            out[i, j] += s


@_jit
def excess(a: Any, b: Any, out: Any) -> None:
    """Add ``sum_k max(0, a[i, k] - b[j, k])`` to ``out[i, j]``."""
    rows, depth = a.shape
    for i in range(rows):
        for j in range(b.shape[0]):
            s = 0.0
            for k in range(depth):
                s += max(a[i, k] - b[j, k], 0.0)
            out[i, j] += s


@_jit
def subsets(rows: Any, best: Any) -> None:
    """Lower ``best[last, first]`` to the least probability that a row gives to the subset."""
    high, low = best.shape
    first, last = np.zeros(low), np.zeros(high)
    for r in range(rows.shape[0]):
        size, k = 1, 0
        while size < low:
            for s in range(size):
                first[size + s] = first[s] + rows[r, k]
            size, k = 2 * size, k + 1
        size = 1
        while size < high:
            for s in range(size):
                last[size + s] = last[s] + rows[r, k]
            size, k = 2 * size, k + 1
        for h in range(high):
            base = last[h]
            for s in range(low):
                best[h, s] = min(best[h, s], base + first[s])
