"""One target, any success criterion: the program over single guesses, and a valid bound from its
duals.

Source: Narcissus theory 4.6, with the proof in `narcissus.bounds.one_target.optimum`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from narcissus.bounds.domination_point import dominate_point
from narcissus.bounds.linear_program import Sparse, maximise
from narcissus.bounds.rows import prior_rows, success_matrix
from narcissus.guarantees import Guarantee

FloatArray = NDArray[np.float64]


_BLOCK = 2000  # entries of the success matrices of the targets that one program holds


def relaxed_optimum(priors: ArrayLike, guarantee: Guarantee, success: ArrayLike) -> FloatArray:
    """Bound the success on one target; see `narcissus.bounds.one_target.optimum`."""
    rows = prior_rows("priors", priors)
    matrix = success_matrix(success, rows.shape[1])
    different, back = np.unique(rows, axis=0, return_inverse=True)
    points = guarantee.tangents(20)
    points = np.unique(np.concatenate([points, -points]))
    each = max(1, _BLOCK // matrix.size)
    values: list[FloatArray] = []
    for start in range(0, different.shape[0], each):
        block = different[start : start + each]
        multipliers = _multipliers(block[:, :, None] * matrix, guarantee, points)
        values.append(multiplier_bound(block, matrix, guarantee, multipliers))
    return np.concatenate(values)[np.ravel(back)]


def optimum_at_points(
    priors: ArrayLike, guarantee: Guarantee, success: ArrayLike, count: int
) -> FloatArray:
    """Bound the success on one target by multipliers that are optimal under pure DP.

    A few hundredths above `relaxed_optimum`, and much faster with many values or targets: it tries
    the multipliers of at most ``count`` epsilons (Narcissus theory 4.6 does the same for exact
    match, in closed form).
    """
    rows = prior_rows("priors", priors)
    matrix = success_matrix(success, rows.shape[1])
    best = np.ones(rows.shape[0])
    for epsilon in np.unique(guarantee.tangents(count)):
        multipliers, _ = dominate_point(rows, matrix, max(0.0, float(epsilon)))
        best = np.minimum(best, multiplier_bound(rows, matrix, guarantee, multipliers))
    return best


def multiplier_bound(
    rows: FloatArray, success: FloatArray, guarantee: Guarantee, multipliers: FloatArray
) -> FloatArray:
    """Return ``sum lambda + sum_z A_z delta(log(B_z / A_z))``, (m,), a bound for all multipliers.

    ``lambda = D`` yields the trivial bound.
    """
    least = (rows @ success).max(axis=1)
    found = np.ones(rows.shape[0])
    for start in range(0, rows.shape[0], max(1, 10**7 // success.size)):
        part = slice(start, start + max(1, 10**7 // success.size))
        for tried in (multipliers[part], rows[part]):
            excess = rows[part, :, None] * success - tried[:, :, None]
            above = np.maximum(excess, 0.0).sum(axis=1)
            below = np.maximum(-excess, 0.0).sum(axis=1)
            paid = above > 0
            level = np.zeros(above.shape)
            with np.errstate(divide="ignore"):
                level[paid] = np.log(below[paid]) - np.log(above[paid])
            value = tried.sum(axis=1) + (above * guarantee.profile(level)).sum(axis=1)
            found[part] = np.minimum(found[part], value)
    return np.clip(found, least, 1.0)


def _multipliers(gains: FloatArray, guarantee: Guarantee, points: FloatArray) -> FloatArray:
    """Solve the programs over single guesses of several targets as one; return row duals, (m, V).

    ``gains`` has shape (m, V, Z); the profile enters by its tangents at ``points``.
    """
    count, values, guesses = gains.shape
    upper, limits, sums = single_guess_constraints(
        values, guesses, points, guarantee.profile(points)
    )
    each = sparse.eye_array(count)
    padded = np.concatenate([gains.reshape(count, -1), np.zeros((count, 2 * guesses))], axis=1)
    found = maximise(
        padded.ravel(),
        sparse.kron(each, upper),
        np.tile(limits, count),
        sparse.kron(each, sums),
        np.ones(count * values),
    )
    # A valid bound needs no solved program: fall back to the multipliers that give all away.
    if found is None:
        return gains.max(axis=2)
    return found.equal_multipliers.reshape(count, values)


def single_guess_constraints(
    values: int, guesses: int, points: FloatArray, deltas: FloatArray
) -> tuple[Sparse, FloatArray, Sparse]:
    """Return ``upper``, ``limits`` and ``equal`` of the constraints on single guesses.

    Variables: ``Q`` (V x Z, row by row), then for each guess its largest and its smallest
    probability, joined by the tangents ``high <= delta_k + e^eps_k low``. Rows of ``Q`` sum to 1.
    """
    cells = values * guesses
    each = sparse.eye_array(cells)
    of_guess = sparse.kron(np.ones((values, 1)), sparse.eye_array(guesses))
    per_guess = sparse.eye_array(guesses)
    # Steep tangents are divided by their slope, so that no coefficient exceeds 1.
    weight = np.exp(-np.maximum(points, 0.0))
    slope = np.exp(np.minimum(points, 0.0))
    tangents = sparse.hstack(
        [
            sparse.csr_array((guesses * points.size, cells)),
            sparse.kron(weight[:, None], per_guess),
            sparse.kron(-slope[:, None], per_guess),
        ]
    )
    upper = sparse.vstack(
        [
            sparse.hstack([each, -of_guess, sparse.csr_array((cells, guesses))]),
            sparse.hstack([-each, sparse.csr_array((cells, guesses)), of_guess]),
            tangents,
        ]
    )
    limits = np.concatenate([np.zeros(2 * cells), np.repeat(weight * deltas, guesses)])
    sums = sparse.hstack(
        [
            sparse.kron(sparse.eye_array(values), np.ones((1, guesses))),
            sparse.csr_array((values, 2 * guesses)),
        ]
    )
    return sparse.csr_array(upper), limits, sparse.csr_array(sums)
