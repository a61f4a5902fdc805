"""The linear complexity of strings of bits: the shortest register with linear feedback for each.

Source: Massey 1969; the law for random strings: Rueppel 1986, Analysis and Design of Stream
Ciphers, proposition 4.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def linear_complexity(bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Give the length of the shortest register with linear feedback that prints each string.

    Parameters
    ----------
    bits
        Strings, shape (count, n).

    Notes
    -----
    The algorithm of Berlekamp and Massey for all strings at once, 64 coefficients a word.

    Examples
    --------
    >>> linear_complexity(np.array([[0, 0, 0, 1], [1, 0, 1, 0]], dtype=np.uint8)).tolist()
    [4, 2]
    """
    count, n = bits.shape
    words = n // 64 + 1
    found = np.zeros(count, dtype=np.int64)
    now, before, last = (np.zeros((count, words), dtype=np.uint64) for _ in range(3))
    now[:, 0] = before[:, 0] = 1
    for at in range(n):
        last = _shifted(last)
        last[:, 0] |= bits[:, at]
        before = _shifted(before)
        sums = np.bitwise_count(np.bitwise_xor.reduce(now & last, axis=1)) & 1
        wrong = sums == 1
        longer = wrong & (2 * found <= at)
        kept = now[longer]
        now[wrong] ^= before[wrong]
        before[longer] = kept
        found[longer] = at + 1 - found[longer]
    return found


def _shifted(table: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Multiply each polynomial by x."""
    moved = table << np.uint64(1)
    moved[:, 1:] |= table[:, :-1] >> np.uint64(63)
    return moved


def law_of_linear_complexity(n: int) -> NDArray[np.float64]:
    """Give the chance that the linear complexity of ``n`` random bits is 0, 1, .., n.

    Examples
    --------
    >>> law_of_linear_complexity(2).tolist()
    [0.25, 0.5, 0.25]
    """
    length: NDArray[Any] = np.arange(1, n + 1)
    chance = 2.0 ** (np.minimum(2 * n - 2 * length, 2 * length - 1) - n)
    return np.concatenate([[2.0**-n], chance])
