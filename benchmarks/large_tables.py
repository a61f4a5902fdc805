"""Tables that are counted as they are read: rows a second, peak memory, an audit end to end.

Run ``python benchmarks/large_tables.py`` for 10^7 rows, ``--rows 100000000`` for 10^8, which take
a gigabyte of disk in ``--folder``. The table is random: 16 columns of 2 to 24 values, text and
numbers, each given up to two others, with the entropy of a real one (New York's ACS table has 11
nats). Memory is that of a process of its own for each stage, with all that it imports.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import narcissus
from narcissus.priors import BayesianNetwork, fit_bayesian_network
from narcissus.tables import read_table

SIZES = (2, 2, 2, 3, 2, 5, 2, 9, 3, 2, 24, 6, 2, 4, 8, 18)
GROUP = 2**20  # rows of a row group
AUDIT = {"unknown": ["c15"], "k": 2, "epsilon": [1.0, 10.0], "targets": 100, "trials": 20}


def people() -> BayesianNetwork:
    """Give a network whose columns go together, some of them much."""
    rng = np.random.default_rng(20)
    parents = [tuple(sorted(rng.choice(j, min(j, 2), replace=False).tolist())) for j in range(16)]
    tables = [
        rng.dirichlet(np.full(size, 0.2), size=tuple(SIZES[p] for p in own))
        for size, own in zip(SIZES, parents, strict=True)
    ]
    return BayesianNetwork(tuple(f"c{j}" for j in range(16)), tuple(parents), tuple(tables))


def write(path: Path, rows: int) -> None:
    """Write the table: even columns numbers, odd ones text."""
    prior, rng = people(), np.random.default_rng(21)
    words = [pa.array([f"value {v}" for v in range(size)]) for size in SIZES]
    writer = None
    for start in range(0, rows, GROUP):
        codes = prior.sample(min(GROUP, rows - start), rng=rng)
        columns = {
            name: pa.DictionaryArray.from_arrays(pa.array(codes[:, j]), words[j])
            if j % 2
            else pa.array(codes[:, j].astype(np.int64))
            for j, name in enumerate(prior.names)
        }
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema, store_schema=False)
        writer.write_table(table, row_group_size=GROUP)
    assert writer is not None
    writer.close()


def stage(name: str, path: Path) -> None:
    """Play one stage in this process and say what it took."""
    begin = time.perf_counter()
    if name == "audit":
        bins = {"c10": narcissus.Bins(width=2)}
        found = narcissus.audit(path, rng=1, workers=1, bins=bins, **AUDIT)
        said = f"{found.status}"
    else:
        table = read_table(path, bins={"c10": narcissus.Bins(width=2)})
        read = time.perf_counter() - begin
        assert table.counts is not None
        said = (
            f"{table.rows / read:,.0f} rows a second, {len(table.counts):,} distinct records, "
            f"{(table.records.nbytes + table.counts.nbytes) / 1e6:,.0f} MB held"
        )
        if name == "fit":
            begin = time.perf_counter()
            said = f"{fit_bayesian_network(table)}; without reading"
    seconds = time.perf_counter() - begin
    # with the worker that plays the trials
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    own, worker = (resource.getrusage(kind) for kind in kinds)
    processor = sum(usage.ru_utime + usage.ru_stime for usage in (own, worker))
    peak = (own.ru_maxrss + worker.ru_maxrss) / 1e6
    print(
        f"{name:<6} {seconds:8.1f} s ({processor:.1f} s of processor in all), peak {peak:.2f} GB: "
        f"{said}",
        flush=True,
    )


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--rows", type=int, default=10**7)
    ask.add_argument("--folder", type=Path, help="where the table is written; a temporary one")
    ask.add_argument("--only", nargs="+", default=["read", "fit", "audit"])
    ask.add_argument("--stage", help=argparse.SUPPRESS)
    given = ask.parse_args()
    if given.stage:
        return stage(given.stage, given.folder)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "people.parquet"
        begin = time.perf_counter()
        write(path, given.rows)
        size = path.stat().st_size / 1e6
        print(
            f"{given.rows:,} rows of 16 columns, {size:,.0f} MB of Parquet, written in "
            f"{time.perf_counter() - begin:.0f} s",
            flush=True,
        )
        for name in given.only:
            again = [sys.executable, __file__, "--stage", name, "--folder", str(path)]
            subprocess.run(again, check=True)
    return None


if __name__ == "__main__":
    main()
