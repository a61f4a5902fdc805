"""Rows and columns in the order of their counts, which limits each hidden one by its neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from narcissus._visible import visible
from narcissus.counts.ranges import read_range
from narcissus.counts.reading import Cell
from narcissus.rows import Unaccounted

FEWEST = 6
"""Printed numbers in order that are no coincidence: of six, one of 360 orders is."""


def ask_for_order(cells: Sequence[Cell]) -> Iterator[Unaccounted]:
    """Yield a question for each table whose hidden cells stand between numbers in order.

    cells: of all tables, without totals, in the order of their files.
    """
    each: dict[str, list[Cell]] = {}
    for cell in cells:
        each.setdefault(cell.file, []).append(cell)
    for file, some in each.items():
        finest = max(len(cell.labels) for cell in some)
        inner = [cell for cell in some if len(cell.labels) == finest]
        if any(map(_is_by_counts, _sequences(inner))):
            yield Unaccounted(
                subject=f"the order of {visible(file)}",
                reason="Its labels stand in the order of their numbers, so that each hidden one "
                "lies between its neighbours.",
                declaration="a copy of the table in another order, as by name",
            )


def _sequences(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Yield all cells, and those that differ in one label alone, in the order of the file."""
    yield list(cells)
    lines: dict[tuple[str, frozenset[tuple[str, str]]], list[Cell]] = {}
    for cell in cells:
        for name in cell.labels:
            others = frozenset(item for item in cell.labels.items() if item[0] != name)
            lines.setdefault((name, others), []).append(cell)
    yield from lines.values()


def _is_by_counts(cells: Sequence[Cell]) -> bool:
    printed = [cell for cell in cells if cell.count.kind in ("exact", "rounded")]
    counts = [cell.count.low for cell in printed]
    if len(printed) == len(cells) or len(set(counts)) < FEWEST:
        return False
    steps = list(pairwise(counts))
    is_sorted = all(a <= b for a, b in steps) or all(a >= b for a, b in steps)
    return is_sorted and not any(
        _are_in_order(list(dict.fromkeys(cell.labels[name] for cell in cells)))
        for name in cells[0].labels
        if len({cell.labels[name] for cell in cells}) > 2
    )


def _are_in_order(labels: Sequence[str]) -> bool:
    """Return whether labels stand by name, by code or by range, up or down."""
    reads = [read_range(label) for label in labels]
    lows = [read[1] for read in reads if read is not None]
    keys = [label.casefold() for label in labels]
    orders = [keys] + ([lows] if len(lows) == len(labels) else [])
    return any(list(some) in (sorted(some), sorted(some, reverse=True)) for some in orders)
