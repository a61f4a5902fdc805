"""Nothing of a program outlives its run, however the run or the command ends."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from narcissus import _guard, _scratch
from narcissus.extraction._runs import Limits, run_once

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


METHODS = ["namespaces", "Landlock", "none", *(["bubblewrap"] if shutil.which("bwrap") else [])]


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


RUN = """
import sys
from narcissus.extraction._runs import Limits, run_once
run_once({source!r}, b"secret" * 10**6, Limits(seconds=60, memory=2**29), {method!r})
"""


def processes(place):
    """Processes whose command line names a folder: the guard, and what it has forked."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z" and str(place).encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def nothing_left(place, seconds=10):
    until = time.monotonic() + seconds
    while (processes(place) or list(place.iterdir())) and time.monotonic() < until:
        time.sleep(0.02)
    return processes(place), list(place.iterdir())


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A temporary folder of our own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    for above in (tmp_path, *tmp_path.parents):
        if above.stat().st_uid == os.getuid() and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o011)  # root becomes another user to run programs
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    _scratch.sweep.cache_clear()
    return folder


def begin(place, source, method):
    return subprocess.Popen(
        [sys.executable, "-c", RUN.format(source=source, method=method)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def running(place, process, at_least=2):
    """Wait until the program itself is running: the guard and at least one more."""
    until = time.monotonic() + 60
    while len(processes(place)) < at_least and time.monotonic() < until:
        assert process.poll() is None
        time.sleep(0.01)
    return processes(place)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_killed_while_a_program_runs(place, method, how):
    process = begin(place, FOREVER, method)
    assert running(place, process)
    process.send_signal(how)
    process.wait(30)
    assert nothing_left(place) == ([], [])


@pytest.mark.parametrize("method", METHODS)
def test_the_guard_is_killed_as_well(place, method):
    """Both at once: the program ends with its guard, the folder goes at the next start."""
    process = begin(place, FOREVER, method)
    guard, *others = sorted(running(place, process))
    os.kill(process.pid, signal.SIGSTOP)  # so that it cannot clean up in between
    os.kill(guard, signal.SIGKILL)
    process.kill()
    process.wait(30)
    until = time.monotonic() + 10
    while processes(place) and method != "none" and time.monotonic() < until:
        time.sleep(0.02)
    left = list(place.iterdir())
    if method == "none":  # a program that was trusted may go on where even its guard was killed
        for pid in others:
            os.kill(pid, signal.SIGKILL)
    else:
        assert processes(place) == []
    assert [p.name.startswith(_scratch.PREFIX) for p in left] == [True]
    with _scratch.scratch_folder() as mine:
        assert list(place.iterdir()) == [mine]
    assert nothing_left(place) == ([], [])


def kill_at_any_moment(place, method, delay):
    process = begin(place, FOREVER, method)
    time.sleep(delay)
    process.kill()
    process.wait(30)
    gone, left = nothing_left(place)
    # Killed before the guard was there, it leaves an empty folder, which the next start removes.
    assert gone == []
    assert all(not list(p.iterdir()) for p in left)
    for p in left:
        p.rmdir()
    return len(left)


@pytest.mark.parametrize("delay", [0.3, 0.5, 0.9])
def test_killed_at_any_moment(place, delay):
    kill_at_any_moment(place, "namespaces", delay)


@pytest.mark.nightly
def test_killed_at_each_moment(place):
    chance = random.Random(4)
    empty = 0
    for n in range(100):
        empty += kill_at_any_moment(place, METHODS[n % len(METHODS)], chance.uniform(0.1, 1.2))
    print(f"100 kills, {empty} empty folders, no process, no file")


@pytest.mark.parametrize("method", METHODS)
def test_the_clock_runs_inside(place, method):
    """A command that is stopped (Ctrl-Z, a debugger) ends no program: the guard does."""
    text = RUN.replace("seconds=60", "seconds=1").format(source=FOREVER, method=method)
    process = subprocess.Popen([sys.executable, "-c", text])
    _, program = sorted(running(place, process))[:2]
    process.send_signal(signal.SIGSTOP)
    until = time.monotonic() + 20
    while program in processes(place) and time.monotonic() < until:
        time.sleep(0.05)
    assert program not in processes(place)
    process.send_signal(signal.SIGCONT)
    assert process.wait(30) == 0
    assert nothing_left(place) == ([], [])


@pytest.mark.parametrize("stays", [True, False])
@pytest.mark.parametrize("how", ["limit", "kill"])
def test_escaped_children_end_without_walls_too(place, stays, how):
    """They may leave their session and keep the output open: they are the guard's in the end."""
    source = ESCAPES.replace(b"STAYS", str(stays).encode())
    if how == "limit":
        run = run_once(source, b"", Limits(seconds=3), "none")
        assert run.output == b"begun\n"
        assert run.ending == ("timeout" if stays else "finished")
    elif stays:
        process = begin(place, source, "none")
        assert running(place, process, 3)
        process.kill()
        process.wait(30)
    assert nothing_left(place) == ([], [])


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
def test_the_command_ends_soon(place, tmp_path, monkeypatch, how, code, says):
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
    assert nothing_left(place) == ([], [])


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
