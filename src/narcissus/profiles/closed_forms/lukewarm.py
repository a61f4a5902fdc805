"""Lukewarm columns, neither nearly all zeros nor nearly all ones, and the surprisal they leave.

Source: Kaplan et al. 2025, Claim 4.9.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from narcissus._validation import integer
from narcissus.bounds.binomial import log_mass


def least_surprisal(n: int, d: int, lukewarm: int) -> float:
    """Compute the least surprisal of a row, in bits, given the others and their lukewarm columns.

    Parameters
    ----------
    n, d
        Rows of the data set, this row included, and attributes.
    lukewarm
        Columns in which ``n / 4`` to ``3 n / 4`` of the other ``n - 1`` rows have a one.

    Notes
    -----
    Source: Kaplan et al. 2025, Claim 4.9. By Laplace's rule of succession the likelier bit of a
    lukewarm column has chance at most ``(floor(3 n / 4) + 1) / (n + 1)``, of another
    ``n / (n + 1)``; rows and others that attain both exist.
    """
    d, lukewarm = integer("d", d, low=0), integer("lukewarm", lukewarm, low=0, high=d)
    n = integer("n", n, low=1)
    middle = math.log2((n + 1) / (3 * n // 4 + 1))
    return lukewarm * middle + (d - lukewarm) * math.log2((n + 1) / n)


def log2_few_lukewarm(n: int, d: int, fewer_than: int) -> float:
    """Compute the base 2 logarithm of the chance of too few lukewarm columns.

    Parameters
    ----------
    n, d
        Rows and attributes.
    fewer_than
        Number of lukewarm columns required; ``d / 5``, rounded up, in the paper.

    Notes
    -----
    The number of ones among the other rows is uniform on ``0 .. n - 1`` and columns are
    independent, so the number of lukewarm columns is binomial.
    """
    n, d = integer("n", n, low=2), integer("d", d, low=1)
    fewer_than = integer("fewer_than", fewer_than, low=0, high=d)
    inside = sum(4 * m >= n and 4 * m <= 3 * n for m in range(n))
    odds = math.log(inside) - math.log(n - inside) if inside < n else math.inf
    if fewer_than == 0:
        return -math.inf
    terms = log_mass(d, np.arange(fewer_than), odds)
    return float(special.logsumexp(terms)) / math.log(2)
