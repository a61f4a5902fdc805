"""Linear programs with proved values, and by one of them the exact optimum of small worlds.

The optimum over all mechanisms and all attackers is the reference for every bound of this package;
see `certify`. A solver stops within a tolerance of its optimum, on either side. By weak duality
*any* non-negative multipliers of the constraints yield an upper bound; so its tolerance costs
sharpness, never validity.

Source: Narcissus theory 4.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, sparse

from narcissus._validation import integer
from narcissus.bounds.threat import prior_rows, success_matrix
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import Guarantee, require_replace_one
from narcissus.results import Bound, Grade, Result

FloatArray = NDArray[np.float64]

_LARGEST = 400_000  # variables of the program
_TOLERANCE = 1e-6  # largest violation of the constraints by the solver's point, with room


@dataclass(frozen=True)
class Certificate(Result):
    """Comparison of a bound with the exact optimum of a small world."""

    holds: bool  # whether the bound is at least the optimum, within the solver's tolerance of 1e-6
    exact: bool  # whether it also equals the optimum within that tolerance
    bound: float  # the value checked
    optimum: float  # success of the best attacker on the best mechanism with the guarantee
    at_most: float  # proved upper bound on the optimum (from the program's multipliers)

    @property
    def grade(self) -> Grade:
        return "proved"

    def __str__(self) -> str:
        if not self.holds:
            return (
                f"VIOLATED: some mechanism reaches {self.optimum:.7g}, "
                f"above the claimed {self.bound:.7g}"
            )
        kind = "exact" if self.exact else "valid, not tight"
        return f"HOLDS ({kind}): optimum {self.optimum:.7g}, bound {self.bound:.7g}"


def exact_optimum(
    priors: ArrayLike,
    guarantee: Guarantee,
    at_least: int = 1,
    success: ArrayLike | None = None,
    *,
    guesses: int | None = None,
    shared: bool = False,
    epsilons: ArrayLike | None = None,
) -> Maximum:
    """Find the best mechanism with a guarantee for the best attacker, by linear programming.

    Source: Narcissus theory 4.5: variables ``P_x(z)`` for every data set ``x`` and vector of
    guesses ``z``; one output per vector suffices.

    priors: One distribution per target, shape (n, V) or (V,); zeros pad.
    success: None for exact match, else a 0/1 matrix of shape (V, Z), the same for all targets.
    guesses: Number of targets guessed, which the attacker chooses; default all.
    shared: One guess for all targets, not one per target.
    epsilons: Points of the profile to impose; default the guarantee's tangents. Finitely many can
        only raise the optimum.

    TooLargeError: Above about three targets with three or four values each.
    """
    require_replace_one(guarantee)
    rows = prior_rows("priors", priors)
    n, v = rows.shape[0], integer("at_least", at_least)
    made = n if guesses is None else integer("guesses", guesses, low=0, high=n)
    if shared and made < n:
        raise InputError("`guesses` below the number of targets needs a guess for each target")
    matrix = np.eye(rows.shape[1]) if success is None else success_matrix(success, rows.shape[1])
    points = guarantee.tangents() if epsilons is None else np.atleast_1d(np.asarray(epsilons))
    attempts = _attempts(n, matrix.shape[1], made, shared)
    worlds = list(product(*[np.flatnonzero(row > 0).tolist() for row in rows]))
    pairs = len(worlds) * int(((rows > 0).sum(axis=1) - 1).sum())
    size = (len(worlds) + pairs * points.size) * len(attempts)
    if size > _LARGEST:
        raise TooLargeError(
            f"`priors` make a program of {size:,} variables, at most {_LARGEST:,} are solved; "
            "take fewer targets, values or points of the profile"
        )
    weight = np.array([np.prod([rows[i, x] for i, x in enumerate(world)]) for world in worlds])
    none = np.column_stack([matrix, np.zeros(matrix.shape[0])])  # the last guess is abstaining
    hits: FloatArray = np.array(
        [
            [sum(none[x, z] for x, z in zip(world, attempt, strict=True)) for attempt in attempts]
            for world in worlds
        ],
        dtype=np.float64,
    )
    gain = weight[:, None] * (hits >= v).astype(np.float64)
    return _solve(worlds, gain, points, guarantee.profile(points))


def _attempts(n: int, guesses: int, made: int, shared: bool) -> list[tuple[int, ...]]:
    """List the vectors of guesses; the value ``guesses`` stands for abstaining."""
    if shared:
        return [(z,) * n for z in range(guesses)]
    vectors: list[tuple[int, ...]] = []
    for chosen in combinations(range(n), made):
        for guess in product(range(guesses), repeat=made):
            vector = [guesses] * n
            for i, z in zip(chosen, guess, strict=True):
                vector[i] = z
            vectors.append(tuple(vector))
    return vectors


def _solve(
    worlds: list[tuple[int, ...]], gain: FloatArray, points: FloatArray, deltas: FloatArray
) -> Maximum:
    """Build and solve the program; variables ``P`` (worlds x attempts), then the slacks."""
    codes = np.array(worlds)
    pairs = np.argwhere((codes[:, None] != codes[None]).sum(axis=2) == 1)
    cell = np.arange(gain.size).reshape(gain.shape)
    row = np.arange(points.size * len(pairs) * gain.shape[1])
    row = row.reshape(points.size, len(pairs), gain.shape[1])
    total = row.size + np.arange(points.size * len(pairs)).reshape(points.size, -1, 1)
    # Divided by exp(eps), so that no number exceeds 1; a slack is the deficit of Q_x'.
    entries = [
        (row, cell[pairs[:, 0]], np.exp(-points)[:, None, None]),
        (row, cell[pairs[:, 1]], -1.0),
        (row, gain.size + row, -1.0),
        (total, gain.size + row, 1.0),
    ]
    size = gain.size + row.size
    solution = maximise(
        np.concatenate([gain.ravel(), np.zeros(row.size)]),
        constraints(entries, (row.size + total.size, size)),
        np.concatenate([np.zeros(row.size), np.repeat(deltas * np.exp(-points), len(pairs))]),
        constraints([(np.arange(len(worlds))[:, None], cell, 1.0)], (len(worlds), size)),
        np.ones(len(worlds)),
    )
    if solution is None:
        raise InputError("`priors` make a program that the solver could not solve")
    return solution


def certify(
    bound: Bound | float,
    priors: ArrayLike,
    guarantee: Guarantee,
    at_least: int = 1,
    success: ArrayLike | None = None,
    *,
    guesses: int | None = None,
    shared: bool = False,
    epsilons: ArrayLike | None = None,
) -> Certificate:
    """Compare a bound, or a number that claims to be one, with the exact optimum of a small world.

    The other arguments are those of `exact_optimum`.

    >>> from narcissus.guarantees import ApproximateDP
    >>> print(certify(0.778868, [[0.5, 0.5]] * 2, ApproximateDP(0.1, 0.01), 1))
    VIOLATED: some mechanism reaches 0.7813619, above the claimed 0.778868
    """
    claimed = bound.value if isinstance(bound, Bound) else float(bound)
    optimum = exact_optimum(
        priors, guarantee, at_least, success, guesses=guesses, shared=shared, epsilons=epsilons
    )
    holds = claimed >= optimum.value - _TOLERANCE
    return Certificate(
        holds,
        holds and claimed <= optimum.bound + _TOLERANCE,
        claimed,
        optimum.value,
        optimum.bound,
    )


Sparse = Any  # the stubs have no type that covers every sparse array and its product


def constraints(
    entries: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike]], shape: tuple[int, int]
) -> Sparse:
    """Build a sparse array from rows, columns and values, which broadcast in each entry."""
    each = [[part.ravel() for part in np.broadcast_arrays(*entry)] for entry in entries]
    row, column, value = (np.concatenate(parts) for parts in zip(*each, strict=True))
    return sparse.csr_array((value, (row, column)), shape=shape)


@dataclass(frozen=True)
class Maximum:
    """Largest value of a linear program."""

    bound: float  # proved upper bound, from the multipliers
    value: float  # value of the solver's point
    x: FloatArray  # the solver's point; it may violate the constraints by the solver's tolerance
    # prices: raising a limit by ``t`` raises the maximum by at most ``t`` times
    upper_multipliers: FloatArray
    equal_multipliers: FloatArray  # prices of the equalities


def maximise(
    gain: FloatArray, upper: Sparse, limits: FloatArray, equal: Sparse, sums: FloatArray
) -> Maximum | None:
    """Maximise ``gain @ x`` over ``0 <= x <= 1``, ``upper @ x <= limits``, ``equal @ x = sums``.

    None if the solver fails.
    """
    # The stubs know dense matrices only, the function takes sparse ones as documented.
    solve: Any = optimize.linprog
    solution = solve(
        -gain,
        A_ub=sparse.csr_array(upper),
        b_ub=limits,
        A_eq=sparse.csr_array(equal),
        b_eq=sums,
        bounds=(0.0, 1.0),
        method="highs",
    )
    if not solution.success:
        return None
    y = np.maximum(-np.asarray(solution.ineqlin.marginals, dtype=np.float64), 0.0)
    z = -np.asarray(solution.eqlin.marginals, dtype=np.float64)
    left = gain - upper.T @ y - equal.T @ z
    bound = float(y @ limits + z @ sums + np.maximum(left, 0.0).sum())
    return Maximum(bound, -float(solution.fun), np.asarray(solution.x, dtype=np.float64), y, z)
