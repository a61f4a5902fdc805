"""One run of a program: what reaches it, what comes of it, how it is ended or refused."""

import json
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from narcissus.errors import InputError, NarcissusError
from narcissus.extraction import _runs, _serving, sandbox
from narcissus.extraction._runs import (
    IMPORTED_ONCE,
    METHOD,
    Stop,
    imports,
    openings,
    run_once,
    run_served,
)
from narcissus.extraction.language_models import TransformerTraining
from narcissus.extraction.recovered import TextDocument
from narcissus.extraction.sandbox import (
    ESCAPE_PROBES,
    IsolationError,
    Limits,
    can_serve,
    run_program,
    run_programs,
    without_isolation,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


LONG = Limits(seconds=60, memory=2**29)


FOREVER = b"print('begun', flush=True)\nwhile True: pass\n"


@pytest.mark.one_in(2)
def test_another_thread_can_end_a_run(watched, any_method):
    stop, ended = Stop(), []
    thread = threading.Thread(
        target=lambda: ended.append(run_once(FOREVER, b"", LONG, any_method, stop=stop))
    )
    thread.start()
    until = time.monotonic() + 60
    while len(watched.processes()) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    stop.end()
    thread.join(30)
    assert ended[0].ending == "crashed"
    assert (
        run_once(FOREVER, b"", LONG, any_method, stop=stop).ending == "crashed"
    )  # it came too late
    assert watched.left() == ([], [])


def test_no_room_for_the_release_is_said(watched, tmp_path):
    with pytest.raises(NarcissusError, match=r"cannot copy the release.*TMPDIR"):
        run_once(b"print(1)", tmp_path / "none", LONG, "none")
    assert watched.left() == ([], [])


def test_programs_are_not_run_elsewhere(monkeypatch):
    monkeypatch.setattr("narcissus.extraction._runs.os.name", "nt")
    with pytest.raises(NarcissusError, match="Linux"):
        run_once(b"print(1)", b"", LONG, "none")


@pytest.mark.usefixtures("isolation")
@pytest.mark.one_in(3)
def test_dependencies_named_in_pth_files_are_there(method, place, tmp_path):
    """As editable installs are, by a folder or by a finder of their own."""
    places = [tmp_path / "by_folder", tmp_path / "by_finder"]
    for found in places:
        found.mkdir()
        (found / f"mine_{found.name}.py").write_text("WORD = 'found'\n")
    made = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", made], check=True)
    (site,) = made.glob("lib/python*/site-packages")
    (site / "a.pth").write_text(f"{places[0]}\n")
    (site / "b.pth").write_text("import finder_of_mine; finder_of_mine.install()\n")
    mapping = {"mine_by_finder": str(places[1] / "mine_by_finder.py")}
    (site / "finder_of_mine.py").write_text(FINDER.format(mapping=mapping))
    source = "import mine_by_folder as a, mine_by_finder as b\nprint(a.WORD, b.WORD)"
    done = subprocess.run(
        [made / "bin" / "python", "-c", IN_ENVIRONMENT, *map(str, SOURCES), method, source],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "found found\n", done.stderr


SOURCES = (Path(sandbox.__file__).parents[2], Path(np.__file__).parents[1])


FINDER = """
import sys
from importlib import util
MAPPING = {mapping!r}
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in MAPPING:
            return util.spec_from_file_location(name, MAPPING[name])
def install():
    sys.meta_path.append(Finder)
"""


IN_ENVIRONMENT = """
import sys
sys.path += sys.argv[1:3]
from narcissus.extraction._runs import Limits, run_once
run = run_once(sys.argv[4].encode(), b"", Limits(), sys.argv[3])
print(run.output.decode(), end="")
print(run.error, file=sys.stderr)
"""


def test_limits_are_checked():
    with pytest.raises(InputError, match="seconds"):
        Limits(seconds=0)


def test_output_and_errors_are_cut(quick):
    run = run_program(b"print('x' * 5000)", b"", quick)
    assert (run.ending, len(run.output)) == ("output limit", 1000)
    run = run_program(b"raise SystemExit('no ' * 10000)", b"", quick)
    assert run.ending == "crashed"
    assert len(run.error) <= 4096


def test_bytes_that_are_no_text_pass(quick):
    assert run_program(b"open(1, 'wb').write(b'\\xff\\x00')", b"", quick).output == b"\xff\x00"


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


def test_a_module_that_ends_its_process_ends_no_other_run(quick, monkeypatch):
    """`unittest.__main__` runs the tests of nothing and exits, wherever it is imported."""
    monkeypatch.setattr(_runs, "IMPORTED_ONCE", (*IMPORTED_ONCE, "unittest"))
    leaves = b"print('begun', flush=True)\nimport unittest.__main__"
    stays = b"print('there')\nif 0:\n    import unittest.__main__"
    runs = run_served([(stays, quick), (leaves, quick), (stays, quick)], b"")
    assert [run.output for run in runs] == [b"there\n", b"begun\n", b"there\n"]
    assert [run.ending for run in runs] == ["finished", "crashed", "finished"]


RAISED = ["SystemExit(0)", "KeyboardInterrupt", "GeneratorExit", "OSError"]


@pytest.mark.parametrize("raised", RAISED)
def test_whatever_a_module_or_a_call_raises_is_left_to_the_program(tmp_path, monkeypatch, raised):
    name = f"ends_{raised.partition('(')[0].lower()}"
    (tmp_path / f"{name}.py").write_text(f"raise {raised}\n")
    lazy = f"def __getattr__(name):\n    raise {raised}\n"
    (tmp_path / f"{name}_lazy.py").write_text(lazy)
    calls = f"def call(word):\n    raise {raised}\n"
    (tmp_path / f"{name}_calls.py").write_text(calls)
    monkeypatch.syspath_prepend(tmp_path)
    _serving._import(name)
    _serving._import(f"{name}_lazy:part")
    _serving._open(np, f"{name}_calls.call", ["release"], {})
    assert f"{name}_lazy" in sys.modules


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
@pytest.mark.nightly
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
@pytest.mark.nightly
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
    burglars = [one for one in ESCAPE_PROBES if one.name not in others]
    tried = [(one.source.encode(), sandbox._limits_of(one)) for one in burglars]
    first, *runs = run_served([(ASK, Limits(memory=2**33)), *tried], model)
    assert first.ending == "finished", first.error
    for probe, run in zip(burglars, runs, strict=True):
        assert sandbox._is_stopped(probe, run), (probe.name, run)


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
