"""The walls hold: each attempt to break out is stopped, with every method that is there."""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction import _jail, _runs, sandbox
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


@lru_cache
def isolation_of(method):
    return sandbox._try_method(method)


def isolation_or_skip(method):
    try:
        return isolation_of(method)
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


HOSTILE = {
    "forks by another call": "import ctypes\nlibc = ctypes.CDLL(None)\n"
    "print(libc.vfork(), libc.syscall(57), libc.syscall(56, 17, 0, 0, 0, 0))",
    "takes back that it dies with its guard": "import ctypes\n"
    "print(ctypes.CDLL(None).prctl(1, 0, 0, 0, 0))",
    "reads the memory of its guard": "import ctypes, os\n"
    "print(ctypes.CDLL(None).syscall(310, os.getppid() or 1, 0, 0, 0, 0, 0))",
    "raises its limits": "import resource\ntry:\n"
    "    resource.setrlimit(resource.RLIMIT_FSIZE, (2**40, 2**40))\n"
    "except (OSError, ValueError):\n    print(-1)",
    "has other files open": "import os\nfound = []\nfor fd in range(3, 64):\n    try:\n"
    "        os.fstat(fd); found.append(fd)\n    except OSError: pass\nprint(found or -1)",
    "truncates its release": "import os\ntry:\n    os.truncate('release', 0)\n"
    "except OSError:\n    print(-1)",
    "puts another file in place of its release": "import os\nnew = os.environ['TMPDIR'] + '/r'\n"
    "open(new, 'w').close()\ntry:\n    os.replace(new, 'release')\nexcept OSError:\n    print(-1)",
    "removes its release": "import os\ntry:\n    os.unlink('release')\n"
    "except OSError:\n    print(-1)",
    "makes a hard link": "import os\ntry:\n    os.link('release', os.environ['TMPDIR'] + '/l')\n"
    "except OSError:\n    print(-1)",
    "makes a pipe others could wait at": "import os\ntry:\n"
    "    os.mkfifo(os.environ['TMPDIR'] + '/p')\nexcept OSError:\n    print(-1)",
    "makes a device": "import os\ntry:\n    os.mknod(os.environ['TMPDIR'] + '/d', 0o20666, 0x103)\n"
    "except OSError:\n    print(-1)",
    "runs what it wrote": "import os\nf = os.environ['TMPDIR'] + '/x'\n"
    "open(f, 'w', opener=lambda p, g: os.open(p, g, 0o755)).write('#!/bin/sh\\n')\ntry:\n"
    "    os.execv(f, [f])\nexcept OSError:\n    print(-1)",
    "looks into the folders of other runs": "import os\ntry:\n"
    "    os.listdir(os.path.dirname(os.path.dirname(os.environ['TMPDIR'])))\n"
    "    print(os.listdir(os.path.dirname(os.environ['TMPDIR'])) == ['box', 'tmp'] and -1)\n"
    "except OSError:\n    print(-1)",
    "writes beside its folder": "import os\ntry:\n"
    "    open(os.path.dirname(os.environ['TMPDIR']) + '/x', 'w')\nexcept OSError:\n    print(-1)",
    "writes one large file": "import os\ntry:\n"
    "    with open(os.environ['TMPDIR'] + '/x', 'wb') as f:\n"
    "        for _ in range(2**10): f.write(bytes(2**20))\nexcept OSError:\n    print(-1)",
    "makes one large file of nothing": "import os\ntry:\n"
    "    open(os.environ['TMPDIR'] + '/x', 'wb').truncate(2**40)\nexcept OSError:\n    print(-1)",
    "is root": "import os\nprint(-1 if os.getuid() or MAY else 0)",
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_programs(method, name):
    isolation = isolation_or_skip(method)
    # Where nobody but root can read the interpreter, there is no user to become.
    may = any("runs as root" in layer for layer in isolation.missing)
    source = HOSTILE[name].replace("MAY", str(may))
    run = run_once(source.encode(), b"the release", replace(QUICK, disk=2**24), method)
    assert set(run.output.split()) == {b"-1"}, run


MANY = b"""
import os
place = os.environ['TMPDIR']
print('begun', flush=True)
try:
    for n in range(10**7): os.mkdir(f'{place}/{n}')
except OSError:
    pass
"""


@pytest.mark.parametrize("method", METHODS)
def test_endless_files_end(method):
    """Where no file system of its own limits them, the guard counts and ends the program."""
    isolation_or_skip(method)
    run = run_once(MANY, b"", Limits(seconds=30, memory=2**29), method)
    assert run.output == b"begun\n"
    assert run.ending == ("finished" if method == "namespaces" else "crashed")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="numbers")
