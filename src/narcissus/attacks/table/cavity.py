"""Everybody's posterior from one release, for any number of people.

Mean field with people's own part taken out by linear response (adaptive TAP; see
`narcissus.attacks.table.own`), solved as a convex problem over the cells
(`narcissus.attacks.table.dual`): a few dozen passes over the types of people.

What a noisy count says of the true one, as the normal distribution that would say the same.

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
from narcissus.attacks.table.dual import Dual
from narcissus.attacks.table.own import add_own_terms
from narcissus.attacks.table.shares import Shares, split
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms import TableQueries
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
    """Return normal noise of the same variance."""
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
    """Return slope and curvature, in the mean ``m``, of ``-log E exp(-|r - s| / scale)``.

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


ROUNDS = 3
"""How often own terms and the factors of Laplace noise are worked out anew."""

SLIGHT = 0.01
"""Mean change of own terms, in nats, that is left out."""


def cavity_beliefs(
    targets: Targets, noise: Noise, released: Floats, passes: int, tolerance: float
) -> Floats:
    """Return everybody's approximate posterior, shape (n, values).

    targets: the people as known beforehand.
    noise: on every cell, its scale above 0. What is neither Gaussian nor Laplace noise is read as
        Gaussian noise of twice its scale squared.
    released: the released cells, shape (cells,), in counts.
    passes: most passes over the people each time that the problem is solved.
    tolerance: a solution is good enough when a pass wins less, in nats a person.
    """
    with split(targets) as shares:
        found = _solved(shares, targets.queries, noise, released, passes, tolerance)
    return found[targets.types.of]


def _solved(
    shares: Shares,
    queries: TableQueries,
    noise: Noise,
    released: Floats,
    passes: int,
    tolerance: float,
) -> Floats:
    """Return what is believed of each type, shape (types, values)."""
    released = released[shares.cells]
    sites = first_sites(noise, released)
    # Nobody is moved by more than their tables over the variance, and on average by a quarter.
    own = sum(p.tables for p in queries.patterns) > 4 * SLIGHT * sites.variance.min()
    dual = Dual(shares, sites.released, sites.variance)
    theta = np.zeros(len(released))
    beliefs = dual.beliefs(theta)
    for last in (*[False] * ROUNDS, True):
        theta = dual.solve(theta, dual.variance + beliefs.variance, passes, tolerance)
        beliefs = dual.beliefs(theta)
        if last:
            break
        moved = add_own_terms(dual, beliefs) if own else 0.0
        if isinstance(noise, LaplaceNoise):
            sites = better_sites(noise, released, sites, theta, beliefs.variance)
        elif moved < SLIGHT:
            break
        dual = Dual(shares, sites.released, sites.variance)
    return np.concatenate(shares.ask("result"))
