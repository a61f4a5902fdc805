"""Priors from a file, one a person."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from narcissus._number_table import read_number_table
from narcissus.errors import InputError

_ROUNDED = 1e-9  # how far a row's sum may be from 1


def read_priors(path: Path | str) -> NDArray[np.float64]:
    """Read one prior a person: a row a person, a column a value.

    Parameters
    ----------
    path
        CSV, with or without names of the values in its first line, or JSON (a list of lists), by
        its suffix. Empty cells and short rows are values that a person cannot have.

    Returns
    -------
    array of shape (people, values)
        Rows of probabilities that sum to 1 within 1e-9, unchanged.

    Raises
    ------
    InputError
        The message names the row, and the column where there is one.
    """
    table = read_number_table(Path(path))
    empty = np.flatnonzero(np.isnan(table.values).all(axis=1))
    if empty.size:
        raise InputError(f"{table.place(int(empty[0]))}, is empty; drop it")
    values = np.where(np.isnan(table.values), 0.0, table.values)
    wrong = np.argwhere(~((values >= 0) & (values <= 1)))
    if wrong.size:
        row, column = (int(i) for i in wrong[0])
        raise InputError(
            f"{table.place(row, column)}, must be a probability in [0, 1], "
            f"got {values[row, column]:g}; a row is one person's prior, a column a value: leave "
            "numbers of rows and other columns out"
        )
    sums = values.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > _ROUNDED)
    if off.size:
        row = int(off[0])
        more = f" ({off.size:,} rows do not)" if off.size > 1 else ""
        raise InputError(
            f"{table.place(row)}, must sum to 1 within {_ROUNDED:g}, got {sums[row]:.12g}{more}; "
            "write more digits, or divide each row by its sum if that is what you mean"
        )
    return values
