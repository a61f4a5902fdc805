"""The main job without what only Unix has, and files as Windows writes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from narcissus.extraction import IsolationError, check_isolation, sandbox
from narcissus.study import load_study

ROOT = Path(__file__).resolve().parents[1]
UNIX = """
import importlib, os, pkgutil, signal, sys
ABSENT = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "crypt", "syslog"}
ATTRIBUTES = {
    os: ["fork", "geteuid", "getuid", "getgid", "getegid", "killpg", "setsid", "sysconf", "umask",
         "sched_getaffinity", "getpgid", "waitpid", "WNOHANG", "pidfd_open", "statvfs", "chown",
         "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_PATH", "O_NONBLOCK", "register_at_fork"],
    signal: ["SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPIPE", "SIGXCPU", "SIGCHLD",
             "alarm", "setitimer", "pthread_sigmask"],
}

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

# of others' packages, what they import on a system like this one is theirs
import asyncio, click, cloudpickle, jinja2, matplotlib.figure, multiprocessing, numpy, pandas
import pydantic, rich.progress, scipy.optimize, scipy.sparse.csgraph, scipy.stats, subprocess
import tempfile, threadpoolctl
for name in ABSENT:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Blocked())
for module, names in ATTRIBUTES.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""
IMPORTS = """
import narcissus
# started as programs of their own
own = {"_jail", "_serving", "_guard", "__main__", "_launch"}
missing = []
for found in pkgutil.walk_packages(narcissus.__path__, "narcissus."):
    if found.name.rpartition(".")[2] in own:
        continue
    try:
        importlib.import_module(found.name)
    except ModuleNotFoundError as error:
        if error.name in ABSENT:
            missing.append(f"{found.name}: {error}")
    except AttributeError as error:
        missing.append(f"{found.name}: {error}")
assert not missing, missing
"""
MAIN_JOB = """
from narcissus.cli.main import main
try:
    main(["audit", "table.toml", "--engine", "serial", "--quiet", "--out", "out", "--yes"])
except SystemExit as left:
    assert left.code == 0, left.code
try:
    main(["report", "out"])
except SystemExit as left:
    assert left.code == 0, left.code
"""
TABLE = """
[data]
path = "people.csv"

[threat]
unknown = ["ill"]
targets = 5

[mechanism]
name = "marginals"
k = 2
epsilon = 1.0

[run]
trials = 3
seed = 1
"""
PEOPLE = "age,sex,ill\n" + "".join(f"{n % 5},{n % 2},{n % 3}\n" for n in range(60))


def without_unix(code, folder):
    done = subprocess.run(
        [sys.executable, "-c", UNIX + code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_every_module_is_imported_without_what_only_unix_has(tmp_path):
    without_unix(IMPORTS, tmp_path)


def test_the_main_job_is_done_without_what_only_unix_has(tmp_path):
    (tmp_path / "table.toml").write_text(TABLE)
    (tmp_path / "people.csv").write_text(PEOPLE)
    without_unix(MAIN_JOB, tmp_path)
    assert json.loads((tmp_path / "out" / "record.json").read_text())["status"]
    assert (tmp_path / "out" / "report.html").exists()


def test_what_needs_linux_says_so_in_a_line(monkeypatch):
    monkeypatch.setattr(sandbox.sys, "platform", "win32")
    sandbox._checked.cache_clear()
    try:
        with pytest.raises(IsolationError, match="only Linux has it") as refused:
            check_isolation()
        assert "\n" not in str(refused.value)
    finally:
        sandbox._checked.cache_clear()


def test_a_study_and_a_table_with_the_line_ends_and_the_mark_of_windows_are_the_same(tmp_path):
    from narcissus.tables import read_table

    for name, ends, mark in (("unix", "\n", b""), ("windows", "\r\n", b"\xef\xbb\xbf")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "people.csv").write_bytes(mark + PEOPLE.replace("\n", ends).encode())
        (tmp_path / name / "table.toml").write_bytes(TABLE.replace("\n", ends).encode())
    unix, windows = (tmp_path / name for name in ("unix", "windows"))
    assert load_study(unix / "table.toml").digest == load_study(windows / "table.toml").digest
    one, other = (read_table(place / "people.csv") for place in (unix, windows))
    assert one.digest == other.digest


@pytest.mark.skipif(os.name == "nt", reason="Windows reads its own paths")
def test_a_path_of_windows_is_read(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "people.csv").write_text(PEOPLE)
    text = TABLE.replace("people.csv", "data/people.csv")
    (tmp_path / "unix.toml").write_text(text)
    text = text.replace('"data/people.csv"', "'data\\people.csv'")
    (tmp_path / "windows.toml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    one, other = (load_study(tmp_path / f"{name}.toml") for name in ("unix", "windows"))
    assert one.digest == other.digest
