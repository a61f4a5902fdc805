"""Averages of rows with uniform rates: the bits memorized, and the error.

Source: Kaplan et al. 2025, Definitions 1.1 and 3.2.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from narcissus._validation import fraction, integer, positive


def average_bits(n: int, d: int) -> float:
    """Compute ``I(S; average | rates)`` in bits, for the exact average of ``n`` rows.

    It is ``d`` times the mean entropy of ``Bin(n, p)`` over uniform ``p``, and the limit of the
    Tardos prior for a population so large that no row is drawn twice.

    Examples
    --------
    >>> round(average_bits(1, 2) * math.log(2), 12)
    1.0
    """
    n, d = integer("n", n, low=1), integer("d", d, low=1)
    c = np.arange(n + 1)
    ways = special.gammaln(n + 1) - special.gammaln(c + 1) - special.gammaln(n - c + 1)
    # given c ones the rate is Beta(c + 1, n - c + 1)
    one = c * (special.psi(c + 1) - special.psi(n + 2))
    zero = (n - c) * (special.psi(n - c + 1) - special.psi(n + 2))
    return -d * float((ways + one + zero).mean()) / math.log(2)


def noise_error(n: int, d: int, epsilon: float, beta: float) -> float:
    """Compute the ``alpha`` with which the noisy average solves the marginals problem.

    Parameters
    ----------
    n, d
        Rows and attributes.
    epsilon
        Privacy of one attribute: Laplace noise of scale ``1 / (epsilon n)``.
    beta
        Exact chance, for all data, that some marginal is off by more than ``alpha``.

    Notes
    -----
    Source: Kaplan et al. 2025, Definition 3.2.
    """
    n, d = integer("n", n, low=1), integer("d", d, low=1)
    within = math.expm1(math.log1p(-fraction("beta", beta)) / d)
    return -math.log(-within) / (positive("epsilon", epsilon) * n)
