"""What a noisy count says of the true one, as the normal distribution that would say the same.

Gaussian noise is what it is. A Laplace density is replaced, cell by cell, by the normal factor
that gives the count the same mean and variance when everything else says that it is normal
(expectation propagation, Minka 2001). Where the noise is wide such a factor pulls with up to
``1 / scale`` whatever the distance, twice as informative as Gaussian noise of the same variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from narcissus.attacks.table.base import Floats
from narcissus.mechanisms.noise import LaplaceNoise, Noise

LEAST = 1e-6
"""Least curvature of a Laplace factor, in units of ``1 / scale^2``."""

NARROW = 1e-2
"""Least variance of a count, in units of ``scale^2``: a factor that is matched where beliefs are
all but certain would hold them there, right or wrong."""


@dataclass(frozen=True, eq=False)
class Sites:
    """Normal factors, one a cell: ``count ~ N(released, variance)``, shape (cells,)."""

    released: Floats
    variance: Floats


def first_sites(noise: Noise, released: Floats) -> Sites:
    """Give normal noise of the same variance."""
    factor = 1.0 if noise.kind == "gaussian" else 2.0
    return Sites(released, np.full(released.shape, factor * noise.scale**2))


def better_sites(
    noise: LaplaceNoise, released: Floats, sites: Sites, theta: Floats, variance: Floats
) -> Sites:
    """Match the Laplace factors where the beliefs now are.

    Parameters
    ----------
    noise
        The noise on every cell.
    released
        The released counts, shape (cells,).
    sites
        The present factors.
    theta
        Their present pull on each count: ``(sites.released - expected) / sites.variance``.
    variance
        Of each count, its own factor left out, shape (cells,).
    """
    spread = np.maximum(variance, NARROW * noise.scale**2)
    mean = sites.released - theta * (sites.variance + spread)
    pull, curve = _laplace(noise.scale, spread, released - mean)
    curve = np.clip(curve, LEAST / noise.scale**2, (1 - 1e-9) / spread)
    return Sites(mean + pull / curve, 1 / curve - spread)


def _laplace(scale: float, variance: Floats, off: Floats) -> tuple[Floats, Floats]:
    """Give slope and curvature, in the mean ``m``, of ``-log E exp(-|r - s| / scale)``.

    With ``s ~ N(m, variance)`` and ``off = r - m``: the slope is given with the sign that it pulls
    ``m`` towards ``r``, in [-1 / scale, 1 / scale].
    """
    width = np.sqrt(variance)
    above, below = off / width - width / scale, -off / width - width / scale
    log_above = special.log_ndtr(above) - off / scale  # the count lies below what was released
    log_below = special.log_ndtr(below) + off / scale
    share = special.expit(log_above - log_below)
    mills = np.exp(-0.5 * above**2 - special.log_ndtr(above)) + np.exp(
        -0.5 * below**2 - special.log_ndtr(below)
    )
    mills /= np.sqrt(2 * np.pi)
    curve = 2 / scale * share * (1 - share) * (mills / width - 2 / scale)
    return (2 * share - 1) / scale, curve
