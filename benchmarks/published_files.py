"""A published file with planted copies: time, memory, and what narcissus and others find in it.

    python benchmarks/published_files.py REAL PUBLISHED [--copied .05] [--minutes 15]
        [--others PYTHON]

REAL and PUBLISHED are files of one table. A share of the rows of PUBLISHED is replaced by rows of
REAL. PYTHON is the interpreter of an environment with anonymeter and sdmetrics, which pin their
own NumPy: ``python -m venv E && E/bin/pip install anonymeter sdmetrics``. Each tool is a process of
its own and takes its defaults; there is no control. It is ended after so many minutes; what it had
found is shown. Times are of the clock and of the processors.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent


def measured(words, minutes):
    """Run a command; return its output, seconds, seconds of the processors and MiB at most."""
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(list(map(str, words)), stdout=out, stderr=subprocess.DEVNULL)
        limit = threading.Timer(60 * minutes, child.kill)
        limit.start()
        _, code, used = os.wait4(child.pid, 0)
        limit.cancel()
        child.returncode = os.waitstatus_to_exitcode(code)
        out.seek(0)
        text = out.read()
    cpu = used.ru_utime + used.ru_stime
    return text, time.perf_counter() - began, cpu, used.ru_maxrss / 1024


def main():
    options = argparse.ArgumentParser(description="See the first lines of this file.")
    options.add_argument("real", type=Path)
    options.add_argument("published", type=Path)
    options.add_argument("--copied", type=float, default=0.05)
    options.add_argument("--minutes", type=float, default=15)
    options.add_argument("--others")
    asked = options.parse_args()
    real = pd.read_csv(asked.real, dtype=str, keep_default_na=False)
    made = pd.read_csv(asked.published, dtype=str, keep_default_na=False)[list(real)]
    rng = np.random.default_rng(1)
    many = round(asked.copied * len(made))
    rows = rng.permutation(min(len(real), len(made)))[:many]
    made.iloc[rows] = real.iloc[rng.permutation(len(real))[:many]].to_numpy()
    with tempfile.TemporaryDirectory() as place:
        files = [Path(place) / "real.csv", Path(place) / "made.csv"]
        real.to_csv(files[0], index=False)
        made.to_csv(files[1], index=False)
        print(f"{len(made):,} rows of {len(real.columns)} columns, {many:,} of them copied")
        ours = Path(sys.executable).with_name("narcissus")
        out = Path(place) / "out"
        tools = {
            "narcissus": [ours, "synth", *files, "--out", out, "--seed", 1, "--quiet", "--yes"]
        }
        if asked.others:
            script = HERE / "published_files_others.py"
            for name in ("anonymeter", "sdmetrics"):
                tools[name] = [asked.others, script, name, *files]
        for name, words in tools.items():
            text, seconds, cpu, memory = measured(words, asked.minutes)
            print(
                f"{name}: {seconds:.0f} s, {cpu:.0f} s of processors, {memory:.0f} MiB", flush=True
            )
            if name == "narcissus":
                record = json.loads((out / "record.json").read_text(encoding="utf-8"))
                text = f"{record['status']}: {record['verdict']}"
            print("    " + text.strip().replace("\n", "\n    "), flush=True)


if __name__ == "__main__":
    main()
