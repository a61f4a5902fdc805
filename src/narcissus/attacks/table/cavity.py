"""Everybody's posterior from one release, for any number of people.

Mean field with people's own part taken out by linear response (adaptive TAP; see
`narcissus.attacks.table.own`), solved as a convex problem over the cells
(`narcissus.attacks.table.dual`): a few dozen passes over the types of people.
"""

from __future__ import annotations

import numpy as np

from narcissus.attacks.table.base import Floats
from narcissus.attacks.table.dual import Dual
from narcissus.attacks.table.own import add_own_terms
from narcissus.attacks.table.shares import Shares, split
from narcissus.attacks.table.sites import better_sites, first_sites
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms import TableQueries
from narcissus.mechanisms.noise import LaplaceNoise, Noise

ROUNDS = 3
"""How often own terms and the factors of Laplace noise are worked out anew."""

SLIGHT = 0.01
"""Mean change of own terms, in nats, that is left out."""


def cavity_beliefs(
    targets: Targets, noise: Noise, released: Floats, passes: int, tolerance: float
) -> Floats:
    """Give everybody's approximate posterior, shape (n, values).

    Parameters
    ----------
    targets
        The people as known beforehand.
    noise
        On every cell, its scale above 0. What is neither Gaussian nor Laplace noise is read as
        Gaussian noise of twice its scale squared.
    released
        The released cells, shape (cells,), in counts.
    passes
        Most passes over the people each time that the problem is solved.
    tolerance
        A solution is good enough when a pass wins less, in nats a person.
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
    """Give what is believed of each type, shape (types, values)."""
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
