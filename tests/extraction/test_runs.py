"""One run of a program: ended from another thread, refused where it cannot be."""

import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from narcissus import _scratch
from narcissus.errors import NarcissusError
from narcissus.extraction._runs import Limits, Stop, run_once

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


METHODS = ["namespaces", "Landlock", "none", *(["bubblewrap"] if shutil.which("bwrap") else [])]


LONG = Limits(seconds=60, memory=2**29)


FOREVER = b"print('begun', flush=True)\nwhile True: pass\n"


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


@pytest.mark.parametrize("method", METHODS)
def test_another_thread_can_end_a_run(place, method):
    stop, ended = Stop(), []
    thread = threading.Thread(
        target=lambda: ended.append(run_once(FOREVER, b"", LONG, method, stop=stop))
    )
    thread.start()
    until = time.monotonic() + 60
    while len(processes(place)) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    stop.end()
    thread.join(30)
    assert ended[0].ending == "crashed"
    assert run_once(FOREVER, b"", LONG, method, stop=stop).ending == "crashed"  # it came too late
    assert nothing_left(place) == ([], [])


def test_no_room_for_the_release_is_said(place, tmp_path):
    with pytest.raises(NarcissusError, match=r"cannot copy the release.*TMPDIR"):
        run_once(b"print(1)", tmp_path / "none", LONG, "none")
    assert nothing_left(place) == ([], [])


def test_programs_are_not_run_elsewhere(monkeypatch):
    monkeypatch.setattr("narcissus.extraction._runs.os.name", "nt")
    with pytest.raises(NarcissusError, match="Linux"):
        run_once(b"print(1)", b"", LONG, "none")
