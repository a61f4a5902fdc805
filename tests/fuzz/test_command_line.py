"""What an option does not expect is refused with a line, never with a traceback: of every command.

A hundredth of the lines on every run of the tests, all of them with ``make nightly``.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from narcissus.cli.main import COMMANDS

from .options import CALLS
from .readers import ROOT


def tried(share, names, folder):
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.options", str(share), "1", *names],
        cwd=folder, check=False, capture_output=True, text=True, timeout=1200,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    line = (folder / "last.json").read_text()
    assert done.returncode == 0, f"{line}: {done.stderr[-3000:]}"


def test_every_command_is_tried():
    assert set(CALLS) == set(COMMANDS)


def test_some_lines_of_every_command(tmp_path):
    tried(0.01, CALLS, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("name", CALLS)
def test_all_lines_of_a_command(name, tmp_path):
    tried(1, [name], tmp_path)
