"""The number of people of a trial recovered at once: bounds, and what some mechanism attains.

The count stays within some dozens of standard deviations of its mean, so of a million people a few
counts in a hundred suffice, and trials keep only these. Outside them the limit is never too small:
1 below, the last one kept above.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

Trial = Mapping[str, NDArray[Any]]

KEPT = 1 << 15
"""Most counts that a trial keeps: of a million people 32 standard deviations on each side."""


def packed(key: str, table: Floats) -> dict[str, NDArray[Any]]:
    """Pack ``Pr[at least v]`` for ``v = 0 .. n + 1``, by names after ``key``.

    If it is cut, ``key/from`` holds the first count that is kept.
    """
    if table.size <= KEPT:
        return {key: table}
    level = (table[0] + table[-2]) / 2  # of more than everybody nothing is said
    middle = int((table > level).sum())
    first = min(max(0, middle - KEPT // 2), table.size - KEPT)
    return {key: table[first : first + KEPT], f"{key}/from": np.array(first)}


def unpacked(trial: Trial, key: str, people: int) -> Floats:
    """Unpack the limit for every count, shape (people + 2,)."""
    own = trial[key]
    if f"{key}/from" not in trial:
        return own
    first = int(trial[f"{key}/from"])
    whole = np.ones(people + 2)
    whole[first : first + own.size] = own
    whole[first + own.size :] = own[-1]
    whole[-1] = 0.0  # more than everybody is impossible
    return whole


def mean_tails(trials: Sequence[Trial], key: str, people: int) -> Floats:
    """Compute the mean over trials, shape (people + 2,)."""
    total = np.zeros(people + 2)
    for trial in trials:
        total += unpacked(trial, key, people)
    return total / len(trials)


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
    """Bound ``Pr[at least v recovered]`` for ``v = 0 .. n + 1``, shape (n + 2,).

    ``epsilon`` is the point of the guarantee's profile; ``o`` and ``cost`` are each target's
    numbers there, shape (n,).

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
    """Compute ``Pr[at least v recovered]`` that some mechanism with the guarantee attains.

    Shape (n + 2,); None if no such mechanism is known, or it takes too much to compute.
    """
    if not isinstance(targets, Targets) or not targets.success.exact:
        return None
    if targets.people > REACHED_PEOPLE or targets.prior.size > REACHED_CELLS:
        return None
    first, many = _kinds(targets)
    found = reached_tails(targets.prior[first], guarantee, repeats=many, steps=STEPS)
    return None if isinstance(found, NotAssessed) else found


def evenness(targets: Any) -> Floats | None:
    """Return the largest chance of a best guess, and the least that two drawn secrets are equal.

    Shape (2,); None unless values are listed and matched exactly.
    """
    if not isinstance(targets, Targets) or not targets.success.exact:
        return None
    same = targets.each(lambda rows: (rows**2).sum(axis=1))
    return np.array([targets.best_chance.max(), same.min()])


def at_most_if_fair(
    evenness: Floats, people: int, guarantee: Guarantee, level: float
) -> Bound | None:
    """Bound the count by the swap program, for people whose values are near equally likely.

    ``evenness`` is that of the whole population, shape (2,); ``people`` are released. None if the
    bound cannot be below that of the interpolation theorem.
    """
    p, same = (float(x) for x in evenness)
    if p - same > FAIR or people > FAIR_PEOPLE or isinstance(guarantee, PureDP):
        return None
    danger = threat(prior=p, targets=people, inseparable=min(same, 1.0))
    return at_most(danger, guarantee, level)


def _kinds(targets: Targets) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first person of each prior, and how many share it."""
    return targets.alike.first, np.bincount(targets.alike.of)
