"""Secrets with distances: d-privacy and the Kantorovich distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, sparse

from narcissus._validation import distribution
from narcissus.channels.channel import channel
from narcissus.errors import InputError, NarcissusError

Floats = NDArray[np.float64]


def metric_epsilon(matrix: Any, distance: ArrayLike) -> float:
    """Return the smallest epsilon with ``C_ao <= e^(epsilon d_ab) C_bo``; infinite if there is
    none.

    Parameters
    ----------
    matrix
        A channel.
    distance
        Of the secrets, at least 0, shape (secrets, secrets). Secrets at distance 0 must have equal
        rows.

    Notes
    -----
    Source: Chatzikokolakis et al. 2013 (d-privacy).
    """
    rows = channel(matrix).dense
    far = _distances(distance, len(rows))
    worst = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(rows)
        for a, row in enumerate(logs):
            gap = np.where(np.isneginf(row), -np.inf, row - logs).max(axis=1)
            rate = np.where(gap <= 0, 0.0, gap / far[a])
            worst = max(worst, float(np.delete(rate, a).max(initial=0.0)))
    return worst


def kantorovich(first: ArrayLike, second: ArrayLike, distance: ArrayLike) -> float:
    """Return the least cost of moving one distribution into another.

    Parameters
    ----------
    first, second
        Distributions, shape (n,).
    distance
        Cost of moving from place to place, at least 0, shape (n, n).

    Notes
    -----
    A linear program. Source: Kantorovich 1942; Villani 2009, definition 6.1.
    """
    p, q = distribution("first", first), distribution("second", second)
    if p.shape != q.shape:
        raise InputError(f"`first` and `second` have {p.size} and {q.size} places")
    n = p.size
    far = _distances(distance, n)
    out = sparse.kron(sparse.eye_array(n), np.ones((1, n)))
    into = sparse.kron(np.ones((1, n)), sparse.eye_array(n))
    solve: Any = optimize.linprog
    found = solve(
        far.ravel(), A_eq=sparse.vstack([out, into], format="csr")[:-1],
        b_eq=np.concatenate([p, q])[:-1], bounds=(0, None), method="highs",
    )  # fmt: skip
    if not found.success:
        raise NarcissusError(f"the linear program was not solved: {found.message}")
    return float(found.fun)


def _distances(distance: ArrayLike, n: int) -> Floats:
    values = np.asarray(distance, dtype=np.float64)
    if values.shape != (n, n) or not np.isfinite(values).all() or (values < 0).any():
        raise InputError(f"`distance` must be {n} x {n} finite numbers of at least 0")
    return values
