"""Rounded numbers beside marks of suppression: a number that has no mark is not a small one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from narcissus.counts.marks import Rules
from narcissus.counts.reading import Cell


def unmarked(cells: Sequence[Cell], rules: Rules) -> list[Cell]:
    """Return cells with rounded numbers narrowed by what their missing mark tells.

    A publication that marks counts below a threshold prints a number for 0 and for counts from the
    threshold on, whether it has such a count or not. A file whose numbers show that it prints
    smaller counts is left as it is, and so are totals of a magnitude.

    Parameters
    ----------
    cells: of all files of one publication.
    rules: how they are declared to be printed.
    """
    declared = {rules.below, *rules.marks.values(), threshold(cells)} - {None, 1}
    below = min((limit for limit in declared if limit is not None), default=None)
    if below is None:
        return list(cells)
    telling = {
        cell.file
        for cell in cells
        if prints_small(cell, below) and rules.suppressed(cell.printed) is None
    }
    return [
        cell if cell.file in telling else replace(cell, count=cell.count.without(below))
        for cell in cells
    ]


def threshold(cells: Sequence[Cell]) -> int | None:
    """Return the least number of people that no mark stands for; None: no mark has a limit."""
    limits = [
        cell.count.high
        for cell in cells
        if cell.count.kind == "suppressed" and cell.unit is None and cell.count.high is not None
    ]
    return min(limits, default=-1) + 1 or None


def prints_small(cell: Cell, below: int) -> bool:
    """Check whether a cell is a number that stands for 1 to ``below`` - 1 people."""
    count = cell.count
    if count.kind == "suppressed" or count.high is None:
        return False
    return 0 < count.low <= count.high < below
