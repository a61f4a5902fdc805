"""Groups of people whom no cell prints by themselves, and whose number may follow all the same.

Where all dimensions are crossed, three sorts of groups are looked at: every combination of labels
(rows that are left out, crossings that no table prints), the rest of every sum without the parts
that are known, and every cell without another one that it holds (two tables, two publications).
A few consistent data sets say which of them may be known: numbers that differ there are not. Of
the others, limits are derived as those of cells are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from time import monotonic
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from narcissus.counts.reading import Cell
from narcissus.counts.system import Dimension, Ints, System

MOST_BOXES = 100_000
"""Most combinations of labels that are looked at."""
_NUMBERS = 4_000_000  # of combinations and data sets
LARGEST_SMALL = 10
"""No office has a larger threshold in common use; groups of more people are not small."""


@dataclass(frozen=True)
class SizeRule:
    """Which groups must not be known: of 1 to ``below`` - 1 people, to less than ``width``."""

    below: int
    width: int = 1

    def is_broken(self, low: int, high: float) -> bool:
        """Check limits of a group of people who surely exist."""
        return 1 <= low < self.below and high - low < self.width

    def may_be_broken(self, numbers: Any) -> Any:
        """Check numbers that data sets have, the last axis, of which each is a possible one."""
        smallest, largest = numbers.min(axis=-1), numbers.max(axis=-1)
        return (
            (smallest >= 1)
            & (largest - smallest < self.width)
            & (smallest < self.below + self.width - 1)
        )


@dataclass(frozen=True)
class Candidate:
    """A group that may be known: what it is called, and its unknowns.

    Attributes
    ----------
    file: the table or tables that it follows from.
    labels: of its people.
    inside: unknowns that the group holds as a whole.
    touched: these, and others of which it holds a part.
    """

    file: str
    labels: Mapping[str, str]
    inside: tuple[int, ...]
    touched: tuple[int, ...]


class Crossing:
    """Dimensions that are crossed, with a few data sets that are consistent.

    Parameters
    ----------
    cells: published ones.
    dimensions: of all tables.
    system: of all cells.
    block: which of `System.blocks` is crossed.
    points: data sets, shape (data sets, unknowns).
    rule: which groups must not be known.
    alive: which unknowns may hold people, shape (unknowns,).
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        dimensions: Mapping[str, Dimension],
        system: System,
        block: int,
        points: Ints,
        rule: SizeRule,
        alive: Any,
    ) -> None:
        self.cells, self.rule, self.system, self.block = cells, rule, system, block
        self.names, self.finest = system.blocks[block]
        crossed = [dimensions[name] for name in self.names]
        self.choices = [_choices(dimension) for dimension in crossed]
        self.leaves = [dimension.leaves for dimension in crossed]
        self.points = points[: max(8, _NUMBERS // self.boxes)]
        matrix = system.matrix[: len(cells)].tocsr()
        ends = matrix.indptr
        self.alive = alive
        self.rows = [
            tuple(np.sort(self._living(matrix.indices[a:b])).tolist()) for a, b in pairwise(ends)
        ]
        self.matrix = matrix
        self.files = ", ".join(sorted({cell.file for cell in cells}))

    def _living(self, unknowns: Any) -> Any:
        return unknowns[self.alive[unknowns]]

    @property
    def boxes(self) -> int:
        """Number of combinations of labels."""
        return prod(len(choices) for choices in self.choices)

    def candidates(self, deadline: float) -> Iterator[Candidate]:
        """Yield groups that may be known, each set of people once; published cells are left out."""
        seen = {(row, row) for row in self.rows}
        for group in self._all(deadline):
            if (group.inside, group.touched) not in seen:
                seen.add((group.inside, group.touched))
                yield group

    def _all(self, deadline: float) -> Iterator[Candidate]:
        numbers = self._numbers()
        # of the same people, the name with the most labels is kept
        for place in np.argwhere(self.rule.may_be_broken(numbers))[::-1].tolist():
            chosen = [each[at] for each, at in zip(self.choices, place, strict=True)]
            yield self._group(chosen)
        for axis in range(len(self.names)):
            if monotonic() > deadline:
                return
            yield from self._rests(numbers, axis)
        if not self.block:
            yield from self._without_each_other(deadline)

    def _numbers(self) -> Any:
        """Count the people of all combinations of labels, the last axis by data set."""
        flat = self.finest.ravel()
        unknowns, first = np.unique(flat, return_index=True)
        last = len(flat) - 1 - np.unique(flat[::-1], return_index=True)[1]
        made: list[Any] = []
        for where in (first[unknowns >= 0], last[unknowns >= 0]):
            spread = np.zeros((len(self.points), len(flat)), np.int64)
            spread[:, where] = self.points[:, unknowns[unknowns >= 0]]
            made.append(spread)
        numbers = np.concatenate(made).T.reshape(*self.finest.shape, -1)
        for axis, choices in enumerate(self.choices):
            holds = np.zeros((len(choices), self.finest.shape[axis]), np.int64)
            for at, (_, leaves) in enumerate(choices):
                holds[at, leaves] = 1
            numbers = np.moveaxis(np.tensordot(holds, numbers, axes=(1, axis)), 0, axis)
        return numbers

    def _group(self, chosen: Sequence[tuple[str, Ints]]) -> Candidate:
        some = self.finest[np.ix_(*(leaves for _, leaves in chosen))].ravel()
        touched, many = np.unique(self._living(some[some >= 0]), return_counts=True)
        inside = touched[many == self.system.sizes[touched]]
        labels = {name: label for name, (label, _) in zip(self.names, chosen, strict=True) if label}
        return Candidate(self.files, labels, tuple(inside.tolist()), tuple(touched.tolist()))

    def _rests(self, numbers: Any, axis: int) -> Iterator[Candidate]:
        """Yield sums without the parts that no data set changes, along a dimension."""
        singles = _singles(self.choices[axis], self.finest.shape[axis])
        parts = np.moveaxis(numbers, axis, -2)[..., singles, :]
        varies = parts.min(axis=-1) < parts.max(axis=-1)
        some = varies.sum(axis=-1)
        rest = (parts * varies[..., None]).sum(axis=-2)
        is_rest = (some > 1) & (some < len(singles)) & self.rule.may_be_broken(rest)
        others = [each for at, each in enumerate(self.choices) if at != axis]
        for place in np.argwhere(is_rest).tolist():
            chosen = [each[at] for each, at in zip(others, place, strict=True)]
            leaves = np.flatnonzero(varies[tuple(place)])
            label = " or ".join(self.leaves[axis][leaf] for leaf in leaves.tolist())
            chosen.insert(axis, (label, leaves))
            yield self._group(chosen)

    def _without_each_other(self, deadline: float) -> Iterator[Candidate]:
        """Yield cells without the people of another cell that they hold."""
        numbers = self.matrix @ self.points.T
        living = indicators(self.rows, len(self.alive))
        sizes = np.diff(living.indptr)
        transposed = living.T.tocsc()
        for at, row in enumerate(self.rows):
            if monotonic() > deadline:
                return
            near = self.rule.may_be_broken(numbers[at] - numbers)
            if not near.any():
                continue
            shared = (living[[at]] @ transposed).toarray().ravel()
            for other in np.flatnonzero(near & (shared == sizes)).tolist():
                left = tuple(sorted(set(row) - set(self.rows[other])))
                yield Candidate(*self._difference(self.cells[at], self.cells[other]), left, left)

    def _difference(self, whole: Cell, part: Cell) -> tuple[str, Mapping[str, str]]:
        if whole.labels == part.labels:
            return f"{whole.file} without {part.file}", whole.labels
        extra_labels = {
            name: label for name, label in part.labels.items() if name not in whole.labels
        }
        some = f"{whole.file} without " + (part.file if part.file != whole.file else "")
        about = ", ".join(
            f"{name} = {label}" for name, label in (extra_labels or part.labels).items()
        )
        return f"{some.strip()} {about}", whole.labels


def indicators(sets: Sequence[tuple[int, ...]], unknowns: int) -> Any:
    """Return a row for each set of unknowns, with 1 at these, shape (sets, unknowns)."""
    ends = np.cumsum([0, *map(len, sets)])
    at = np.array([unknown for some in sets for unknown in some], np.int64)
    return csr_array((np.ones(len(at), np.int64), at, ends), shape=(len(sets), unknowns))


def _choices(dimension: Dimension) -> list[tuple[str, Ints]]:
    """Return what a group may have of a dimension: everything (no label), a label, a leaf."""
    choices = [("", np.arange(len(dimension.leaves)))]
    choices += list(dimension.holds.items())
    choices += [
        (leaf, np.array([at]))
        for at, leaf in enumerate(dimension.leaves)
        if leaf not in dimension.holds
    ]
    seen: dict[bytes, tuple[str, Ints]] = {}
    for label, leaves in choices:
        seen.setdefault(np.asarray(leaves, np.int64).tobytes(), (label, leaves))
    return list(seen.values())


def _singles(choices: Sequence[tuple[str, Ints]], leaves: int) -> list[int]:
    """Return where the single leaves are among the choices, in order."""
    where = {int(some[0]): at for at, (_, some) in enumerate(choices) if len(some) == 1}
    return [where[leaf] for leaf in range(leaves)]
