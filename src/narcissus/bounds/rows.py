"""Checks of the priors and success matrices that every bound takes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import probabilities
from narcissus.errors import InputError

FloatArray = NDArray[np.float64]


def prior_rows(name: str, priors: ArrayLike, counts: ArrayLike | None = None) -> FloatArray:
    """Convert ``priors`` to an array of shape (m, V) whose rows are distributions.

    A vector is one row; zeros pad shorter rows. With ``counts`` each entry stands for that many
    values.
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
