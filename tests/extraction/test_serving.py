"""The server's side of many runs; what it does is tested where runs are asked for."""

import json
from dataclasses import asdict

from narcissus.extraction._served import run_served
from narcissus.extraction.sandbox import Limits, run_program


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


ENDS = [
    "import atexit\natexit.register(print, 'first')\natexit.register(print, 'second')",
    "file = open(1, 'w')\nfile.write('not closed')",
    "class It:\n    def __del__(self):\n        print('deleted')\nit = It()\nit.own = it",
    "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(.1), print('late'))).start()",
    "print('said')\nraise SystemExit",
    "print('said')\nraise SystemExit('why')",
    "raise SystemExit(256)",
    "import sys\nsys.stdout.close()",
    "import sys\nprint('lost', 1 / 0)",
    "import os, sys\nprint('lost')\nos.close(1)",
    "import sys\nsys.modules.clear()\nprint('said')",
]


def test_runs_end_as_programs_alone():
    """Though the interpreter is not taken apart, which would copy all that the server imported."""
    limits = Limits(seconds=10)
    for source, run in zip(
        ENDS, run_served([(one.encode(), limits) for one in ENDS], b"x"), strict=True
    ):
        alone = run_program(source.encode(), b"x", limits)
        assert (run.output, run.ending) == (alone.output, alone.ending), source
        if "Exception ignored" not in alone.error:  # a remark of the interpreter's own
            assert run.error.splitlines()[-1:] == alone.error.splitlines()[-1:], source
