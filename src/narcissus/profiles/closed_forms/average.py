"""Averages of rows with uniform rates, the Tardos prior among them: what they reveal at most.

*Near a row.* Given the average, the ones of each column sit at random rows, and a column with ``c``
ones disagrees with the attempt in a given row with chance at least ``min(c, n - c) / n``; a union
bound over the rows does the rest. ``c`` is uniform on ``0 .. n`` and columns are independent, so
the tail is a binomial one, where the paper has a Chernoff bound (Lemma 3.5). Noise does not help an
attacker. Proof: Narcissus theory 8.2.

*Surprisal*, for all attackers and all side information. A row that counts keeps a share ``xi`` of
its surprisal, ``P(z | K, S') <= P(z | S')^xi`` for the other rows ``S'``. Both ``P(z | S')`` and
the release factor over columns, so the most that a release reveals is the product of the columns'
`Column.reach`. Proof: Narcissus theory 8.1. Lukewarm columns are neither nearly all zeros nor
nearly all ones.

Throughout ``n`` and ``d`` are rows and attributes, ``gamma`` is the share of the attributes that
may differ, and ``epsilon`` the privacy of one attribute: Laplace noise of scale
``1 / (epsilon n)``.

Source: Kaplan et al. 2025, Definitions 1.1, 3.2 and 4.11, Lemmas 3.5, 3.7 and 4.8, Claim 4.9 and
Remark 4.5, with tails and constants computed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import special

from narcissus._arrays import Floats
from narcissus._validation import between, fraction, integer, non_negative, positive, probability
from narcissus.bounds.binomial import log_mass, lower_tail, upper_tail
from narcissus.errors import InputError


def average_bits(n: int, d: int) -> float:
    """Compute ``I(S; average | rates)`` in bits, for the exact average of ``n`` rows.

    The limit of the Tardos prior for a population so large that no row is drawn twice.

    >>> round(average_bits(1, 2) * math.log(2), 12)
    1.0
    """
    n, d = integer("n", n, low=1), integer("d", d, low=1)
    c = np.arange(n + 1)
    ways = special.gammaln(n + 1) - special.gammaln(c + 1) - special.gammaln(n - c + 1)
    # given c ones the rate is Beta(c + 1, n - c + 1)
    ones_term = c * (special.psi(c + 1) - special.psi(n + 2))
    zero = (n - c) * (special.psi(n - c + 1) - special.psi(n + 2))
    return -d * float((ways + ones_term + zero).mean()) / math.log(2)


def noise_error(n: int, d: int, epsilon: float, beta: float) -> float:
    """Compute the ``alpha`` with which the noisy average solves the marginals problem.

    ``beta`` is the exact chance, for all data, that some marginal is off by more than ``alpha``.
    Source: Kaplan et al. 2025, Definition 3.2.
    """
    n, d = integer("n", n, low=1), integer("d", d, low=1)
    within = math.expm1(math.log1p(-fraction("beta", beta)) / d)
    return -math.log(-within) / (positive("epsilon", epsilon) * n)


LEAST = sys.float_info.min
"""A tail that is too small for a float is bounded by the least one: no bound is 0 by underflow."""


def places(gamma: float | Fraction, d: int) -> int:
    """Compute ``floor(gamma d)``: exactly for a rational, else as the relation `hamming` counts.

    >>> places(0.29, 100), math.floor(0.29 * 100), places(1 / 3, 3)
    (29, 28, 1)
    """
    return math.floor(gamma * d if isinstance(gamma, Fraction) else gamma * d + 1e-9)


def disagreement(n: int) -> Fraction:
    """Compute the chance that a row of ``n`` disagrees with the likelier bit of its column.

    The mean of ``min(c, n - c) / n`` over the number of ones ``c``, uniform on ``0 .. n``.

    >>> disagreement(4), disagreement(5)
    (Fraction(1, 5), Fraction(1, 5))
    """
    n = integer("n", n, low=1)
    return Fraction(n - 1, 4 * n) if n % 2 else Fraction(n, 4 * (n + 1))


def limit_given_rows(n: int, d: int, gamma: float | Fraction, known: int = 0) -> float:
    """Bound the chance to come near an unknown row, for an attacker who knows some of the rows.

    ``(n - known) Pr[Bin(d, q) <= gamma d]``, ``q`` the `disagreement` of the unknown rows, at most
    1: of their average alone, since what is known can be subtracted. It bounds delta of Definition
    4.1 at every epsilon, where fresh data hold the known rows as well; of Definition 3.1 with none.

    Source: Kaplan et al. 2025, Lemma 3.5 and Definition 4.1.

    >>> limit_given_rows(40, 400, 0.04) < limit_given_rows(40, 400, 0.04, 30) < 1e-9
    True
    >>> limit_given_rows(40, 400, 0.04, 39)
    1.0
    """
    n = integer("n", n, low=1)
    left = n - integer("known", known, low=0, high=n - 1)
    share = disagreement(left)
    if share == 0:  # one row: the average is the row
        return 1.0
    odds = math.log(share / (1 - share))
    return min(1.0, left * max(LEAST, float(lower_tail(d, places(gamma, d), odds))))


def dimensions(n: int, gamma: float | Fraction, delta: float) -> tuple[int, int]:
    """Find the first ``d`` whose bound is at most delta, and the first from which all are.

    They differ because ``floor(gamma d)`` jumps: between jumps the bound falls. By Chernoff no
    larger ``d`` than about ``ln(n / delta) / KL(gamma | q)`` is needed. ``gamma`` must be below
    `disagreement`.

    >>> dimensions(20, 0.04, 1e-6)
    (93, 102)
    """
    between("gamma", float(gamma), 0, 1)
    fraction("delta", delta)
    share, part = disagreement(n), Fraction(gamma).limit_denominator(10**9)
    if part >= share:
        raise InputError(
            f"`gamma` must be below {float(share):g} for n = {n}, got {float(gamma):g}: who names "
            "the likelier bits comes as near as that"
        )
    apart = math.log((1 - part) / (1 - share)) * float(1 - part)
    apart += float(part) * math.log(part / share) if part else 0.0
    last = math.ceil(math.log(n / delta) / apart) + 1

    def good(d: int) -> bool:
        return limit_given_rows(n, d, part) <= delta

    # blocks of d with the same floor, in which the bound falls
    starts = [max(1, math.ceil(k / part)) for k in range(places(part, last) + 1)] if part else [1]
    ends = [*(start - 1 for start in starts[1:]), last]
    blocks = list(zip(starts, ends, strict=True))
    opening = next(block for block in blocks if good(block[1]))
    closing = next((block for block in reversed(blocks) if not good(block[0])), (1, 1))
    return _first(good, *opening), _first(good, *closing)


def _first(good: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first good ``d`` of a block, or the one after the block."""
    high += 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle + 1, high)
    return low


