"""How easy to tell apart two secrets may be without any method noticing it from the samples.

If two of many secrets give some outputs a little more often and others a little less, at random,
few samples of each do not tell. A lower limit that assumes nothing must allow for it, so that no
better method is missing where it is far from the estimate: a symmetry is, or samples.

Source: Narcissus theory 6.10 (the second moment of a mixture; Ingster 1987).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize

from narcissus.channels.samples import Matrix

NOTICED = 0.1
"""Distance in total variation up to which it goes unnoticed."""


def second_moment(shift: float, shares: Matrix, samples: float, secrets: int) -> float:
    """Give the chi-square distance of samples with a hidden pair from samples without one.

    Parameters
    ----------
    shift
        Share by which the two give each output more or less often, in [0, 1].
    shares
        Chance of each output, shape (outputs,).
    samples
        Samples of each secret.
    secrets
        How many; each pair is as likely the hidden one.

    Notes
    -----
    Outputs go up and down in twos, by fair coins; what the first secret gives more often the second
    gives less often. Two hidden pairs have both secrets in common with chance ``1 / pairs``, one
    with chance ``2 (secrets - 2) / pairs``; for each that is common the exponents of the coins'
    hyperbolic cosines add up.
    """
    twos = _twos(shares)
    pairs = secrets * (secrets - 1) / 2

    def excess(common: int) -> float:
        exponent = 2 * common * samples * twos * shift**2
        # ln cosh without overflow
        logs = exponent + np.log1p(np.exp(-2 * exponent)) - math.log(2)
        return math.expm1(min(700.0, float(logs.sum())))

    return excess(2) / pairs + 2 * (secrets - 2) / pairs * excess(1)


def _twos(shares: Matrix) -> Matrix:
    """Give the chance that the smaller of each two outputs has, likeliest ones first."""
    ordered = np.sort(shares)[::-1]
    return np.minimum(ordered[0:-1:2], ordered[1::2])


def hidden_share(shares: Matrix, samples: float, secrets: int) -> float:
    """Give the share of `beta*` that two secrets may lack unnoticed, 0 to 1.

    A lower limit at level alpha is at most the rest with chance ``1 - alpha - NOTICED``.
    """
    most = 4 * NOTICED**2  # the total variation is at most half the root of chi-square

    def over(shift: float) -> float:
        return second_moment(shift, shares, samples, secrets) - most

    moved = 2 * float(_twos(shares).sum())  # what is beyond the smaller of two stays as it is
    if over(1.0) <= 0:
        return moved
    return moved * float(optimize.brentq(over, 0.0, 1.0, xtol=1e-6))
