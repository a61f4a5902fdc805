"""What an average says of rows with uniform rates: bits that it remembers, and how far off it is.

Source: Kaplan et al. 2025, Definitions 1.1 and 3.2.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from narcissus._validation import fraction, integer, positive


def average_bits(n: int, d: int) -> float:
    """Give ``I(S; average | rates)`` in bits, of the exact average of ``n`` rows.

    ``d`` times the mean entropy of ``Bin(n, p)`` over uniform ``p``. The Tardos prior with a
    population so large that no row of it is drawn twice has this as its limit.

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
    """Give the ``alpha`` with which the noisy average solves the marginals problem.

    Parameters
    ----------
    n, d
        Rows and attributes.
    epsilon
        Privacy of one attribute: Laplace noise of scale ``1 / (epsilon n)``.
    beta
        Chance that some marginal is farther off than ``alpha``; exactly that, whatever the data.

    Notes
    -----
    Source: Kaplan et al. 2025, Definition 3.2.
    """
    n, d = integer("n", n, low=1), integer("d", d, low=1)
    within = math.expm1(math.log1p(-fraction("beta", beta)) / d)
    return -math.log(-within) / (positive("epsilon", epsilon) * n)
