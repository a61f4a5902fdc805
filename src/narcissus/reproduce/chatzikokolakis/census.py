"""The Census table of Appendix H: a user's file of it, or one of its size that is made.

Source: Chatzikokolakis et al. 2023, Appendix H.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.reproduce.base import Given, Needed
from narcissus.tables import read_table

RECORDS = 2_458_285
VALUES = {"dAge": 8, "dIncome1": 5, "iMarital": 5, "iSex": 2}
"""Columns of the file, and how many values each has."""
FILE = Needed(
    "USCensus1990.data.txt",
    "",
    "US Census Data (1990) of the UCI Machine Learning Repository, USCensus1990.data.txt; of its "
    "columns dAge, dIncome1, iMarital and iSex are read, any file with these four does",
)
MADE = (
    f"The table is made, not the Census: {RECORDS:,} records of 8 ages, 5 incomes, 5 marital "
    "statuses and 2 sexes, drawn from shares that we chose to be like a population's. With "
    f"`{FILE.name}` in the folder of data the table is that file's."
)
READ = f"The table is the user's `{FILE.name}`."


def counts(given: Given) -> tuple[NDArray[np.int64], bool]:
    """Give how many records have each of 400 values, and whether that is a user's file."""
    path = None if given.data is None else given.data / FILE.name
    if path is None or not path.exists():
        return made(), False
    return read(path), True


@lru_cache(maxsize=1)
def made() -> NDArray[np.int64]:
    """Make a table: marital status depends on age, income on age and sex."""
    # 0, below 13, 20, 30, 40, 50, 65, and older
    age = np.array([0.014, 0.175, 0.099, 0.163, 0.168, 0.126, 0.130, 0.125])
    sex = np.array([0.485, 0.515])
    # married, widowed, divorced, separated, never married
    married = np.array(
        [
            (0, 0, 0, 0, 1),
            (0, 0, 0, 0, 1),
            (0.03, 0, 0.003, 0.002, 0.965),
            (0.42, 0.002, 0.05, 0.02, 0.508),
            (0.66, 0.007, 0.12, 0.03, 0.183),
            (0.73, 0.02, 0.14, 0.025, 0.085),
            (0.74, 0.09, 0.1, 0.02, 0.05),
            (0.55, 0.34, 0.05, 0.01, 0.05),
        ]
    )
    # women, then men: none, below 15,000, below 30,000, below 60,000, more
    earns = np.array(
        [
            ((1, 0, 0, 0, 0), (1, 0, 0, 0, 0)),
            ((1, 0, 0, 0, 0), (1, 0, 0, 0, 0)),
            ((0.52, 0.46, 0.018, 0.002, 0), (0.5, 0.46, 0.037, 0.003, 0)),
            ((0.2, 0.47, 0.28, 0.048, 0.002), (0.1, 0.4, 0.38, 0.115, 0.005)),
            ((0.22, 0.35, 0.3, 0.12, 0.01), (0.07, 0.18, 0.35, 0.34, 0.06)),
            ((0.21, 0.33, 0.3, 0.148, 0.012), (0.08, 0.14, 0.29, 0.38, 0.11)),
            ((0.4, 0.31, 0.2, 0.08, 0.01), (0.26, 0.17, 0.23, 0.25, 0.09)),
            ((0.88, 0.09, 0.02, 0.008, 0.002), (0.79, 0.13, 0.045, 0.025, 0.01)),
        ]
    )
    shares = np.einsum("a,s,asi,am->aims", age, sex, earns, married).ravel()
    return np.random.default_rng(1990).multinomial(RECORDS, shares / shares.sum()).astype(np.int64)


@lru_cache(maxsize=1)
def read(path: Path) -> NDArray[np.int64]:
    """Read a user's file of the Census, and count its records.

    Raises
    ------
    InputError
        A column is missing, or has another number of values.
    """
    names = list(VALUES)
    table = read_table(path, columns=names)
    sizes = tuple(VALUES.values())
    if any(have > most for have, most in zip(table.sizes, sizes, strict=True)):
        said = ", ".join(f"{name} {most}" for name, most in VALUES.items())
        raise InputError(f"{path} is not the Census table: its columns may have {said} values")
    places = np.ravel_multi_index(tuple(table.records.T), sizes)
    return np.bincount(places, weights=table.counts, minlength=400).astype(np.int64)
