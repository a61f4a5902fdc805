"""The command line as a whole: what it loads, what it never loads, and how it ends."""

import errno
import importlib
import io
import os
import pickle
import pkgutil
import re
import subprocess
import sys
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from narcissus._optional import is_short_of_memory, optional
from narcissus.cli.main import COMMANDS, GROUPS, main
from narcissus.errors import InputError


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


@pytest.mark.parametrize("words", [["init", "--parts"], ["--help"]])
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
        (InputError("a" * 9999 + "\nb"), 2, f"error: {'a' * 1000} ... {'a' * 1000}\n  b\n"),
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
from narcissus.cli import main, studies
def fail(): raise pickle.loads({pickle.dumps(error)!r})
studies.init.callback = lambda **options: fail()
main(["init", "--schema"])
"""
    done = subprocess.run(
        [sys.executable, "-c", raising], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert not done.stdout


# What Python itself has imported from there before it comes to us, with -m.
PYTHONS_OWN = {
    "importlib", "warnings", "contextlib", "collections", "keyword", "operator", "reprlib",
    "functools", "types",
}  # fmt: skip


ROWS = "sex,age,ill\n" + "".join(
    f"{'mf'[n % 2]},{n % 5},{'yes' if n % 7 % 3 else 'no'}\n" for n in range(300)
)


STUDY = """
[data]
path = "people.csv"
[threat]
unknown = ["ill"]
targets = 15
[mechanism]
k = 2
epsilon = 2.0
[attacks]
prior = {}
[run]
trials = 6
seed = 1
workers = 2
"""


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A folder with a module of each name that anybody could import; the study is elsewhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    study = tmp_path / "study"
    study.mkdir()
    (study / "people.csv").write_text(ROWS)
    (study / "s.toml").write_text(STUDY)
    names = {*sys.stdlib_module_names, *(m.name for m in pkgutil.iter_modules()), "loky"}
    for name in names - PYTHONS_OWN - {"narcissus"}:
        Path(f"{name}.py").write_text(
            f"open({str(tmp_path / 'sprung')!r}, 'a').write({name + ' '!r})\nraise SystemExit(66)\n"
        )
    return study / "s.toml"


# As a console script is made by whoever installs it; it lies in a folder of its own.
SCRIPT = "import sys\nfrom narcissus.cli import main\nsys.exit(main())\n"


@pytest.mark.parametrize("how", ["module", "script"])
@pytest.mark.one_in(2)
def test_nothing_beside_us_is_imported(trap, tmp_path, how):
    if how == "module":
        command = [sys.executable, "-m", "narcissus"]
    else:
        assert any(e.value == "narcissus.cli:main" for e in entry_points(group="console_scripts"))
        place = tmp_path / "study" / "narcissus"
        place.write_text(SCRIPT)
        command = [sys.executable, str(place)]
    done = subprocess.run(
        [*command, "audit", str(trap), "--out", "out", "--quiet"],
        check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    sprung = Path("sprung").read_text() if Path("sprung").exists() else ""
    assert sprung == ""
    assert done.returncode == 0, done.stderr
    assert Path("out/record.json").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="a shell, /dev/full and ulimit")
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("{} >&-", "standard output is closed"),
        ("{} > /dev/full", "cannot write what is printed: No space left on device"),
        (
            "ulimit -v 300000; {}",
            "a formula needs at least 512 MiB, an audit of a small table 1536",
        ),
    ],
)
def test_a_rough_machine_ends_in_one_line(how, said):
    line = f"{sys.executable} -m narcissus --help"
    words = ["bash", "-c", how.format(line)]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit")
def test_memory_for_a_formula_and_not_for_a_table_ends_in_one_error(tmp_path):
    """Libraries that do not load are no slip of ours, and none that is not installed."""
    folder = str(tmp_path)
    of = {"capture_output": True, "text": True, "cwd": folder}
    command = f"ulimit -v 600000; {sys.executable} -m narcissus"
    ended = subprocess.run(["bash", "-c", f"{command} audit people.toml"], check=False, **of)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: this process may have 585 MiB of memory (`ulimit -v`)")
    assert len(ended.stderr.strip().splitlines()) == 1
    for allowed in ("bound --epsilon 1 --prior .1", "audit --help"):
        ended = subprocess.run(["bash", "-c", f"{command} {allowed}"], check=False, **of)
        assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("error", "is_short"),
    [
        (MemoryError(), True),
        (ImportError("lib.so: failed to map segment from shared object"), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (RuntimeError("can't start new thread"), True),
        (ImportError("No module named 'statsmodels'"), False),
        (ValueError("failed to map segment"), False),
        (OSError(errno.ENOENT, "No such file"), False),
    ],
)
def test_a_library_that_does_not_fit_is_told_from_one_that_is_not_there(error, is_short):
    assert is_short_of_memory(error) is is_short
    with pytest.raises(KeyError) as behind:
        raise KeyError("x") from error
    assert is_short_of_memory(behind.value) is is_short


def test_what_does_not_fit_is_not_said_to_be_missing(monkeypatch):
    def loads(_name):
        raise ImportError("lib.so: failed to map segment from shared object")

    monkeypatch.setattr(importlib, "import_module", loads)
    with pytest.raises(MemoryError):
        optional("pyarrow", extra="parquet", purpose="Reading Parquet")


@contextmanager
def no_room(size):
    """Let no file grow above so many bytes: what is written ends in the middle."""
    import resource

    before, compiled = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # what is imported meanwhile would be kept cut off
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = compiled


@pytest.mark.skipif(sys.platform != "linux", reason="limits of files")
@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("init --example audit-a-table --force --out disk/study.toml", "invented_people.csv"),
        ("init people.csv --force --out disk/people.toml", "people.toml"),
        ("report record.json --out disk/report.html", "report.html"),
        ("report record.json --markdown --out disk/report.md", "report.md"),
    ],
)
def test_a_disk_without_room_is_told_and_the_old_file_stays(
    tmp_path, narcissus, monkeypatch, words, target
):
    monkeypatch.chdir(tmp_path)
    Path("disk").mkdir()
    Path("disk", target).write_text("of before")
    Path("people.csv").write_text("age,ill\n" + "3,yes\n4,no\n5,no\n" * 40)
    kept = Path(__file__).parents[1] / "study" / "kept" / "table.json"
    Path("record.json").write_bytes(kept.read_bytes())
    with no_room(300):
        code, _, err = narcissus(*words.split())
    assert code == 2, err
    assert "cannot write" in err
    assert "make room on this disk" in err
    assert [path.name for path in Path("disk").iterdir()] == [target]
    assert Path("disk", target).read_text() == "of before"


class Full(io.StringIO):
    """Standard output on a full disk."""

    def write(self, text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


PRINTED = [
    "report {record} --text",
    "report {record} --json",
    "report {record} --markdown",
    "report {record} {record}",
    "report --schema table",
    "bound --epsilon 1 --prior .1",
    "bound --epsilon 1 --prior .1 --json",
    "risk --epsilon 1 --prior .1",
    "init --parts",
    "init --example",
]


@pytest.mark.parametrize("line", PRINTED)
def test_a_full_standard_output_is_called_so(tmp_path, monkeypatch, capsys, line):
    """Not `--out`, which nobody gave, nor a file that is not written."""
    monkeypatch.chdir(tmp_path)
    kept = Path(__file__).parents[1] / "study" / "kept" / "membership.json"
    Path("record.json").write_bytes(kept.read_bytes())
    words = line.format(record="record.json").split()
    before = sorted(Path().rglob("*"))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Full())
        with pytest.raises(SystemExit) as end:
            main(words)
    error = capsys.readouterr().err
    assert end.value.code == 2
    assert error == f"error: cannot write what is printed: {os.strerror(errno.ENOSPC)}\n"
    assert sorted(Path().rglob("*")) == before


def test_the_help_has_every_command_once_in_its_group(narcissus):
    code, out, _ = narcissus("--help")
    assert code == 0
    sections = re.findall(r"^(\w[\w ]+):\n((?:  .*\n?)+)", out, re.MULTILINE)
    told = {title: re.findall(r"^  (\w+) ", text, re.MULTILINE) for title, text in sections}
    told.pop("Options", None)
    assert told == {title: list(names) for title, names in GROUPS.items()}
    assert sorted(sum(GROUPS.values(), ())) == sorted(COMMANDS)
