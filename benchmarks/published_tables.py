"""Limits of hidden cells of 50 linked tables, beside a linear program for every limit.

    python benchmarks/published_tables.py [--people 20000] [--programs 10]

Seven variables of 2 to 6 values and an area of 32 are drawn for some people; 50 tables of two and
three of them are published, cells of 1 to 4 people suppressed, and one more in each line that would
tell one. Plain programs are solved for some cells alone, over all unknowns of these tables at once;
their time for all cells is extrapolated. sdcTable needs R, and was not run.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np
from scipy.optimize import linprog

from narcissus.counts import Cell, Structure, audit_tables
from narcissus.counts.marks import Meaning
from narcissus.counts.system import BIG, build, dimensions_of

SIZES = (32, 2, 3, 4, 5, 6, 4, 3)


def protected(counts: np.ndarray) -> np.ndarray:
    """Suppress 1 to 4, and the smallest other in each line with one such cell alone."""
    hidden = (counts > 0) & (counts < 5)
    for axis in range(counts.ndim):
        lines, marks = np.moveaxis(counts, axis, -1), np.moveaxis(hidden, axis, -1)
        for place in map(tuple, np.argwhere(marks.sum(-1) == 1)):
            free = np.flatnonzero(~marks[place] & (lines[place] > 0))
            if len(free):
                marks[(*place, free[lines[place][free].argmin()])] = True
    return hidden


def cells_of(people: int, tables: int = 50) -> list[Cell]:
    rng = np.random.default_rng(1)
    data = np.column_stack([rng.choice(s, p=rng.dirichlet([2.0] * s), size=people) for s in SIZES])
    rest = range(1, len(SIZES))
    chosen = [
        *((0, *two) for two in itertools.combinations(rest, 2)), *((0, one) for one in rest),
        *itertools.combinations(rest, 3),
    ]  # fmt: skip
    cells = []
    for table, names in enumerate(chosen[:tables]):
        counts = np.zeros([SIZES[at] for at in names], int)
        np.add.at(counts, tuple(data[:, at] for at in names), 1)
        hidden = protected(counts)
        for place in itertools.product(*([None, *range(SIZES[at])] for at in names)):
            labels = {f"v{at}": f"{k}" for at, k in zip(names, place, strict=True) if k is not None}
            count = int(counts[tuple(slice(None) if k is None else k for k in place)].sum())
            meaning = Meaning(count, count, "exact")
            if None not in place and hidden[place]:
                meaning = Meaning(1, 4 if count < 5 else None, "suppressed")
            cells.append(Cell(f"t{table}", len(cells) + 2, "count", str(count), labels, meaning))
    return cells


def plain(cells: list[Cell], programs: int) -> float:
    """Return seconds a limit of a linear program over all unknowns."""
    system = build(cells, dimensions_of(cells, Structure()), Structure())
    equal = system.low == system.high
    most = np.where(system.high < BIG // 2, system.high, np.inf)
    hidden = [at for at, cell in enumerate(cells) if cell.count.kind == "suppressed"]
    begun = time.perf_counter()
    for at in hidden[:: max(1, len(hidden) // programs)][:programs]:
        cost = system.matrix[[at]].toarray().ravel()
        finite = ~equal & np.isfinite(most)
        linprog(
            -cost, A_eq=system.matrix[equal], b_eq=system.low[equal],
            A_ub=system.matrix[finite], b_ub=most[finite], method="highs",
        )  # fmt: skip
    return (time.perf_counter() - begun) / programs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--programs", type=int, default=10)
    given = parser.parse_args()
    cells = cells_of(given.people)
    begun = time.perf_counter()
    found = audit_tables(cells)
    seconds = time.perf_counter() - begun
    wrong = sum(not one.low <= int(one.cell.printed) <= (one.high or BIG) for one in found.cells)
    print(
        f"{len(cells):,} cells, {len(found.hidden):,} hidden, "
        f"{sum(one.determined for one in found.hidden):,} determined: {seconds:.1f} s; {wrong} "
        "limits miss the true count"
    )
    each = plain(cells, given.programs)
    print(f"a plain program: {each:.2f} s, so {2 * len(found.hidden) * each:,.0f} s for all limits")


if __name__ == "__main__":
    main()
