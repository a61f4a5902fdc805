"""The threat: the attacker's prior knowledge, the number of targets, the success criterion.

Priors are rows of probabilities; or, with too many values to list, the likeliest values with an
upper bound on the others, or masses by rank that follow a formula.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import (
    between,
    distribution,
    integer,
    kept,
    probabilities,
    probability,
)
from narcissus.errors import InputError

FloatArray = NDArray[np.float64]


def prior_rows(name: str, priors: ArrayLike, counts: ArrayLike | None = None) -> FloatArray:
    """Convert ``priors`` to an array of shape (m, V) whose rows are distributions.

    A vector is one row; zeros pad. With ``counts`` each entry stands for that many values.
    """
    rows = np.atleast_2d(probabilities(name, priors))
    if rows.ndim != 2 or rows.size == 0:
        raise InputError(f"`{name}` must be one distribution a row, got shape {rows.shape}")
    totals = rows.sum(axis=1) if counts is None else (rows * count_rows(counts, rows)).sum(axis=1)
    bad = np.flatnonzero(np.abs(totals - 1.0) > 1e-9)
    if bad.size:
        raise InputError(
            f"`{name}` must sum to 1 within 1e-09 in every row, "
            f"got {float(totals[bad[0]])!r} in row {bad[0]}"
        )
    return rows


def count_rows(counts: ArrayLike, rows: FloatArray) -> FloatArray:
    """Convert ``counts``, the number of values per entry of ``rows``, to an array of its shape.

    Each is at least 1, or 0 at padding; they need not be whole.
    """
    numbers = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    if numbers.shape != rows.shape or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise InputError(
            f"`counts` must be a finite number for each of the {rows.shape} prior probabilities, "
            f"got shape {numbers.shape}"
        )
    if ((numbers < 1) & (numbers * rows > 0)).any():
        raise InputError("`counts` must be at least 1 for every probability above 0")
    return numbers


def likeliest_first(
    rows: FloatArray, counts: ArrayLike | None
) -> tuple[FloatArray, FloatArray | None]:
    """Sort each row from its largest entry on, with its counts, if any."""
    if counts is None:
        return -np.sort(-rows, axis=1), None
    order = np.argsort(-rows, axis=1, kind="stable")
    many = np.take_along_axis(count_rows(counts, rows), order, axis=1)
    return np.take_along_axis(rows, order, axis=1), many


def prior_kinds(
    priors: ArrayLike, repeats: ArrayLike | None
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the distinct priors and their multiplicities."""
    rows = prior_rows("priors", priors)
    counts = np.ones(len(rows), dtype=np.int64) if repeats is None else np.atleast_1d(repeats)
    if counts.shape != (len(rows),) or (counts < 1).any():
        raise InputError("`repeats` must be whole numbers from 1, one for each prior")
    different, back = np.unique(rows, axis=0, return_inverse=True)
    return different, np.bincount(np.ravel(back), weights=counts).astype(np.int64)


def success_matrix(success: ArrayLike, values: int) -> FloatArray:
    """Convert ``success`` to a 0/1 array of shape (values, Z) without repeated guesses."""
    matrix = probabilities("success", success)
    if matrix.ndim != 2 or matrix.shape[0] != values or matrix.shape[1] == 0:
        raise InputError(
            f"`success` must have one row for each of the {values} values and one column a guess, "
            f"got shape {matrix.shape}"
        )
    if not np.isin(matrix, (0.0, 1.0)).all():
        raise InputError("`success` must hold only 0 and 1")
    return np.unique(matrix, axis=1)


