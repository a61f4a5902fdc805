"""Programs: what they are told, what they may write, and that nothing of them stays behind."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from narcissus import _scratch
from narcissus.errors import InputError
from narcissus.guarantees import PureDP
from narcissus.mechanisms import Columns, Command, Microdata
from narcissus.mechanisms.table.command import command_name, named_files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs are run on Unix systems")

COPY = """
import random, sys
given, written, seed = sys.argv[1:4]
head, *rows = open(given, encoding='utf-8', newline='').read().splitlines(keepends=True)
random.Random(int(seed)).shuffle(rows)
open(written, 'w', encoding='utf-8', newline='').write(head + ''.join(rows))
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A temporary folder of our own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    _scratch.sweep.cache_clear()
    return folder


@pytest.fixture
def plain():
    return Columns(("a", "b"), (("x", "y"), ("0", "1", "2")), (False, True), (0,))


@pytest.fixture
def rows():
    return np.array([[0, 1], [1, 2], [0, 0], [1, 1], [1, 0]], dtype=np.int32)


def program(source, *more, **options):
    files = [] if "{input}" in source else ["{input}", "{output}", "{seed}"]
    return Command([sys.executable, "-c", source, *files, *more], **options)


def released(plan, columns, codes, seed=0):
    return plan.prepare(columns).release(codes[None], np.random.default_rng(seed))[0]


def test_rows_come_back_with_every_strange_label(place, columns, people):
    source = (
        COPY.replace("head, *rows = ", "all = ")
        .replace(".splitlines(keepends=True)", "")
        .replace("random.Random(int(seed)).shuffle(rows)", "")
        .replace("head + ''.join(rows)", "all")
    )
    release = released(program(source), columns, people)
    assert isinstance(release, Microdata)
    assert release.rows.tolist() == people.tolist()
    assert list(place.iterdir()) == []


def test_the_seed_comes_from_the_coins(place, plain, rows):
    found = [released(program(COPY), plain, rows, seed).rows.tolist() for seed in (1, 1, 2, 3)]
    assert found[0] == found[1]
    assert len({str(one) for one in found}) > 1
    assert sorted(found[0]) == sorted(rows.tolist())


def test_it_runs_in_an_empty_folder_with_its_own_temporary_one(place, plain, rows):
    source = """
import json, os, sys, tempfile
told = [os.getcwd(), os.listdir('.'), tempfile.gettempdir(), sys.argv[4:], sys.stdin.read()]
sys.exit(json.dumps(told))
"""
    plan = program(source, "{epsilon}", "x{delta}y", "{other}", epsilon=0.5, delta=1e-6)
    with pytest.raises(InputError, match="ended with exit code 1") as caught:
        released(plan, plain, rows)
    told = json.loads(str(caught.value).split("\n")[-1])
    assert Path(told[0]).parent == Path(told[2]).parent
    assert Path(told[0]).is_relative_to(place)
    assert told[1] == []
    assert told[3:] == [["0.5", "x1e-06y", "{other}"], ""]


WRITES = "import sys; open(sys.argv[2], 'wb').write({!r})"
WRONG = {
    "wrote no file {output}": "pass",
    "is empty": WRITES.format(b""),
    "has no rows": WRITES.format(b"a,b\n"),
    "lacks the columns 'b'": WRITES.format(b"a\nx\n"),
    "were not in the data: ''": WRITES.format(b"a,,b\nx,0,1\n"),
    "columns 'a' twice": WRITES.format(b"a,b,a\nx,1,x\n"),
    "column 'b' of what the program": WRITES.format(b"a,b\nx,1\nx,1.5\n"),
    "not in the data: '1.5', '7'": WRITES.format(b"a,b\nx,1\nx,1.5\ny,7\n"),
    "has 3 cells in line 3, but 2 in the first": WRITES.format(b"a,b\nx,1\nx,1,2\n"),
    "not a CSV in UTF-8": WRITES.format(b"a,b\nx,\xff\n"),
    "ended with exit code 3. It said last:\n  one\n  two": (
        "import sys; print('one', flush=True); sys.stderr.write('two\\n'); sys.exit(3)"
    ),
    "was killed by signal 9": "import os; os.kill(os.getpid(), 9)",
}


@pytest.mark.parametrize("said", WRONG)
def test_what_is_wrong_is_said_with_the_program(place, plain, rows, said):
    with pytest.raises(InputError) as caught:
        released(program(WRONG[said]), plain, rows)
    assert said in str(caught.value)
    assert "the program `" in str(caught.value)
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    "written",
    [b"a,b\nx,1\ny,2\n", b",a,b\n0,x,1.0\n1,y,02\n", b'\xef\xbb\xbf"b"," a"\n" 1", x\n2.00,"y"\n'],
)
def test_a_value_is_the_same_however_the_program_writes_it(place, plain, rows, written):
    assert released(program(WRITES.format(written)), plain, rows).rows.tolist() == [[0, 1], [1, 2]]


def test_more_or_fewer_rows_in_another_order_of_columns_are_fine(place, plain, rows):
    source = WRITES.format(b'\xef\xbb\xbfb,a\r\n"2",x\r\n\r\n0,y\r\n')
    assert released(program(source), plain, rows).rows.tolist() == [[0, 2], [1, 0]]


