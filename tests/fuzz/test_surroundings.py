"""Odd surroundings: a locale, a home, a folder, a clock. A clear line, and nothing is lost."""

import ctypes
import json
import os
import subprocess
import sys
import time

import pytest

from .small import FILES

BACK = """
import itertools, time
ticks = itertools.count()
time.time = lambda: 2e9 - 3600 * next(ticks)  # an hour back each time that anybody looks
time.time_ns = lambda: int(time.time() * 1e9)
"""
RESTRICTED = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
for right in range(4):  # root's, to read and write whatever the modes say
    libc.prctl(24, right, 0, 0, 0)
os.chdir(sys.argv[1])
code = "from narcissus.cli import main; main()"
os.execv(sys.executable, [sys.executable, "-P", "-c", code, *sys.argv[2:]])
"""


@pytest.fixture
def people(tmp_path):
    return placed(tmp_path)


def placed(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(folder, *words, first="", env=None):
    code = f"{first}\nfrom narcissus.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *words], cwd=folder, check=False, capture_output=True,
        env={**os.environ, **(env or {})}, timeout=300,
    )  # fmt: skip


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """The digest of the study where nothing is odd."""
    folder = placed(tmp_path_factory.mktemp("usual"))
    done = run(folder, "audit", "study.toml", "--out", "usual")
    assert done.returncode == 0, done.stderr
    return found_in(folder / "usual")


def found_in(folder):
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    return record["portable_digest"]


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "en_US.ISO-8859-1", "PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
        {"HOME": "/nonexistent"},
        {"HOME": ""},
        {"HOME": "/dev/null", "TZ": "nowhere/nowhere"},
    ],
    ids=["latin-1", "ascii", "no home", "empty home", "home is a device"],
)
@pytest.mark.one_in(3)
def test_locales_and_homes_change_no_number(people, usual, env):
    odd = run(people, "audit", "study.toml", "--out", "odd", env=env)
    assert odd.returncode == 0, odd.stderr
    assert found_in(people / "odd") == usual
    if env.get("PYTHONIOENCODING") == "latin-1":
        assert b"\\u03b5" in odd.stdout
    assert "Ångström ε" in (people / "odd" / "report.html").read_text(encoding="utf-8")


WRITES = [
    "audit study.toml",
    "audit study.toml --out ../out --records r.csv",
    "init people.csv --out n.toml",
    "synth people.csv people.csv --unknown ill --out s",
    "channel channel.csv --report r.html",
    "channel channel.csv --plot r.svg",
    "refine channel.csv channel.csv --out w.csv",
    "init --example counting-query --out g.toml",
    "estimate --program echo --secrets a,b --yes",
]


@pytest.mark.skipif(sys.platform != "linux", reason="rights of Linux")
@pytest.mark.parametrize("line", WRITES)
@pytest.mark.one_in(4)
def test_a_folder_that_cannot_be_written_is_named_in_a_line(people, line):
    closed = people / "closed"
    closed.mkdir()
    for name in ("people.csv", "study.toml", "channel.csv"):
        (people / name).rename(closed / name)
    closed.chmod(0o555)
    assert ctypes.CDLL(None).prctl is not None
    done = subprocess.run(
        [sys.executable, "-c", RESTRICTED, str(closed), *line.split()],
        check=False, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "Permission denied" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert len(list(closed.iterdir())) == 3


FULL = """
import resource, sys
sys.dont_write_bytecode = True  # it would be kept cut off
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
from narcissus.cli import main
main(sys.argv[1:])
"""
ON_A_FULL_DISK = {
    "audit study.toml --out out": "out/trials.store",
    "synth people.csv people.csv --unknown ill --out s": "s/record.json",
    "init people.csv --out n.toml": "n.toml",
    "channel channel.csv --report r.html": "r.html",
    "channel channel.csv --plot r.svg": "r.svg",
    "examples counting-query --out g.toml": "g.toml",
}


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on files stands for a full disk")
@pytest.mark.parametrize("line", ON_A_FULL_DISK)
@pytest.mark.one_in(4)
def test_a_full_disk_is_told_with_the_file_that_did_not_fit(people, line):
    done = subprocess.run(
        [sys.executable, "-P", "-c", FULL, *line.split()],
        cwd=people,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "MPLCONFIGDIR": str(people / "mpl")},
    )
    assert done.returncode == 2, done.stderr
    assert ON_A_FULL_DISK[line] in done.stderr.splitlines()[-1]
    assert "File too large" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    left = [path for path in people.rglob("*") if path.name.endswith(".partial")]
    assert left == []


@pytest.mark.nightly
def test_a_clock_that_runs_back_changes_nothing(people, usual):
    """The estimate, the bar of progress, the store and what another run left, of the future."""
    back = run(people, "audit", "study.toml", "--out", "back", first=BACK)
    assert back.returncode == 0, back.stderr
    assert found_in(people / "back") == usual
    for name in ("record.json", "report.html"):
        (people / "back" / name).unlink()
    future = time.time() + 10 * 365 * 86400
    for path in people.rglob("*"):
        os.utime(path, (future, future))
    again = run(people, "audit", "study.toml", "--out", "back", first=BACK)
    assert again.returncode == 0, again.stderr
    assert found_in(people / "back") == usual


def test_a_deadline_is_kept_by_a_clock_that_runs_back(people):
    words = ["estimate", "--program", "sleep 20", "--secrets", "a,b", "--yes", "--seconds", "1"]
    start = time.monotonic()
    done = run(people, *words, first=BACK)
    assert done.returncode in {2, 3}, done.stderr
    assert time.monotonic() - start < 15


def test_an_old_database_of_trials_is_left_alone(people):
    """Earlier versions used SQLite; a forged journal of it may name any file for removal."""
    import sqlite3

    out = people / "out"
    out.mkdir()
    victim = people / "victim"
    victim.write_text("mine")
    for name in ("trials.sqlite", "trials.store"):
        database = sqlite3.connect(out / name)
        database.execute("create table t (a, b generated always as (zeroblob(1000000000)))")
        database.execute("insert into t (a) values (1)")
        database.commit()
        database.close()
        (out / f"{name}-journal").write_bytes(bytes(512) + os.fsencode(victim) + bytes(20))
    kept = (out / "trials.sqlite").read_bytes()
    done = run(people, "audit", "study.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert b"damaged" in done.stderr  # said of what has the name of the store of today
    assert (out / "trials.sqlite").read_bytes() == kept
    assert victim.read_text() == "mine"
    assert (out / "trials.damaged-1.store").read_bytes().startswith(b"SQLite format 3")
