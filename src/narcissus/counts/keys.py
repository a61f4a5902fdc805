"""Cell keys: what follows from one key for one set of people, and how keys add up.

Each person has a random number; the sum over a cell's people, from 0 to 1 and around, chooses the
printed number (Enderle and Giessing 2018). So cells of the same people print the same number: two
cells with different numbers differ by one person or more, which is a row of the system. What keys
forbid next to that is not linear. Of a printed sum and its printed parts it is derived here, in
exact numbers; beyond that, data sets with keys are sought (`narcissus.counts.key_search`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from narcissus.counts.marks import CellKey
from narcissus.counts.reading import Cell
from narcissus.errors import InputError

Ints = NDArray[np.int64]
ODDS = 1000.0
"""By which two keys must be excluded before numbers that differ are taken for wrong."""
MOST_PAIRS = 20_000
MOST_STATES = 5_000
"""Sums of counts and keys that are followed over the parts of a cell."""
_MOST_COUNTS = 200  # of a cell
State = tuple[int, Fraction, Fraction]
"""A sum of counts, and the ends of the sum of their keys: from the first on, below the second."""


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
    for place, other in combinations(keyed, 2):
        a, b = cells[place].count, cells[other].count
        may_be_alike = a.low <= _end(b.high) and b.low <= _end(a.high)
        if a.number == b.number or not may_be_alike:
            continue
        if frozenset((cells[place].file, cells[other].file)) in apart:
            continue
        shared = sets[place] & sets[other]
        if not shared and max(a.low, b.low) > 0:
            continue
        made += 1
        if made > MOST_PAIRS:
            return
        yield np.array(sorted((sets[place] | sets[other]) - shared), np.int64)


def _end(high: int | None) -> int:
    return sys.maxsize if high is None else high


def _unlike_files(cells: Sequence[Cell], keyed: Sequence[int], sets: Any) -> set[frozenset[str]]:
    """Return pairs of files that print the same people differently: their keys are others.

    One key prints the same people alike, so one difference proves it. Raises `InputError` for files
    that print so many alike that some numbers must be wrong instead.
    """
    seen: dict[Any, list[int]] = {}
    for at in keyed:
        seen.setdefault(sets[at], []).append(at)
    pairs: dict[frozenset[str], list[tuple[int, int]]] = {}
    for alike in seen.values():
        for row, other in combinations(alike, 2):
            pairs.setdefault(frozenset((cells[row].file, cells[other].file)), []).append(
                (row, other)
            )
    apart: set[frozenset[str]] = set()
    for files, some in pairs.items():
        odd = [(a, b) for a, b in some if cells[a].count.number != cells[b].count.number]
        if not odd:
            continue
        chances = [_chance_alike(cells[row]) for row, _ in some]
        many = len(some) - len(odd)
        if float(binom.sf(many - 1, len(some), max(chances))) < 1 / ODDS:
            row, other = odd[0]
            raise InputError(
                f"tables print {many:,} of {len(some):,} cells of the same people alike, as with "
                f"one cell key, and others differently, such as\n  {cells[row]}\n  {cells[other]}\n"
                "Correct one of them, or declare which people a table is about: --within"
            )
        apart.add(files)
    return apart


def _chance_alike(cell: Cell) -> float:
    """Return the largest chance that two keys print a cell's number alike."""
    key, high = cell.count.key, cell.count.high
    assert key is not None
    counts = range(cell.count.low, (cell.count.low if high is None else high) + 1)
    return max(sum(p * p for p in _chances(key, count)) for count in counts)


def _chances(key: CellKey, count: int) -> list[float]:
    row = key.chances[min(count, key.last)]
    total = sum(row.values())
    return [chance / total for chance in row.values()]


def added_up(cells: Sequence[Cell], rows: Sequence[frozenset[int]]) -> list[Cell]:
    """Return cells whose numbers are those that keys can print together with their sums and parts.

    The key of a cell is the sum of the keys of its parts, but for whole numbers. So a printed sum
    leaves out some counts of its parts, and parts some of the sum.

    Parameters
    ----------
    cells: published ones.
    rows: the unknowns of each.

    Raises `InputError` where no keys print a sum and its parts.
    """
    counts = {
        at: _counts(cell)
        for at, cell in enumerate(cells)
        if cell.count.key is not None and cell.count.high is not None
        if cell.count.high - cell.count.low < _MOST_COUNTS
    }
    sums = [
        relation for relation in _sums(cells, rows) if counts.keys() >= {relation[0], *relation[1]}
    ]
    changed = True
    while changed:
        changed = False
        for whole, parts in sums:
            left = _supported(cells, counts, whole, parts)
            if left is None:
                continue
            if not all(left.values()):
                listed = "\n".join(f"  {cells[at]}" for at in (whole, *parts))
                raise InputError(
                    "the tables contradict each other: no keys of people print this cell and its "
                    f"parts by the cell-key table:\n{listed}\nCorrect one, or declare another "
                    "table: --cell-key"
                )
            changed |= any(len(left[at]) < len(counts[at]) for at in left)
            counts.update(left)
    return [_limited(cell, counts[at]) if at in counts else cell for at, cell in enumerate(cells)]