_CELLS, _ROUNDS = 256, 40
_NEAR = 1e-4  # how far the bound may be above the largest value found, relatively


def two_criteria_limit(n: int, d: int, near: int, looser: int) -> float:
    """Bound delta at every epsilon where the criterion is looser for fresh data than for the data.

    A row of the data may differ in ``near`` bits, a fresh one in ``looser``; the population may
    have any number of rows.

    Source: Kaplan et al. 2025, Lemma 3.7: the exact average, or a noisy one, where the attacker is
    told nothing else. The largest over ``mu``, the mean disagreement of the attempt with the rows,
    of ``min(1, n L) U``: some row is near, a fresh one is not, each by Hoeffding's comparison with
    a binomial (1956). It is computed on intervals of ``mu``, ``L`` at the left end and ``U`` at
    the right: a bound whatever the grid. The smaller of it and Lemma 3.5.

    >>> two_criteria_limit(10, 5000, 1150, 1574) <= 1e-6 < two_criteria_limit(10, 5000, 1150, 1573)
    True
    """
    n, d = integer("n", n, low=1), integer("d", d, low=1)
    near = integer("near", near, low=0, high=d)
    looser = integer("looser", looser, low=near, high=d)
    alone = limit_given_rows(n, d, Fraction(near, d))
    edges = np.linspace(0, 1, _CELLS + 1)
    low, high = edges[:-1], edges[1:]
    settled = 0.0
    for _ in range(_ROUNDS):
        hit, upper_hit = _hit(n, d, near, low), _hit(n, d, near, high)
        missed = _missed(n, d, looser, high)
        value, reached = hit * missed, float((upper_hit * missed).max())
        enough = max(reached * (1 + _NEAR), settled)
        open_ = value > enough
        settled = max(settled, float(value[~open_].max(initial=0.0)))
        if not open_.any():
            return min(alone, max(LEAST, settled))
        middle = (low[open_] + high[open_]) / 2
        low, high = np.r_[low[open_], middle], np.r_[middle, high[open_]]
    left = float((_hit(n, d, near, low) * _missed(n, d, looser, high)).max())
    return min(alone, max(LEAST, settled, left))


