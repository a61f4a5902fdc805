"""Randomised response whose reports are shuffled: what their counts tell about one person.

n people each report their value by k-ary randomised response (a probability p for the value itself
and q for each other one), and the attacker, who knows the values of all others, sees how often each
value was reported. For two values a and b of the one person, with N_v the law of the others' counts
and one more for v, the total variation is

    TV = (p - q) / 2  sum over counts |N_a - N_b|.

*Others of other values* (k >= 3). Of the others, ``S ~ Bin(n - 1, 2q)`` report a or b, evenly;
given S the two sides are a binomial and its shift, which differ by twice the largest term:

    TV = (p - q) E[ C(S, floor(S/2)) 2^-S ].

*No others do worse.* Let the attacker know more: with probability kq each of the others reports any
value evenly, else the own one, and the attacker is told who did which. Then again Bin(n - 1, 2q)
reports of a or b hide the person, evenly. So this TV is the largest over all values of the others,
and for k = 2, where there are no other values, it is a limit; there the others' count is a sum of
two binomials, log-concave, and TV = (p - q) times its largest term.

Source: Narcissus theory 6.17; Balle et al. 2019 (the privacy blanket).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer
from narcissus.channels.closed_forms import KaryRandomizedResponse
from narcissus.channels.compose import ComposedSecurity

Floats = NDArray[np.float64]

MOST_PEOPLE = 10**9
MOST_SPLITS = 2_000
"""Most people for which every split of the others' values is tried, where there are two values."""
FEW = 300
"""Half the trials from which a fair binomial's largest term is that of its series, to 1e-17."""
_EPS = float(np.finfo(np.float64).eps)
_THEOREM = "the largest term of what hides one report, Narcissus theory 6.17 (worst others)"


def shuffled_security(report: KaryRandomizedResponse, people: int) -> ComposedSecurity:
    """Return the Bayes security of a value that is reported among shuffled reports.

    Parameters
    ----------
    report
        The randomised response by which each reports.
    people
        Who report, at least 1, at most 1e9; the attacker knows the values of all but one.

    Returns
    -------
    ComposedSecurity
        For the values of the others that hide least. Both limits agree but for rounding for three
        values or more, and for two values and up to 2,000 people. The capacity is limited by that
        of the report alone.

    Notes
    -----
    Source: Narcissus theory 6.17.

    Examples
    --------
    >>> from narcissus.channels import KaryRandomizedResponse
    >>> round(shuffled_security(KaryRandomizedResponse(10, 1.0), 1000).beta_star, 6)
    0.99105
    """
    k, eps = report.values, report.epsilon
    others = integer("people", people, low=1, high=MOST_PEOPLE) - 1
    q = math.exp(-eps) / (1 + (k - 1) * math.exp(-eps))
    alone, apart = report.beta_star, -math.expm1(-eps) / (1 + (k - 1) * math.exp(-eps))
    law = Binomial.of(others, 2 * q)
    hidden = 1 - middle_term(law.first + np.arange(law.mass.size))
    least = alone + apart * float(law.mass @ hidden)  # alone is 1 - apart
    rounding = _EPS * (32 + 8 * law.mass.size)
    low, high = least * (1 - rounding), least * (1 + rounding)
    if k == 2:
        is_small = others < MOST_SPLITS  # where the other half of all splits are mirror images
        splits = range(others // 2 + 1) if is_small else (0, others // 2)
        most = alone + apart * (1 - max(_largest_term(m, others - m, q) for m in splits))
        rounding = _EPS * (32 + 8 * min(others, 4 * law.mass.size))  # of a difference from 1
        low, high = max(low, most - rounding if is_small else 0.0), most + rounding
    high = min(1.0, high)
    return ComposedSecurity(low, report.capacity, False, _THEOREM, high)


@dataclass(frozen=True, eq=False)
class Binomial:
    """The masses of a binomial law that matter: the others are below 1e-34 together."""

    first: int  # Number at which they begin
    # From there on, shape (count,); each right to 8 units in the last place times the count
    mass: Floats

    @classmethod
    def of(cls, trials: int, chance: float) -> Binomial:
        """Return the law; by ratios of neighbours, which lose no digits however many trials."""
        if chance >= 1:
            return cls(trials, np.ones(1))
        variance = trials * chance * (1 - chance)
        reach = math.ceil(27 + math.sqrt(711 + 160 * variance))  # Bernstein: 2 e^-80 beyond
        low = max(0, math.floor(trials * chance) - reach)
        high = min(trials, math.ceil(trials * chance) + reach)
        top = min(max(math.floor((trials + 1) * chance), low), high)
        up, down = np.arange(top, high) + 0.0, np.arange(top, low, -1) + 0.0
        odds = chance / (1 - chance)
        rising = np.cumprod((trials - up) / (up + 1) * odds)
        falling = np.cumprod(down / (trials - down + 1) / odds)
        mass = np.concatenate([falling[::-1], [1.0], rising])
        return cls(low, mass / mass.sum())


def middle_term(hiding: NDArray[np.integer[Any]]) -> Floats:
    """Return the largest term of Bin(s, 1/2), ``C(s, floor(s/2)) 2^-s``, for each s."""
    half = (hiding + 1) // 2  # an odd s has the largest term of s + 1
    table = np.concatenate([[1.0], np.cumprod(1 - 0.5 / np.arange(1, FEW))])
    n = np.maximum(half, FEW) + 0.25
    far = (1 - 1 / (64 * n**2) + 21 / (8192 * n**4)) / np.sqrt(math.pi * n)
    return np.where(half < FEW, table[np.minimum(half, FEW - 1)], far)


def _largest_term(kept: int, flipped: int, q: float) -> float:
    """Return the largest term of the sum of Bin(kept, 1 - q) and Bin(flipped, q).

    A sum of independent trials is log-concave, its mode within 1 of the mean (Darroch 1964).
    """
    one, two = Binomial.of(kept, 1 - q), Binomial.of(flipped, q)
    middle = math.floor(kept * (1 - q) + flipped * q)
    best = 0.0
    for total in (middle, middle + 1):
        # two.mass at total - i, for each i of one
        start = total - one.first - two.first
        other = start - np.arange(one.mass.size)
        there = (other >= 0) & (other < two.mass.size)
        best = max(best, float(one.mass[there] @ two.mass[other[there]]))
    return best
