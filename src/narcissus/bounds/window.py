"""The mass of a sum of independent trials, on the window that carries it all.

Three ways, by what is quickest: one trial after the other; blocks joined two by two by FFT; and the
characteristic function, where many trials share few chances.

Source: Narcissus theory 4.9.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import fft

FloatArray = NDArray[np.float64]

_LEAF = 32
_LOST_EXPONENT = 52.0  # a window may lose exp(-52) = 3e-23 of a block's mass
_FLAT_EXPONENT = 46.0  # waves of a part exp(-46) = 1e-20 are nothing


def recurrence(p: FloatArray, q: FloatArray) -> FloatArray:
    """Give the mass of the sum by adding one trial after the other, shape (n + 1,)."""
    mass = np.zeros(p.size + 1)
    mass[0] = 1.0
    with np.errstate(under="ignore"):
        for i in range(p.size):
            mass[1 : i + 2] = mass[1 : i + 2] * q[i] + mass[: i + 1] * p[i]
            mass[0] *= q[i]
    return mass


def convolve(p: FloatArray, q: FloatArray) -> tuple[int, FloatArray]:
    """Give the mass of a sum of independent trials on the window that carries it all.

    Blocks of trials are summed by the recurrence and then joined two by two; each block keeps only
    the counts around its mean that can carry more than exp(-52) of its mass (Bernstein).

    Parameters
    ----------
    p, q
        Success and failure probabilities in any order, shape (n,).

    Returns
    -------
    first, mass
        The count of ``mass[0]``, and the mass; ``v`` beyond the window have none that matters.
    """
    n = p.size
    blocks = -(-n // _LEAF)
    padding = blocks * _LEAF - n
    # A block takes its trials from all over the sorted list, so that all blocks are alike.
    rows_p = np.concatenate([p, np.zeros(padding)]).reshape(_LEAF, blocks)
    rows_q = np.concatenate([q, np.ones(padding)]).reshape(_LEAF, blocks)
    columns = np.zeros((_LEAF + 1, blocks))
    columns[0] = 1.0
    with np.errstate(under="ignore"):
        for i in range(_LEAF):
            columns[1 : i + 2] = columns[1 : i + 2] * rows_q[i] + columns[: i + 1] * rows_p[i]
            columns[0] *= rows_q[i]
    mass = np.ascontiguousarray(columns.T)
    mean = rows_p.sum(axis=0)
    variance = (rows_p * rows_q).sum(axis=0)
    first = np.zeros(blocks, dtype=np.int64)
    while mass.shape[0] > 1:
        if mass.shape[0] % 2:
            nothing = np.zeros((1, mass.shape[1]))
            nothing[0, 0] = 1.0
            mass = np.concatenate([mass, nothing])
            mean, variance = np.append(mean, 0.0), np.append(variance, 0.0)
            first = np.append(first, 0)
        size = 2 * mass.shape[1] - 1
        length = fft.next_fast_len(size, real=True)
        waves = fft.rfft(mass, length, axis=1)
        mass = fft.irfft(waves[0::2] * waves[1::2], length, axis=1)[:, :size]
        mean, variance = mean[0::2] + mean[1::2], variance[0::2] + variance[1::2]
        first = first[0::2] + first[1::2]
        mass, first = _trim(mass, first, mean, float(variance.max()))
    return int(first[0]), np.maximum(mass[0], 0.0)


def _reach(variance: float) -> int:
    """Give how far from its mean a sum lies but for exp(-52) on each side (Bernstein)."""
    third = _LOST_EXPONENT / 3
    return math.ceil(third + math.sqrt(third**2 + 2 * _LOST_EXPONENT * variance)) + 1


def _trim(
    mass: FloatArray, first: NDArray[np.int64], mean: FloatArray, variance: float
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Keep of each row the window around its mean outside of which at most exp(-52) lies."""
    reach = _reach(variance)
    width = 2 * reach + 1
    if width >= mass.shape[1]:
        return mass, first
    start = np.clip(np.rint(mean).astype(np.int64) - first - reach, 0, mass.shape[1] - width)
    views = np.lib.stride_tricks.sliding_window_view(mass, width, axis=1)
    return views[np.arange(mass.shape[0]), start], first + start


def waves(p: FloatArray, q: FloatArray, weights: FloatArray) -> tuple[int, FloatArray]:
    """Give what `convolve` gives, of trials that stand for several each, shapes (m,).

    By the characteristic function ``prod (q + p e^it)^weight`` of the count from ``first`` on.
    What lies outside the window, at most exp(-52), comes back into it; of some forty waves the
    others are nothing.
    """
    n, mean, variance = round(float(weights.sum())), float(weights @ p), float(weights @ (p * q))
    reach = _reach(variance)
    first, last = max(0, round(mean) - reach), min(n, round(mean) + reach)
    length = fft.next_fast_len(2 * reach + 1, real=True)
    angles = 2 * np.pi * np.arange(length // 2 + 1) / length
    angles = angles[2 * variance * np.sin(angles / 2) ** 2 <= _FLAT_EXPONENT]
    # Of each trial its rarer outcome is counted, and its mean taken out: nothing large cancels.
    rare, usual = np.minimum(p, q), np.maximum(p, q)
    signed = np.where(p <= q, weights, -weights)
    shift = float(weights[p > q].sum()) - first + float(rare @ signed)
    found = np.zeros(length // 2 + 1, dtype=np.complex128)
    for k, t in enumerate(angles):
        size = np.log1p(-4 * (p * q) * math.sin(t / 2) ** 2) @ weights / 2
        turn = (np.arctan2(rare * math.sin(t), usual + rare * math.cos(t)) - rare * t) @ signed
        found[k] = np.exp(size - 1j * (turn + t * shift))
    mass = fft.irfft(found, length)[: last - first + 1]
    return first, np.maximum(mass, 0.0)
