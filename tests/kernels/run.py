"""Play studies and tests as on other processors: the same record, but for the last digits.

    python tests/kernels/run.py              # every kernel, one thread and two, with and without
    python tests/kernels/run.py --quick      # one setting and the quickest study
    python tests/kernels/run.py --no-tests   # the studies alone

OpenBLAS has routines for each kind of processor and takes those that `OPENBLAS_CORETYPE` names;
NumPy has some for each set of instructions, of which `NPY_DISABLE_CPU_FEATURES` leaves out what is
named. Both add in another order, and so do two threads. For each setting: that it took effect;
studies, whose records must be the same by their portable digest and by `narcissus verify`'s rule;
and the tests of golden numbers, of kept records and of `verify`. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KERNELS = {
    "x86_64": ("Prescott", "Haswell", "SkylakeX"),
    "aarch64": ("ARMV8", "NEOVERSEN1", "NEOVERSEV1"),
}
STUDIES = (
    "src/narcissus/study/examples/membership-inference.toml",
    "examples/channel.toml",
    "src/narcissus/study/examples/audit-a-table.toml",
    "examples/affairs.toml",
)
TESTS = (
    "tests/papers",
    "tests/cli/test_records.py",
    "tests/study/test_record.py",
    "packages/narcissus-papers/tests/test_kept.py",
    "tests/channels/test_programs.py",
    "tests/bounds/test_threat.py",
    "tests/guarantees/test_curves.py",
    "tests/profiles",
    "tests/test_arrays.py",
)
LOOK = """
import json, numpy, scipy.linalg, threadpoolctl
from numpy._core import _multiarray_umath as m
print(json.dumps([
    sorted({pool.get("architecture") for pool in threadpoolctl.threadpool_info()
            if pool["internal_api"] == "openblas"}),
    [name for name in m.__cpu_dispatch__ if m.__cpu_features__.get(name)],
]))
"""
PLAY = """
import json, sys
from narcissus.audits import run
from narcissus.study import load_study
print(json.dumps(run(load_study(sys.argv[1]), rng=1, workers=2).to_dict()))
"""
OTHER_NAMES = {"Prescott": {"Prescott", "Katmai"}}  # what OpenBLAS calls a kernel that it was told


class DiffersError(Exception):
    """Something is another thing on another processor; the text says what."""


def said(environment: Mapping[str, str], *command: str) -> str:
    """Run a command of this environment's Python; give what it prints."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        shown = " ".join(command)
        raise DiffersError(f"{shown}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def looked(environment: Mapping[str, str]) -> tuple[set[str], list[str]]:
    """Give the kernels that OpenBLAS takes, and the instructions that NumPy does."""
    kernels, features = json.loads(said(environment, "-c", LOOK))
    return set(kernels), features


def settings(*, quick: bool) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each setting that this machine can play, with its name."""
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    _, features = looked({})
    every = list(
        product(KERNELS.get(machine, ("",)), ("2", "1"), dict.fromkeys((" ".join(features), "")))
    )
    for kernel, threads, off in every[:1] if quick else every:
        environment = {
            "OPENBLAS_CORETYPE": kernel,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            "NPY_DISABLE_CPU_FEATURES": off,
        }
        without = f", without {off}" if off else ""
        yield f"{kernel or 'own kernel'}, threads: {threads}{without}", environment


def took_effect(environment: Mapping[str, str]) -> bool:
    """Tell whether a setting can be had here, and refuse one that was not heard."""
    kernels, features = looked(environment)
    asked, off = environment["OPENBLAS_CORETYPE"], environment["NPY_DISABLE_CPU_FEATURES"].split()
    if set(features) & set(off):
        raise DiffersError(f"NumPy still takes {sorted(set(features) & set(off))}")
    return not asked or kernels <= OTHER_NAMES.get(asked, {asked})


def played(study: str, environment: Mapping[str, str]) -> dict[str, object]:
    """Audit a study; give its record."""
    return json.loads(said(environment, "-c", PLAY, study))


def compare(study: str, first: dict[str, object], other: dict[str, object]) -> str:
    """Say how far two records are apart; refuse two that are not of the same study."""
    from narcissus.cli.records import Likeness, differences

    left_out = {"provenance", "digest", "portable_digest"}
    one, two = ({k: v for k, v in r.items() if k not in left_out} for r in (first, other))
    tally = Likeness()
    found = list(differences(one, two, tally=tally))
    if found:
        raise DiffersError(f"{study}:\n  " + "\n  ".join(found[:20]))
    if first["portable_digest"] != other["portable_digest"]:
        raise DiffersError(f"{study}: the portable digest is another one")
    return tally.said()


def main() -> int:
    """Play everything in every setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one setting, the quickest study")
    parser.add_argument("--no-tests", action="store_true", help="the studies alone")
    given = parser.parse_args()
    studies = STUDIES[:1] if given.quick else STUDIES
    failed = 0
    first = {study: played(study, {}) for study in studies}
    for name, environment in settings(quick=given.quick):
        if not took_effect(environment):
            print(f"{name}: not on this processor")
            continue
        try:
            for study in studies:
                apart = compare(study, first[study], played(study, environment))
                print(f"{name}: {study}: {apart}", flush=True)
            if not (given.quick or given.no_tests):
                last = said(environment, "-m", "pytest", "-n", "2", *TESTS).splitlines()[-1]
                print(f"{name}: tests: {last}", flush=True)
        except DiffersError as error:
            failed += 1
            print(f"{name}: FAILED: {error}", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
