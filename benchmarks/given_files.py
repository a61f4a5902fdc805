"""Given synthetic files: what is detected, limits, false alarms and time, beside anonymeter.

    python benchmarks/given_files.py [--anonymeter PYTHON] [--nulls N]

PYTHON is the interpreter of an environment with anonymeter, which pins numpy below 2 and so cannot
live in ours: ``python -m venv E && E/bin/pip install anonymeter``. Both get the same files: 2,000
people of the ACS example, 2,000 others as the control, and a file of 2,000 rows; for the false
alarms 300 of each, the file made of other people of the same survey, so that nothing in it is due
to those it is held against.

Anonymeter's alarm is a risk whose lower limit at level .95 is above 0, for any of its evaluators,
uncorrected as it reports them; ours is the verdict "exceeded", corrected for all claims.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import narcissus

DATA = Path(__file__).resolve().parents[1] / "examples" / "data"
HERE = Path(__file__).parent
SECRET = "ESR"
ATTACKS = 200


def cases():
    """Yield each case: its name and the synthetic file, made from the people of the example."""
    real, fresh = (pd.read_csv(DATA / f"given_{name}.csv") for name in ("real", "fresh"))
    rng = np.random.default_rng(1)
    yield "from a model", fresh
    for share in (0.03, 0.1, 0.3):
        mixed = fresh.copy()
        rows = rng.permutation(len(real))[: round(share * len(real))]
        mixed.iloc[rows] = real.iloc[rows].to_numpy()
        yield f"{share:.0%} copied", mixed
    noisy = real.copy()
    for column in real:
        changed = rng.random(len(real)) < 0.2
        noisy.loc[changed, column] = rng.permutation(real[column])[changed]
    yield "all copied, a fifth of values changed", noisy
    yield "identity", real


def nulls(count, people):
    """Yield people, a file made of others, and a control, all of one survey."""
    survey = pd.read_csv(DATA / "acs_employment_ny2018_20k.csv.gz")
    survey = survey[list(pd.read_csv(DATA / "given_real.csv", nrows=0).columns)]
    for seed in range(count):
        order = np.random.default_rng(seed).permutation(len(survey))[: 3 * people]
        yield tuple(survey.iloc[order[i * people : (i + 1) * people]] for i in range(3))


def ours(real, synthetic, control):
    """Give seconds and the audit."""
    began = time.perf_counter()
    audit = narcissus.audit_synthetic(real, synthetic, control=control, unknown=[SECRET], rng=1)
    return time.perf_counter() - began, audit


def write(folder, case, real, synthetic, control):
    for name, frame in (("real", real), ("synthetic", synthetic), ("control", control)):
        frame.to_csv(folder / f"{case}-{name}.csv", index=False)


def theirs(python, folder, names, modes):
    """Give what anonymeter finds for each case."""
    done = subprocess.run(
        [python, HERE / "given_files_anonymeter.py", folder, str(ATTACKS), modes],
        input="\n".join(names), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def show_ours(name, seconds, audit):
    print(f"{name}: narcissus {seconds:.2f} s, {audit.status}")
    rows = audit.record.rows
    for risk in (row for row in rows if row.of == "risk" and not row.at["group"]):
        found = next(r.quantity for r in rows if (r.of, r.name) == ("excess", risk.name))
        print(
            f"    {risk.name:22} {risk.value:.3f} against {risk.baseline:.3f}, excess "
            f"{found.low:+.3f} to {found.high:+.3f}"
        )


def show_theirs(said):
    print(f"  anonymeter {said['seconds']:.2f} s")
    for name, found in said.items():
        if isinstance(found, dict):
            alarm = "risk above 0" if found["low"] > 0 else ""
            print(
                f"    {name:22} {found['real']:.3f} against {found['control']:.3f}, risk   "
                f"{found['low']:.3f} to {found['high']:.3f}  {alarm}"
            )


def main():
    options = argparse.ArgumentParser(description="See the first lines of this file.")
    options.add_argument("--anonymeter")
    options.add_argument("--nulls", type=int, default=0)
    asked = options.parse_args()
    real, control = (pd.read_csv(DATA / f"given_{name}.csv") for name in ("real", "control"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, synthetic in cases():
            show_ours(name, *ours(real, synthetic, control))
            if asked.anonymeter:
                write(folder, "case", real, synthetic, control)
                modes = "univariate,multivariate"
                show_theirs(theirs(asked.anonymeter, folder, ["case"], modes)[0])
        alarms, names = 0, []
        for number, (people, synthetic, others) in enumerate(nulls(asked.nulls, 300)):
            alarms += ours(people, synthetic, others)[1].status == "exceeded"
            names.append(f"null{number}")
            write(folder, names[-1], people, synthetic, others)
        if asked.nulls:
            print(f"false alarms: narcissus {alarms} of {asked.nulls}")
        if asked.nulls and asked.anonymeter:
            found = theirs(asked.anonymeter, folder, names, "univariate")
            wrong = sum(any(r["low"] > 0 for r in said.values() if isinstance(r, dict))
                        for said in found)  # fmt: skip
            print(f"false alarms: anonymeter {wrong} of {len(found)}, without multivariate")


if __name__ == "__main__":
    main()
