"""Small channels, priors and attackers on which the statements are computed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from narcissus_papers.base import Held

Matrix = NDArray[np.float64]

ROOM = 1e-12
"""How far rounding may take two numbers apart that are equal."""

NAMED = "40 channels of 2 to 5 secrets and outputs, zeros, ties and copies among them"
"""What `channels` gives, in words."""

CHANNEL = "narcissus channel channel.csv"
"""What a user runs on a table of output probabilities."""

WITH_PRIOR = f"{CHANNEL} --prior prior.csv"
"""The same with a prior of the secrets."""


def channels(number: int = 40, secrets: int | None = None) -> list[Matrix]:
    """Draw random channels: of every three one is dense, one has zeros, one ties and copies."""
    rng = np.random.default_rng(2023)
    made: list[Matrix] = []
    for which in range(number):
        n, m = int(rng.integers(2, 6)), int(rng.integers(2, 6))
        shape = (secrets or n, m)
        if which % 3 == 0:
            weights = rng.random(shape)
        else:
            weights = rng.integers(which % 3 - 1, 4, shape).astype(np.float64)
        weights[weights.sum(axis=1) == 0, 0] = 1.0
        made.append(weights / weights.sum(axis=1, keepdims=True))
    return made


def priors(secrets: int, number: int = 6) -> list[Matrix]:
    rng = np.random.default_rng(secrets)
    made: list[Matrix] = [np.full(secrets, 1 / secrets)]
    for which in range(number - 1):
        prior = rng.dirichlet(np.ones(secrets))
        if which % 2:
            prior[rng.permutation(secrets)[2:]] = 0.0
        made.append(prior / prior.sum())
    return made


def systems() -> Iterator[tuple[Matrix, Matrix]]:
    """Yield each of `channels` with each of `priors`."""
    for rows in channels():
        for prior in priors(len(rows)):
            yield rows, prior


def pairs_of_channels(secrets: int = 3) -> Iterator[tuple[Matrix, Matrix]]:
    yield from itertools.combinations_with_replacement(channels(12, secrets), 2)


def sets_of_secrets(secrets: int) -> Iterator[tuple[int, ...]]:
    """Yield all sets of at least two secrets: the corner points of the guessing error."""
    for size in range(2, secrets + 1):
        yield from itertools.combinations(range(secrets), size)


def uniform_on(chosen: tuple[int, ...], secrets: int) -> Matrix:
    prior = np.zeros(secrets)
    prior[list(chosen)] = 1 / len(chosen)
    return prior


def least_beta_of_all(rows: Matrix) -> float:
    """Compute the least error of any attacker over the guessing error of any prior.

    Every rule from outputs to secrets is tried; for each, and each secret that may be the
    likeliest, a linear program finds the worst prior, scaled so that the guessing error is one.
    """
    n, m = rows.shape
    best = math.inf
    for rule in itertools.product(range(n), repeat=m):
        hit = np.bincount(rule, weights=rows[rule, range(m)], minlength=n)
        for top in range(n):
            others = np.arange(n) != top
            # no secret is likelier than `top`
            below = np.eye(n)[others]
            below[:, top] = -1.0
            found = optimize.linprog(
                1 - hit, A_ub=below, b_ub=np.zeros(n - 1), A_eq=others[None, :], b_eq=[1.0]
            )
            assert found.fun is not None
            best = min(best, found.fun)
    return best


def proved(what: str, holds: bool, because: str = "") -> Held:
    return Held(f"{what} (proof: Narcissus theory 6.3)", bool(holds), "proved", because)