@dataclass(frozen=True)
class Nearby:
    """How far a true prior may be from the one that is given; exactly one of the two.

    factor: At least 1: every value's true probability is between ``1 / factor`` and ``factor``
        times the given one.
    distance: In [0, 1]: no event's probability is further from the given one (total variation).

    InputError: none or both are given, or one is out of its range.
    """

    factor: float | None = None
    distance: float | None = None

    def __post_init__(self) -> None:
        if (self.factor is None) == (self.distance is None):
            raise InputError("`prior_factor` or `prior_distance` must be given, and not both")
        if self.factor is not None:
            between("prior_factor", self.factor, 1, inf, open_high=True)
        else:
            probability("prior_distance", self.distance)

    def most(self, mass: float) -> float:
        """Return the largest true probability of an event whose given one is ``mass``."""
        if self.factor is None:
            return min(1.0, mass + (self.distance or 0.0))
        return min(1.0, self.factor * mass, 1.0 - (1.0 - mass) / self.factor)

    def least(self, mass: float) -> float:
        """Return the least true probability of an event whose given one is ``mass``."""
        return 1.0 - self.most(1.0 - mass)

    def worst(self, priors: ArrayLike) -> FloatArray:
        """Return the nearby prior that is easiest to guess exactly, shape (m, V) or (V,).

        Any ``k`` values have at most the mass of its ``k`` likeliest (it majorises all that are
        nearby), so a limit for it holds for all of them where a guess must name the very value.

        Source: Narcissus theory 4.12.

        >>> Nearby(factor=2.0).worst([0.5, 0.3, 0.2])
        array([0.75, 0.15, 0.1 ])
        >>> Nearby(distance=0.1).worst([0.5, 0.3, 0.2])
        array([0.6, 0.3, 0.1])
        """
        rows = prior_rows("priors", priors)
        worst = self.towards(rows / rows.sum(axis=1, keepdims=True), rows)
        return worst if np.ndim(priors) == 2 else worst[0]

    def towards(self, priors: FloatArray, values: FloatArray) -> FloatArray:
        """Return the nearby priors with the largest mean of values, both of shape (..., V)."""
        order = np.argsort(-values, axis=-1, kind="stable")
        falling = np.take_along_axis(priors, order, axis=-1)
        if self.factor is not None:
            room = (self.factor - 1 / self.factor) * falling
            before = np.cumsum(room, axis=-1) - room
            masses = falling / self.factor + np.clip(1 - 1 / self.factor - before, 0.0, room)
        else:
            moved = np.minimum(self.distance or 0.0, 1 - falling[..., :1])
            after = np.cumsum(falling[..., ::-1], axis=-1)[..., ::-1] - falling  # of less value
            masses = falling - np.clip(moved - after, 0.0, falling)
            masses[..., :1] = falling[..., :1] + moved
        best = np.empty_like(falling)
        np.put_along_axis(best, order, masses / masses.sum(axis=-1, keepdims=True), axis=-1)
        return best

    def describe(self) -> str:
        if self.factor is None:
            return f"the true prior is within {self.distance:g} of the given one (total variation)"
        return (
            f"the true prior gives each value between 1/{self.factor:g} and {self.factor:g} times "
            "the probability that is given"
        )