def test_every_call_that_is_not_on_the_list_is_refused(method):
    """All system calls that there are, by number, with nothing but zeros."""
    isolation_or_skip(method)
    # clone, for threads; clone3, for which there is another answer; two of the kernel's own for its
    # tracing, which pass every filter and kill whoever else calls them.
    others = {56, 435, 335, 336}
    allowed = {pair[0] for pair in _jail._ALLOWED.values()} | others
    source = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for number in range(600):
    if number not in {allowed!r}:
        ctypes.set_errno(0)
        if libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 1:
            print(number, ctypes.get_errno())
print('done')
"""
    assert run_once(source.encode(), b"", QUICK, method).output == b"done\n"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "code",
    ["b827000040 0f05 c3", "b814000000 cd80 c3"],
    ids=["another numbering", "another architecture"],
)
@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="numbers")
def test_calls_by_another_door_kill_the_program(method, code):
    isolation_or_skip(method)
    source = f"""
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex({code.replace(" ", "")!r}))
print('begun', flush=True)
ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
print('went on')
"""
    run = run_once(source.encode(), b"", QUICK, method)
    assert (run.output, run.ending) == (b"begun\n", "crashed")


@pytest.mark.parametrize("method", METHODS)
def test_closing_the_output_gains_no_time(method):
    isolation_or_skip(method)
    source = b"import os, signal\nfor n in (1, 2, 14, 15): signal.signal(n, signal.SIG_IGN)\n" \
             b"os.close(1); os.close(2)\nwhile True: pass"  # fmt: skip
    assert run_once(source, b"", replace(QUICK, seconds=1.5), method).ending == "timeout"


@pytest.mark.parametrize("method", METHODS)
def test_only_landlock_alone_shows_what_exists(method):
    isolation = isolation_or_skip(method)
    source = b"import os\nprint(os.path.exists('/etc/passwd'), os.path.exists('/proc/1'))"
    run = run_once(source, b"", QUICK, method)
    assert run.output == (b"True True\n" if isolation.reduced else b"False False\n")
    assert isolation.reduced == (method == "Landlock") == bool(isolation.not_hidden)


@pytest.mark.parametrize("method", METHODS)
def test_the_temporary_folder_is_private_and_new(method):
    isolation_or_skip(method)
    source = b"""
import os, shutil, tempfile
place = tempfile.gettempdir()
print(os.listdir(place), place == os.path.expanduser('~'))
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, 'a'), 'w') as file:
        file.write('x')
    os.replace(os.path.join(folder, 'a'), os.path.join(place, 'b'))
    shutil.copyfile(os.path.join(place, 'b'), os.path.join(folder, 'c'))
open(os.devnull, 'w').write('nothing')
print(os.listdir(place))
"""
    for _ in range(2):
        run = run_once(source, b"", QUICK, method)
        assert run.output == b"[] True\n['b']\n", run


@pytest.mark.parametrize("method", METHODS)
def test_dependencies_named_in_pth_files_are_there(method, tmp_path):
    """As editable installs are, by a folder or by a finder of their own."""
    isolation_or_skip(method)
    places = [tmp_path / "by_folder", tmp_path / "by_finder"]
    for place in places:
        place.mkdir()
        (place / f"mine_{place.name}.py").write_text("WORD = 'found'\n")
    made = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", made], check=True)
    (site,) = made.glob("lib/python*/site-packages")
    (site / "a.pth").write_text(f"{places[0]}\n")
    (site / "b.pth").write_text("import finder_of_mine; finder_of_mine.install()\n")
    mapping = {"mine_by_finder": str(places[1] / "mine_by_finder.py")}
    (site / "finder_of_mine.py").write_text(FINDER.format(mapping=mapping))
    for above in tmp_path.parents:
        if above.stat().st_uid == os.getuid() and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o011)
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
    [
        (b"", "empty"),
        (b"print(", "line 1"),
        (b"a\x00b", "not a Python"),
        (b"\xff = 1", "not a Py"),
        (b"-" * 100_000 + b"1", "too deeply nested"),
        (b"a" + b".b" * 100_000, "too deeply nested"),
    ],
)
def test_programs_that_are_none(source, message):
    with pytest.raises(InputError, match=message):
        check_source(source)


def test_limits_are_checked():
    with pytest.raises(InputError, match="seconds"):
        Limits(seconds=0)
