"""Bounds for one set of people under one guarantee, ready to be averaged over sets.

The theorems are in `narcissus.bounds`; here they meet the targets' own priors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus.attacks.table import Targets
from narcissus.bounds import (
    PoissonBinomial,
    Theorem,
    each_success,
    exact_match_optimum,
    posterior,
    swap_tail,
)
from narcissus.bounds.domination import DOMINATION, dominate_point
from narcissus.bounds.interpolation import INTERPOLATION
from narcissus.bounds.one_target import optimum_at_points, profile_multipliers
from narcissus.bounds.published import COROLLARY_3_4, THEOREM_3_2
from narcissus.bounds.theorems import for_each, of_tails
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee, PureDP
from narcissus.success import ColumnsRight

Floats = NDArray[np.float64]

PILOT = 256  # people by whom a point of the profile is chosen
# Entries of success matrices, summed over the programs of one trial and setting: some 0.1 to 0.3 s
# each. A single matrix larger than the first is not used at all.
PROGRAM_CELLS = 4_000
POINT_CELLS = 50_000
NEGLIGIBLE = 1e-17  # tails below it are below what any confidence leaves open, as a float
GUESSES = 1 << 13  # people whose best guess is held against the whole profile at a time
POINTS = 8  # epsilons whose multipliers are tried where the program is not solved


def best_chances(targets: Targets) -> Floats:
    """Return the chance of each person's best guess without the release, shape (n,)."""
    return targets.each(lambda rows: targets.success.chances(rows).max(axis=1))


@lru_cache(maxsize=16)
def program_matrix(success: ColumnsRight) -> Floats | None:
    """Return the success matrix without guesses that others cover; None if it is too large."""
    if prod(success.shape) * success.guesses > PROGRAM_CELLS:
        return None
    matrix = np.unique(success.matrix().astype(np.float64), axis=1)
    # A guess is needless if another is right wherever it is, and somewhere else.
    shared = matrix.T @ matrix
    needless = (shared == np.diag(shared)[:, None]).sum(axis=1) > 1
    return matrix[:, ~needless]


def shares(targets: Targets, guarantee: Guarantee) -> Floats:
    """Bound each person's chance to be recovered, shape (n,); the mean bounds the mean share.

    The one-target optimum of the person's own prior (Narcissus theory 4.6). For success other than
    exact match it takes programs, for the first people within `PROGRAM_CELLS`; then the multipliers
    of a few epsilons, within `POINT_CELLS`; for the rest the bound from the best prior guess
    (theory 4.6 with ``kappa = 0``), an upper bound on every value in any case. Who is first depends
    on nobody's prior: so each value is a function of one person alone, and people drawn
    independently have independent values.
    """
    if targets.success.exact:
        return targets.each(lambda rows: each_success(rows, guarantee))
    value = targets.each(
        lambda rows: from_best_guess(targets.success.chances(rows).max(axis=1), guarantee)
    )
    matrix = program_matrix(targets.success)
    if matrix is None:
        return value
    # Under pure DP the multipliers of its own epsilon are the optimum.
    pure = isinstance(guarantee, PureDP)
    solved = (POINT_CELLS if pure else PROGRAM_CELLS) // matrix.size
    tried = solved if pure else solved + POINT_CELLS // matrix.size
    if solved:
        rows, back = _different(targets.prior[:solved])
        value[:solved] = np.minimum(value[:solved], each_success(rows, guarantee, matrix)[back])
    if targets.prior[solved:tried].size:
        rows, back = _different(targets.prior[solved:tried])
        limits = optimum_at_points(rows, guarantee, matrix, POINTS)[back]
        value[solved:tried] = np.minimum(value[solved:tried], limits)
    return value


def gains(targets: Targets, guarantee: Guarantee, shares: Floats) -> Floats:
    """Bound what each person's release adds to the chance that an attempt counts, shape (n,).

    Compared with the same attempts on a fresh secret: with ``x`` the person's secret, ``x'``
    another drawn alike, and ``P_x`` the law of the attempt, that is the mean of ``P_x(E_x) -
    P_x'(E_x)`` over both, for ``E_x`` the attempts that count for ``x``. It is 0 if ``x = x'``, and
    else at most ``delta(0)``, the total variation that replacing one person's record allows: so at
    most ``delta(0) (1 - sum_x D(x)^2)``, whatever counts. It is also at most the bound on the
    share, ``shares``.
    """
    return np.minimum(float(guarantee.profile(0.0)) * _differ(targets), shares)


def _differ(targets: Targets) -> Floats:
    return targets.each(lambda rows: (1 - (rows**2).sum(axis=1)).clip(0, 1))


