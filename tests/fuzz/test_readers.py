"""Whatever a file holds: every reader ends in a result or in an error of ours, in time and memory.

A few hundred cases on every run of the tests; 100,000 with ``make nightly``, or as many as the
variable ``NARCISSUS_FUZZ`` says.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys

import pytest

from .readers import READERS, ROOT

CASES = int(os.environ.get("NARCISSUS_FUZZ", "100000"))


KEPT = ROOT / "build" / "fuzz"
"""Where the input of a failure is kept, in a folder for each seed."""


def fuzz(readers, cases, seed, folder):
    """Try the readers in a process; a failure names the seed, and keeps the input."""
    words = ["-m", "tests.fuzz.readers", str(cases), str(seed), *readers]
    try:
        done = subprocess.run(
            [sys.executable, *words], cwd=folder, check=False, capture_output=True, text=True,
            timeout=120 + cases * len(readers),
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        why = f"no end within {error.timeout:.0f} seconds: {error.stdout}{error.stderr}"
    else:
        if done.returncode == 0:
            return
        why = f"exit code {done.returncode}: {done.stdout}{done.stderr[-3000:]}"
    kept = KEPT / f"{seed}-{readers[0] if len(readers) == 1 else 'all'}"
    shutil.rmtree(kept, ignore_errors=True)
    if (folder / "place").is_dir():
        shutil.copytree(folder / "place", kept, symlinks=True)
    pytest.fail(f"seed {seed} (again: python {' '.join(words)}), input in {kept}: {why}")


@pytest.mark.parametrize("how", ["fails", "does not end"])
def test_a_failure_names_its_seed_and_keeps_its_input(tmp_path, monkeypatch, how):
    """A failure by chance that nobody can repeat is lost."""

    def run(words, **_):
        (tmp_path / "place" / "inner").mkdir(parents=True)
        (tmp_path / "place" / "f.toml").write_text("bad")
        if how == "does not end":
            raise subprocess.TimeoutExpired(words, 120)
        return subprocess.CompletedProcess(words, 1, "", "AssertionError")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setitem(globals(), "KEPT", tmp_path / "kept")
    with pytest.raises(pytest.fail.Exception, match=r"seed 7 .*studies") as failure:
        fuzz(["studies"], 5, 7, tmp_path)
    kept = tmp_path / "kept" / "7-studies"
    assert str(kept) in str(failure.value)
    assert (kept / "f.toml").read_text() == "bad"


def test_every_reader_reads_or_refuses(tmp_path):
    fuzz(READERS, 5, 1, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("reader", READERS)
def test_a_reader_reads_or_refuses_at_length(reader, tmp_path):
    fuzz([reader], max(1, CASES // len(READERS)), secrets.randbits(32), tmp_path)
