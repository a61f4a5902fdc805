"""Success of the larger inner product, and of Bayes' rule, at choosing one of two candidates.

One candidate is a row of the data set, the other a row of the population outside it. Where they
differ in a column, with chance 1/3, ``c`` ones of ``n`` there have chance proportional to
``c (n + 1 - c)``. Derivations: Narcissus theory 8.4.

Source: Kaplan et al. 2025, section 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus._validation import integer, positive
from narcissus.errors import TooLargeError

_BLOCK = 2048
_MOST = 4_000_000  # terms of an integral
_EXACT = 1e-11  # what is left of an integral where it is cut off
_CLOSE = 1e-8  # the same for the best attacker


def _law(n: int) -> tuple[Floats, Floats]:
    """Return the numbers of ones, 1 to n, with their chances jointly with (1, 0), 1/6."""
    ones = np.arange(1, n + 1, dtype=np.float64)
    return ones, ones * (n + 1 - ones) / (n * (n + 1.0) * (n + 2))


def _scores(n: int, attack: Literal["raw", "centred"]) -> tuple[Floats, Floats]:
    """Return the scores of one column, in rows, and their chances; score 0 has the other 2/3."""
    ones, chance = _law(n)
    if attack == "centred":
        return ones - n / 2, 2 * chance
    return np.r_[ones, ones - n], np.r_[chance, chance]


def candidates_success(
    n: int, d: int, epsilon: float, attack: Literal["raw", "centred"] = "raw"
) -> float:
    """Compute the success of the larger inner product with a noisy average; ties by a coin.

    Right to about ten digits: without noise by the discrete Fourier transform of the law on the
    half integers, with noise by the inversion of Gil-Pelaez (1951).

    n, d: Rows and attributes.
    epsilon: Privacy of one attribute; infinite for the exact average.
    attack: ``raw`` is ``<k, y>``, as in the paper, ``centred`` ``<k - 1/2, y - 1/2>``.

    >>> round(candidates_success(20, 5000, 0.1, "centred"), 6)
    0.914711
    """
    n, d = integer("n", n, low=1), integer("d", d, low=1)
    epsilon = positive("epsilon", epsilon, allow_infinite=True)
    score, chance = _scores(n, attack)
    if math.isinf(epsilon):
        return _lattice(np.rint(2 * score).astype(np.int64), chance, n, d)
    spread = math.sqrt(d * (float(chance @ score**2) + 2 / (3 * epsilon**2)))
    # the midpoint rule is off by what the sum has beyond the period
    step = 2 * math.pi / (40 * spread + 60 / epsilon)

    def term(t: Floats) -> Floats:
        noise = 1 / (1 + (t / epsilon) ** 2)
        waves = np.exp(1j * np.outer(t, score)) @ chance
        return ((2 / 3 + waves * noise) ** d).imag / t

    def rest(t: float) -> float:
        tail = 1 / 3 / (1 + (t / epsilon) ** 2)
        return (2 / 3 + tail) ** (d - 1) * d / 6 * math.log1p((epsilon / t) ** 2)

    return 0.5 + _integral(term, rest, step, _EXACT) / math.pi


def _lattice(double: NDArray[np.int64], chance: Floats, n: int, d: int) -> float:
    """Compute ``Pr[sum > 0] + Pr[sum = 0] / 2`` for scores on the half integers, given doubled."""
    size = 1 << (4 * n * d + 1).bit_length()
    if size > 1 << 26:
        raise TooLargeError(f"{n} rows of {d} attributes are too many for an exact law")
    law = np.zeros(size)
    np.add.at(law, double % size, chance)
    law[0] += 2 / 3
    total = np.fft.irfft(np.fft.rfft(law) ** d, size)
    return float(total[1 : size // 2].sum() + total[0] / 2)


def bayes_success(n: int, d: int, epsilon: float) -> float:
    """Compute the success of the best attacker, the likelihood ratio test, to about eight digits.

    One minus half of the overlap of the two products of ``d`` columns: with the ratios of the
    columns tilted half way, ``g(s)`` the characteristic function times the overlap of one column,
    the error is ``(1 / 2 pi) int g(s)^d / (1/4 + s^2) ds`` over ``s > 0``.

    >>> round(bayes_success(20, 5000, 0.1), 6)
    0.943246
    """
    n, d = integer("n", n, low=1), integer("d", d, low=1)
    epsilon = positive("epsilon", epsilon, allow_infinite=True)
    first, second, width = _column_laws(n, epsilon)
    both = (first > 0) & (second > 0)
    ratio = np.log(first[both]) - np.log(second[both])
    weight = 2 * width[both] * np.sqrt(first[both] * second[both])
    overlap = 2 / 3 + float(weight.sum())
    spread = math.sqrt(d * float(weight @ ratio**2) / overlap)
    step = math.pi / (15 * spread + 60)

    def term(s: Floats) -> Floats:
        waves = np.cos(np.outer(s, ratio)) @ weight
        return (2 / 3 + waves) ** d / (0.25 + s * s)

    def rest(s: float) -> float:
        # beyond the first waves the ratios are out of step, as far as one has looked
        waves = np.abs(np.cos(np.outer(np.linspace(s, 3 * s, 512), ratio)) @ weight)
        return (2 / 3 + float(waves.max(initial=0.0))) ** d / s

    return 1 - _integral(term, rest, step, _CLOSE) / (2 * math.pi)


def _column_laws(n: int, epsilon: float) -> tuple[Floats, Floats, Floats]:
    """Return nodes, and a column's density there with the first, and the second, candidate in."""
    ones, chance = _law(n)
    swapped = n - ones  # ones where the second candidate is in
    if math.isinf(epsilon):
        laws = np.zeros((2, n + 1))
        laws[0, 1:], laws[1, swapped.astype(int)] = chance, chance
        return laws[0], laws[1], np.ones(n + 1)
    # Gauss-Legendre between the kinks of the density, at the whole numbers, and beyond
    nodes, weights = np.polynomial.legendre.leggauss(12)
    far = np.linspace(0, 60 / epsilon, max(8, math.ceil(6 / epsilon)) + 1)[1:]
    edges = np.r_[-far[::-1], np.arange(n + 1), n + far]
    half = np.diff(edges) / 2
    y = (edges[:-1, None] + half[:, None] * (1 + nodes)).ravel()
    width = (half[:, None] * weights).ravel()
    kernel = epsilon / 2 * np.exp(-epsilon * np.abs(y[:, None] - np.arange(n + 1)))
    return kernel[:, 1:] @ chance, kernel[:, :-1] @ chance[::-1], width


def _integral(
    term: Callable[[Floats], Floats], rest: Callable[[float], float], step: float, least: float
) -> float:
    """Integrate over the positive numbers by the midpoint rule, up to a negligible tail."""
    total = 0.0
    for start in range(0, _MOST, _BLOCK):
        at: Floats = (np.arange(start, start + _BLOCK, dtype=np.float64) + 0.5) * step
        total += float(term(at).sum()) * step
        if rest((start + _BLOCK) * step) < least:
            return total
    raise TooLargeError(
        f"the integral has more than {_MOST:,} terms; take more attributes, or a smaller epsilon"
    )
