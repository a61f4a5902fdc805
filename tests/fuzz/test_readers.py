"""Whatever a file holds: every reader ends in a result or in an error of ours, in time and memory.

A few hundred cases on every run of the tests; 100,000 with ``make nightly``, or as many as the
variable ``NARCISSUS_FUZZ`` says.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys

import pytest

from .readers import READERS, ROOT

CASES = int(os.environ.get("NARCISSUS_FUZZ", "100000"))


def fuzz(readers, cases, seed, folder):
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.readers", str(cases), str(seed), *readers],
        cwd=folder, check=False, capture_output=True, text=True,
        timeout=120 + cases * len(readers),
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    left = {path.name: path.read_bytes()[:500] for path in (folder / "place").glob("*")}
    assert done.returncode == 0, f"{done.stdout}seed {seed}: {done.stderr[-3000:]}\n{left}"


def test_every_reader_reads_or_refuses(tmp_path):
    fuzz(READERS, 5, 1, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("reader", READERS)
def test_a_reader_reads_or_refuses_at_length(reader, tmp_path):
    fuzz([reader], max(1, CASES // len(READERS)), secrets.randbits(32), tmp_path)
