"""Linkability: whether two halves of a person's record lead to the same row of a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.synthetic.files import GivenFiles
from narcissus.synthetic.nearest import CLOSE, distances

Columns = tuple[int, ...]

SPLITS = 4
"""Ways of dividing the columns that are tried where none is given."""


@dataclass(frozen=True)
class Link:
    """A way to link two sets of columns through the nearest rows of a file.

    Attributes
    ----------
    one, other
        Positions of the columns; disjoint, neither empty.
    is_rare
        Whether a meeting counts only where fewer than one is expected of as many rows drawn at
        random: where many rows tie for the nearest, that they meet says nothing.
    """

    one: Columns
    other: Columns
    is_rare: bool

    def links(self, files: GivenFiles, people: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say for whom a row of the file is nearest by both sets of columns; shape (people,)."""
        rows = files.rows("synthetic")
        found = np.zeros(len(people), np.bool_)
        pairs = zip(
            distances(files.table, people, rows, self.one),
            distances(files.table, people, rows, self.other),
            strict=True,
        )
        for (block, here), (_, there) in pairs:
            near = here <= here.min(axis=1, keepdims=True) + CLOSE
            beside = there <= there.min(axis=1, keepdims=True) + CLOSE
            meets = (near & beside).any(axis=1)
            if self.is_rare:
                meets &= near.sum(axis=1) * beside.sum(axis=1) < len(rows)
            found[block] = meets
        return found


def ways_to_link(
    files: GivenFiles, given: tuple[Columns, Columns] | None, rng: np.random.Generator
) -> dict[str, Link]:
    """Give the ways that are tried, by name: the division that was given, or random ones.

    Parameters
    ----------
    files
        At least two columns.
    given
        The two sets of columns; None draws `SPLITS` divisions of all columns in two.
    rng
        Draws them.
    """
    width = files.table.columns
    splits = {given} if given is not None else set[tuple[Columns, Columns]]()
    possible = math.comb(width, width // 2) // (2 - width % 2)
    while given is None and len(splits) < min(SPLITS, possible):
        order = [int(j) for j in rng.permutation(width)]
        halves = [tuple(sorted(order[: width // 2])), tuple(sorted(order[width // 2 :]))]
        splits.add((min(halves), max(halves)))
    return {
        f"{_named(files, one)} with {_named(files, other)}{', rare meetings' * is_rare}": Link(
            one, other, is_rare
        )
        for one, other in sorted(splits)
        for is_rare in (True, False)
    }


def _named(files: GivenFiles, columns: Sequence[int]) -> str:
    return ", ".join(files.table.names[j] for j in columns)
