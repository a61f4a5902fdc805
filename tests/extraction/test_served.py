"""Runs forked from one jailed server: the same walls, nothing left from one run to the next."""

import sys
from dataclasses import replace

import pytest

from narcissus.extraction import sandbox
from narcissus.extraction._burglars import BURGLARS
from narcissus.extraction._served import METHOD, imports, openings, run_served
from narcissus.extraction.documents import TextDocument
from narcissus.extraction.sandbox import (
    IsolationError,
    Limits,
    can_serve,
    run_programs,
    without_isolation,
)
from narcissus.extraction.transformer import TransformerTraining

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


def test_what_is_opened_once():
    source = b"""import transformers as t
from transformers import AutoTokenizer, pipeline as p
p("text-generation", model="release")
t.AutoModelForCausalLM.from_pretrained("release")
"""
    found = list(openings(source))
    assert found == [
        ("transformers.pipeline", ["text-generation"], {"model": "release"}),
        ("transformers.AutoModelForCausalLM.from_pretrained", ["release"], {}),
    ]


@pytest.mark.parametrize(
    "call",
    [
        'p("text-generation", "release", trust_remote_code="release")',
        'p("text-generation", "release", "release")',
        'p("text-generation", "/etc")',
        'p("text-generation", open("release"))',
        'p("text-generation", "release", **more)',
        'p("text-generation")',
        "os.system('release')",
        'p.__globals__["os"].system("release")',
        'q("text-generation", "release")',
    ],
)
def test_nothing_else_is_called_before_the_walls_are_up(call):
    source = f"import os\nfrom transformers import pipeline as p\n{call}"
    assert not list(openings(source.encode()))


ASK = b"""import torch
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("release")
first = next(model.parameters())
print(float(first.abs().sum()), torch.rand(1).item())
with torch.no_grad():
    first.fill_(1)
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    training = TransformerTraining(layers=1, width=8, heads=2, context=16, epochs=1)
    training.train([TextDocument("abc", 1)], folder, rng=1)
    return folder


@pytest.mark.models
def test_a_run_that_changes_the_model_changes_it_for_no_other(model):
    limits = Limits(memory=2**33)
    runs = run_served([(ASK, limits)] * 3, model)
    alone = sandbox.run_program(ASK, model, limits)
    assert [run.ending for run in runs] == ["finished"] * 3, runs[0].error
    assert {run.output.split()[0] for run in runs} == {alone.output.split()[0]}
    assert len({run.output.split()[1] for run in runs}) == 3  # PyTorch's chance, too, is their own


AGAIN = (
    ASK
    + b"""
print(AutoModelForCausalLM.from_pretrained.__code__.co_name)
model = AutoModelForCausalLM.from_pretrained("release")
print(float(next(model.parameters()).abs().sum()))
"""
)


@pytest.mark.models
def test_the_model_is_opened_before_the_program_and_given_once(model):
    """A second call reads it anew, as it does alone: what was done to the first is not in it."""
    (run,) = run_served([(AGAIN, Limits(memory=2**33))], model)
    first, _, name, again = run.output.decode().split()
    assert (name, again) == ("once", first), run.error


@pytest.mark.models
def test_a_folder_with_what_may_be_a_pickle_is_left_to_the_runs(model):
    pickled = model / "pytorch_model.bin"
    pickled.write_bytes(b"x")
    try:
        (run,) = run_served([(AGAIN, Limits(memory=2**33))], model)
    finally:
        pickled.unlink()
    assert run.output.split()[2] == b"from_pretrained", run.error


@pytest.mark.models
def test_every_burglar_is_stopped_where_a_model_is_open(model):
    others = ("reads its release", "looks at the environment")  # which PyTorch adds to
    burglars = [one for one in BURGLARS if one.name not in others]
    tried = [(one.source.encode(), sandbox._limits_of(one)) for one in burglars]
    first, *runs = run_served([(ASK, Limits(memory=2**33)), *tried], model)
    assert first.ending == "finished", first.error
    for burglar, run in zip(burglars, runs, strict=True):
        assert sandbox._is_stopped(burglar, run), (burglar.name, run)
