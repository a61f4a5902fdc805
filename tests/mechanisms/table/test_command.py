"""Rows from a function or a program of the user's, with what is declared of them."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from narcissus import _scratch
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, PureDP
from narcissus.mechanisms import Columns, Command, Microdata, OwnSynthesizer
from narcissus.mechanisms.table.command import named_files


def plan(**declared):
    return OwnSynthesizer(lambda frame: frame, **declared)


@pytest.mark.parametrize(
    ("declared", "guarantee"),
    [
        ({}, None),
        ({"epsilon": 2.0}, PureDP(2.0)),
        ({"epsilon": 2.0, "delta": 0.0}, PureDP(2.0)),
        ({"epsilon": 2.0, "delta": 1e-6}, ApproximateDP(2.0, 1e-6)),
        ({"epsilon": 0.0, "delta": 0.1}, ApproximateDP(0.0, 0.1)),
        ({"epsilon": 1.0, "adjacency": "add-remove"}, PureDP(2.0)),
    ],
)
def test_it_is_taken_as_it_is_and_assumed(columns, declared, guarantee):
    prepared = plan(**declared).prepare(columns)
    assert prepared.guarantee == guarantee
    assert len(prepared.assumes) == (guarantee is not None)
    if guarantee is not None:
        assert guarantee.describe().split(" neighbours")[0] in prepared.assumes[0]
        assert prepared.assumes[0].startswith("the function `<lambda>` keeps")
    assert prepared.must_vary


def test_adding_and_removing_is_converted_with_its_delta(columns):
    prepared = plan(epsilon=1.0, delta=1e-6, adjacency="add-remove").prepare(columns)
    assert prepared.guarantee.epsilon == 2.0
    assert prepared.guarantee.delta == pytest.approx(1e-6 * (1 + 2.718281828459045))
    said = "from approximate DP with epsilon 1 and delta 1e-06 (add-remove neighbours)"
    assert prepared.assumes[0].endswith(f"one removed and one added: {said})")


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"delta": 1e-5}, "give both or neither"),
        ({"epsilon": -1.0}, "`epsilon` must be at least 0"),
        ({"epsilon": float("inf")}, "finite"),
        ({"epsilon": 1.0, "delta": 1.5}, "`delta` must be in"),
        ({"epsilon": 1.0, "deterministic": True}, "leave one out"),
        ({"epsilon": 1.0, "adjacency": "friends"}, "`adjacency` must be one of"),
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused(columns, declared, said):
    with pytest.raises(InputError, match=said):
        plan(**declared).prepare(columns)


def test_levels_are_ordered_by_protection():
    assert plan().strength is None
    assert [plan(epsilon=e).strength for e in (0.5, 2.0)] == [2.0, 0.5]
    assert plan(epsilon=0.5).label == "ε = 0.5"


def released(function, columns, people, seed=0):
    prepared = OwnSynthesizer(function).prepare(columns)
    return prepared.release(people[None], np.random.default_rng(seed))[0]


def test_a_function_sees_labels_and_gives_rows(columns, people):
    seen = []

    def backwards(frame):
        seen.append(frame)
        return frame.iloc[::-1, ::-1]

    release = released(backwards, columns, people)
    assert isinstance(release, Microdata)
    assert release.rows.tolist() == people[::-1].tolist()
    assert list(seen[0].columns) == list(columns.names)
    assert seen[0]["job"].tolist() == [columns.labels[1][c] for c in people[:, 1]]
    assert list(seen[0]["job"].cat.categories) == list(columns.labels[1])
    assert seen[0]["age"].cat.ordered is False


def test_a_function_with_two_arguments_gets_the_coins(columns, people):
    def some(frame, rng):
        return frame.iloc[rng.integers(len(frame), size=7)]

    one, two, other = (released(some, columns, people, seed).rows for seed in (1, 1, 2))
    assert one.shape == (7, 3)
    assert one.tolist() == two.tolist() != other.tolist()


def test_numbers_are_read_by_their_text(columns, people):
    def numbers(frame):
        return pd.DataFrame({"job": [1, 1], "ill": ["no", "yes"], "age": ["young", "young"]})

    assert released(numbers, columns, people).rows.tolist() == [[0, 1, 0], [0, 1, 1]]


WRONG = {
    "must give a data frame, got list": lambda frame: [1, 2],
    "must give a data frame, got NoneType": lambda frame: None,
    "has no rows": lambda frame: frame.iloc[:0],
    "lacks the columns 'job', 'ill'": lambda frame: frame[["age"]],
    "were not in the data: 'new'": lambda frame: frame.assign(new=1),
    "columns 'age' twice": lambda frame: pd.concat([frame, frame[["age"]]], axis=1),
    "column 'ill' of what the function `<lambda>` gives has values that were not in the data: "
    "'maybe'": lambda frame: frame.assign(ill="maybe"),
    "not in the data: 'maybe', 'nan'": lambda frame: frame.assign(
        ill=[np.nan if value == "no" else "maybe" for value in frame["ill"]]
    ),
    "not in the data: 'None'": lambda frame: frame.assign(ill=None),
    "raised ZeroDivisionError": lambda frame: 1 / 0,
}


@pytest.mark.parametrize("said", WRONG)
def test_what_is_wrong_is_said_with_the_name(columns, people, said):
    with pytest.raises(InputError, match=said) as caught:
        released(WRONG[said], columns, people)
    assert "`<lambda>`" in str(caught.value)


def test_a_function_is_called_by_its_name():
    plan = OwnSynthesizer(released)
    assert plan.title == "Rows of the function `released`"
    assert plan.label == "the function `released`"


COPY = """
import random, sys
given, written, seed = sys.argv[1:4]
head, *rows = open(given, encoding='utf-8', newline='').read().splitlines(keepends=True)
random.Random(int(seed)).shuffle(rows)
open(written, 'w', encoding='utf-8', newline='').write(head + ''.join(rows))
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A temporary folder of our own, for programs to run in."""
    if os.name != "posix":
        pytest.skip("programs are run on Unix systems")
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


def released_command(plan, columns, codes, seed=0):
    return plan.prepare(columns).release(codes[None], np.random.default_rng(seed))[0]


def test_rows_come_back_with_every_strange_label(place, columns, people):
    source = (
        COPY.replace("head, *rows = ", "all = ")
        .replace(".splitlines(keepends=True)", "")
        .replace("random.Random(int(seed)).shuffle(rows)", "")
        .replace("head + ''.join(rows)", "all")
    )
    release = released_command(program(source), columns, people)
    assert isinstance(release, Microdata)
    assert release.rows.tolist() == people.tolist()
    assert list(place.iterdir()) == []


def test_the_seed_comes_from_the_coins(place, plain, rows):
    found = [
        released_command(program(COPY), plain, rows, seed).rows.tolist() for seed in (1, 1, 2, 3)
    ]
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
        released_command(plan, plain, rows)
    told = json.loads(str(caught.value).split("\n")[-1])
    assert Path(told[0]).parent == Path(told[2]).parent
    assert Path(told[0]).is_relative_to(place)
    assert told[1] == []
    assert told[3:] == [["0.5", "x1e-06y", "{other}"], ""]


WRITES = "import sys; open(sys.argv[2], 'wb').write({!r})"


WRONG_COMMAND = {
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


@pytest.mark.parametrize("said", WRONG_COMMAND)
def test_what_is_wrong_is_said_with_the_program(place, plain, rows, said):
    with pytest.raises(InputError) as caught:
        released_command(program(WRONG_COMMAND[said]), plain, rows)
    assert said in str(caught.value)
    assert "the program `" in str(caught.value)
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    "written",
    [b"a,b\nx,1\ny,2\n", b",a,b\n0,x,1.0\n1,y,02\n", b'\xef\xbb\xbf"b"," a"\n" 1", x\n2.00,"y"\n'],
)
def test_a_value_is_the_same_however_the_program_writes_it(place, plain, rows, written):
    assert released_command(program(WRITES.format(written)), plain, rows).rows.tolist() == [
        [0, 1],
        [1, 2],
    ]


def test_more_or_fewer_rows_in_another_order_of_columns_are_fine(place, plain, rows):
    source = WRITES.format(b'\xef\xbb\xbfb,a\r\n"2",x\r\n\r\n0,y\r\n')
    assert released_command(program(source), plain, rows).rows.tolist() == [[0, 2], [1, 0]]


def test_only_the_last_lines_are_said(place, plain, rows):
    chatty = "print('x' * 10**6); print(*range(20), sep='\\n'); raise SystemExit('the end')"
    with pytest.raises(InputError) as caught:
        released_command(program(chatty), plain, rows)
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
        released_command(plan, plain, rows)
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
    assert sorted(released_command(plan, plain, rows).rows.tolist()) == sorted(rows.tolist())
    (tmp_path / "run").write_text(f"#!{sys.executable}\n{COPY}")
    plan = Command(["./run", *files], folder=str(tmp_path))
    with pytest.raises(InputError, match="cannot be started: Permission denied"):
        released_command(plan, plain, rows)
    (tmp_path / "run").chmod(0o755)
    assert sorted(released_command(plan, plain, rows).rows.tolist()) == sorted(rows.tolist())


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
    seeded = Command(["cat", "synth.py", "{input}", "{output}", "--seed={seed}"])
    assert seeded.name == "the program `cat synth.py --seed={seed}`"
    long = Command(["cat", "x" * 100, "{input}", "{output}"])
    assert long.name == f"the program `cat {'x' * 53}...`"
