"""Cell keys: what follows from one key for one set of people.

Each person has a random number; the sum over a cell's people, from 0 to 1 and around, chooses the
printed number (Enderle and Giessing 2018). So cells of the same people print the same number: two
cells with different numbers differ by one person or more, which is a row of the system. What keys
forbid beside that is not linear (`narcissus.counts.key_search`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.counts.reading import Cell

Ints = NDArray[np.int64]
MOST_PAIRS = 20_000


def differing(cells: Sequence[Cell], rows: Sequence[Ints]) -> Iterator[Ints]:
    """Yield unknowns that hold a person or more: in one of two cells that print other numbers.

    Parameters
    ----------
    cells: published ones.
    rows: the unknowns of each, all of one block.
    """
    keyed = [at for at, cell in enumerate(cells) if cell.count.key is not None]
    sets = {at: frozenset(rows[at].tolist()) for at in keyed}
    apart = _unlike_files(cells, keyed, sets)
    made = 0
    for one, other in combinations(keyed, 2):
        a, b = cells[one].count, cells[other].count
        may_be_alike = a.low <= _end(b.high) and b.low <= _end(a.high)
        if a.number == b.number or not may_be_alike:
            continue
        if frozenset((cells[one].file, cells[other].file)) in apart:
            continue
        shared = sets[one] & sets[other]
        if not shared and max(a.low, b.low) > 0:
            continue
        made += 1
        if made > MOST_PAIRS:
            return
        yield np.array(sorted((sets[one] | sets[other]) - shared), np.int64)


def _end(high: int | None) -> int:
    return sys.maxsize if high is None else high


def _unlike_files(cells: Sequence[Cell], keyed: Sequence[int], sets: Any) -> set[frozenset[str]]:
    """Return pairs of files that print the same people differently: their keys are others."""
    seen: dict[Any, list[int]] = {}
    for at in keyed:
        seen.setdefault(sets[at], []).append(at)
    return {
        frozenset((cells[one].file, cells[other].file))
        for alike in seen.values()
        for one, other in combinations(alike, 2)
        if cells[one].count.number != cells[other].count.number
    }