def from_best_guess(p: Floats, guarantee: Guarantee) -> Floats:
    """Bound each person's chance from that of their best guess alone, shape (n,)."""
    if isinstance(guarantee, PureDP):
        return np.asarray(posterior(p, guarantee.epsilon), dtype=np.float64)
    points = np.asarray(guarantee.tangents(200))[:, None]
    delta = np.asarray(guarantee.profile(points[:, 0]))[:, None]
    value = np.empty_like(p)
    for start in range(0, p.size, GUESSES):
        block = slice(start, start + GUESSES)
        value[block] = swap_tail(1, p[None, block], points, delta, 1).min(axis=0)
    return np.clip(value, p, 1.0)


def _different(prior: Floats) -> tuple[Floats, NDArray[np.intp]]:
    rows, back = np.unique(prior, axis=0, return_inverse=True)
    return rows / rows.sum(axis=1, keepdims=True), np.ravel(back)


def single_success(targets: Targets, epsilon: float, delta: float) -> tuple[Floats, Floats]:
    """Compute each target's ``o`` and ``Theta`` of the domination theorem at one point.

    Exact match: the closed form of Narcissus theory 4.4. Other success: the program at that point
    for the first people within `POINT_CELLS`, and for the rest the pair ``mu = beta(p) D``, which
    is feasible for ``p`` the target's own largest prior success: then ``o = beta(p)`` and ``Theta
    <= (1 - sum_x D(x)^2) / (1 + p (e^eps - 1))``. Every target may have its own pair; ``delta``
    only decides which of two is taken. ``o`` and ``Theta`` lie in [0, 1], and depend on the person
    and their place alone.
    """
    if targets.success.exact:
        o = targets.each(lambda rows: exact_match_optimum(rows, epsilon))
        return o, 1 - o
    o, theta = single_from_best(best_chances(targets), _differ(targets), epsilon)
    matrix = program_matrix(targets.success)
    if matrix is None:
        return o, theta
    solved = POINT_CELLS // matrix.size
    rows, back = _different(targets.prior[:solved])
    mu, work = dominate_point(rows, matrix, epsilon)
    least, spent = np.minimum(mu.sum(axis=1), 1.0)[back], work[back]
    # What a little more work costs in terms of success, near the level of 95%.
    price = 10 * delta * np.sqrt(targets.people) / 2
    better = (least + price * spent < o[:solved] + price * theta[:solved]) & (spent <= 1)
    o[:solved][better], theta[:solved][better] = least[better], spent[better]
    return o, theta


def costs(targets: Targets, guarantee: Guarantee, epsilon: float, theta: Floats) -> Floats:
    """Compute what each target's leak may cost the count, at one point of the profile, shape (n,).

    ``theta`` is from `single_success`. Exact match: over the whole profile, which is never more
    (Narcissus theory 4.10); else ``delta Theta``. In [0, 1].
    """
    if isinstance(guarantee, PureDP):
        return np.zeros_like(theta)
    if targets.success.exact:
        return targets.each(lambda rows: profile_multipliers(rows, guarantee, epsilon)[3]).clip(
            0, 1
        )
    return float(guarantee.profile(epsilon)) * theta


