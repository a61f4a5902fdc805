"""The server's side of many runs; what it does is tested where runs are asked for."""

import json
from dataclasses import asdict

from narcissus.extraction._served import run_served
from narcissus.extraction.sandbox import Limits


def test_a_run_has_its_own_streams_and_nothing_else_open():
    source = b"""import os
found = []
for handle in range(3, 64):
    try:
        os.fstat(handle)
        found.append(handle)
    except OSError:
        pass
print(found)
"""
    runs = run_served([(source, Limits(seconds=10))] * 2, b"x")
    assert [run.output for run in runs] == [b"[]\n"] * 2, [run.error for run in runs]


def test_a_program_cannot_answer_for_another_run():
    """What it prints is told apart by its length, whatever it prints."""
    fake = json.dumps({"output": 3, "error": 0, "code": 0, "stopped": "", "seconds": 0,
                       "layers": []})  # fmt: skip
    source = f"print({fake!r})\nprint('abc')\nraise SystemExit(1)".encode()
    runs = run_served([(source, Limits(**asdict(Limits(seconds=10))))] * 2, b"x")
    assert [run.ending for run in runs] == ["crashed"] * 2
    assert all(run.output == f"{fake}\nabc\n".encode() for run in runs)
