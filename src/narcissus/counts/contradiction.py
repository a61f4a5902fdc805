"""Which published cells contradict each other: a set of which none can be left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic

import numpy as np

from narcissus._visible import visible
from narcissus.counts.intervals import InfeasibleError, Polytope, Solver, refuted
from narcissus.counts.people import search_people
from narcissus.counts.reading import Cell
from narcissus.counts.system import BIG, Dimension, Ints, Structure, build
from narcissus.errors import InputError

LEAST = 5.0
"""Seconds for the search of what contradicts, even where no other time is left."""
SEARCHED = 300
"""Most cells of which a smallest set is searched by search, not by linear programs."""


def contradiction(
    cells: Sequence[Cell],
    dimensions: Mapping[str, Dimension],
    given: Structure,
    deadline: float = np.inf,
) -> InputError:
    """Return the error that names a smallest set of cells that contradict each other.

    None of the set can be left out: without it, the others agree. At the deadline, the set is
    named that was reached.
    """
    deadline = max(deadline, monotonic() + LEAST)
    if any(cell.share is not None for cell in cells):
        counts = [replace(cell, share=None) for cell in cells]
        if not _contradicts(counts, dimensions, given):
            files = ", ".join(dict.fromkeys(visible(cell.file) for cell in cells if cell.share))
            return InputError(
                f"{files}: no numbers agree with both counts and percentages: correct them, or "
                "declare of what they are percentages: --percent COLUMN=DIMENSION; marks that mean "
                "something else: --mark"
            )
        cells = counts
    system = build(cells, dimensions, given, keep_zeros=True, with_keys=True)
    unknowns = len(system.sizes)
    part = Polytope(
        system.matrix,
        system.low,
        system.high,
        np.zeros(unknowns, np.int64),
        np.full(unknowns, BIG, np.int64),
    )
    links = np.arange(len(cells), system.matrix.shape[0])
    proof = refuted(part)
    if proof is not None:
        chosen = _without_needless(part, proof[proof < len(cells)].tolist(), links, deadline)
    elif len(cells) > SEARCHED:
        return InputError("the tables contradict each other: no numbers agree with all cells")
    else:
        contradicts = _search(part, cells, dimensions, given, deadline)
        chosen = _smallest(list(range(len(cells))), contradicts, deadline)
    listed = "\n".join(f"  {cells[at]}" for at in chosen[:20])
    remainder = f"\n  and {len(chosen) - 20} more" if len(chosen) > 20 else ""
    some = "and some would if any one of them were left out"
    if monotonic() > deadline:
        some = "and time ran out before it was known which of them are needed for that"
    chosen_cells = [cells[at] for at in chosen]
    return InputError(
        f"the tables contradict each other: no numbers agree with these {len(chosen)} "
        f"cells, {some}:\n{listed}{remainder}\n"
        f"{_blame_zeros(chosen_cells, dimensions, given)}"
        "Correct one, or they are about other people: then audit the tables of these alone. "
        "Or declare how they were made: --round, --cell-key, --mark; people in none "
        "of the labels, --others; tables of a part of the people, --within; labels that are parts "
        "of others, --hierarchy; a total or a part that is named otherwise, --total or --part"
    )


def _blame_zeros(
    cells: Sequence[Cell], dimensions: Mapping[str, Dimension], given: Structure
) -> str:
    """Say that the cells agree if marks may hide nobody, which a declaration excludes."""
    marks = [
        cell.printed for cell in cells if cell.count.kind == "suppressed" and cell.count.low == 1
    ]
    loose = [
        replace(cell, count=replace(cell.count, low=0))
        if cell.count.kind == "suppressed" and cell.count.low == 1
        else cell
        for cell in cells
    ]
    try:
        if not marks or _contradicts(loose, dimensions, given):
            return ""
    except InputError:  # some cells alone may lack labels that a declaration names
        return ""
    words = ", ".join(visible(mark) or "(empty)" for mark in dict.fromkeys(marks))
    return f"They agree if {words} may hide nobody, which `--no-zeros` excludes: leave it out.\n"


def _contradicts(
    cells: Sequence[Cell], dimensions: Mapping[str, Dimension], given: Structure
) -> bool:
    system = build(cells, dimensions, given, with_keys=True)
    zeros = np.zeros(len(system.sizes), np.int64)
    whole = Polytope(system.matrix, system.low, system.high, zeros, zeros + BIG)
    try:
        part = whole.tightened()
        Solver(part, part.matrix, part.low, part.high).best(zeros)
    except InfeasibleError:
        return True
    return False


def _rows(part: Polytope, rows: Ints) -> Polytope:
    return Polytope(part.matrix[rows], part.low[rows], part.high[rows], part.least, part.most)


def _without_needless(part: Polytope, chosen: list[int], links: Ints, deadline: float) -> list[int]:
    """Leave out rows while the others are still refuted, until the deadline."""
    for row in list(chosen):
        if monotonic() > deadline:
            break
        if row not in chosen:
            continue
        rows = np.array([at for at in chosen if at != row] + links.tolist(), np.int64)
        if len(rows) == len(links):
            break
        proof = refuted(_rows(part, rows))
        if proof is not None:
            proof_rows = {int(rows[at]) for at in proof}
            chosen = [at for at in chosen if at in proof_rows]
    return chosen


def _search(
    part: Polytope,
    cells: Sequence[Cell],
    dimensions: Mapping[str, Dimension],
    structure: Structure,
    deadline: float,
) -> Callable[[list[int]], bool]:
    """Return what tells whether some cells contradict each other, as far as time lets it."""

    def contradicts(chosen: list[int]) -> bool:
        some = _rows(part, np.array([*chosen, *range(len(cells), len(part.low))], np.int64))
        try:
            tight = some.tightened(deadline)
            solver = Solver(tight, some.matrix, some.low, some.high, deadline=deadline)
            solver.best(0 * part.least)
            if any(cells[at].statistics for at in chosen):
                search_people(
                    [cells[at] for at in chosen], dimensions, structure, limit=1, deadline=deadline
                )
        except InfeasibleError:
            return True
        return False

    return contradicts


def _smallest(
    chosen: list[int], contradicts: Callable[[list[int]], bool], deadline: float
) -> list[int]:
    """Leave out cells, many at the same time at first, while the others contradict each other."""
    size = max(1, len(chosen) // 2)
    while True:
        at = 0
        while at < len(chosen):
            rest = chosen[:at] + chosen[at + size :]
            if monotonic() > deadline:
                return chosen
            if rest and contradicts(rest):
                chosen = rest
            else:
                at += size
        if size == 1:
            return chosen
        size //= 2
