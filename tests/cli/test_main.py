"""The command line as a whole: help is quick, a misspelt command names the nearest."""

import errno
import os
import pickle
import subprocess
import sys

import pytest

from narcissus.errors import InputError


def run(*args):
    return subprocess.run(
        [sys.executable, "-m", "narcissus", *args], capture_output=True, text=True, check=False
    )


def test_help_loads_nothing_heavy():
    code = """
import sys

import pytest

from narcissus.errors import InputError
from narcissus.cli.main import cli
cli.main(["--help"], standalone_mode=False)
heavy = {"numpy", "scipy", "matplotlib", "pandas", "pydantic", "rich"} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_version():
    assert run("--version").stdout.startswith("narcissus, version")


def test_unknown_command_is_a_usage_error():
    done = run("audti")
    assert done.returncode == 2
    assert "No such command" in done.stderr


@pytest.mark.parametrize("words", [["schema", "parts"], ["--help"]])
def test_a_closed_pipe_is_no_verdict(words):
    """As in ``narcissus ... | head``: 1 would say that a threshold is exceeded."""
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(
        [sys.executable, "-m", "narcissus", *words],
        stdout=writes, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writes)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("`delta` must be in [0, 1), got 2"), 2, "error: `delta` must be in [0, 1)"),
        (PermissionError(13, "Permission denied", "a.csv"), 2, "error: Permission denied: a.csv\n"),
        (OSError("odd"), 2, "error: odd\n"),
        (MemoryError(), 2, "error: there is not enough memory for this\n"),
        (RuntimeError("slip"), 4, "internal error: RuntimeError('slip'); please report it"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 141, ""),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_each_kind_of_error_has_its_exit_code(error, code, said):
    """In a process of its own: a closed pipe closes standard output for good."""
    raising = f"""
import pickle, sys
from narcissus.cli import main, schema
def fail(): raise pickle.loads({pickle.dumps(error)!r})
schema.command.callback = lambda **options: fail()
main(["schema", "study"])
"""
    done = subprocess.run(
        [sys.executable, "-c", raising], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert not done.stdout