@dataclass(frozen=True, eq=False)
class ListedPriors:
    """The likeliest values of several targets' priors, and an upper bound on all others.

    Raises `InputError` if shapes do not match, a mass sum exceeds 1 or falls short of it although
    all values are listed, or an unlisted value may be likelier than a listed one.
    """

    masses: FloatArray  # prior probabilities of the listed values, shape (m, K); zeros pad
    # upper bound on every other value's probability, shape (m,); at most the smallest of the
    # masses, and 0 if all values are listed
    unlisted: FloatArray

    def __post_init__(self) -> None:
        masses = np.atleast_2d(probabilities("masses", self.masses))
        unlisted = np.atleast_1d(probabilities("unlisted", self.unlisted))
        if masses.ndim != 2 or masses.size == 0 or unlisted.shape != (len(masses),):
            raise InputError(
                "`masses` must have one row a target and `unlisted` one number a target, "
                f"got shapes {masses.shape} and {unlisted.shape}"
            )
        total = masses.sum(axis=1)
        if (total > 1 + 1e-9).any() or ((total < 1 - 1e-9) & (unlisted == 0)).any():
            raise InputError(
                "`masses` must sum to at most 1, and to 1 where no value is left out, "
                f"got sums from {total.min():.12g} to {total.max():.12g}"
            )
        minima = np.where(masses > 0, masses, np.inf).min(axis=1)
        if (unlisted > minima * (1 + 1e-6)).any():
            raise InputError("`unlisted` must not be above the smallest of the masses")
        object.__setattr__(self, "masses", kept(masses))
        object.__setattr__(self, "unlisted", kept(unlisted))

    def with_rest(self, each: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return masses and counts of the prior whose unlisted values have mass ``each`` (m,).

        Shapes (m, K + 1), as for `narcissus.bounds.optimum`; the counts need not be whole.
        """
        rest = np.maximum(1.0 - self.masses.sum(axis=1), 0.0)
        share = np.minimum(each, rest)
        counts = np.divide(rest, share, out=np.zeros_like(rest), where=share > 0)
        masses = np.column_stack([self.masses, share])
        return masses, np.column_stack([(self.masses > 0).astype(np.float64), counts])


SINGLE = 4096  # likeliest values kept as they are; the others are grouped
_GROWTH = 1.005  # from the first to the last rank of a group
_ALIKE = 1e-12  # masses of smaller relative difference are merged


class RankedPrior(Protocol):
    """A distribution of a secret, by the ranks of its values from the likeliest on.

    It must be hashable, as results computed from it are cached.
    """

    @property
    def n(self) -> int:
        """Number of values."""
        ...

    def probability(self, rank: int) -> float:
        """Return the probability of the value of a rank, from 1; it falls with the rank."""
        ...

    def head(self, k: int) -> float:
        """Return the total probability of the ``k`` likeliest values, ``0 <= k <= n``."""
        ...

    def collision(self) -> float:
        """Return the probability that two independent draws are equal."""
        ...

    def describe(self) -> str:
        """Describe the distribution in words."""
        ...


@lru_cache(maxsize=16)
def spread(prior: RankedPrior) -> tuple[FloatArray, FloatArray]:
    """Return masses and counts, shapes (1, K), of a prior that is at least as easy to guess.

    The likeliest values are kept. Of each group of further ranks, from ``a`` to ``b``, some values
    get the mass of rank ``a`` and the others the mass of ``b``, in numbers that preserve the
    group's mass. The counts need not be whole, as in `narcissus.bounds.optimum`.

    Source: Narcissus theory 4.11. *Proof.* The bound on the success by multipliers is ``Lambda +
    sum_z h(D_z - lambda_z, Lambda - lambda_z)``, ``h`` jointly convex. A value of mass ``t p_a +
    (1-t) p_b`` gets the multiplier ``t lambda_a + (1-t) lambda_b``: its term is at most ``t`` times
    the term of ``p_a`` plus ``1-t`` times the term of ``p_b``. So any bound for the spread prior by
    its multipliers, on one target or on a count, holds for the prior itself.
    """
    ends = _ends(prior.n)
    heads = [prior.head(end) for end in ends]
    masses: list[float] = []
    counts: list[float] = []
    for a, b, mass in zip(ends[:-1], ends[1:], np.diff(heads).tolist(), strict=True):
        size, high, low = b - a, prior.probability(a + 1), prior.probability(b)
        many = size if high - low <= _ALIKE * high else (mass - size * low) / (high - low)
        if size in (1, many):
            masses.append(high)
            counts.append(size)
        elif 1 <= many <= size - 1:
            masses += [high, low]
            counts += [many, size - many]
        else:  # rounding: all that the group has, in values of its likeliest
            masses.append(high)
            counts.append(max(1.0, mass / high))
    rows, many_each = np.array([masses]), np.array([counts], dtype=np.float64)
    return rows / float((rows * many_each).sum()), many_each


def _ends(n: int) -> list[int]:
    """Return the last rank of each group, from 0 on."""
    ends = list(range(min(n, SINGLE) + 1))
    while ends[-1] < n:
        ends.append(min(n, int(ends[-1] * _GROWTH)))
    if len(ends) > SINGLE + 2 and ends[-1] - ends[-2] < SINGLE * (_GROWTH - 1):
        del ends[-2]  # the last group is no smaller than the others
    return ends


_MOST_TARGETS = 10**10  # more than there are people
_MOST_VALUES = 1000  # most values of an explicit worst prior


@dataclass(frozen=True)
class Threat:
    """The attacker's prior knowledge, the number of targets, and the success criterion."""

    # prior success of the best attempt on each target; from ``values`` if they are given
    prior: float
    # the prior of each target's value, if known, which sharpens bounds. For exact match with
    # only ``prior`` known, the worst one with that best guess; see `threat`.
    values: tuple[float, ...] | None
    # 0/1 matrix (values x guesses) of right guesses; None for exact match
    success: tuple[tuple[float, ...], ...] | None
    targets: int  # number of independent targets
    guesses: int  # number of them guessed, fixed before the release is seen
    inseparable: float  # ``kappa`` of theory 4.3; from ``values`` if they are given
    exact_match: bool  # whether success means naming the exact value
    known: bool  # whether ``values`` is the actual prior, not the worst one that fits
    # `likeliest`, `unlisted`: If only these are known: the probabilities of the likeliest
    # values, and an upper bound on every other; see `threat_of_likeliest`
    likeliest: tuple[float, ...] | None = None
    unlisted: float = 0.0
    # if the target has several unknown columns, and success is the share guessed correctly:
    # each column's distribution; see `threat_of_columns`
    columns: tuple[tuple[float, ...], ...] | None = None
    # if the values are too many to list, the formula of their masses by rank; see
    # `threat_of_ranked`
    ranked: RankedPrior | None = None
    # how far the true prior may be from the given one; all else is of the worst one
    nearby: Nearby | None = None

    @property
    def uniform(self) -> bool:
        """Whether the values are equally likely and must be named exactly."""
        row = self.values
        return self.exact_match and row is not None and len(row) > 1 and max(row) == min(row)

    @property
    def about_prior(self) -> str:
        """The assumption about the prior where all of it is used."""
        if self.nearby is not None:
            return self.nearby.describe()
        if self.columns is not None:
            return "each column's distribution given what the attacker knows is as given"
        if self.ranked is not None:
            return f"the target's value follows {self.ranked.describe()}"
        if self.known:
            return "the prior of the target's value is as given"
        if self.likeliest is not None:
            return (
                f"the {len(self.likeliest):,} likeliest values of the target have the given prior "
                f"probabilities, no other one's exceeds {self.unlisted:g}, and a guess must name it"
            )
        return f"no value is likelier a priori than {self.prior:g}, and a guess must name it"


def threat(
    *,
    prior: float | None = None,
    values: ArrayLike | None = None,
    success: ArrayLike | None = None,
    within: int | None = None,
    targets: int = 1,
    guesses: int | None = None,
    inseparable: float | None = None,
    exact_match: bool = False,
    nearby: Nearby | None = None,
) -> Threat:
    """Describe a threat.

    prior: Upper bound on the prior success of every attempt on one target; or ``values``. An
        attempt may cover several values, unless ``exact_match``.
    values: The distribution of each target's value, shape (V,), in the order of the values.
    success: With ``values``: 0/1 matrix, shape (V, Z); None for exact match.
    within: With ``values``: largest distance in places of a right guess from the value.
    targets, guesses, inseparable: See `Threat`; ``inseparable`` is computed from ``values`` or for
        exact match, else 0.
    exact_match: With ``prior``: success means naming the exact value, as in membership. The success
        is convex in each target's prior, so largest at a corner of those without a value above
        ``p``: as many values of mass ``p`` as fit, and one with the rest. A bound for that prior
        holds for all.
    nearby: How far the true prior may be from the one that is given; bounds then hold for every
        prior that near. Where a guess may be right about several values, what they are is not used.

    >>> threat(prior=0.5, nearby=Nearby(factor=2.0)).prior
    0.75
    >>> threat(prior=0.375, exact_match=True).values
    (0.375, 0.375, 0.25)
    """
    n = integer("targets", targets, low=1, high=_MOST_TARGETS)
    r = n if guesses is None else integer("guesses", guesses, low=0)
    if r > n:
        raise InputError(f"`guesses` must be at most the {n} targets, got {r}")
    if (prior is None) == (values is None):
        raise InputError("`prior` or `values` must be given, and not both")
    if nearby is not None:
        if inseparable is not None:
            raise InputError("`inseparable` is of the true prior, which is not known; leave it out")
        how: dict[str, Any] = {
            "values": values,
            "success": success,
            "within": within,
            "exact_match": exact_match,
        }
        return _of_nearby(threat(prior=prior, **how), nearby, n, r)
    if values is None:
        if success is not None or within is not None:
            raise InputError("`success` and `within` need `values`, the whole prior")
        p = probability("prior", prior)
        if not exact_match:
            kappa = 0.0 if inseparable is None else probability("inseparable", inseparable)
            return Threat(p, None, None, n, r, kappa, exact_match=False, known=False)
        if inseparable is not None:
            raise InputError("`inseparable` is computed for exact match; leave it out")
        worst, collision = _worst_prior(p)
        return Threat(p, worst, None, n, r, collision, exact_match=True, known=False)
    if exact_match or inseparable is not None:
        name = "exact_match" if exact_match else "inseparable"
        raise InputError(f"`{name}` follows from `values`; leave it out")
    row = distribution("values", values)
    return _of_values(row, _when_right(row.size, success, within), n, r)


def _of_nearby(given: Threat, nearby: Nearby, targets: int, guesses: int) -> Threat:
    """Return the worst threat whose prior is near a given one's."""
    how: dict[str, Any] = {"targets": targets, "guesses": guesses}
    if given.known and given.exact_match:
        easiest = threat(values=nearby.worst(given.values or ()), **how)
        return replace(easiest, known=False, nearby=nearby)
    prior = nearby.most(given.prior)
    return replace(threat(prior=prior, exact_match=given.exact_match, **how), nearby=nearby)


def threat_of_likeliest(priors: ListedPriors, *, targets: int = 1) -> Threat:
    """Describe a threat with too many values to list; a guess must name the exact value.

    The priors that fit have the corners "the listed values, as many as fit of the largest unlisted
    probability, and one with the rest", in any arrangement: a bound for that prior holds for all of
    them, as for `threat`'s exact match. ``priors`` are of one target; the others are alike.
    """
    if len(priors.masses) != 1:
        raise InputError(f"`priors` must be of one target, got {len(priors.masses)}")
    listed = np.sort(priors.masses[0][priors.masses[0] > 0])[::-1]
    masses, counts = priors.with_rest(priors.unlisted)
    mass, count = float(masses[0, -1]), float(counts[0, -1])
    full = int(count)
    rest = max(0.0, 1.0 - float(listed.sum()) - full * mass)
    values = None
    if listed.size + count < _MOST_VALUES:
        values = (*listed.tolist(), *(mass,) * full, *((rest,) if rest > 0 else ()))
    return Threat(
        float(listed[0]),
        values,
        None,
        integer("targets", targets, low=1, high=_MOST_TARGETS),
        targets,
        min(1.0, float(listed @ listed) + full * mass**2 + rest**2),
        exact_match=True,
        known=False,
        likeliest=tuple(listed.tolist()),
        unlisted=mass,
    )


def threat_of_ranked(prior: RankedPrior, *, targets: int = 1, guesses: int | None = None) -> Threat:
    """Describe a threat to a secret whose masses by rank follow a formula, such as Zipf's law.

    A guess must name the exact value; up to a thousand values are listed.
    """
    if prior.n <= _MOST_VALUES:
        heads = np.array([prior.probability(k) for k in range(1, prior.n + 1)])
        listed = threat(values=heads / heads.sum(), targets=targets, guesses=guesses)
        return replace(listed, ranked=prior)
    return replace(
        threat(prior=prior.probability(1), targets=targets, guesses=guesses),
        inseparable=prior.collision(),
        exact_match=True,
        known=True,
        ranked=prior,
    )


def threat_of_columns(columns: Sequence[ArrayLike]) -> Threat:
    """Describe a threat to several columns of one target; success is the share guessed correctly.

    ``columns`` holds each unknown column's distribution given the attacker's prior knowledge; the
    columns may depend on each other in any way.
    """
    if not columns:
        raise InputError("`columns` must hold at least one distribution")
    rows = [tuple(distribution("columns", column).tolist()) for column in columns]
    best = sum(max(row) for row in rows) / len(rows)
    return Threat(
        min(1.0, best), None, None, 1, 1, 0.0, exact_match=False, known=False, columns=tuple(rows)
    )


def _when_right(values: int, success: ArrayLike | None, within: int | None) -> FloatArray:
    """Return the 0/1 matrix of the criterion, shape (V, Z)."""
    if within is None:
        return np.eye(values) if success is None else success_matrix(success, values)
    if success is not None:
        raise InputError("`success` and `within` must not both be given")
    place = np.arange(values)
    reach = integer("within", within, low=0)
    return (np.abs(place[:, None] - place[None, :]) <= reach).astype(np.float64)


def _of_values(row: FloatArray, matrix: FloatArray, targets: int, guesses: int) -> Threat:
    # One guess for each value, in whatever order.
    exact = matrix.shape == (row.size, row.size) and all(
        bool((matrix.sum(axis=axis) == 1).all()) for axis in (0, 1)
    )
    # Some guess is right for x and wrong for y: only then is the swap informative.
    is_apart = matrix @ (1.0 - matrix.T) > 0
    # Correctly rounded sums, independent of the order of addition.
    prior = max(math.fsum(row[right]) for right in (matrix > 0).T)
    return Threat(
        min(1.0, prior),
        tuple(row.tolist()),
        None if exact else tuple(map(tuple, matrix.tolist())),
        targets,
        guesses,
        max(0.0, 1.0 - math.fsum(np.outer(row, row)[is_apart])),
        exact_match=exact,
        known=True,
    )


def _worst_prior(p: float) -> tuple[tuple[float, ...] | None, float]:
    """Return the corner of all priors without a value above ``p``, and its collision probability.

    None for a prior of too many values to write out.
    """
    if p < 1e-300:  # too many values for any to be drawn twice
        return None, 0.0
    # Where 1 / p is whole up to rounding there is no rest.
    near = round(1.0 / p)
    whole = abs(near * p - 1.0) <= near * np.finfo(float).eps
    full = near if whole else math.floor(1.0 / p)
    rest = 0.0 if whole else max(0.0, 1.0 - full * p)
    tail = (rest,) if rest > 0 else ()
    values = (p,) * full + tail if full < _MOST_VALUES else None
    return values, min(1.0, full * p * p + rest * rest)
