"""What tables tell together that they do not tell apart: differencing, and the next release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from narcissus.counts.audit import CellLimits, TablesAudit, audit_tables
from narcissus.counts.reading import Cell
from narcissus.counts.system import Structure
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer


@dataclass(frozen=True)
class Narrowed:
    """A hidden cell of which all tables together tell more than its own side does."""

    before: CellLimits
    after: CellLimits

    def to_dict(self) -> dict[str, Any]:
        """Return the cell with its limits together, and ``before``, those of its own side."""
        return {**self.after.to_dict(), "before": [self.before.low, self.before.high]}


@dataclass(frozen=True)
class Differencing:
    """A new publication beside all that went out before.

    Options
    -------
    together: what follows from all of it.
    narrowed: hidden cells, of either side, whose limits are narrower than from their side alone.
    """

    together: TablesAudit
    narrowed: tuple[Narrowed, ...]

    @property
    def determined(self) -> tuple[Narrowed, ...]:
        """Hidden cells that only both sides together determine."""
        return tuple(one for one in self.narrowed if one.after.determined)


def audit_next(
    new: Sequence[Cell], earlier: Sequence[Cell], structure: Structure | None = None, *,
    limit: int = 1_000, seconds: float = np.inf, observer: Observer = SILENT,
) -> Differencing:  # fmt: skip
    """Derive what a new publication tells together with earlier ones about the same people.

    Options
    -------
    new, earlier: cells of the tables, from `read_published`.
    structure, limit, seconds: as in `audit_tables`.

    Raises `InputError` as `audit_tables` does, and where both sides have a table of one name.
    """
    given = structure or Structure()
    if twice := {one.file for one in new} & {one.file for one in earlier}:
        raise InputError(f"{min(twice)} is among the earlier tables too; rename one of them")
    together = audit_tables(
        [*earlier, *new], given, limit=limit, seconds=seconds, observer=observer
    )
    alone: list[CellLimits] = []
    for side in (earlier, new):
        files = {one.file for one in side}
        dimensions = {name for one in side for name in one.labels}
        own = Structure(
            parents={k: v for k, v in given.parents.items() if k in dimensions},
            others=tuple(name for name in given.others if name in dimensions),
            within={k: v for k, v in given.within.items() if k in files},
            variable=given.variable,
        )
        if side:
            alone += audit_tables(side, own, limit=1, seconds=seconds, observer=observer).cells
    narrowed = [
        Narrowed(one, both)
        for one, both in zip(alone, together.cells, strict=True)
        if both.is_hidden and (one.low, one.high) != (both.low, both.high)
    ]
    return Differencing(together, tuple(narrowed))


@dataclass(frozen=True)
class Difference:
    """People of one table who are not in another: what subtracting two cells tells of them."""

    file: str
    other: str
    labels: Mapping[str, str]
    low: int
    high: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return labels by dimension, both files, and the limits."""
        return {**self.labels, "file": self.file, "without": self.other, "low": self.low,
                "high": self.high}  # fmt: skip


def differences(audit: TablesAudit, structure: Structure, below: int) -> list[Difference]:
    """List groups of fewer than ``below`` people that subtracting two tables shows.

    One table is about a part of the people of the other (`Structure.within`), and both have a cell
    with the same labels. Groups that may be empty are left out.
    """
    found: list[Difference] = []
    files = {one.cell.file for one in audit.cells}
    for one, other in combinations(sorted(files), 2):
        for large, small in ((one, other), (other, one)):
            if not structure.within.get(small) or structure.within.get(large):
                continue
            parts = {frozenset(c.cell.labels.items()): c for c in audit.cells
                     if c.cell.file == small}  # fmt: skip
            for cell in audit.cells:
                part = parts.get(frozenset(cell.cell.labels.items()))
                if cell.cell.file != large or part is None or part.high is None:
                    continue
                low = cell.low - part.high
                high = None if cell.high is None else cell.high - part.low
                if high is not None and low > 0 and high < below:
                    found.append(Difference(large, small, cell.cell.labels, low, high))
    return found
