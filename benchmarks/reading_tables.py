"""Reading a text table beside pandas' own reader, in one run: time, ratio and peak memory.

    python benchmarks/reading_tables.py [--rows 2000000 3000000] [--repeats 5]

The table has five columns of 2 to 90 values, plain or with all cells in quotes; beyond 2,000,000
rows it is counted. Time is of the process's processors, so that others at work do not count, the
least of some repeats of both in turn. Exit code 1 if a ratio is above 3.
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from narcissus.tables import read_table

MOST = 3.0


def write(path: Path, rows: int, quoting: int) -> None:
    rng = np.random.default_rng(1)
    numbers = {
        n: rng.integers(0, size, rows) for n, size in zip("abcd", (9, 90, 5, 2), strict=True)
    }
    pd.DataFrame(numbers | {"e": rng.choice(["x", "y"], rows)}).to_csv(
        path, index=False, quoting=quoting
    )


def seconds(read, path: Path) -> float:
    begun = time.process_time()
    read(path)
    return time.process_time() - begun


def measured(path: str, repeats: int) -> None:
    readers = (pd.read_csv, read_table)
    each = [[seconds(read, Path(path)) for read in readers] for _ in range(repeats + 1)][1:]
    theirs, ours = (min(one) for one in zip(*each, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = Path(path).stat().st_size / 1e6
    print(
        f"{Path(path).stem}: {size:.0f} MB, pandas {theirs:.2f} s, read_table {ours:.2f} s, "
        f"ratio {ours / theirs:.2f}, peak {peak:,.0f} MB"
    )
    sys.exit(ours / theirs > MOST)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[2_000_000, 3_000_000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--stage", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.stage:
        measured(arguments.stage, arguments.repeats)
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        for rows in arguments.rows:
            for name, quoting in (("plain", csv.QUOTE_MINIMAL), ("quoted", csv.QUOTE_ALL)):
                path = Path(folder) / f"{name} {rows}.csv"
                write(path, rows, quoting)
                stage = ["--stage", str(path), "--repeats", str(arguments.repeats)]
                worst |= subprocess.run([sys.executable, __file__, *stage], check=False).returncode
                path.unlink()
    return worst


if __name__ == "__main__":
    sys.exit(main())
