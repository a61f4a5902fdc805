"""The walls hold: each attempt to break out is stopped, with every method that is there."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from narcissus.errors import InputError
from narcissus.extraction import _runs, sandbox
from narcissus.extraction._runs import run_once
from narcissus.extraction.sandbox import (
    IsolationError,
    Limits,
    check_isolation,
    check_source,
    run_program,
    without_isolation,
)

METHODS = ["namespaces", "Landlock", "bubblewrap"]
QUICK = Limits(seconds=10, memory=2**29, output=1000)


def isolation_or_skip(method):
    try:
        return sandbox._try_method(method)
    except IsolationError as error:
        if method == "bubblewrap" and shutil.which("bwrap") is None:
            pytest.skip("bubblewrap is not installed")
        if "was not stopped" in str(error):
            raise
        pytest.skip(f"this machine lacks it: {error}")


@pytest.mark.parametrize("method", METHODS)
def test_every_burglar_is_stopped(method):
    found = isolation_or_skip(method)
    assert len(found.checks) == len(sandbox.BURGLARS)
    assert "seccomp" in found.layers


DANGEROUS = ("reads /etc", "lists", "writes", "changes", "makes a link", "empties")


@pytest.mark.parametrize(
    "burglar",
    [b for b in sandbox.BURGLARS if b.name.startswith(DANGEROUS)],
    ids=lambda b: b.name,
)
def test_the_burglars_are_dangerous_without_walls(burglar):
    """The checks would notice missing walls: unprotected, the same programs break in."""
    run = run_once(burglar.source.encode(), b"the release", QUICK, "none")
    assert burglar.says not in run.output


def test_a_missing_wall_is_refused(monkeypatch):
    """If the jail lets a program out, the check-up says so and nothing is run."""
    monkeypatch.setattr(sandbox, "_checked", sandbox._checked.__wrapped__)
    real = sandbox.run_once

    def no_walls(program, release, limits, method):
        walls = real(b"", b"", limits, "Landlock").layers
        run = real(program, release, limits, "none")
        return sandbox.replace(run, layers=(*walls, "namespaces"))

    monkeypatch.setattr(
        sandbox, "BURGLARS", tuple(b for b in sandbox.BURGLARS if b.name == "reads /etc/passwd")
    )
    monkeypatch.setattr(sandbox, "run_once", no_walls)
    with pytest.raises(IsolationError, match=r"reads /etc/passwd.*was not stopped"):
        check_isolation()


def test_no_isolation_only_when_told():
    with without_isolation():
        assert not check_isolation().safe
        assert run_program(b"print(1)", b"", QUICK).output == b"1\n"
    assert check_isolation().safe


def test_inputs_reach_the_program():
    source = b"import sys\nprint(open('release').read(), open(sys.argv[1]).read(), open(0).read())"
    assert run_program(source, b"abc", QUICK).output == b"abc abc abc\n"


def test_packages_can_be_imported():
    source = b"import numpy, zlib\nprint(numpy.arange(3).sum())"
    run = run_program(source, b"", Limits(seconds=20))
    assert (run.output, run.ending) == (b"3\n", "finished")


def in_session(session):
    """Commands of the processes of a session that are alive, from /proc."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(place.parent.name)
    return found


@pytest.mark.parametrize("method", ["namespaces", "Landlock"])
def test_children_die_with_the_program(method, monkeypatch):
    """Threads are all that a program can start, and nothing of it outlives the run."""
    source = b"""
import threading, time
def forever():
    while True: time.sleep(0.01)
for _ in range(3): threading.Thread(target=forever).start()
print('started', flush=True)
"""
    isolation_or_skip(method)
    started = []

    class Watched(subprocess.Popen):
        def __init__(self, *arguments, **more):
            super().__init__(*arguments, **more)
            started.append(self.pid)

    monkeypatch.setattr(_runs.subprocess, "Popen", Watched)
    before = time.monotonic()
    run = run_once(source, b"", Limits(seconds=3), method)
    assert run.ending == "timeout"
    assert run.output == b"started\n"
    assert time.monotonic() - before < 20
    deadline = time.monotonic() + 5
    while in_session(started[0]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert in_session(started[0]) == []


def test_thread_bomb_ends():
    source = b"""
import threading, time
def forever(): time.sleep(1000)
n = 0
try:
    while True:
        threading.Thread(target=forever, daemon=True).start(); n += 1
except (RuntimeError, MemoryError):
    print('stopped', n < 5000)
"""
    run = run_program(source, b"", Limits(seconds=8, memory=2**29))
    assert run.output in (b"stopped True\n", b"")


@pytest.mark.parametrize(
    "source",
    [
        "import ctypes\nprint(ctypes.CDLL(None).syscall(57))",  # fork
        "import ctypes\nprint(ctypes.CDLL(None).syscall(165, b'a', b'b', b'c', 0, 0))",  # mount
        "import ctypes\nprint(ctypes.CDLL(None).syscall(101, 0, 0, 0, 0))",  # ptrace
        "import ctypes\nprint(ctypes.CDLL(None).syscall(319, b'x', 0))",  # memfd_create
        "import ctypes\nprint(ctypes.CDLL(None).syscall(425, 8, 0))",  # io_uring_setup
        "import ctypes\nprint(ctypes.CDLL(None).syscall(321, 0, 0, 0))",  # bpf
        "import ctypes\nprint(ctypes.CDLL(None).syscall(272, 0x10000000))",  # unshare
        "import ctypes\nprint(ctypes.CDLL(None).syscall(41, 2, 1, 0))",  # socket
    ],
)
@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="numbers")
def test_raw_system_calls_are_refused(source):
    assert run_program(source.encode(), b"", QUICK).output == b"-1\n"


def test_output_and_errors_are_cut():
    run = run_program(b"print('x' * 5000)", b"", QUICK)
    assert (run.ending, len(run.output)) == ("output limit", 1000)
    run = run_program(b"raise SystemExit('no ' * 10000)", b"", QUICK)
    assert run.ending == "crashed"
    assert len(run.error) <= 4096


def test_bytes_that_are_no_text_pass():
    assert run_program(b"open(1, 'wb').write(b'\\xff\\x00')", b"", QUICK).output == b"\xff\x00"


@pytest.mark.parametrize(
    ("source", "message"),
    [(b"", "empty"), (b"print(", "line 1"), (b"a\x00b", "not a Python"), (b"\xff = 1", "not a Py")],
)
def test_programs_that_are_none(source, message):
    with pytest.raises(InputError, match=message):
        check_source(source)


def test_limits_are_checked():
    with pytest.raises(InputError, match="seconds"):
        Limits(seconds=0)
