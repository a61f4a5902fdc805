"""Averages under the Tardos prior by surprisal: all attackers, all side information.

A row that counts keeps a share ``xi`` of its surprisal, ``P(z | K, S') <= P(z | S')^xi`` for the
other rows ``S'``. ``P(z | S')`` and the release factor over columns, so the most that one release
reveals is a product over columns, of `Column.reach` each. Proof: Narcissus theory 8.1.

Source: Kaplan et al. 2025, Lemma 4.8, Definition 4.11 and Remark 4.5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._validation import integer, non_negative, positive, probability
from narcissus.bounds.binomial import log_mass

Floats = NDArray[np.float64]

_STEPS, _ROUNDS = 41, 5  # of the search for the best split: any point of it is a bound


@dataclass(frozen=True)
class Column:
    """One column of a noisy average of ``n`` rows, whose rate is uniform on [0, 1].

    ``epsilon`` is the privacy of one attribute, Laplace noise of scale ``1 / (epsilon n)``;
    infinite for no noise.
    """

    n: int
    epsilon: float

    def __post_init__(self) -> None:
        integer("n", self.n, low=1, high=10**7)
        positive("epsilon", self.epsilon, allow_infinite=True)

    @property
    def chances(self) -> Floats:
        """Chance of a one given the other rows, ``k / (n + 1)``, all alike; shape (n,)."""
        return np.arange(1, self.n + 1) / (self.n + 1)

    def parts(self, share: float) -> tuple[float, float]:
        """Compute ``G`` and ``H - G``: what the likelier bit reveals, and the other one.

        With ``A = a^xi`` and ``B = (1 - a)^xi``, ``G = E_a int max(A f_1, B f_0)`` and ``H - G``
        the integral of the smaller one, ``f_c`` the density of the release for a last bit ``c``.
        """
        a = self.chances
        one, zero = a**share, (1 - a) ** share
        told = np.abs(share * (np.log(a) - np.log1p(-a))) >= self.epsilon
        over = np.exp(-self.epsilon / 2) * np.sqrt(one * zero)
        smaller = np.where(told, np.minimum(one, zero), np.minimum(over, np.minimum(one, zero)))
        return float((one + zero - smaller).mean()), float(smaller.mean())

    def reach(self, share: float) -> float:
        """Compute ``G`` for a share ``xi`` of the surprisal, in (0, 2]."""
        return self.parts(share)[0]

    def moment(self, power: float) -> float:
        """Compute the mean of ``2^(-power h)``, ``h`` the surprisal of one bit of a new row."""
        return float(2 * (self.chances ** (power + 1)).mean())

    def stranger(self) -> float:
        """Compute the chance that a bit guessed from release and other rows fits a stranger.

        The guess is the likelier bit; the stranger is another row of the same rates.
        """
        n, a = self.n, self.chances
        ones = np.arange(n)
        both = (ones + 1) * (ones + 2) / ((n + 1) * (n + 2))  # this row and the stranger have ones
        differ, neither = a - both, 1 - 2 * a + both
        lean = np.log(a) - np.log1p(-a)
        right = 1 - np.exp(-(self.epsilon + lean) / 2) / 2  # a one is guessed of a one
        wrong = np.exp(-(self.epsilon - lean) / 2) / 2  # ... and of a zero
        plain = np.abs(lean) >= self.epsilon
        right, wrong = (np.where(plain, lean > 0, x) for x in (right, wrong))
        fits = both * right + differ * (1 - right) + differ * wrong + neither * (1 - wrong)
        return float(fits.mean())


def log2_delta(
    n: int, d: int, epsilon: float, share: float, *, places: int = 0, bits: float = 0.0
) -> float:
    """Bound the base 2 logarithm of delta, at every epsilon of the statement.

    Parameters
    ----------
    n, d
        Rows and attributes.
    epsilon
        Privacy of one attribute.
    share
        xi, in [0, 1].
    places
        Number of the ``d`` bits that may differ, ``floor(gamma d)``.
    bits
        Bits of surprisal that a row must keep in addition, whatever it had.

    Returns
    -------
    float
        At most 0. For every attacker and all side information whose coins are not the
        mechanism's; the population may have any number of rows.

    Notes
    -----
    Source: Kaplan et al. 2025, Lemma 4.8, Definition 4.11 and Remark 4.5, with constants computed.
    With ``Z_xi = sum_(i <= places) C(d, i) (H - G)^i G^(d - i)``, which is ``G^d`` where no place
    may differ, it is the smallest of ``n Z_xi``; of a split by the surprisal ``h`` of the row
    itself, which wins where ``xi`` is small: ``n (Pr[h < t] + 2^(-u t) Z_(xi-u))``; and of
    ``n 2^(-bits) Z_0``.

    Examples
    --------
    >>> round(log2_delta(20, 5000, 0.1, 0.5), 4)
    -1107.6089
    >>> round(log2_delta(20, 5000, 0.1, 1.0, places=200), 4)
    -1277.7909
    """
    column, d, share = Column(n, epsilon), integer("d", d, low=1), probability("share", share)
    places = integer("places", places, low=0, high=d)
    bits = non_negative("bits", bits)
    least = min(_given_away(column, d, share, places), _split(column, d, share, places))
    if bits:
        least = min(least, _given_away(column, d, 0.0, places) - bits)
    return min(0.0, math.log2(n) + least)


def _given_away(column: Column, d: int, share: float, places: int) -> float:
    """Compute the base 2 logarithm of ``Z``: the most the release reveals of one such row."""
    larger, smaller = column.parts(share)
    if places == 0:
        return d * math.log2(larger)
    odds = math.log(smaller) - math.log(larger) if smaller else -math.inf
    terms = log_mass(d, np.arange(places + 1), odds)
    whole = d * math.log(larger + smaller) + float(special.logsumexp(terms))
    return whole / math.log(2)


def _split(column: Column, d: int, share: float, places: int) -> float:
    """Compute the least of ``log2(2^(s t) E[2^(-s h)] + 2^(-u t) Z_(xi-u))`` on a grid of s, u.

    ``Pr[h < t]`` is at most the first term for every ``s > 0``. The best ``t`` makes the terms
    ``u : s``; both are then ``u A + s B`` over ``s + u``, ``A`` and ``B`` the logarithms.
    """
    if share == 0:
        return math.inf
    low, high = np.array([1e-6 * share, math.log(1e-3)]), np.array([share, math.log(500)])
    best = math.inf
    for _ in range(_ROUNDS):
        us = np.linspace(low[0], high[0], _STEPS)
        powers = np.exp(np.linspace(low[1], high[1], _STEPS))
        left = [_given_away(column, d, max(0.0, share - u), places) for u in us]
        kept = np.array(left)[:, None]
        few = np.array([d * math.log2(column.moment(s)) for s in powers])[None]
        u, s = us[:, None], powers[None]
        # 2^(s t + few) = w 2^(kept - u t) with w = u / s
        t = (np.log2(u / s) + kept - few) / (s + u)
        value = kept - u * t + np.log2(1 + u / s)
        i, j = np.unravel_index(int(value.argmin()), value.shape)
        best = min(best, float(value[i, j]))
        width = (high - low) / (_STEPS - 1) * 2
        middle = np.array([us[i], math.log(powers[j])])
        low, high = np.maximum(low, middle - width), np.minimum(high, middle + width)
    return best