def single_from_best(p: Floats, differ: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """Compute each target's ``o`` and ``Theta`` from the chance ``p`` of their best guess, (n,).

    Feasible also for a ``p`` above every guess's chance: ``differ`` are the chances that two
    secrets drawn alike differ, ``1 - sum_x D(x)^2``.
    """
    o = np.asarray(posterior(p, epsilon), dtype=np.float64)
    # (1 - beta) / (1 - p), written so that it neither overflows nor divides by zero
    slope = np.exp(-epsilon) / (p + (1 - p) * np.exp(-epsilon))
    return o, differ * slope


def share_theorem(success: ColumnsRight, people: int, guarantee: Guarantee) -> Theorem:
    first, *others = for_each(guarantee)
    how = _how(success, people)
    if success.exact or program_matrix(success) is not None:
        how += [f"or {theorem.statement} where it is less" for theorem in others]
    return first.by(", ".join(how)) if how else first


def tail_theorem(success: ColumnsRight, people: int, guarantee: Guarantee) -> Theorem:
    """Return the theorem behind `tail_table`: under pure DP it is that of `shares`."""
    how = _how(success, people)
    theorem = DOMINATION if isinstance(guarantee, PureDP) else INTERPOLATION
    return theorem.by(*how) if how else theorem


def published_theorem(guarantee: Guarantee) -> Theorem:
    """Return the theorem behind `output_tail_table` for pure or approximate DP."""
    pure = isinstance(guarantee, PureDP)
    return THEOREM_3_2.by("given the output") if pure else COROLLARY_3_4


def _how(success: ColumnsRight, people: int) -> list[str]:
    """Describe for which people programs are solved, whatever their priors are."""
    if success.exact:
        return []
    matrix = program_matrix(success)
    if matrix is None:
        return ["from the best guess"]
    solved = POINT_CELLS // matrix.size
    if people <= solved:
        return ["by linear programs"]
    return [f"by linear programs for {solved} of {people} people, else from the best guess"]


def best_points(targets: Targets, guarantee: Guarantee, levels: list[float]) -> list[float]:
    """Choose the epsilon of the profile that promises the smallest tail, for each confidence.

    Any choice is valid, so a normal approximation on the first few people may make it.
    """
    # Programs take longer than the closed form: fewer of them.
    count, people = (60, PILOT) if targets.success.exact else (20, PILOT // 4)
    some = replace(targets, codes=targets.codes[:people], prior=targets.prior[:people])
    scale = targets.people / some.people
    return chosen_points(
        guarantee, levels, scale, count, lambda e, delta: single_success(some, e, delta)
    )


def chosen_points(
    guarantee: Guarantee,
    levels: Sequence[float],
    scale: float,
    count: int,
    single: Callable[[float, float], tuple[Floats, Floats]],
) -> list[float]:
    """Choose among ``count`` epsilons of the profile, for each confidence; see `best_points`.

    ``scale`` is the number of people that each of the sample stands for; ``single`` maps epsilon
    and delta to each target's ``o`` and ``Theta``. The cost of leaks is taken as ``delta Theta``,
    which is near enough for a choice.
    """
    if isinstance(guarantee, PureDP):
        return [guarantee.epsilon] * len(levels)
    chosen: list[float] = []
    points = [float(e) for e in guarantee.tangents(count)]
    deltas = np.asarray(guarantee.profile(np.array(points)))
    sums = [single(epsilon, float(delta)) for epsilon, delta in zip(points, deltas, strict=True)]
    for level in levels:
        best, value = points[-1], np.inf
        for epsilon, delta, (o, theta) in zip(points, deltas, sums, strict=True):
            deviation = float(np.sqrt(scale * (o * (1 - o)).sum()))
            spent = float(delta) * scale * float(theta.sum())
            reach = scale * float(o.sum()) + _roughly_beyond(deviation, spent, level)
            if reach < value:
                best, value = epsilon, reach
        chosen.append(best)
    return chosen


def _roughly_beyond(deviation: float, spent: float, level: float) -> float:
    steps, nodes = np.linspace(-1, 8, 181), np.linspace(-6, 6, 241)
    weights = np.exp(-(nodes**2) / 2)
    near = 1 / (1 + deviation * np.abs(nodes - steps[:, None])) @ (weights / weights.sum())
    fine = special.ndtr(-steps) + spent * near <= 1 - level
    return deviation * float(steps[fine.argmax()]) if fine.any() else np.inf


def tail_table(chances: Floats, spent: float) -> Floats:
    """Bound ``Pr[at least v recovered]`` for ``v = 0 .. n + 1``, shape (n + 2,).

    ``chances`` are everybody's ``o`` of `single_success`, or other upper bounds, shape (n,).
    ``spent`` is what failures add: ``delta`` times the sum of ``Theta``.
    """
    table = np.minimum(PoissonBinomial(chances).tails(NEGLIGIBLE) + spent, 1.0)
    table[-1] = 0.0  # more than everybody is impossible
    return table


def other_tails(targets: Targets, guarantee: Guarantee) -> dict[str, Floats]:
    """Bound ``Pr[at least v recovered]`` by each theorem that offers tails, by its id.

    Success other than exact match needs its matrix: if that is too large, no theorem is asked. A
    tail falls with v, so a bound that rises is cut to those before it. A theorem whose result is
    not n + 2 numbers raises InputError.
    """
    matrix = None if targets.success.exact else program_matrix(targets.success)
    if matrix is None and not targets.success.exact:
        return {}
    found: dict[str, Floats] = {}
    for theorem in of_tails(guarantee):
        assert theorem.tails is not None
        table = np.array(theorem.tails(targets.prior, guarantee, matrix), dtype=np.float64)
        if table.shape != (targets.people + 2,) or np.isnan(table).any():
            raise InputError(
                f"`tails` of the theorem {theorem.id!r} must give a number for each count of "
                f"0 .. {targets.people + 1}, got shape {table.shape}"
            )
        table = np.minimum.accumulate(table.clip(0.0, 1.0))
        table[-1] = 0.0
        found[theorem.id] = table
    return found


def output_tail_table(chances: Floats, epsilon: float, spent: float) -> Floats:
    """Bound ``Pr[at least v recovered]`` from the prior chances of the attempts, shape (n + 2,).

    Swanberg et al. 2025, Theorem 3.2 (given the output; ``spent = 0``, pure DP) and Corollary
    3.4 (averaged over outputs; ``spent = n delta``). From everybody's largest chance it bounds
    every attacker, since the tail grows with each chance.
    """
    return tail_table(np.asarray(posterior(chances, epsilon), dtype=np.float64), spent)


def not_exceeded(tails: Floats, level: float) -> int:
    """Return the least ``v`` with ``Pr[more than v] <= 1 - level``.

    ``tails`` are ``Pr[at least v]`` for ``v = 0 .. n + 1``, non-increasing.
    """
    # A hair of slack for sums that should be equal: towards the larger, safe answer.
    return int(np.argmax(tails[1:] <= (1 - level) * (1 - 1e-12)))
