"""One target, any success: the program over single guesses, and the valid bound from its duals.

Source: Narcissus theory 4.6, with the proof in `narcissus.bounds.one_target.optimum`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from narcissus.bounds.linear_program import Sparse, maximise
from narcissus.bounds.rows import prior_rows, success_matrix
from narcissus.guarantees import Guarantee

FloatArray = NDArray[np.float64]


def relaxed_optimum(priors: ArrayLike, guarantee: Guarantee, success: ArrayLike) -> FloatArray:
    """Limit the success on one target; see `narcissus.bounds.one_target.optimum`."""
    rows = prior_rows("priors", priors)
    matrix = success_matrix(success, rows.shape[1])
    different, back = np.unique(rows, axis=0, return_inverse=True)
    points = guarantee.tangents(20)
    points = np.unique(np.concatenate([points, -points]))
    values = [_one(row, matrix, guarantee, points) for row in different]
    return np.array(values)[np.ravel(back)]


def _one(prior: FloatArray, success: FloatArray, guarantee: Guarantee, points: FloatArray) -> float:
    """Give the bound of one prior."""
    least = float((prior @ success).max())
    gain = prior[:, None] * success
    # Any multipliers give a valid bound: these of the program, and those that give away nothing.
    candidates = [_multipliers(gain, guarantee, points), prior]
    found = min(_dual_value(gain, multiplier, guarantee) for multiplier in candidates)
    return min(max(found, least), 1.0)


def _dual_value(gain: FloatArray, multiplier: FloatArray, guarantee: Guarantee) -> float:
    """Give ``sum lambda + sum_z A_z delta(log(B_z / A_z))``: a bound for every multiplier."""
    excess = gain - multiplier[:, None]
    above = np.maximum(excess, 0.0).sum(axis=0)
    below = np.maximum(-excess, 0.0).sum(axis=0)
    paid = above > 0
    with np.errstate(divide="ignore"):
        level = np.log(below[paid]) - np.log(above[paid])
    return float(multiplier.sum() + above[paid] @ guarantee.profile(level))


def _multipliers(gain: FloatArray, guarantee: Guarantee, points: FloatArray) -> FloatArray:
    """Solve the program over single guesses with tangents at ``points``; give its row duals."""
    values, guesses = gain.shape
    upper, limits, sums = single_guess_constraints(
        values, guesses, points, guarantee.profile(points)
    )
    found = maximise(
        np.concatenate([gain.ravel(), np.zeros(2 * guesses)]), upper, limits, sums, np.ones(values)
    )
    # A valid bound needs no solved program: fall back to the multipliers that give all away.
    return gain.max(axis=1) if found is None else found.equal_multipliers


def single_guess_constraints(
    values: int, guesses: int, points: FloatArray, deltas: FloatArray
) -> tuple[Sparse, FloatArray, Sparse]:
    """Give ``upper``, ``limits`` and ``equal`` of the constraints on single guesses.

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
