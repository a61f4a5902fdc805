"""Bounds for one set of people under one guarantee, ready to be averaged over sets.

The theorems are in `narcissus.bounds`; here they meet the targets' own priors: joint values that
are listed (`Targets`), or factors of many unknown columns (`FactoredTargets`).

Where each unknown column counts by itself, the release has its guarantee for each column alone,
however the columns depend on one another and whatever the attacker uses. So the bound on the
success on one column, from its own distribution, is averaged over the columns
(`narcissus.bounds.one_target`). Nothing follows for the number of columns right at the same time.

The number of people recovered stays within some dozens of standard deviations of its mean, so of a
million people a few counts in a hundred suffice, and trials keep only these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._arrays import Floats
from narcissus.attacks.table import Targets
from narcissus.bounds import (
    PoissonBinomial,
    Theorem,
    at_most,
    coin_spent,
    column_shares,
    each_success,
    exact_match_optimum,
    interpolation_tails,
    optimum_by_listing,
    posterior,
    reached_tails,
    split_chances,
    swap_tail,
    threat,
)
from narcissus.bounds.domination import DOMINATION, dominate_point
from narcissus.bounds.interpolation import INTERPOLATION, target_multipliers
from narcissus.bounds.listed import LISTED
from narcissus.bounds.one_target import COLUMNS, optimum_at_points, profile_multipliers
from narcissus.bounds.published import COROLLARY_3_4, THEOREM_3_2
from narcissus.bounds.theorems import for_each, of_tails
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee, PureDP
from narcissus.knowledge import FactoredTargets
from narcissus.priors.elimination import listing, log_partition, marginals, row_count
from narcissus.results import Bound, NotAssessed
from narcissus.success import ColumnsRight

Trial = Mapping[str, NDArray[Any]]
People = Targets | FactoredTargets

PILOT = 256  # people by whom a point of the profile is chosen
# Entries of success matrices, summed over the programs of one trial and setting: some 0.1 to 0.3 s
# each. A single matrix larger than the first is not used at all.
PROGRAM_CELLS = 4_000
POINT_CELLS = 50_000
NEGLIGIBLE = 1e-17  # tails below it are below what any confidence leaves open, as a float
GUESSES = 1 << 13  # people whose best guess is compared with the whole profile at a time
POINTS = 8  # epsilons whose multipliers are tried where the program is not solved
# Most values of a person that are listed from factors; where more matter, limits are valid and
# less sharp.
MOST_LISTED = 2**14
KEPT = 1 << 15  # most counts that a trial keeps: of a million people 32 deviations on each side
COIN_PEOPLE = 256  # up to which chances are split by coins, whose sums are over two counts at once
COINS = (0.25, 0.5)  # beside one near the mean chance, the best where people are alike
# People and prior probabilities up to which it is computed what some mechanism reaches, at `STEPS`
# strengths.
REACHED_PEOPLE, REACHED_CELLS, STEPS = 1024, 200_000, 64
FAIR_PEOPLE = 200  # up to which the swap program is asked, some seconds for each number
# How far the largest best guess may be above the least chance that two draws are equal: 0 for
# equally likely values. Beyond it the program, which takes all people as the worst, gains nothing.
FAIR = 0.03


@lru_cache(maxsize=4)  # every guarantee asks for them
def _most_by_factors(targets: FactoredTargets) -> Floats:
    """Bound the chance of each person's best guess: by a search, and by Markov's inequality.

    The search over all guesses is `narcissus.priors.best_guess`. Of the ``r`` columns that must be
    right at most ``j`` are among any ``j``, so at least ``r - j`` of the others are right, whose
    expected number is at most the sum of their largest chances.
    """
    success = targets.success
    each = [success.window_sums(m, c).max(axis=1) for c, m in enumerate(targets.marginals)]
    rising = np.cumsum(np.sort(np.stack(each, axis=1), axis=1), axis=1)
    columns, needed = rising.shape[1], success.needed
    limits = [rising[:, columns - j - 1] / (needed - j) for j in range(needed)]
    limits.append(targets.best_limit)
    return np.clip(np.min(limits, axis=0), targets.best_chance, 1.0)


def best_chances(targets: People) -> Floats:
    """Bound each person's best guess without the release from above, shape (n,)."""
    if isinstance(targets, Targets):
        return targets.each(lambda rows: targets.success.chances(rows).max(axis=1))
    return targets.best_chance if targets.success.columns.exact else _most_by_factors(targets)


