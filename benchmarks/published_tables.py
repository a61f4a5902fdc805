"""Limits of hidden cells of 50 linked tables, beside a linear program for every limit.

    python benchmarks/published_tables.py [--people 20000] [--programs 10] [--rscript FILE]

Seven variables of 2 to 6 values and an area of 32 are drawn for some people; 50 tables of two and
three of them are published, cells of 1 to 4 people suppressed, and one more in each line that would
tell one. Plain programs are solved for some cells alone, over all unknowns of these tables at once;
their time for all cells is extrapolated.

`--rscript` compares the table with the most hidden cells, by itself, with sdcTable. FILE is yours,
and is run as `Rscript FILE table.csv limits.csv`. It reads a column for each dimension (`*`: all of
it), `count` and `hidden` (0 or 1), writes `low` and `up` of `attack()` for each hidden row, in the
order of the rows, and prints the seconds that `attack()` took.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

from narcissus.counts import Cell, Structure, audit_tables
from narcissus.counts.audit import limits_of
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


def beside_sdctable(cells: list[Cell], script: Path) -> None:
    """Print how the limits of one table compare, by an attacker who knows no more than totals."""
    name = Counter(cell.file for cell in cells if cell.count.kind == "suppressed").most_common(1)
    own = [cell for cell in cells if cell.file == name[0][0]]
    dimensions = sorted({dimension for cell in own for dimension in cell.labels})
    with tempfile.TemporaryDirectory() as folder:
        table, limits = Path(folder, "table.csv"), Path(folder, "limits.csv")
        with table.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow([*dimensions, "count", "hidden"])
            for cell in own:
                labels = [cell.labels.get(dimension, "*") for dimension in dimensions]
                rows.writerow([*labels, cell.printed, int(cell.count.kind == "suppressed")])
        told = subprocess.run(
            ["Rscript", script, table, limits], check=True, capture_output=True, text=True
        ).stdout
        with limits.open(newline="") as file:
            theirs = [(float(row["low"]), float(row["up"])) for row in csv.DictReader(file)]
    nothing = Meaning(0, None, "suppressed")
    begun = time.perf_counter()
    found = limits_of([
        replace(cell, count=nothing) if cell.count.kind == "suppressed" else cell for cell in own
    ])  # fmt: skip
    seconds = time.perf_counter() - begun
    whole = [(math.ceil(low - 1e-6), math.floor(high + 1e-6)) for low, high in theirs]
    ours = [(one.low, one.high) for one in found if one.is_hidden]
    print(
        f"one table, {len(own):,} cells, {len(ours):,} hidden: {seconds:.1f} s; sdcTable "
        f"{told.strip()} s; {sum(a == b for a, b in zip(ours, whole, strict=True)):,} limits agree"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--programs", type=int, default=10)
    parser.add_argument("--rscript", type=Path)
    given = parser.parse_args()
    cells = cells_of(given.people)
    if given.rscript:
        beside_sdctable(cells, given.rscript)
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
