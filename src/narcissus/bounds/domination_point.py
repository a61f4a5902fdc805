"""The domination theorem at one point of a profile, for any success criterion and many targets.

With all flows open (their cost is counted afterwards) the theorem's linear program needs no flow
variables: a few rows per target, many targets solved at once.

Source: Narcissus theory 4.4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from narcissus._validation import non_negative
from narcissus.bounds.linear_program import maximise
from narcissus.bounds.rows import prior_rows, success_matrix

FloatArray = NDArray[np.float64]

_BLOCK = 20_000  # entries of the success matrices of the targets that one program holds


def dominate_point(
    priors: ArrayLike, success: ArrayLike, epsilon: float
) -> tuple[FloatArray, FloatArray]:
    """Find for each target a feasible ``mu`` of least sum at one epsilon, and its work.

    ``priors`` has shape (m, V) or (V,), ``success`` is a 0/1 matrix (V, Z), and ``epsilon`` may be
    infinite. Returned are ``mu`` (m, V), ``mu_x`` in ``[0, D(x)]`` with sum ``o``, and the work
    ``Theta`` (m,), to be multiplied by ``delta(epsilon)``. Both are feasible within rounding,
    whatever the solver's tolerance.

    Notes
    -----
    Source: Narcissus theory 4.4. *Proof.* Every ``x`` in a success set ``S`` needs an inflow of
    ``D(x) - mu_x``, every ``y`` outside can give ``e^-eps mu_y``. Flows exist if and only if

        D(S) - mu(S)  <=  e^-eps mu(not S)        for every success set S,

    which are the program's constraints; ``(D(x) - mu_x) mu_y / mu(not S)`` are such flows, and
    ``theta_xy`` is the largest of them over the sets that hold ``x`` and not ``y``.

    Examples
    --------
    >>> mu, theta = dominate_point([0.7, 0.3], np.eye(2), 1.0)
    >>> float(mu.sum().round(6)), float(theta[0].round(6))
    (0.731059, 0.268941)
    """
    rows = prior_rows("priors", priors)
    matrix = success_matrix(success, rows.shape[1])
    shrink = float(np.exp(-non_negative("epsilon", epsilon, allow_infinite=True)))
    each = max(1, _BLOCK // matrix.size)
    parts = [
        _least_multipliers(rows[a : a + each], matrix, shrink)
        for a in range(0, rows.shape[0], each)
    ]
    mu = np.concatenate(parts)
    return mu, _work(rows, mu, matrix)


def _least_multipliers(rows: FloatArray, success: FloatArray, shrink: float) -> FloatArray:
    """Solve the programs of several targets as one.

    If the solver fails they are split, so that no target suffers from another's tiny masses; for a
    single one ``mu = D`` where some guess is right, which fills every success set.
    """
    count, values = rows.shape
    weights = success.T + shrink * (1 - success.T)
    # mu = D u with u in [0, 1], so that the bounds of the solver are those of the program.
    scaled = sparse.block_diag([sparse.csr_array(weights * row) for row in rows])
    found = maximise(
        -rows.ravel(),
        -sparse.csr_array(scaled),
        -(rows @ success).ravel(),
        sparse.csr_array((0, count * values)),
        np.zeros(0),
    )
    if found is None and count > 1:
        halves = rows[: count // 2], rows[count // 2 :]
        return np.concatenate([_least_multipliers(half, success, shrink) for half in halves])
    if found is None:
        return rows * success.any(axis=1)
    mu = rows * np.clip(found.x.reshape(count, values), 0.0, 1.0)
    # What the tolerance of the solver leaves open: more of mu only helps, so that each set takes
    # what it is short of from its own values, and no other set is hurt.
    short = np.maximum(rows @ success - mu @ weights.T, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(short > 0, short / ((rows - mu) @ success), 0.0).clip(0.0, 1.0)
    step = (success[None] * part[:, None, :]).max(axis=2)
    return mu + step * (rows - mu)


def _work(rows: FloatArray, mu: FloatArray, success: FloatArray) -> FloatArray:
    """Return ``Theta``, the sum over pairs of the largest flow, shape (m,)."""
    outside = mu @ (1 - success)
    with np.errstate(divide="ignore"):
        rate = np.where(outside > 0, 1.0 / outside, 0.0)
    theta = np.empty(rows.shape[0])
    for i, (need, give) in enumerate(zip(rows - mu, mu, strict=True)):
        # rate of the pair (x, y): the largest over the sets with x and without y
        pair = np.zeros((rows.shape[1], rows.shape[1]))
        for inside, r in zip(success.T > 0, rate[i], strict=True):
            block = np.ix_(inside, ~inside)
            pair[block] = np.maximum(pair[block], r)
        theta[i] = need @ pair @ give
    return theta
