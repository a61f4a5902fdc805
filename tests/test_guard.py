"""Nothing of a program outlives its run, however the run or the command ends."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from narcissus import _guard, _scratch
from narcissus.errors import LeftFolderWarning
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
ROOM = f"""
import sys, types
room = sys.modules["narcissus.extraction"] = types.ModuleType("narcissus.extraction")
room.__path__ = [{str(Path(_runs.__file__).parent)!r}]
from narcissus.extraction._runs import Limits, run_once
"""
RUN = """
run_once({source!r}, b"secret" * 10**6, Limits(seconds={seconds}, memory=2**29), {method!r})
"""


def begin(source, method, *, seconds=60):
    text = ROOM + RUN.format(source=source, method=method, seconds=seconds)
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


# Folders within each other that no path reaches, the innermost with a copy of what was released.
DEEP = """
import os
def make(place, depth, letters, mode):
    os.umask(0)
    parent = os.open(place, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("a" * letters, dir_fd=parent)
        inner = os.open("a" * letters, os.O_RDONLY, dir_fd=parent)
        with open(os.open("copy", os.O_CREAT | os.O_WRONLY, dir_fd=inner), "w") as file:
            file.write("people")
        os.close(parent)
        parent = inner
    for _ in range(depth):
        above = os.open("..", os.O_RDONLY, dir_fd=parent)
        if mode is not None:
            os.chmod(f"/proc/self/fd/{parent}", mode)
        os.close(parent)
        parent = above
    os.close(parent)
"""
TREES = {"long names": (40, 200, None), "closed": (40, 200, 0), "thousands": (3000, 1, None)}


@pytest.mark.parametrize("tree", TREES)
def test_folders_deeper_than_any_path_are_removed(tmp_path, tree):
    folder = tmp_path / "folder"
    folder.mkdir()
    for branch in ("one", "two"):
        (folder / branch).mkdir()
        made = f"{DEEP}\nmake({str(folder / branch)!r}, *{TREES[tree]!r})"
        subprocess.run([sys.executable, "-c", made], check=True)
    before = len(os.listdir("/proc/self/fd"))
    assert _guard.remove(str(folder))
    assert len(os.listdir("/proc/self/fd")) == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tree", [name for name in TREES if name != "closed"])
@pytest.mark.one_in(2)
def test_no_run_leaves_deep_folders(watched, any_method, tree):
    """Behind walls as well: where the guard counts folders, it ends what makes thousands."""
    made = f"{DEEP}\nmake(os.environ['TMPDIR'], *{TREES[tree]!r})\nprint('made')"
    run_once(made.encode(), b"", Limits(seconds=5, memory=2**29), any_method)
    assert watched.left() == ([], [])


def test_a_killed_runs_deep_folder_goes_at_the_next_start(place):
    """Whatever modes its program or root has given it."""
    for number, mode in enumerate((0, 0o700, 0o711)):
        stale = place / _scratch.name_folder(f"stale{number}")
        stale.mkdir()
        made = f"{DEEP}\nmake({str(stale)!r}, *{TREES['long names']!r})"
        subprocess.run([sys.executable, "-c", made], check=True)
        stale.chmod(mode)
    with _scratch.scratch_folder() as mine:
        assert list(place.iterdir()) == [mine]


def test_a_folder_that_stays_is_named(place, monkeypatch):
    """Never silent: it may hold rows of people."""

    def refuse(*_, **__):
        raise PermissionError(1, "not permitted")

    def run():
        with _scratch.scratch_folder() as folder:
            (folder / "copy").touch()
            patched.setattr(_guard.os, "unlink", refuse)
        return folder

    with monkeypatch.context() as patched, pytest.warns(LeftFolderWarning) as told:
        folder = run()
    assert str(folder) in str(told[0].message)
    assert (folder / "copy").exists()
    _scratch.sweep.cache_clear()
    with _scratch.scratch_folder() as mine:
        assert list(place.iterdir()) == [mine]


@pytest.mark.filterwarnings("always")
def test_the_command_says_which_folder_stays(place, narcissus, monkeypatch):
    (place / "data.txt").write_text("the data\n")
    (place / "program.py").write_text("print('x')\n")
    (place / "e.toml").write_text(
        EXTRACT.replace("runs = 20", "runs = 1").replace("release.txt", "data.txt")
    )
    monkeypatch.chdir(place)
    monkeypatch.setattr(_scratch, "remove", lambda folder: not _guard.remove(folder))
    _, _, told = narcissus(
        "extract", place / "e.toml", "--no-isolation", "--workers", "1", "--quiet"
    )
    assert "warning: the folder " in told
    assert str(place / _scratch.PREFIX) in told


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


FILLS = {
    "without a name": """
for number in range(40):
    name = f"{place}/{number}"
    held.append(os.open(name, os.O_CREAT | os.O_RDWR))
    os.unlink(name)
    os.posix_fallocate(held[-1], 0, 2**25)
""",
    "without a descriptor": """
for number in range(40):
    name = f"{place}/{number}"
    handle = os.open(name, os.O_CREAT | os.O_RDWR)
    os.posix_fallocate(handle, 0, 2**25)
    address = library.mmap(None, 4096, 1, 1, handle, 0)
    assert address not in (None, 2**64 - 1)
    os.unlink(name)
    os.close(handle)
""",
    "many": """
for number in range(40):
    handle = os.open(f"{place}/{number}", os.O_CREAT | os.O_RDWR)
    os.posix_fallocate(handle, 0, 2**25)
    os.close(handle)
""",
    "deep": """
parent = os.open(place, os.O_RDONLY)
for number in range(40):
    os.mkdir("a" * 200, dir_fd=parent)
    inner = os.open("a" * 200, os.O_RDONLY, dir_fd=parent)
    os.close(parent)
    parent = inner
    handle = os.open("x", os.O_CREAT | os.O_RDWR, dir_fd=parent)
    os.posix_fallocate(handle, 0, 2**25)
    os.close(handle)
""",
    "unreadable": """
os.umask(0)
os.mkdir(f"{place}/closed", 0o300)
for number in range(40):
    handle = os.open(f"{place}/closed/{number}", os.O_CREAT | os.O_RDWR)
    os.posix_fallocate(handle, 0, 2**25)
    os.close(handle)
""",
}
FILL = """
import ctypes, os, time
library = ctypes.CDLL(None)
library.mmap.restype = ctypes.c_void_p
library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
place, held = os.environ["TMPDIR"], []
print("begun", flush=True)
CONTENT
time.sleep(200)
"""


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("method", ["Landlock"])
@pytest.mark.usefixtures("isolation")
def test_what_is_on_the_disk_is_counted_however_it_is_held(place, fill):
    """1,280 MiB under a limit of 64 MiB; what it holds at most is written in the documentation."""
    before, least = shutil.disk_usage(place).free, []
    is_over = threading.Event()

    def look():
        while not is_over.wait(0.005):
            least.append(shutil.disk_usage(place).free)

    watch = threading.Thread(target=look)
    watch.start()
    source = FILL.replace("CONTENT", FILLS[fill]).encode()
    run = run_once(source, b"", Limits(seconds=180, memory=2**30, disk=2**26), "Landlock")
    is_over.set()
    watch.join()
    assert (run.output, run.ending) == (b"begun\n", "crashed"), run.error
    assert any(layer.startswith("!a disk of limited size: a guard") for layer in run.layers)
    print(f"{fill}: {(before - min(least)) >> 20} MiB at most")


@pytest.mark.usefixtures("isolation")
def test_no_call_takes_a_disk_in_no_time(method, quick):
    source = b"""
import ctypes, os
handle = os.open(os.environ["TMPDIR"] + "/x", os.O_CREAT | os.O_RDWR)
library = ctypes.CDLL(None, use_errno=True)
print(library.fallocate(handle, 0, ctypes.c_long(0), ctypes.c_long(2**20)), ctypes.get_errno())
os.posix_fallocate(handle, 0, 2**20)
print(os.fstat(handle).st_blocks * 512)
"""
    run = run_once(source, b"", quick, method)
    assert run.output == b"-1 95\n%d\n" % 2**20, run.error


THREADS = """
import os, threading
threading.stack_size(65536)
hold, count = threading.Event(), 0
try:
    for _ in range(1000):
        threading.Thread(target=hold.wait, daemon=True).start()
        count += 1
except RuntimeError:
    pass
print(count, flush=True)
os._exit(0)
"""


@pytest.mark.usefixtures("isolation")
def test_the_limit_of_threads_holds_for_root_too(method):
    """Where the system does not refuse the next one, the guard ends the program."""
    run = run_once(THREADS.encode(), b"", Limits(seconds=20, memory=2**31, threads=20), method)
    assert (run.output, run.ending) in [(b"19\n", "finished"), (b"", "crashed")]


@pytest.mark.usefixtures("isolation")
@pytest.mark.parametrize("method", ["Landlock"])
def test_the_guard_counts_threads(monkeypatch):
    monkeypatch.setattr(_runs, "_free_user", lambda: "no other user is there")
    source = THREADS.replace("print(", "hold.wait(20); print(").encode()
    run = run_once(source, b"", Limits(seconds=20, memory=2**31, threads=20), "Landlock")
    assert run.output in {b"", b"19\n"}
    assert run.ending == ("crashed" if os.geteuid() == 0 else "timeout")


FEW = {
    "uid_map": "         0       1000          1\n",
    "gid_map": "         0       1000          1\n",
    "setgroups": "deny\n",
    "status": "Name:\tpython\nCapEff:\t0000000000000000\n",
}


@pytest.mark.parametrize("name", FEW)
def test_root_stays_itself_where_it_can_become_nobody_else(monkeypatch, name):
    """Each of these alone makes a change of user fail."""
    all_of_it = "0 0 4294967295\n"
    free = dict.fromkeys(("uid_map", "gid_map"), all_of_it) | {"status": "CapEff:\tffffffff\n"}
    monkeypatch.setattr(_runs, "_own_status", lambda asked: free.get(asked, "allow\n"))
    assert isinstance(_runs._free_user(), int)
    told = free | {name: FEW[name]}
    monkeypatch.setattr(_runs, "_own_status", lambda asked: told.get(asked, "allow\n"))
    assert isinstance(_runs._free_user(), str)
    if os.geteuid() == 0:
        user, layer = _runs._user(["/dev/null"], "Landlock")
        assert user is None
        assert layer.startswith("!an ordinary user: it runs as root without powers, as ")


ALONE = ["unshare", "--user", "--map-root-user"]


@pytest.mark.skipif(
    shutil.which("unshare") is None
    or subprocess.run([*ALONE, "true"], check=False, capture_output=True).returncode != 0,
    reason="no user namespaces",
)
@pytest.mark.parametrize("method", ["namespaces", "Landlock"])
@pytest.mark.usefixtures("isolation")
def test_programs_run_where_root_is_the_only_user(place, method):
    source = (
        f"{ROOM}"
        f"run = run_once(b'print(1)', b'', Limits(seconds=20, memory=2**29), {method!r})\n"
        "print(run.output, run.ending, run.layers)\n"
    )
    command = [*ALONE, sys.executable, "-c", source]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    assert run.stdout.startswith("b'1\\n' finished"), run.stderr
    assert list(place.iterdir()) == []


WITHOUT_POWER = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"]
HOLDS = """
import ctypes, os, sys, tempfile
held = tempfile.TemporaryFile(dir=sys.argv[1])
held.write(bytes(2**20))
held.flush()
os.setgroups([])
os.setresgid(61200, 61200, 61200)
os.setresuid(61200, 61200, 61200)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
print(flush=True)
input()
"""


@pytest.mark.skipif(
    shutil.which("setpriv") is None or os.geteuid() != 0, reason="needs root and setpriv"
)
def test_root_that_may_not_look_at_others_sees_open_files(tmp_path):
    """As in a container: it looks as the program's user, and is root again."""
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        look = (
            "import os, runpy\n"
            f"guard = runpy.run_path({str(_guard.__file__)!r})\n"
            f"files, _ = guard['unlinked']([{process.pid}], '/x', 61200)\n"
            "print(sum(files.values()), os.getresuid())\n"
        )
        run = subprocess.run(
            [*WITHOUT_POWER, sys.executable, "-c", look],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        process.communicate(b"\n")
    assert run.stdout.split(" ", 1) == ["1048576", "(0, 0, 0)\n"], run.stderr


def test_a_file_is_counted_once(tmp_path):
    (tmp_path / "file").write_bytes(bytes(2**20))
    inner = tmp_path / "inner"
    inner.mkdir()
    os.link(tmp_path / "file", inner / "file")
    files, count = _guard.usage(str(tmp_path))
    assert count == 3
    assert 2**20 <= sum(files.values()) < 2**20 + 2**16
    with (tmp_path / "open").open("wb") as file:
        file.write(bytes(2**21))
        file.flush()
        before, is_more = _guard.unlinked([os.getpid()], str(tmp_path), None)
        assert not is_more
        (tmp_path / "open").unlink()
        files, is_more = _guard.unlinked([os.getpid()], str(tmp_path), None)
        fresh = [size for file, size in files.items() if file not in before]
        assert (fresh, is_more) == ([2**21], False)


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
