"""Runs forked from one jailed server: the same walls, nothing left from one run to the next."""

import sys
from dataclasses import replace

import pytest

from narcissus.extraction import sandbox
from narcissus.extraction._served import METHOD, imports, run_served
from narcissus.extraction.sandbox import (
    IsolationError,
    Limits,
    can_serve,
    run_programs,
    without_isolation,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


@pytest.fixture(scope="module", autouse=True)
def _namespaces():
    try:
        sandbox._try_method(METHOD)
    except IsolationError as error:
        if "was not stopped" in str(error):
            raise
        pytest.skip(f"this machine lacks it: {error}")


def test_every_burglar_is_stopped_in_a_server_too():
    can_serve.cache_clear()
    assert can_serve() == (sandbox.check_isolation().method == METHOD)
    can_serve.cache_clear()
    with without_isolation():
        assert not can_serve()
    can_serve.cache_clear()


def test_runs_are_those_of_a_program_alone(watched, quick):
    source = b"import sys\nprint(sys.argv, __name__, open(sys.argv[1]).read(), input())"
    served = run_programs(source, b"the release", quick, 3)
    alone = sandbox.run_program(source, b"the release", quick)
    assert {run.output for run in served} == {alone.output}
    assert {run.layers for run in served} == {alone.layers}
    assert [run.ending for run in served] == ["finished"] * 3
    assert watched.left() == ([], [])


def test_nothing_stays_from_one_run_to_the_next(quick):
    leaves = b"""import os, sys, builtins
place = os.environ["TMPDIR"]
print(os.listdir(place), hasattr(sys, "mine"), hasattr(builtins, "mine"))
sys.mine = builtins.mine = 1
os.umask(0o777)
os.makedirs(place + "/a/b")
open(place + "/c", "w").write("x")
"""
    runs = run_served([(leaves, quick)] * 3, b"")
    assert [run.output for run in runs] == [b"[] False False\n"] * 3, [r.error for r in runs]


def test_each_run_has_a_chance_of_its_own(quick):
    source = b"import random, numpy as np\nprint(random.random(), np.random.random())"
    runs = run_served([(source, replace(quick, memory=2**31))] * 4, b"")
    drawn = [run.output.split() for run in runs]
    assert len({one[0] for one in drawn}) == len({one[1] for one in drawn}) == 4


def test_endings_and_limits_are_those_of_each_run(quick):
    programs = [
        (b"print(1); raise SystemExit(3)", quick),
        (b"while True: pass", replace(quick, seconds=0.5)),
        (b"print('x' * 10**6)", quick),
        (b"import os; os.close(1); os.close(2)\nwhile True: pass", replace(quick, seconds=0.5)),
        (b"1 / 0", quick),
        (b"print('last')", quick),
    ]
    runs = run_served(programs, b"")
    assert [run.ending for run in runs] == [
        "crashed", "timeout", "output limit", "timeout", "crashed", "finished",
    ]  # fmt: skip
    assert runs[0].output == b"1\n"
    assert len(runs[2].output) == quick.output
    assert "ZeroDivisionError" in runs[4].error
    assert runs[5].output == b"last\n"


def test_what_is_imported_once():
    source = b"import os, torch.nn as nn\nfrom transformers import pipeline\nimport numpyish"
    assert list(imports(source)) == ["torch.nn", "transformers", "transformers:pipeline"]
    slow = b"import sys\nprint('numpy' in sys.modules)\nimport numpy"
    (run,) = run_served([(slow, Limits(seconds=20))], b"")
    assert run.output == b"True\n"