def _hit(n: int, d: int, near: int, mean: Floats) -> Floats:
    """Bound the chance that some row is near, given the mean disagreement."""
    with np.errstate(divide="ignore"):
        tail = lower_tail(d, near, np.log(mean) - np.log1p(-mean))
    return np.minimum(1.0, n * np.where(near <= d * mean - 1, tail, 1.0))


def _missed(n: int, d: int, looser: int, mean: Floats) -> Floats:
    """Bound the chance that a fresh row is not near: its bits follow the rule of succession."""
    fresh = (n * mean + 1) / (n + 2)
    tail = upper_tail(d, looser + 1, np.log(fresh) - np.log1p(-fresh))
    return np.where(looser >= d * fresh, tail, 1.0)


def looser_gamma(n: int, d: int, gamma: float | Fraction, delta: float) -> Fraction:
    """Compute the least share of places for fresh data at which the bound is at most delta.

    Source: Kaplan et al. 2025, Lemma 3.7, whose ``(1 + O(sqrt(ln(d / delta) / n))) gamma`` it is.
    """
    fraction("delta", delta)
    near = places(gamma, d)
    low, high = near, d
    if two_criteria_limit(n, d, near, high) > delta:
        raise InputError(f"no share of {d} places brings delta to {delta:g} for n = {n}")
    while low < high:
        middle = (low + high) // 2
        if two_criteria_limit(n, d, near, middle) <= delta:
            high = middle
        else:
            low = middle + 1
    return Fraction(low, d)


