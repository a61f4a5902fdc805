"""How many people of a trial fall at once: what is proved, and what some mechanism reaches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table import Targets
from narcissus.bounds import (
    at_most,
    coin_spent,
    interpolation_tails,
    reached_tails,
    split_chances,
    threat,
)
from narcissus.bounds.binomial import PoissonBinomial
from narcissus.bounds.interpolation import target_multipliers
from narcissus.guarantees import Guarantee, PureDP
from narcissus.results import Bound, NotAssessed

Floats = NDArray[np.float64]

COIN_PEOPLE = 256
"""People up to which chances are split by coins, whose sums are over two counts at once."""
REACHED_PEOPLE = 1024
"""People up to which it is computed what some mechanism reaches, at `STEPS` strengths."""
REACHED_CELLS = 200_000
"""Prior probabilities up to which it is."""
STEPS = 64

FAIR_PEOPLE = 200
"""People up to which the swap program is asked, some seconds for each number."""
FAIR = 0.03
"""How far the largest best guess may be above the least chance that two draws are equal: 0 for
equally likely values. Beyond it the program, which takes all people as the worst, gains nothing."""

_COINS = (0.25, 0.5)  # beside one near the mean chance, which is the best where people are alike


def count_tails(
    targets: Any, guarantee: Guarantee, epsilon: float, o: Floats, cost: Floats
) -> Floats:
    """Limit ``Pr[at least v recovered]`` for ``v = 0 .. n + 1``, shape (n + 2,).

    Parameters
    ----------
    targets
        The people of a trial, listed or factored.
    guarantee
        What the release is.
    epsilon
        The point of its profile.
    o, cost
        Each target's numbers there, shape (n,).

    Notes
    -----
    Source: Narcissus theory 4.10: the least of its forms. A coin takes exact match and a list of
    everybody's values.
    """
    table = interpolation_tails(o, cost)
    listed = isinstance(targets, Targets) and targets.success.exact
    if not listed or not 1 < o.size <= COIN_PEOPLE or not cost.any():
        return table
    coins = sorted({*_COINS, round(float(o.mean()), 2)} - {0.0, 1.0})

    def numbers(priors: Floats) -> Floats:
        rows, mu, _, own = target_multipliers(priors, guarantee, epsilon)
        return np.stack([own, *(n for q in coins for n in split_chances(rows, mu, q))], axis=1)

    first, many = _kinds(targets)
    own, *split = targets.each(numbers)[first].T
    independent = PoissonBinomial(o).tails()[1:-1]
    for q, coin, one in zip(coins, split[::2], split[1::2], strict=True):
        limit = independent + coin_spent(own, coin, one, q, repeats=many)
        table[1:-1] = np.minimum(table[1:-1], limit)
    table[:-1] = np.minimum.accumulate(table[:-1])
    return table


def reached(targets: Any, guarantee: Guarantee) -> Floats | None:
    """Give ``Pr[at least v recovered]`` that some mechanism with the guarantee reaches.

    Shape (n + 2,); None where no such mechanism is known, or there is too much to compute.
    """
    if not isinstance(targets, Targets) or not targets.success.exact:
        return None
    if targets.people > REACHED_PEOPLE or targets.prior.size > REACHED_CELLS:
        return None
    first, many = _kinds(targets)
    found = reached_tails(targets.prior[first], guarantee, repeats=many, steps=STEPS)
    return None if isinstance(found, NotAssessed) else found


def evenness(targets: Any) -> Floats | None:
    """Give the largest chance of a best guess, and the least that two secrets drawn are equal.

    Shape (2,); None for what is not listed and matched exactly.
    """
    if not isinstance(targets, Targets) or not targets.success.exact:
        return None
    same = targets.each(lambda rows: (rows**2).sum(axis=1))
    return np.array([targets.best_chance.max(), same.min()])


def at_most_if_fair(
    evenness: Floats, people: int, guarantee: Guarantee, level: float
) -> Bound | None:
    """Limit the count by the swap program, for people whose values are near equally likely.

    Parameters
    ----------
    evenness
        Of all people who are meant, shape (2,); see `evenness`.
    people
        How many are released.
    guarantee, level
        What the release is, and the confidence.

    Returns
    -------
    bound, or None where it could not be less than what the interpolation theorem says
    """
    p, same = (float(x) for x in evenness)
    if p - same > FAIR or people > FAIR_PEOPLE or isinstance(guarantee, PureDP):
        return None
    danger = threat(prior=p, targets=people, inseparable=min(same, 1.0))
    return at_most(danger, guarantee, level)


def _kinds(targets: Targets) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Give the first person of each prior, and how many have it."""
    return targets.alike.first, np.bincount(targets.alike.of)
