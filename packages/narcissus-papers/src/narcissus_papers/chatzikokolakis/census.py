"""The Census table of Appendix H, from a user's file of it: no other table stands in for it.

Source: Chatzikokolakis et al. 2023, Appendix H.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.tables import read_table
from narcissus_papers.base import Given, Needed, Quote

PRINTED_RECORDS = Quote("2,458,285", "(Census1990) comprises 2,458,285 records", "Appendix H")
RECORDS = int(PRINTED_RECORDS.value)
VALUES = {"dAge": 8, "dIncome1": 5, "iMarital": 5, "iSex": 2}
"""Columns of the file, and how many values each has."""


@lru_cache(maxsize=1)
def read(path: Path) -> NDArray[np.int64]:
    """Read the Census, and count how many of its records have each of 400 values.

    A missing column, a wrong number of values in one, or a wrong number of records raises
    InputError.
    """
    table = read_table(path, columns=list(VALUES))
    sizes = tuple(VALUES.values())
    records = len(table.records) if table.counts is None else int(table.counts.sum())
    if tuple(table.sizes) != sizes or records != RECORDS:
        wanted = ", ".join(f"{name} {most}" for name, most in VALUES.items())
        have = ", ".join(f"{name} {n}" for name, n in zip(VALUES, table.sizes, strict=True))
        raise InputError(
            f"{path} is not the Census of the paper: it has {records:,} records with {have} "
            f"values, and should have {RECORDS:,} with {wanted}; fetch it from {FILE.source}"
        )
    places = np.ravel_multi_index(tuple(table.records.T), sizes)
    return np.bincount(places, weights=table.counts, minlength=400).astype(np.int64)


FILE = Needed(
    "USCensus1990.data.txt",
    "",
    "US Census Data (1990) of the UCI Machine Learning Repository, USCensus1990.data.txt; of its "
    "columns dAge, dIncome1, iMarital and iSex are read",
    read,
)


def counts(given: Given) -> NDArray[np.int64] | None:
    path = None if given.data is None else given.data / FILE.name
    return None if path is None or not path.exists() else read(path)