def differ(targets: People) -> Floats:
    """Compute the chance that two secrets drawn alike differ, for each person, shape (n,)."""
    if isinstance(targets, Targets):
        return targets.each(lambda rows: (1 - (rows**2).sum(axis=1)).clip(0, 1))
    factors = targets.factors
    twice = replace(factors, tables=tuple(2 * table for table in factors.tables))
    same = np.exp(log_partition(twice) - 2 * log_partition(factors))
    return (1 - same[factors.rows]).clip(0.0, 1.0)


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


def each_column(targets: People) -> list[Targets]:
    """Return the targets of each unknown column by itself, as if nothing else were asked for."""
    if isinstance(targets, FactoredTargets):
        success, priors = targets.success.columns, list(targets.marginals)
    else:
        success = targets.success
        columns = range(len(success.shape))
        priors = [targets.each(lambda rows, c=c: success.marginal(rows, c)) for c in columns]
    return [
        Targets(targets.queries, targets.codes, prior, success.alone(c))
        for c, prior in enumerate(priors)
    ]


def shares(targets: People, guarantee: Guarantee) -> Floats:
    """Bound each person's chance to be recovered, shape (n,); the mean bounds the mean share.

    The one-target optimum of the person's own prior (Narcissus theory 4.6). Where each column
    counts by itself, the mean over columns. From factors, if all columns must be exactly right:
    from the person's likeliest values, as many as matter or `MOST_LISTED` of them.

    For listed success other than exact match it takes programs, for the first people within
    `PROGRAM_CELLS`; then the multipliers of a few epsilons, within `POINT_CELLS`; for the rest the
    bound from the best prior guess (theory 4.6 with ``kappa = 0``), an upper bound on every value
    in any case. Who is first depends on nobody's prior: so each value is a function of one person
    alone, and people drawn independently have independent values.
    """
    if targets.success.by_column:
        return np.mean([shares(column, guarantee) for column in each_column(targets)], axis=0)
    if isinstance(targets, FactoredTargets):
        limit = from_best_guess(best_chances(targets), guarantee)
        if not targets.success.columns.exact:
            return limit
        return np.clip(np.minimum(_listed(targets, guarantee), limit), targets.best_chance, 1.0)
    success = targets.success
    if success.exact:
        return targets.each(lambda rows: each_success(rows, guarantee))
    value = targets.each(lambda rows: from_best_guess(success.chances(rows).max(axis=1), guarantee))
    matrix = program_matrix(success)
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


@lru_cache(maxsize=16)  # a tail and its parts are asked for at the same point
def _listed(targets: FactoredTargets, guarantee: Guarantee) -> Floats:
    """Bound the chance of naming each person's very secret, shape (n,)."""
    factors = targets.factors
    optimum = optimum_by_listing(listing(factors), row_count(factors), guarantee, most=MOST_LISTED)
    return optimum.value[factors.rows]


def columns_share(targets: FactoredTargets, guarantee: Guarantee) -> float | None:
    """Bound the mean share of right columns, not of people; None if a distance is allowed."""
    if any(targets.success.columns.distances):
        return None
    different = marginals(targets.factors)
    return float(column_shares(different, guarantee)[targets.factors.rows].mean())


def gains(targets: People, guarantee: Guarantee, shares: Floats) -> Floats:
    """Bound what each person's release adds to the chance that an attempt counts, shape (n,).

    Compared with the same attempts on a fresh secret: with ``x`` the person's secret, ``x'``
    another drawn alike, and ``P_x`` the law of the attempt, that is the mean of ``P_x(E_x) -
    P_x'(E_x)`` over both, for ``E_x`` the attempts that count for ``x``. It is 0 if ``x = x'``, and
    else at most ``delta(0)``, the total variation that replacing one person's record allows: so at
    most ``delta(0) (1 - sum_x D(x)^2)``, whatever counts. It is also at most the bound on the
    share, ``shares``.

    Where columns count one by one, the mean over columns: given its value the release is a mixture
    over those of the others, two such mixtures are no further apart in total variation than their
    parts, and a fresh secret's column has the same distribution.
    """
    if targets.success.by_column:
        ones = np.ones_like(shares)
        each = [gains(column, guarantee, ones) for column in each_column(targets)]
        return np.minimum(np.mean(each, axis=0), shares)
    return np.minimum(float(guarantee.profile(0.0)) * differ(targets), shares)


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