def least_surprisal(n: int, d: int, lukewarm: int) -> float:
    """Compute the least surprisal of a row, in bits, given the others and their lukewarm columns.

    In ``lukewarm`` columns ``n / 4`` to ``3 n / 4`` of the other ``n - 1`` rows have a one. By
    Laplace's rule the likelier bit of one has chance at most ``(floor(3 n / 4) + 1) / (n + 1)``, of
    another ``n / (n + 1)``; rows that attain both exist. Source: Kaplan et al. 2025, Claim 4.9.
    """
    d, lukewarm = integer("d", d, low=0), integer("lukewarm", lukewarm, low=0, high=d)
    n = integer("n", n, low=1)
    middle = math.log2((n + 1) / (3 * n // 4 + 1))
    return lukewarm * middle + (d - lukewarm) * math.log2((n + 1) / n)


def log2_few_lukewarm(n: int, d: int, fewer_than: int) -> float:
    """Compute the base 2 logarithm of the chance of too few lukewarm columns.

    Their number is binomial: the ones among the other rows are uniform on ``0 .. n - 1``. The
    paper requires ``d / 5``, rounded up.
    """
    n, d = integer("n", n, low=2), integer("d", d, low=1)
    fewer_than = integer("fewer_than", fewer_than, low=0, high=d)
    inside = sum(4 * m >= n and 4 * m <= 3 * n for m in range(n))
    odds = math.log(inside) - math.log(n - inside) if inside < n else math.inf
    if fewer_than == 0:
        return -math.inf
    terms = log_mass(d, np.arange(fewer_than), odds)
    return float(special.logsumexp(terms)) / math.log(2)


_STEPS, _SPLITS = 41, 5  # of the search for the best split: any point of it is a bound


@dataclass(frozen=True)
class Column:
    """One column of a noisy average of ``n`` rows; an infinite ``epsilon`` is no noise."""

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
        one_power, zero = a**share, (1 - a) ** share
        mask = np.abs(share * (np.log(a) - np.log1p(-a))) >= self.epsilon
        over = np.exp(-self.epsilon / 2) * np.sqrt(one_power * zero)
        smaller = np.where(
            mask, np.minimum(one_power, zero), np.minimum(over, np.minimum(one_power, zero))
        )
        return float((one_power + zero - smaller).mean()), float(smaller.mean())

    def reach(self, share: float) -> float:
        """Compute ``G`` for a share ``xi`` of the surprisal, in (0, 2]."""
        return self.parts(share)[0]

    def moment(self, power: float) -> float:
        """Compute the mean of ``2^(-power h)``, ``h`` the surprisal of one bit of a new row."""
        return float(2 * (self.chances ** (power + 1)).mean())

    def stranger(self) -> float:
        """Compute the chance that the bit guessed from release and other rows fits a stranger."""
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

    It holds for every attacker and all side information whose coins are not the mechanism's; the
    population may have any number of rows.

    Source: Kaplan et al. 2025, Lemma 4.8, Definition 4.11 and Remark 4.5, with constants computed.
    With ``Z_xi = sum_(i <= places) C(d, i) (H - G)^i G^(d - i)``, which is ``G^d`` where no place
    may differ, it is the smallest of ``n Z_xi``; of a split by the surprisal ``h`` of the row
    itself, which wins where ``xi`` is small: ``n (Pr[h < t] + 2^(-u t) Z_(xi-u))``; and of
    ``n 2^(-bits) Z_0``.

    share: the ``xi``, in [0, 1].
    places: Number of the ``d`` bits that may differ, ``floor(gamma d)``.
    bits: Bits of surprisal that a row must keep in addition, whatever it had.

    >>> round(log2_delta(20, 5000, 0.1, 0.5), 4)
    -1107.6089
    >>> round(log2_delta(20, 5000, 0.1, 1.0, places=200), 4)
    -1277.7909
    """
    column, d, share = Column(n, epsilon), integer("d", d, low=1), probability("share", share)
    places = integer("places", places, low=0, high=d)
    bits = non_negative("bits", bits)
    bound = min(_given_away(column, d, share, places), _split(column, d, share, places))
    if bits:
        bound = min(bound, _given_away(column, d, 0.0, places) - bits)
    return min(0.0, math.log2(n) + bound)


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
    for _ in range(_SPLITS):
        us = np.linspace(low[0], high[0], _STEPS)
        powers = np.exp(np.linspace(low[1], high[1], _STEPS))
        left = [_given_away(column, d, max(0.0, share - u), places) for u in us]
        exponents = np.array(left)[:, None]
        few = np.array([d * math.log2(column.moment(s)) for s in powers])[None]
        u, s = us[:, None], powers[None]
        # 2^(s t + few) = w 2^(exponents - u t) with w = u / s
        t = (np.log2(u / s) + exponents - few) / (s + u)
        value = exponents - u * t + np.log2(1 + u / s)
        i, j = np.unravel_index(int(value.argmin()), value.shape)
        best = min(best, float(value[i, j]))
        width = (high - low) / (_STEPS - 1) * 2
        middle = np.array([us[i], math.log(powers[j])])
        low, high = np.maximum(low, middle - width), np.minimum(high, middle + width)
    return best
