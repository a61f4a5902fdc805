"""One target: upper bound on any attacker's success for a given prior.

`optimum` is fast and valid for any guarantee and many priors at once: a closed form minimised over
one number for exact match, a small linear program otherwise.

Source: Narcissus theory 4.6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus.bounds.domination import optimum_of_heads
from narcissus.bounds.domination_point import dominate_point
from narcissus.bounds.rows import likeliest_first, prior_rows
from narcissus.bounds.single_guess import relaxed_optimum
from narcissus.bounds.theorem import Needs, Theorem
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, Guarantee, PureDP, require_replace_one

FloatArray = NDArray[np.float64]

_GRID = 2048  # points of the profile that the search for the best epsilon reads off
_FEW = 32  # points of the profile at each of which the optimum is taken by itself
_FINE = 256  # entries that are kept as they are where the best epsilon is searched
_LEAST = 1e-7  # epsilon at which multipliers keep nine digits
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


def optimum(
    priors: ArrayLike,
    guarantee: Guarantee,
    success: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> FloatArray:
    """Bound the success of any attacker on one target, for many priors at once.

    The result has shape (m,), each entry in [best prior guess, 1].

    Parameters
    ----------
    priors
        The target's distribution, one per row, shape (m, V) or (V,); zeros pad shorter rows.
    guarantee
        About replace-one neighbours.
    success
        None for exact match; else a 0/1 matrix, shape (V, Z): whether guess ``z`` is right for
        value ``x``. Costs small linear programs, many priors in one.
    counts
        For exact match: number of values with each probability, shaped as ``priors``, default one;
        need not be whole, see `narcissus.bounds.listed`.

    Notes
    -----
    Source: Narcissus theory 4.6. *Proof.* Let ``Q_x(z)`` be the probability of guess ``z`` for
    value ``x``. We use the guarantee only for single guesses, ``Q_x(z) <= g(Q_x'(z))`` with
    ``g = 1 - trade_off``; so the largest and the smallest probability of a guess are some ``g(a)``
    and ``a``. For multipliers ``lambda_x`` of the row sums ``sum_z Q_x(z) = 1`` every success is at
    most

        sum_x lambda_x + sum_z sup_a [ A_z g(a) - B_z a ],

    ``A_z`` and ``B_z`` the sums over ``x`` of the positive and negative parts of ``D(x) l(x, z) -
    lambda_x``. The supremum is ``A_z delta(log(B_z / A_z))``, ``delta`` the profile. For exact
    match take the multipliers optimal under pure DP at some ``e``, with ``o`` that optimum,
    ``lambda_x = max(0, (e^e D(x) - o) / (e^e - 1))``. This yields

        o + sum_z (D(z) - lambda_z) delta(max(e, log(o / D(z)))),

    a bound for every ``e``, which is minimised. It equals the optimum of the whole linear program
    (`optimum_program`) under pure DP, for two values under every guarantee, and wherever events of
    several guesses do not bind.
    """
    require_replace_one(guarantee)
    if success is not None:
        if counts is not None:
            raise InputError("`counts` are for exact match; leave out `success`")
        if isinstance(guarantee, PureDP):
            multipliers, _ = dominate_point(priors, success, guarantee.epsilon)
            return np.minimum(multipliers.sum(axis=1), 1.0)
        return relaxed_optimum(priors, guarantee, success)
    rows = prior_rows("priors", priors, counts)
    values = _Values(*likeliest_first(rows, counts))
    if isinstance(guarantee, PureDP | ApproximateDP):
        return _at_points(values, guarantee, guarantee.tangents(1))
    best = _best_epsilons(values.fewer(), guarantee)
    base, cost = values.parts(best, guarantee)
    value = base + cost
    if rows.shape[1] <= 2 * _FINE:
        value = np.minimum(value, _at_points(values, guarantee, guarantee.tangents(_FEW)))
    return np.clip(value, values.rows[:, 0], 1.0)


def profile_multipliers(
    priors: ArrayLike, guarantee: Guarantee, epsilon: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return sorted priors, multipliers, ``o`` and cost of the bound at one epsilon; exact match.

    Priors and multipliers have shape (m, V), each row from the likeliest value on; ``o``, the sum
    of the multipliers, and the cost that the profile adds have shape (m,). Their sum is a bound for
    every epsilon of at least 0, and `optimum` is at most the least of them. The cost is at most
    ``delta(epsilon) (1 - o)``.
    """
    rows = prior_rows("priors", priors)
    values = _Values(*likeliest_first(rows, None))
    masses, level, base = values.terms(np.full(rows.shape[0], float(epsilon)))
    costs = (masses * guarantee.profile(level)).sum(axis=1)
    return values.rows, values.rows - masses, base, costs


def profile_cost(
    priors: ArrayLike, guarantee: Guarantee, epsilon: float, counts: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return ``o`` and cost as `profile_multipliers` does, with ``counts`` as in `optimum`."""
    rows = prior_rows("priors", priors, counts)
    values = _Values(*likeliest_first(rows, counts))
    return values.parts(np.full(rows.shape[0], float(epsilon)), guarantee)


class _Values:
    """Priors sorted from the likeliest value on; each entry is one value, or several."""

    def __init__(self, rows: FloatArray, counts: FloatArray | None) -> None:
        self.rows, self.counts = rows, counts
        self.heads = np.cumsum(rows if counts is None else rows * counts, axis=1)
        self.others = None if counts is None else np.cumsum(counts, axis=1) - 1.0

    def closed(self, epsilon: FloatArray) -> FloatArray:
        """Return the optimum under pure DP, one epsilon per row."""
        return optimum_of_heads(self.heads, epsilon, self.others)

    def terms(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mass, level and base of the bound ``base + sum mass * profile(level)``, by row."""
        # Below it the multipliers lose their digits; what holds at a larger epsilon holds here.
        epsilon = np.where((epsilon > 0) & (epsilon < _LEAST), _LEAST, epsilon)
        rows, base = self.rows, self.closed(epsilon)
        shrink = np.exp(-epsilon)[:, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            multiplier = (rows - shrink * base[:, None]) / -np.expm1(-epsilon)[:, None]
            level = np.log(base[:, None]) - np.log(rows)
        # At epsilon 0 the multipliers carry the one likeliest value.
        at_zero = np.zeros_like(rows)
        at_zero[:, 0] = rows[:, 0]
        if self.counts is not None:
            at_zero[:, 0] /= self.counts[:, 0]
        multiplier = np.where(epsilon[:, None] > 0, np.clip(multiplier, 0.0, rows), at_zero)
        mass = rows - multiplier
        if self.counts is not None:
            mass = mass * self.counts
        return mass, np.maximum(level, epsilon[:, None]), base

    def parts(self, epsilon: FloatArray, guarantee: Guarantee) -> tuple[FloatArray, FloatArray]:
        """Return the two parts of the bound, one epsilon per row, shapes (m,)."""
        mass, level, base = self.terms(epsilon)
        return base, (mass * guarantee.profile(level)).sum(axis=1)

    def fewer(self) -> _Values:
        """Return coarser priors for choosing the best epsilon; any epsilon is valid."""
        size = self.rows.shape[1]
        if self.counts is None or size <= 2 * _FINE:
            return self
        later = np.geomspace(_FINE, size, _FINE).astype(np.intp)[:-1]
        starts = np.unique(np.concatenate([np.arange(_FINE), later]))
        counts = np.add.reduceat(self.counts, starts, axis=1)
        mass = np.add.reduceat(self.rows * self.counts, starts, axis=1)
        return _Values(np.divide(mass, counts, out=np.zeros_like(mass), where=counts > 0), counts)


def _at_points(values: _Values, guarantee: Guarantee, points: FloatArray) -> FloatArray:
    """Return the least of the exact optima at single points of the profile, shape (m,)."""
    least = np.ones(values.rows.shape[0])
    for epsilon, delta in zip(points, guarantee.profile(points), strict=True):
        pure = values.closed(np.full(least.shape, epsilon))
        least = np.minimum(least, delta + (1.0 - delta) * pure)
    return least


def _best_epsilons(values: _Values, guarantee: Guarantee) -> FloatArray:
    """Find for each row the epsilon that minimises the bound; any epsilon is valid."""
    people = values.rows.shape[0]
    grid = np.unique(np.append(guarantee.tangents(_GRID), 0.0))
    table = guarantee.profile(grid)

    def value(epsilon: FloatArray) -> FloatArray:
        mass, level, base = values.terms(epsilon)
        return base + (mass * np.interp(level, grid, table)).sum(axis=1)

    coarse = grid[:: max(1, grid.size // 32)]
    at_coarse = np.stack([value(np.full(people, e)) for e in coarse])
    nearest = at_coarse.argmin(axis=0)
    low = coarse[np.maximum(nearest - 1, 0)]
    high = coarse[np.minimum(nearest + 1, coarse.size - 1)]
    best, least = coarse[nearest], at_coarse.min(axis=0)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(40):
        for point, at_point in ((left, at_left), (right, at_right)):
            better = at_point < least
            best, least = np.where(better, point, best), np.where(better, at_point, least)
        go_left = at_left < at_right
        low, high = np.where(go_left, low, left), np.where(go_left, right, high)
        new = np.where(go_left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        at_new = value(new)
        left, right = np.where(go_left, new, right), np.where(go_left, left, new)
        at_left, at_right = (
            np.where(go_left, at_new, at_right),
            np.where(go_left, at_left, at_new),
        )
    return best


OPTIMUM = Theorem(
    id="one-target-optimum",
    source="Narcissus theory 4.6",
    title="one-target optimum",
    says="The success on one target from the whole prior of its value.",
    about=("success",),
    limit=lambda q: float(optimum(q.threat.values or (), q.guarantee, q.threat.success)[0]),
    needs=Needs(values=True),
    own=True,
    each=optimum,
)
