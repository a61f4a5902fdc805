"""The loops of `_search`, compiled by numba (the extra ``fast``). Imported only where it is there.

A tile of four rows by four rows keeps its sixteen sums in registers; the loop over the outputs
becomes vector instructions once the compiler may reorder a sum (``reassoc``), which moves the last
bits of a result and nothing else.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

_FAST = {"reassoc", "nsz", "nnan", "contract"}
_jit: Any = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
_CHECKED: Any = {"cache": True, "nogil": True, "error_model": "numpy"}  # NaN is seen


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


@numba.njit("f8[::1](f8[:, ::1])", **_CHECKED)
def entropies(rows: Any) -> Any:
    """Return ``sum_o C_so ln C_so`` of each secret; of length 0 where a row is no distribution."""
    sums = np.zeros(rows.shape[0])
    for s in range(rows.shape[0]):
        mass = 0.0
        for c in rows[s]:
            if not c >= 0:
                return sums[:0]
            mass += c
            if c > 0:
                sums[s] += c * math.log(c)
        if not abs(mass - 1) <= 5e-10:
            return sums[:0]
    return sums


@numba.njit("void(f8[:, ::1], f8[::1], f8[::1])", **_CHECKED)
def output_law(rows: Any, prior: Any, law: Any) -> None:
    law[:] = 0
    for s in range(rows.shape[0]):
        for o in range(rows.shape[1]):
            law[o] += prior[s] * rows[s, o]


@numba.njit("f8(f8[:, ::1], f8[::1])", **_CHECKED)
def information(rows: Any, prior: Any) -> float:
    """Return what the output tells of the secret, in nats; -1 unless both are distributions.

    The types are fixed: anything but C-ordered floats is a `TypeError`, and compiles nothing.
    """
    sums, law, nats, mass = entropies(rows), np.empty(rows.shape[1]), 0.0, 0.0
    if sums.shape[0] != prior.shape[0]:
        return -1.0
    for s in range(sums.shape[0]):
        if not prior[s] >= 0:
            return -1.0
        nats += prior[s] * sums[s]
        mass += prior[s]
    output_law(rows, prior, law)
    for q in law:
        nats -= q * math.log(q) if q > 0 else 0.0
    return max(0.0, nats) if abs(mass - 1) <= 5e-10 else -1.0


@numba.njit("Tuple((f8, f8, f8[::1]))(f8[:, ::1], f8, i8)", **_CHECKED)
def capacity(rows: Any, near: float, most: int) -> Any:
    """Return limits of the capacity in nats and a prior, as `measures` does; no prior if wrong."""
    sums = entropies(rows)
    n, outputs = sums.shape[0], rows.shape[1]
    prior, law, divergences = np.full(n, 1 / max(n, 1)), np.empty(outputs), np.empty(n)
    fallback, best = prior.copy(), prior.copy()
    low, high, step = 0.0, np.inf, 1.0
    for _ in range(most if n else 0):
        output_law(rows, prior, law)
        for o in range(outputs):
            law[o] = math.log(law[o]) if law[o] > 0 else 0.0
        nats, top = 0.0, -np.inf
        for s in range(n):
            divergences[s] = sums[s]
            for o in range(outputs):
                divergences[s] -= rows[s, o] * law[o]
            nats += prior[s] * divergences[s]
            top = max(top, divergences[s])
        high = min(high, top)
        if nats < low - 4e-16 and step > 1:
            prior[:], step = fallback, max(1.0, step / 4)
            continue
        if nats > low:
            low = nats
            best[:] = prior
        if high - low <= near:
            break
        fallback[:] = prior
        mass = 0.0
        for s in range(n):
            prior[s] *= math.exp(step * (divergences[s] - top))
            mass += prior[s]
        for s in range(n):
            prior[s] /= mass
        step *= 1.3
    return low, high, best
