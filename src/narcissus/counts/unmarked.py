"""Rounded numbers next to marks of suppression: a number that has no mark is not a small one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from narcissus._visible import visible
from narcissus.counts.marks import Rules
from narcissus.counts.reading import Cell
from narcissus.errors import InputError
from narcissus.rows import Unaccounted


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
    if rules.no_marks:
        return list(cells)
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


def ask_for_marks(cells: Sequence[Cell], rules: Rules, *, is_noted: bool) -> Unaccounted | None:
    """Ask whether small counts would have a mark, where none has and rounded numbers depend on it.

    ``--below`` alone says how few people a small group has. A publication that rounds all counts
    has no marks, and one that marks small counts may have none of these.

    Parameters
    ----------
    cells: of all files, as `unmarked` takes them.
    rules: how they are declared to be printed.
    is_noted: whether a note of a file says that small counts are marked.

    Raises `InputError` where the user declares that no count is marked, and one is.
    """
    marked = next((cell for cell in cells if rules.suppressed(cell.printed) is not None), None)
    if rules.no_marks and (marked is not None or rules.marks):
        mention = "--mark" if marked is None else marked.place
        raise InputError(f"`--no-marks`: a count has a mark ({visible(mention)}); leave one out")
    if marked is not None or rules.marks or rules.below is None or is_noted:
        return None
    is_open = any(
        before.count != after.count
        for before, after in zip(cells, unmarked(cells, rules), strict=True)
    )
    if not is_open:
        return None
    below = rules.below
    return Unaccounted(
        subject="rounded numbers without a mark",
        reason=f"No count has a mark. Either counts of 1 to {below - 1} would have one, or they "
        "are rounded as others are.",
        declaration=f"`--no-marks` if they are rounded, or `--mark x=below:{below}` if they would "
        "have a mark",
    )


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
