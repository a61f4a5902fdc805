"""Singling out: predicates read off the rows of a file that hold for one person in a crowd."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from narcissus.synthetic.files import GivenFiles
from narcissus.synthetic.keys import keys_of

Positions = NDArray[np.int64]
Subset = tuple[tuple[int, ...], bool]
"""Columns, and whether their numbers are taken in groups."""

SUBSETS = 20
"""Most sets of columns of one size."""


@dataclass(frozen=True)
class Isolated:
    """What predicates of one kind isolate.

    Attributes
    ----------
    predicates
        How many there are: values of some columns that one row of the file has, and nobody in the
        crowd.
    first, second
        How many hold for exactly one person among those of either group.
    """

    predicates: int
    first: int
    second: int


def kinds_of_predicates(files: GivenFiles, rng: np.random.Generator) -> dict[str, list[Subset]]:
    """Give the kinds by name: how many columns are named, and the sets of columns tried.

    Parameters
    ----------
    files
        The files.
    rng
        Draws sets of columns where there are more than `SUBSETS` of one size.
    """
    width = files.table.columns
    has_groups = bool((files.coarse != files.table.codes).any())
    found: dict[str, list[Subset]] = {}
    for size in sorted({1, min(2, width), min(3, width), math.ceil(width / 2), width}):
        chosen = _subsets(width, size, rng)
        name = f"{size} column{'s' * (size > 1)}"
        found[name] = [(columns, False) for columns in chosen]
        if has_groups:
            found[f"{name}, numbers in groups"] = [(columns, True) for columns in chosen]
    return found


def _subsets(width: int, size: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    if math.comb(width, size) <= SUBSETS:
        return list(combinations(range(width), size))
    drawn = (rng.permutation(width)[:size] for _ in range(SUBSETS))
    return sorted({tuple(sorted(map(int, columns))) for columns in drawn})


def singled_out(
    files: GivenFiles,
    subsets: Sequence[Subset],
    people: Positions,
    crowd: Positions,
    *,
    inside: bool = False,
) -> NDArray[np.bool_]:
    """Say whom a predicate isolates from a crowd.

    A predicate says that some columns have the values that exactly one row of the synthetic file
    has. It isolates a person for whom it holds if it holds for nobody in the crowd. What it says
    of one person does not depend on the other people asked about, so these stay independent.

    Parameters
    ----------
    files
        The files.
    subsets
        From `kinds_of_predicates`.
    people, crowd
        Positions in the table.
    inside
        Whether the people are themselves part of the crowd, once each.

    Returns
    -------
    Shape (people,).
    """
    rows = files.rows("synthetic")
    found = np.zeros(len(people), np.bool_)
    for subset in subsets:
        (here, there, around), size = _keys(files, subset, people, rows, crowd)
        unique = np.bincount(there, minlength=size) == 1
        alone = np.bincount(around, minlength=size) <= inside
        found |= (unique & alone)[here]
    return found


def isolated(
    files: GivenFiles,
    subsets: Sequence[Subset],
    first: Positions,
    second: Positions,
    crowd: Positions,
) -> Isolated:
    """Count the predicates that hold for exactly one person of each of two groups."""
    rows = files.rows("synthetic")
    totals = np.zeros(3, np.int64)
    for subset in subsets:
        (one, other, there, around), size = _keys(files, subset, first, second, rows, crowd)
        light = (np.bincount(there, minlength=size) == 1) & (
            np.bincount(around, minlength=size) == 0
        )
        counts = (np.bincount(group, minlength=size) == 1 for group in (one, other))
        totals += [light.sum(), *((light & single).sum() for single in counts)]
    return Isolated(*map(int, totals))


def _keys(
    files: GivenFiles, subset: Subset, *groups: Positions
) -> tuple[list[NDArray[np.int64]], int]:
    """Give the values of the columns as numbers, for each group, and how many there are."""
    columns, grouped = subset
    codes = files.coarse if grouped else files.table.codes
    keys = keys_of(codes[np.concatenate(groups)][:, columns])
    ends = np.cumsum([len(group) for group in groups])[:-1]
    return np.split(keys, ends), int(keys.max()) + 1