def single_success(targets: People, epsilon: float, delta: float) -> tuple[Floats, Floats]:
    """Compute each target's ``o`` and ``Theta`` of the domination theorem at one point.

    Exact match: the closed form of Narcissus theory 4.4, whose pair is feasible for any upper bound
    ``o`` on the optimum. Other success: the pair ``mu = beta(p) D``, which is feasible for ``p``
    the target's own largest prior success or more: then ``o = beta(p)`` and ``Theta <= (1 - sum_x
    D(x)^2) / (1 + p (e^eps - 1))``; of listed values, for the first people within `POINT_CELLS`,
    also the program at that point. Every target may have its own pair; ``delta`` only decides which
    of two is taken. ``o`` and ``Theta`` lie in [0, 1], and depend on the person and their place
    alone.
    """
    if isinstance(targets, FactoredTargets):
        if not targets.success.columns.exact:
            return single_from_best(best_chances(targets), differ(targets), epsilon)
        o = np.clip(_listed(targets, PureDP(epsilon)), targets.best_chance, 1.0)
        return o, 1 - o
    if targets.success.exact:
        o = targets.each(lambda rows: exact_match_optimum(rows, epsilon))
        return o, 1 - o
    o, theta = single_from_best(best_chances(targets), differ(targets), epsilon)
    matrix = program_matrix(targets.success)
    if matrix is None:
        return o, theta
    solved = POINT_CELLS // matrix.size
    rows, back = _different(targets.prior[:solved])
    mu, work = dominate_point(rows, matrix, epsilon)
    success, spent = np.minimum(mu.sum(axis=1), 1.0)[back], work[back]
    # What a little more work costs in terms of success, near the level of 95%.
    price = 10 * delta * np.sqrt(targets.people) / 2
    better = (success + price * spent < o[:solved] + price * theta[:solved]) & (spent <= 1)
    o[:solved][better], theta[:solved][better] = success[better], spent[better]
    return o, theta


