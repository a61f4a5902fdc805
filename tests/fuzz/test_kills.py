"""A run that is killed at any moment goes on from what is kept, and ends in the same record.

Two kills on every run of the tests; 200 with ``make nightly``.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .test_surroundings import found_in, people, run, usual

__all__ = ["people", "usual"]

SECONDS = 6.0
"""In which a run of the study ends on a machine that does nothing else, about."""


def kill_after(folder, seconds):
    """Start the study and kill all its processes after a while; return whether it was at work."""
    code = "from narcissus.cli import main; main()"
    words = [sys.executable, "-P", "-c", code, "audit", "study.toml", "--out", "out"]
    with subprocess.Popen(
        words, cwd=folder, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        time.sleep(seconds)
        was_at_work = process.poll() is None
        with contextlib.suppress(ProcessLookupError):  # it ended by itself
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    return was_at_work


def members(folder):
    """Return the processes that have their place in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                place = os.readlink(entry / "cwd")
            except OSError:
                continue
            if Path(place).is_relative_to(folder):
                found.append(int(entry.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks through /proc")
@pytest.mark.repeats(1, 20)
def test_what_is_killed_again_and_again_ends_in_the_same_record(people, usual, repeats):
    chance = random.Random(7)
    for chain in range(repeats):
        out = people / "out"
        kills = sum(
            kill_after(people, chance.uniform(0, SECONDS)) for _ in range(2 if repeats == 1 else 10)
        )
        done = run(people, "audit", "study.toml", "--out", "out")
        assert done.returncode == 0, (chain, kills, done.stderr)
        assert found_in(out) == usual
        assert [path for path in out.rglob("*") if path.name.endswith(".partial")] == []
        deadline = time.monotonic() + 30
        while members(people) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert members(people) == []
        for path in sorted(out.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