def test_only_the_last_lines_are_said(place, plain, rows):
    chatty = "print('x' * 10**6); print(*range(20), sep='\\n'); raise SystemExit('the end')"
    with pytest.raises(InputError) as caught:
        released(program(chatty), plain, rows)
    assert str(caught.value).split("\n  ")[1:] == ["16", "17", "18", "19", "the end"]


SLOW = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True: time.sleep(.05)
    os._exit(0)
open({mark!r}, 'w').write('begun')
while True: time.sleep(.05)
"""


def left(mark):
    """Processes whose command line names a file."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z" and str(mark).encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


def nothing_left(mark, place, seconds=10):
    until = time.monotonic() + seconds
    while (left(mark) or list(place.iterdir())) and time.monotonic() < until:
        time.sleep(0.02)
    return left(mark), list(place.iterdir())


def test_the_time_limit_ends_it_with_all_that_it_has_started(place, plain, rows, tmp_path):
    mark = tmp_path / "mark"
    plan = program(SLOW.format(mark=str(mark)), time_limit=3.0)
    begun = time.monotonic()
    with pytest.raises(InputError, match="did not end within 3 s: give it more with `time_limit`"):
        released(plan, plain, rows)
    assert time.monotonic() - begun < 20
    assert mark.read_text() == "begun"
    assert nothing_left(mark, place) == ([], [])


RUN = """
import sys, tempfile
import numpy as np
from narcissus.mechanisms import Columns, Command
tempfile.tempdir = {place!r}
columns = Columns(("a", "b"), (("x", "y"), ("0", "1", "2")), (False, True), (0,))
plan = Command([sys.executable, "-c", {source!r}, "{{input}}", "{{output}}"])
plan.prepare(columns).release(np.zeros((1, 5, 2), int), np.random.default_rng(0))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_narcissus_and_leaves_no_data(place, tmp_path, how):
    mark = tmp_path / "mark"
    source = SLOW.format(mark=str(mark))
    process = subprocess.Popen(
        [sys.executable, "-c", RUN.format(place=str(place), source=source)],
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 60
    while not mark.exists() and time.monotonic() < until:
        assert process.poll() is None
        time.sleep(0.02)
    assert any((folder / "in.csv").exists() for folder in place.iterdir())
    process.send_signal(how)
    process.wait(30)
    assert nothing_left(mark, place) == ([], [])


def test_files_beside_the_study_are_meant_but_no_program_of_a_bare_name(tmp_path):
    (tmp_path / "tools").mkdir()
    for name in ("synth.py", "python", "tools/run"):
        (tmp_path / name).write_text("x")
    command = ["python", "synth.py", "tools", "tools/run", "--x=synth.py", "{input}", "x" * 5000]
    assert named_files(command, tmp_path) == {
        1: tmp_path / "synth.py",
        3: tmp_path / "tools" / "run",
    }
    assert named_files(["tools/run", "python"], tmp_path) == {
        0: tmp_path / "tools" / "run",
        1: tmp_path / "python",
    }


def test_a_script_beside_the_study_is_run(place, plain, rows, tmp_path):
    (tmp_path / "synth.py").write_text(COPY)
    files = ["{input}", "{output}", "{seed}"]
    plan = Command([sys.executable, "synth.py", *files], folder=str(tmp_path))
    assert sorted(released(plan, plain, rows).rows.tolist()) == sorted(rows.tolist())
    (tmp_path / "run").write_text(f"#!{sys.executable}\n{COPY}")
    plan = Command(["./run", *files], folder=str(tmp_path))
    with pytest.raises(InputError, match="cannot be started: Permission denied"):
        released(plan, plain, rows)
    (tmp_path / "run").chmod(0o755)
    assert sorted(released(plan, plain, rows).rows.tolist()) == sorted(rows.tolist())


def test_what_is_declared_is_assumed_of_the_program(plain):
    prepared = program(COPY, epsilon=1.0).prepare(plain)
    assert prepared.guarantee == PureDP(1.0)
    assert "keeps what was declared of it, pure DP with epsilon 1" in prepared.assumes[0]
    assert program(COPY, epsilon=1.0).label == "ε = 1"


FILES = ["{input}", "{output}"]


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ([], {}, "must be a list of texts"),
        (["python", 3, *FILES], {}, "must be a list of texts"),
        ("python {input} {output}", {}, "a list of texts"),
        (["python", "{output}"], {}, r"must hold \{input\}"),
        (["python", "{input}"], {}, r"must hold \{output\}"),
        (["python", *FILES, "{epsilon}"], {}, "give `epsilon`"),
        (["python", *FILES, "{delta}"], {"epsilon": 1.0}, "give `delta`"),
        (["no-such-program", *FILES], {}, "'no-such-program', which is not on the PATH"),
        (["./no-such", *FILES], {}, "'./no-such', which is not in"),
        (["python", *FILES], {"time_limit": 0.0}, "`time_limit` must be above 0"),
        (["python", *FILES], {"time_limit": float("inf")}, "finite"),
    ],
)
def test_a_command_that_cannot_work_is_refused_before_it_runs(command, options, said):
    with pytest.raises(InputError, match=said):
        Command(command, **options)


def test_commands_are_named_shortly():
    assert command_name(["python", "synth.py", "{input}", "--seed={seed}"]) == (
        "python synth.py --seed={seed}"
    )
    assert len(command_name(["x" * 100])) == 60