def _counts(cell: Cell) -> list[int]:
    """Return the true counts that a cell's number may be for."""
    count = cell.count
    some = range(count.low, (count.high or 0) + 1)
    return [n for n in some if count.chance is None or count.chance(n)]


def _limited(cell: Cell, left: Sequence[int]) -> Cell:
    count, chance = cell.count, cell.count.chance
    if chance is None or len(left) == len(_counts(cell)):
        return cell
    allowed = frozenset(left)
    return replace(
        cell,
        count=replace(
            count, low=min(left), high=max(left), chance=lambda n: chance(n) * (n in allowed)
        ),
    )


def _sums(
    cells: Sequence[Cell], rows: Sequence[frozenset[int]]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield cells with the cells of one more dimension that hold all of their people, each once."""
    places: dict[tuple[str, frozenset[Any]], int] = {}
    groups: dict[tuple[str, frozenset[Any], str], list[int]] = {}
    for at, cell in enumerate(cells):
        labels = frozenset(cell.labels.items())
        places[cell.file, labels] = at
        for pair in labels:
            groups.setdefault((cell.file, labels - {pair}, pair[0]), []).append(at)
    for (file, rest, _), parts in groups.items():
        whole = places.get((file, rest))
        together = sum(len(rows[at]) for at in parts)
        if whole is None or frozenset().union(*(rows[at] for at in parts)) != rows[whole]:
            continue
        if together == len(rows[whole]):
            yield whole, tuple(parts)


def _ends(cell: Cell, count: int) -> State:
    """Return a count of a cell, and where its key lies."""
    key = cell.count.key
    assert key is not None
    if not count:
        return 0, Fraction(0), Fraction(0)
    return count, *key.exact_interval(count, cell.count.number)


def _followed(before: set[State], cell: Cell, counts: Sequence[int]) -> set[State]:
    each = [_ends(cell, count) for count in counts]
    return {(n + m, a + c, b + d) for n, a, b in before for m, c, d in each}


def _supported(
    cells: Sequence[Cell], counts: Mapping[int, list[int]], whole: int, parts: Sequence[int]
) -> dict[int, list[int]] | None:
    """Return the counts of a sum and its parts of which keys print all; None: too many ways."""
    before: list[set[State]] = [{(0, Fraction(0), Fraction(0))}]
    behind: list[set[State]] = [{(0, Fraction(0), Fraction(0))}]
    for at, back in zip(parts, reversed(parts), strict=True):
        before.append(_followed(before[-1], cells[at], counts[at]))
        behind.append(_followed(behind[-1], cells[back], counts[back]))
        if max(len(before[-1]), len(behind[-1])) > MOST_STATES:
            return None
    wholes = {count: _ends(cells[whole], count) for count in counts[whole]}
    left = {whole: [n for n in counts[whole] if _meets(before[-1], {n: wholes[n]})]}
    for place, at in enumerate(parts):
        states, other = before[place], behind[len(parts) - place - 1]
        if len(states) * len(other) > MOST_STATES:
            return None
        others = {(n + m, a + c, b + d) for n, a, b in states for m, c, d in other}
        left[at] = [n for n in counts[at] if _meets(_followed(others, cells[at], [n]), wholes)]
    return left


def _meets(states: set[State], wholes: Mapping[int, State]) -> bool:
    """Return whether keys that sum so may be the key of the whole, but for whole numbers."""
    for count, low, high in states:
        state = wholes.get(count)
        if state is None:
            continue
        _, lower_limit, upper_limit = state
        if low == high:  # nobody
            if not count:
                return True
            continue
        turns = range(int(low - upper_limit) - 1, int(high - lower_limit) + 2)
        if any(max(low, lower_limit + turn) < min(high, upper_limit + turn) for turn in turns):
            return True
    return False