def single_from_best(p: Floats, differ: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """Compute ``o`` and ``Theta`` from chances of best guesses, or larger ones, shape (n,)."""
    o = np.asarray(posterior(p, epsilon), dtype=np.float64)
    # (1 - beta) / (1 - p), written so that it neither overflows nor divides by zero
    slope = np.exp(-epsilon) / (p + (1 - p) * np.exp(-epsilon))
    return o, differ * slope


def costs(targets: People, guarantee: Guarantee, epsilon: float, theta: Floats) -> Floats:
    """Compute what each target's leak may cost the count, at one point of the profile, shape (n,).

    ``theta`` is from `single_success`. Exact match of listed values: over the whole profile, which
    is never more (Narcissus theory 4.10); else ``delta Theta``. In [0, 1].
    """
    if isinstance(targets, FactoredTargets):
        return float(guarantee.profile(epsilon)) * theta
    if isinstance(guarantee, PureDP):
        return np.zeros_like(theta)
    if targets.success.exact:
        each = targets.each(lambda rows: profile_multipliers(rows, guarantee, epsilon)[3])
        return each.clip(0, 1)
    return float(guarantee.profile(epsilon)) * theta


def theorems_of(
    success: ColumnsRight, people: int, guarantee: Guarantee, *, factored: bool = False
) -> tuple[Theorem, Theorem]:
    """Return the theorems behind the bounds on the mean share and on the count."""
    tail = DOMINATION if isinstance(guarantee, PureDP) else INTERPOLATION
    first, *others = for_each(guarantee)
    if success.by_column:
        near = "with a distance by linear programs while they are small, else from the best guess"
        share = COLUMNS.by(near) if any(success.distances) else COLUMNS
        return share, share
    if factored:
        if success.exact:
            return LISTED, tail.by("from the likeliest values")
        return first.by("from the best guess"), tail.by("from the best guess")
    how = _how(success, people)
    tail = tail.by(*how) if how else tail
    if success.exact or program_matrix(success) is not None:
        how += [f"or {theorem.statement} where it is less" for theorem in others]
    return first.by(", ".join(how)) if how else first, tail


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


def best_points(targets: People, guarantee: Guarantee, levels: Sequence[float]) -> list[float]:
    """Choose the epsilon of the profile that promises the smallest tail, for each confidence.

    Any choice is valid, so a normal approximation on the first few people may make it.
    """
    if isinstance(targets, FactoredTargets):
        chances, apart = best_chances(targets), differ(targets)
        return chosen_points(
            guarantee, levels, 1.0, 60, lambda e, _: single_from_best(chances, apart, e)
        )
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


def other_tails(targets: People, guarantee: Guarantee) -> dict[str, Floats]:
    """Bound ``Pr[at least v recovered]`` by each theorem that offers tails, by its id.

    Those known need lists of joint values. Success other than exact match needs its matrix: if that
    is too large, no theorem is asked. A tail falls with v, so a bound that rises is cut to those
    before it. A theorem whose result is not n + 2 numbers raises InputError.
    """
    if isinstance(targets, FactoredTargets):
        return {}
    matrix = None if targets.success.exact else program_matrix(targets.success)
    if matrix is None and not targets.success.exact:
        return {}
    tables: dict[str, Floats] = {}
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
        tables[theorem.id] = table
    return tables


def output_tail_table(chances: Floats, epsilon: float, spent: float) -> Floats:
    """Bound ``Pr[at least v recovered]`` for ``v = 0 .. n + 1`` from prior chances of the attempts.

    Swanberg et al. 2025, Theorem 3.2 (given the output; ``spent = 0``, pure DP) and Corollary
    3.4 (averaged over outputs; ``spent = n delta``). From everybody's largest chance it bounds
    every attacker, since the tail grows with each chance.
    """
    o = np.asarray(posterior(chances, epsilon), dtype=np.float64)
    table = np.minimum(PoissonBinomial(o).tails(NEGLIGIBLE) + spent, 1.0)
    table[-1] = 0.0  # more than everybody is impossible
    return table


def not_exceeded(tails: Floats, level: float) -> int:
    """Return the least ``v`` with ``Pr[more than v] <= 1 - level``, of tails for 0 to n + 1."""
    # A hair of slack for sums that should be equal: towards the larger, safe answer.
    return int(np.argmax(tails[1:] <= (1 - level) * (1 - 1e-12)))


def packed(key: str, table: Floats) -> dict[str, NDArray[Any]]:
    """Pack ``Pr[at least v]``; ``key/from`` holds the first count that is kept, if it is cut."""
    if table.size <= KEPT:
        return {key: table}
    level = (table[0] + table[-2]) / 2  # of more than everybody nothing is said
    middle = int((table > level).sum())
    first = min(max(0, middle - KEPT // 2), table.size - KEPT)
    return {key: table[first : first + KEPT], f"{key}/from": np.array(first)}


def unpacked(trial: Trial, key: str, people: int) -> Floats:
    """Unpack the limit for every count, shape (people + 2,); none is too small."""
    limits = trial[key]
    if f"{key}/from" not in trial:
        return limits
    first = int(trial[f"{key}/from"])
    whole = np.ones(people + 2)
    whole[first : first + limits.size] = limits
    whole[first + limits.size :] = limits[-1]
    whole[-1] = 0.0  # more than everybody is impossible
    return whole


def mean_tails(trials: Sequence[Trial], key: str, people: int) -> Floats:
    """Compute the mean over trials, shape (people + 2,)."""
    total = np.zeros(people + 2)
    for trial in trials:
        total += unpacked(trial, key, people)
    return total / len(trials)


def count_tails(
    targets: People, guarantee: Guarantee, epsilon: float, o: Floats, cost: Floats
) -> Floats:
    """Bound ``Pr[at least v recovered]`` for ``v = 0 .. n + 1``, shape (n + 2,).

    ``epsilon`` is the point of the guarantee's profile; ``o`` and ``cost`` are each target's
    numbers there, shape (n,).

    Source: Narcissus theory 4.10: the least of its forms. A coin takes exact match and a list of
    everybody's values.
    """
    table = interpolation_tails(o, cost)
    if not _is_listed(targets) or not 1 < o.size <= COIN_PEOPLE or not cost.any():
        return table
    coins = sorted({*COINS, round(float(o.mean()), 2)} - {0.0, 1.0})

    def numbers(priors: Floats) -> Floats:
        rows, mu, _, costs = target_multipliers(priors, guarantee, epsilon)
        return np.stack([costs, *(n for q in coins for n in split_chances(rows, mu, q))], axis=1)

    first, many = _kinds(targets)
    costs, *split = targets.each(numbers)[first].T
    independent = PoissonBinomial(o).tails()[1:-1]
    for q, coin, ones in zip(coins, split[::2], split[1::2], strict=True):
        limit = independent + coin_spent(costs, coin, ones, q, repeats=many)
        table[1:-1] = np.minimum(table[1:-1], limit)
    table[:-1] = np.minimum.accumulate(table[:-1])
    return table


def _is_listed(targets: People) -> TypeGuard[Targets]:
    return isinstance(targets, Targets) and targets.success.exact


def _kinds(targets: Targets) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return targets.alike.first, np.bincount(targets.alike.of)


def reached(targets: People, guarantee: Guarantee) -> Floats | None:
    """Compute ``Pr[at least v recovered]`` that some mechanism attains; None: not known."""
    if not _is_listed(targets):
        return None
    if targets.people > REACHED_PEOPLE or targets.prior.size > REACHED_CELLS:
        return None
    first, many = _kinds(targets)
    tails = reached_tails(targets.prior[first], guarantee, repeats=many, steps=STEPS)
    return None if isinstance(tails, NotAssessed) else tails


def evenness(targets: People) -> Floats | None:
    """Return the largest chance of a guess, and the least that two secrets are equal."""
    if not _is_listed(targets):
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
