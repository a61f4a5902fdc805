"""The command line as a whole: help is quick, a misspelt command names the nearest."""

import subprocess
import sys


def run(*args):
    return subprocess.run(
        [sys.executable, "-m", "narcissus", *args], capture_output=True, text=True, check=False
    )


def test_help_loads_nothing_heavy():
    code = """
import sys
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
