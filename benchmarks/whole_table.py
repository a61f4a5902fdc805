"""An audit of a whole table: seconds by part and peak memory, besides the attacks.

    python benchmarks/whole_table.py [PEOPLE] [--before FOLDER] [--attacks prior,posterior,ceiling]

The people are drawn from a random Bayesian network with the columns of the ACS table of Swanberg et
al. 2025, section 6 (16 columns, here 48,842 people), so that the figures need no file; tables of
three columns, one column unknown, five settings of epsilon. Each line is a process of its own, with
one thread; seconds are of the processor, so that a busy machine does not change them much. What is
worked out once for everybody (``people = "all"``) or once for all settings of a trial is in the
first trial and not in the next. ``--before`` gives the folder of another version's sources; the
ratio to it is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

SIZES = (5, 4, 9, 3, 2, 2, 2, 2, 2, 2, 9, 18, 5, 4, 24, 8)
UNKNOWN = {2: "c9", 24: "c14"}
TRIALS, EPSILONS = 20, (0.5, 1, 3, 10, 30)


def table(people: int, seed: int = 1) -> pd.DataFrame:
    """Draw people whose columns depend on one another."""
    from narcissus.priors import BayesianNetwork

    rng = np.random.default_rng(seed)
    parents, tables = [], []
    for column, size in enumerate(SIZES):
        own = tuple(sorted(rng.choice(column, min(column, 2), replace=False).tolist()))
        base = rng.dirichlet(np.full(size, 0.5))
        tables.append(rng.dirichlet(4 * base + 0.1, size=tuple(SIZES[p] for p in own)))
        parents.append(own)
    names = tuple(f"c{column}" for column in range(len(SIZES)))
    network = BayesianNetwork(names, tuple(parents), tuple(tables))
    return pd.DataFrame(network.sample(people, rng=rng), columns=list(names)).astype(str)


def alone(path: str, values: int, kind: str, attacks: str) -> None:
    """Time one audit in this process, and print what its parts took."""
    study = import_module("narcissus.kinds.table.schema").TableStudy.model_validate(
        {
            "data": {"path": path},
            "threat": {"unknown": [UNKNOWN[values]], "people": kind}
            | ({} if kind == "all" else {"targets": len(pd.read_parquet(path))}),
            "mechanism": {"name": "marginals", "k": 3, "epsilon": EPSILONS, "delta": 1e-5},
            "attacks": {name: {} for name in attacks.split(",")},
            "groups": {"columns": ["c2"]},
            "run": {"trials": TRIALS, "seed": 1},
        },
        strict=False,
    )
    found, begin = {}, time.process_time()

    def lap(name: str) -> None:
        nonlocal begin
        found[name], begin = time.process_time() - begin, time.process_time()

    ready = import_module("narcissus.kinds.table.kind").prepare(study, Path(), 1)
    lap("reading and fitting")
    ready.queries.counts(ready.table.codes)
    lap("counting")
    ready.play("0/1")
    lap("first trial")
    ready.play("0/3")
    lap("next setting")
    ready.play("1/1")
    lap("next trial")
    found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


def measured(source: Path, *args: str | int) -> dict[str, float]:
    """Run `alone` with the sources of a version."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    code = f"import whole_table; whole_table.alone({', '.join(map(repr, args))})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
        env={**os.environ, **threads, "PYTHONPATH": str(source)},
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main() -> None:
    """Print a line for each kind of people and each number of values."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("people", type=int, nargs="?", default=48_842)
    parser.add_argument("--before", type=Path, help="sources of another version")
    parser.add_argument("--attacks", default="prior")
    given = parser.parse_args()
    here = Path(__file__).resolve().parents[1] / "src"
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/people.parquet"
        table(given.people).to_parquet(path)
        print(f"{given.people:,} people, {len(SIZES)} columns, k = 3, attacks {given.attacks}")
        for values in UNKNOWN:
            for kind in ("all", "prior"):
                args = (path, values, kind, given.attacks)
                now = measured(here, *args)
                before = measured(given.before, *args) if given.before else {}
                print(f"  {values} values, people = {kind!r}")
                for name, figure in now.items():
                    ratio = f"  {before[name] / figure:6.1f}x" if before else ""
                    unit = "MB" if name == "megabytes" else "s"
                    print(f"    {name:<20} {figure:8.2f} {unit}{ratio}", flush=True)


if __name__ == "__main__":
    main()
