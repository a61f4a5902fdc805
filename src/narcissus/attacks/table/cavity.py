"""Everybody's posterior from one release, for any number of people.

Mean field with people's own part taken out by linear response (adaptive TAP; see
`narcissus.attacks.table.own`), solved as a convex problem over the cells
(`narcissus.attacks.table.dual`): a few dozen passes over the types of people.
"""

from __future__ import annotations

import numpy as np

from narcissus.attacks.table.base import Floats
from narcissus.attacks.table.dual import Beliefs, Dual
from narcissus.attacks.table.gathers import Gathers
from narcissus.attacks.table.own import own_terms
from narcissus.attacks.table.sites import better_sites, first_sites
from narcissus.knowledge.columns import Targets
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
    gathers = Gathers(targets)
    with np.errstate(divide="ignore"):
        log_prior = np.log(targets.prior[gathers.types.first])
    released = released[gathers.cells]
    sites = first_sites(noise, released)
    # Nobody is moved by more than their tables over the variance, and on average by a quarter.
    own = sum(p.tables for p in gathers.patterns) > 4 * SLIGHT * sites.variance.min()
    rng = np.random.default_rng(0)  # probes are part of the method, not of the trial
    dual = Dual(gathers, log_prior, sites.released, sites.variance)
    theta, terms = np.zeros(len(released)), np.zeros_like(log_prior)
    beliefs = dual.beliefs(theta)
    for last in (*[False] * ROUNDS, True):
        theta = dual.solve(theta, dual.variance + beliefs.variance, passes, tolerance)
        beliefs = dual.beliefs(theta)
        if last:
            break
        before = terms
        terms = own_terms(dual, beliefs, rng) if own else terms
        if isinstance(noise, LaplaceNoise):
            sites = better_sites(noise, released, sites, theta, beliefs.variance)
        elif _shift(gathers, beliefs, terms - before) < SLIGHT:
            break
        dual = Dual(gathers, log_prior + terms, sites.released, sites.variance)
    return beliefs.types[gathers.types.of]


def _shift(gathers: Gathers, beliefs: Beliefs, change: Floats) -> float:
    """Give by how much a change of log beliefs moves people, in nats and on average."""
    mean = np.einsum("tv,tv->t", beliefs.types, change)
    moved = np.einsum("tv,tv->t", beliefs.types, np.abs(change - mean[:, None]))
    return float(np.average(moved, weights=gathers.types.people))
