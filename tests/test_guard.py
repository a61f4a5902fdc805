"""Nothing of a program outlives its run, however the run or the command ends."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from narcissus import _guard, _scratch
from narcissus.extraction import _runs
from narcissus.extraction._runs import Limits, run_once

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


FOREVER = b"print('begun', flush=True)\nwhile True: pass\n"


# Leaves its group and its session and goes on, which only a program without walls can.
ESCAPES = b"""
import os, time
print('begun', flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True: time.sleep(0.05)
    os._exit(0)
os.wait()
if STAYS:
    while True: time.sleep(0.05)
"""


# The room's other modules would take a second to import, each time.
RUN = """
import sys, types
room = sys.modules["narcissus.extraction"] = types.ModuleType("narcissus.extraction")
room.__path__ = [{room!r}]
from narcissus.extraction._runs import Limits, run_once
run_once({source!r}, b"secret" * 10**6, Limits(seconds={seconds}, memory=2**29), {method!r})
"""


def begin(source, method, *, seconds=60):
    room = str(Path(_runs.__file__).parent)
    text = RUN.format(room=room, source=source, method=method, seconds=seconds)
    return subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def running(watched, process, at_least=2):
    """Wait until the program itself is running: the guard and at least one more."""
    until = time.monotonic() + 60
    while len(watched.processes()) < at_least and time.monotonic() < until:
        assert process.poll() is None
        time.sleep(0.01)
    return watched.processes()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.one_in(3)
def test_killed_while_a_program_runs(watched, any_method, how):
    process = begin(FOREVER, any_method)
    assert running(watched, process)
    process.send_signal(how)
    process.wait(30)
    assert watched.left() == ([], [])


@pytest.mark.one_in(2)
def test_the_guard_is_killed_as_well(watched, any_method):
    """Both at once: the program ends with its guard, the folder goes at the next start."""
    process = begin(FOREVER, any_method)
    guard, *others = sorted(running(watched, process))
    os.kill(process.pid, signal.SIGSTOP)  # so that it cannot clean up in between
    os.kill(guard, signal.SIGKILL)
    process.kill()
    process.wait(30)
    until = time.monotonic() + 10
    while watched.processes() and any_method != "none" and time.monotonic() < until:
        time.sleep(0.02)
    left = watched.files()
    if any_method == "none":  # a program that was trusted may go on where even its guard was killed
        for pid in others:
            os.kill(pid, signal.SIGKILL)
    else:
        assert watched.processes() == []
    assert [p.name.startswith(_scratch.PREFIX) for p in left] == [True]
    with _scratch.scratch_folder() as mine:
        assert watched.files() == [mine]
    assert watched.left() == ([], [])


def kill_at_any_moment(watched, method, delay):
    process = begin(FOREVER, method)
    time.sleep(delay)
    process.kill()
    process.wait(30)
    gone, left = watched.left()
    # Killed before the guard was there, it leaves an empty folder, which the next start removes.
    assert gone == []
    assert all(not list(p.iterdir()) for p in left)
    for p in left:
        p.rmdir()
    return len(left)


@pytest.mark.parametrize("delay", [0.1, 0.2, 0.5])
@pytest.mark.one_in(3)
def test_killed_at_any_moment(watched, delay):
    kill_at_any_moment(watched, "namespaces", delay)


@pytest.mark.nightly
def test_killed_at_each_moment(watched, any_method):
    chance = random.Random(4)
    empty = sum(
        kill_at_any_moment(watched, any_method, chance.uniform(0.02, 1.0)) for _ in range(25)
    )
    print(f"25 kills, {empty} empty folders, no process, no file")


@pytest.mark.one_in(2)
def test_the_clock_runs_inside(watched, any_method):
    """A command that is stopped (Ctrl-Z, a debugger) ends no program: the guard does."""
    process = begin(FOREVER, any_method, seconds=1)
    _, program = sorted(running(watched, process))[:2]
    process.send_signal(signal.SIGSTOP)
    until = time.monotonic() + 20
    while program in watched.processes() and time.monotonic() < until:
        time.sleep(0.05)
    assert program not in watched.processes()
    process.send_signal(signal.SIGCONT)
    assert process.wait(30) == 0
    assert watched.left() == ([], [])


@pytest.mark.parametrize("stays", [True, False])
@pytest.mark.parametrize("how", ["limit", "kill"])
@pytest.mark.one_in(2)
def test_escaped_children_end_without_walls_too(watched, stays, how):
    """They may leave their session and keep the output open: they are the guard's in the end."""
    source = ESCAPES.replace(b"STAYS", str(stays).encode())
    if how == "limit":
        run = run_once(source, b"", Limits(seconds=3), "none")
        assert run.output == b"begun\n"
        assert run.ending == ("timeout" if stays else "finished")
    elif stays:
        process = begin(source, "none")
        assert running(watched, process, 3)
        process.kill()
        process.wait(30)
    assert watched.left() == ([], [])


EXTRACT = """
data = "data.txt"
release = "release.txt"
program = "program.py"
runs = 20
[limits]
seconds = 60
"""


@pytest.mark.parametrize(
    ("how", "code", "says"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "ended by SIGTERM")],
)
@pytest.mark.one_in(2)
def test_the_command_ends_soon(watched, tmp_path, monkeypatch, how, code, says):
    """Twenty runs of a minute each are under way or waiting."""
    monkeypatch.chdir(tmp_path)
    Path("data.txt").write_text("the data\n")
    Path("release.txt").write_text("the release\n")
    # It says so where the test can see it, which takes a program without walls.
    Path("program.py").write_text(
        f"open({str(tmp_path / 'begun')!r}, 'a').close()\nwhile True: pass\n"
    )
    Path("e.toml").write_text(EXTRACT)
    process = subprocess.Popen(
        [sys.executable, "-m", "narcissus", "extract", "e.toml", "--no-isolation", "--workers",
         "2", "--quiet"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not Path("begun").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()
    process.send_signal(how)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (code, "")
    assert err == f"{says}; nothing was kept; run the same command again\n"
    assert watched.left() == ([], [])


def test_hostile_folders_are_removed(tmp_path):
    """Deep ones, closed ones, links that lead out."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    folder = tmp_path / "folder"
    folder.mkdir()
    deep = folder
    while len(str(deep)) < 3900:
        deep /= "d"
        os.mkdir(deep)
    (folder / "link").symlink_to(outside)
    closed = folder / "closed"
    closed.mkdir()
    (closed / "in it").touch()
    closed.chmod(0)
    _guard.remove(str(folder))
    assert not folder.exists()
    assert (outside / "kept").exists()


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


@pytest.mark.usefixtures("isolation")
@pytest.mark.parametrize("method", ["namespaces", "Landlock"])
@pytest.mark.one_in(2)
def test_children_die_with_the_program(method, monkeypatch):
    """Threads are all that a program can start, and nothing of it outlives the run."""
    source = b"""
import threading, time
def forever():
    while True: time.sleep(0.01)
for _ in range(3): threading.Thread(target=forever).start()
print('started', flush=True)
"""
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


MANY = b"""
import os
place = os.environ['TMPDIR']
print('begun', flush=True)
try:
    for n in range(10**7): os.mkdir(f'{place}/{n}')
except OSError:
    pass
"""


@pytest.mark.usefixtures("isolation")
@pytest.mark.one_in(3)
def test_endless_files_end(method):
    """Where no file system of its own limits them, the guard counts and ends the program."""
    run = run_once(MANY, b"", Limits(seconds=30, memory=2**29), method)
    assert run.output == b"begun\n"
    assert run.ending == ("finished" if method == "namespaces" else "crashed")


@pytest.mark.usefixtures("isolation")
def test_closing_the_output_gains_no_time(method, quick):
    source = b"import os, signal\nfor n in (1, 2, 14, 15): signal.signal(n, signal.SIG_IGN)\n" \
             b"os.close(1); os.close(2)\nwhile True: pass"  # fmt: skip
    assert run_once(source, b"", replace(quick, seconds=1.5), method).ending == "timeout"


# Each lives as long as it takes to start the next: no look at all processes is so fast.
CHAINS = b"""
import os, time
print('begun', flush=True)
until = time.monotonic() + 40
for _ in range(CHAINS):
    if os.fork() == 0:
        os.setsid()
        while time.monotonic() < until:
            if os.fork():
                os._exit(0)
        os._exit(0)
time.sleep(0.2)
"""


@pytest.mark.parametrize("chains", [1, 6])
@pytest.mark.one_in(2)
def test_a_chain_of_processes_that_end_at_once_is_ended(watched, chains):
    source = CHAINS.replace(b"CHAINS", str(chains).encode())
    before = time.monotonic()
    run = run_once(source, b"", Limits(seconds=30), "none")
    assert (run.output, run.ending) == (b"begun\n", "finished")
    assert watched.left() == ([], [])
    assert time.monotonic() - before < 20


BOMB = b"""
import os, time
print('begun', flush=True)
until = time.monotonic() + 40
for _ in range(8):
    if os.fork() == 0:
        os.setsid()
while time.monotonic() < until:
    time.sleep(0.01)
"""


@pytest.mark.one_in(2)
def test_a_tree_of_processes_is_ended(watched):
    run = run_once(BOMB, b"", Limits(seconds=3), "none")
    assert (run.output.count(b"begun"), run.ending) == (1, "timeout")
    assert watched.left() == ([], [])


WRITES = """
import ctypes, sys
library = ctypes.CDLL(None)
library.mmap.restype = ctypes.c_void_p
library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
size = 2**25
for _ in range(64):
    place = library.mmap(None, size, 3, FLAGS, -1, 0)
    if place in (None, 2**64 - 1):
        raise MemoryError
    ctypes.memset(place, 1, size)
    if READ_ONLY:
        library.mprotect(ctypes.c_void_p(place), ctypes.c_size_t(size), 1)
"""


@pytest.mark.parametrize("method", ["namespaces", "none"])
@pytest.mark.parametrize("kind", ["shared", "grows down", "made read-only"])
@pytest.mark.usefixtures("isolation")
@pytest.mark.one_in(2)
def test_a_limit_on_memory_counts_what_is_shared(kind, method):
    """2 GiB of it under a limit of 256 MiB, in mappings that RLIMIT_DATA does not count."""
    flags = {"shared": 0x21, "grows down": 0x122, "made read-only": 0x22}[kind]
    source = WRITES.replace("FLAGS", str(flags)).replace("READ_ONLY", str(kind == "made read-only"))
    limits, told = Limits(seconds=60, memory=2**33), {"data": 2**28}
    run = _runs.run_in_box(source.encode(), b"", limits, method, beside={}, stop=None, told=told)
    assert run.report.rpartition(b"\n")[2] == b"%d" % _guard.OVER_MEMORY
    assert run.seconds < 20


def test_children_are_seen_with_and_without_lists_of_them():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert process.pid in _guard.children()
        assert sorted(_guard.children()) == sorted(_guard._looked_for(os.getpid()))
        assert process.pid in _guard.descendants()
        until = time.monotonic() + 10  # it has only begun
        while _guard.memory([process.pid]) <= 2**20 and time.monotonic() < until:
            time.sleep(0.01)
        assert _guard.memory([process.pid]) > 2**20
    finally:
        process.communicate()
    assert process.pid not in _guard.children()
    assert _guard.children(process.pid) == []
    assert _guard.memory([process.pid]) == 0
