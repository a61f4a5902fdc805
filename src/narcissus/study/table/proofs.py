"""What is proved about one set of people under one guarantee, ready to be averaged over sets.

The theorems are in `narcissus.bounds`; here they meet the targets' own priors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus.attacks.table import Targets
from narcissus.bounds import PoissonBinomial, exact_match_optimum, optimum, posterior, swap_tail
from narcissus.guarantees import Guarantee, PureDP
from narcissus.success import ColumnsRight

Floats = NDArray[np.float64]

PILOT = 256  # people by whom a point of the profile is chosen


def best_chances(targets: Targets) -> Floats:
    """Give each person's best guess's chance without the release, shape (n,)."""
    return targets.success.chances(targets.prior).max(axis=1)


def shares(targets: Targets, guarantee: Guarantee) -> Floats:
    """Limit each person's chance to be recovered, shape (n,); the mean limits the mean share.

    Exact match: the one-target optimum of the person's own prior (Narcissus theory 4.6), else the
    bound of one target from its best prior guess, minimised over the profile (theory 4.6 with
    ``kappa = 0``).
    """
    if targets.success.exact:
        return optimum(targets.prior, guarantee)
    p = best_chances(targets)
    if isinstance(guarantee, PureDP):
        return posterior(p, guarantee.epsilon)
    points = np.asarray(guarantee.tangents(200))[:, None]
    delta = np.asarray(guarantee.profile(points[:, 0]))[:, None]
    value = swap_tail(1, p[None], points, delta, 1)
    return np.clip(value.min(axis=0), p, 1.0)


def share_theorem(success: ColumnsRight) -> str:
    """Name the theorem behind `shares`."""
    how = "" if success.exact else ", from the best guess"
    return f"Narcissus theory 4.6 (one-target optimum{how})"


def count_theorem(success: ColumnsRight) -> str:
    """Name the theorem behind `tail_table`."""
    return f"Narcissus theory 4.4 ({'domination' if success.exact else 'simpler bound'})"


def single_success(targets: Targets, epsilon: float) -> tuple[Floats, Floats]:
    """Give each target's ``o`` and ``Theta`` of the domination theorem at one epsilon.

    Exact match: the closed form of Narcissus theory 4.4. Other success: the simpler bound there,
    with each target's own largest prior success, ``Theta = 1``.
    """
    if targets.success.exact:
        o = exact_match_optimum(targets.prior, epsilon)
        return o, 1 - o
    o = posterior(best_chances(targets), epsilon)
    return o, np.ones_like(o)


def best_points(targets: Targets, guarantee: Guarantee, levels: list[float]) -> list[float]:
    """Choose the epsilon of the profile that promises the smallest tail, for each confidence.

    Any choice is valid, so a normal approximation on the first few people may make it.
    """
    if isinstance(guarantee, PureDP):
        return [guarantee.epsilon] * len(levels)
    chosen: list[float] = []
    points = [float(e) for e in guarantee.tangents(60)]
    some = replace(targets, codes=targets.codes[:PILOT], prior=targets.prior[:PILOT])
    scale = targets.people / some.people
    sums = [single_success(some, epsilon) for epsilon in points]
    deltas = np.asarray(guarantee.profile(np.array(points)))
    for level in levels:
        best, value = points[-1], np.inf
        for epsilon, delta, (o, theta) in zip(points, deltas, sums, strict=True):
            left = 1 - level - float(delta) * scale * float(theta.sum())
            if left <= 0:
                continue
            deviation = float(np.sqrt(scale * (o * (1 - o)).sum()))
            reach = scale * float(o.sum()) - float(special.ndtri(left)) * deviation
            if reach < value:
                best, value = epsilon, reach
        chosen.append(best)
    return chosen


def tail_table(targets: Targets, guarantee: Guarantee, epsilon: float) -> Floats:
    """Limit ``Pr[at least v recovered]`` for ``v = 0 .. n + 1``, shape (n + 2,).

    The domination theorem at the point (epsilon, delta) of the profile.
    """
    o, theta = single_success(targets, epsilon)
    spent = float(guarantee.profile(epsilon)) * float(theta.sum())
    table = np.minimum(PoissonBinomial(o).tails() + spent, 1.0)
    table[-1] = 0.0  # more than everybody is impossible
    return table


def output_tail_table(chances: Floats, epsilon: float, spent: float) -> Floats:
    """Limit ``Pr[at least v recovered]`` from the prior chances of the attempts.

    Swanberg et al. 2025, Theorem 3.2 (given the output; ``spent = 0``, pure DP) and Corollary
    3.4 (averaged over outputs; ``spent = n delta``). From everybody's largest chance it limits
    every attacker, since the tail grows with each chance. Shape (n + 2,).
    """
    table = np.minimum(PoissonBinomial(posterior(chances, epsilon)).tails() + spent, 1.0)
    table[-1] = 0.0
    return table


def not_exceeded(tails: Floats, level: float) -> int:
    """Give the least ``v`` with ``Pr[more than v] <= 1 - level``.

    Parameters
    ----------
    tails
        ``Pr[at least v]`` for ``v = 0 .. n + 1``, non-increasing.
    level
        The confidence.
    """
    # A hair of slack for sums that should be equal: towards the larger, safe answer.
    return int(np.argmax(tails[1:] <= (1 - level) * (1 - 1e-12)))
