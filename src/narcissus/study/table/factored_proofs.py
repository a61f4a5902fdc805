"""Bounds for people with many unknown columns, computed from factors.

The theorems are those of `narcissus.study.table.proofs`, without a list of joint values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from narcissus.bounds import Theorem, column_shares, optimum_by_listing
from narcissus.bounds.domination import DOMINATION
from narcissus.bounds.interpolation import INTERPOLATION
from narcissus.bounds.listed import LISTED
from narcissus.bounds.theorems import for_each
from narcissus.guarantees import Guarantee, PureDP
from narcissus.knowledge import FactoredTargets
from narcissus.priors.elimination import listing, log_partition, marginals, row_count
from narcissus.study.table import proofs
from narcissus.success import ColumnsRight

Floats = NDArray[np.float64]

MOST_LISTED = 2**14
"""Most values of a person that are listed; where more matter, limits are valid and less sharp."""


@lru_cache(maxsize=4)  # every guarantee asks for them
def best_chances(targets: FactoredTargets) -> Floats:
    """Bound the chance of each person's best guess without the release from above, shape (n,).

    Exact if the best guess is known. Else the smaller of two bounds: that of a search over all
    guesses (`narcissus.priors.best_guess`); and Markov's inequality: of the ``r`` columns that must
    be right at most ``j`` are among any ``j``, so at least ``r - j`` of the others are right, whose
    expected number is at most the sum of their largest chances.
    """
    if targets.success.columns.exact:
        return targets.best_chance
    success = targets.success
    each = [success.window_sums(m, c).max(axis=1) for c, m in enumerate(targets.marginals)]
    rising = np.cumsum(np.sort(np.stack(each, axis=1), axis=1), axis=1)
    columns, needed = rising.shape[1], success.needed
    limits = [rising[:, columns - j - 1] / (needed - j) for j in range(needed)]
    limits.append(targets.best_limit)
    return np.clip(np.min(limits, axis=0), targets.best_chance, 1.0)


def columns_share(targets: FactoredTargets, guarantee: Guarantee) -> float | None:
    """Bound the mean share of unknown columns that any attacker gets right of these people.

    This is no bound on the chance that many columns are right. None if a distance is allowed.
    """
    if any(targets.success.columns.distances):
        return None
    different = marginals(targets.factors)
    return float(column_shares(different, guarantee)[targets.factors.rows].mean())


def differ(targets: FactoredTargets) -> Floats:
    factors = targets.factors
    twice = replace(factors, tables=tuple(2 * table for table in factors.tables))
    same = np.exp(log_partition(twice) - 2 * log_partition(factors))
    return (1 - same[factors.rows]).clip(0.0, 1.0)


def shares(targets: FactoredTargets, guarantee: Guarantee) -> Floats:
    """Bound each person's chance to be recovered, shape (n,); see `proofs.shares`.

    Where all columns must be exactly right, the one-target optimum from the person's likeliest
    values, as many as matter or `MOST_LISTED` of them; never above the bound from the best guess.
    """
    limit = proofs.from_best_guess(best_chances(targets), guarantee)
    if not targets.success.columns.exact:
        return limit
    return np.clip(np.minimum(_listed(targets, guarantee), limit), targets.best_chance, 1.0)


@lru_cache(maxsize=16)  # a tail and its parts are asked for at the same point
def _listed(targets: FactoredTargets, guarantee: Guarantee) -> Floats:
    """Bound the chance of naming each person's very secret, shape (n,)."""
    factors = targets.factors
    found = optimum_by_listing(listing(factors), row_count(factors), guarantee, most=MOST_LISTED)
    return found.value[factors.rows]


def gains(targets: FactoredTargets, guarantee: Guarantee, shares: Floats) -> Floats:
    """Bound what each person's release adds to the chance that an attempt counts, shape (n,).

    See `proofs.gains`.
    """
    most = float(guarantee.profile(0.0)) * differ(targets)
    return np.minimum(most, shares)


def single_success(targets: FactoredTargets, epsilon: float, delta: float) -> tuple[Floats, Floats]:
    """Compute each target's ``o`` and ``Theta`` of the domination theorem at one point.

    As `proofs.single_success` where all columns must be exactly right: its pair is feasible for any
    upper bound ``o`` on the optimum. Else the pair from the best guess, which is feasible for any
    ``p`` that no guess's prior chance exceeds.
    """
    del delta  # there is one pair to take
    if targets.success.columns.exact:
        o = np.clip(_listed(targets, PureDP(epsilon)), targets.best_chance, 1.0)
        return o, 1 - o
    return proofs.single_from_best(best_chances(targets), differ(targets), epsilon)


def costs(targets: FactoredTargets, guarantee: Guarantee, epsilon: float, theta: Floats) -> Floats:
    """Compute what each target's leak may cost the count, ``delta Theta``, shape (n,)."""
    del targets
    return float(guarantee.profile(epsilon)) * theta


def best_points(
    targets: FactoredTargets, guarantee: Guarantee, levels: Sequence[float]
) -> list[float]:
    """Choose the epsilon of the profile that promises the smallest tail, for each confidence."""
    chances, apart = best_chances(targets), differ(targets)
    return proofs.chosen_points(
        guarantee, levels, 1.0, 60, lambda e, _: proofs.single_from_best(chances, apart, e)
    )


def other_tails(targets: FactoredTargets, guarantee: Guarantee) -> dict[str, Floats]:
    """Return no other theorem's tails: those known need lists of joint values."""
    del targets, guarantee
    return {}


def share_theorem(success: ColumnsRight, guarantee: Guarantee) -> Theorem:
    return LISTED if success.exact else for_each(guarantee)[0].by("from the best guess")


def tail_theorem(success: ColumnsRight, guarantee: Guarantee) -> Theorem:
    how = "from the likeliest values" if success.exact else "from the best guess"
    theorem = DOMINATION if isinstance(guarantee, PureDP) else INTERPOLATION
    return theorem.by(how)
