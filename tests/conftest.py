"""Fixtures shared by all tests: the tables of the examples, and programs that are watched."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from narcissus import _scratch
from narcissus.extraction import sandbox
from narcissus.extraction.sandbox import IsolationError, Limits

# The suite tries the same cases each time, so that it fails where something changed; the nightly
# target sets this and tries new ones. How long a case takes is no test: machines are busy.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None)
settings.load_profile("new" if os.environ.get("NARCISSUS_NEW_CASES") else "same")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among ten thousand tests: they stay, and it takes a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


WALLS = ["namespaces", "Landlock", "bubblewrap"]
DATA = Path(__file__).resolve().parents[1] / "examples" / "data"


@pytest.fixture(scope="session")
def example_data():
    """Give a function from a file's name to its path among the tables of the examples."""

    def find(name: str) -> Path:
        path = DATA / name
        assert path.is_file(), path
        return path

    return find


@pytest.fixture(scope="session")
def within():
    """Tell whether a count is plausible: two-sided binomial, false alarm rate 1e-6."""
    from scipy import stats

    def check(successes: int, trials: int, rate: float) -> bool:
        low, high = stats.binom.ppf(5e-7, trials, rate), stats.binom.isf(5e-7, trials, rate)
        return bool(low <= successes <= high)

    return check


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A temporary folder of our own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    open_to_others(tmp_path)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    _scratch.sweep.cache_clear()
    return folder


def open_to_others(folder):
    """Let other users pass through: root becomes another user to run programs."""
    for above in (folder, *folder.parents):
        if above.stat().st_uid == os.getuid() and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o011)


@dataclass(frozen=True)
class Watched:
    """A temporary folder in which programs are run, and what they leave there."""

    folder: Path

    def processes(self):
        """Processes whose command line names the folder: the guard, and what it has forked."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and str(self.folder).encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def files(self):
        """Files and folders in it."""
        return list(self.folder.iterdir())

    def left(self, seconds=10):
        """Processes and files that are still there after so long."""
        until = time.monotonic() + seconds
        while (self.processes() or self.files()) and time.monotonic() < until:
            time.sleep(0.02)
        return self.processes(), self.files()


@pytest.fixture
def watched(place):
    """The temporary folder, to see what a run leaves in it."""
    return Watched(place)


@cache
def isolation_by(method):
    return sandbox._try_method(method)


@pytest.fixture
def isolation(method):
    """The walls that ``method`` puts up, tried once; a test is skipped where they are not there."""
    try:
        return isolation_by(method)
    except IsolationError as error:
        if method == "bubblewrap" and shutil.which("bwrap") is None:
            pytest.skip("bubblewrap is not installed")
        if "was not stopped" in str(error):
            raise
        pytest.skip(f"this machine lacks it: {error}")


@pytest.fixture
def quick():
    """Limits for programs that end by themselves."""
    return Limits(seconds=10, memory=2**29, output=1000)


@pytest.fixture(params=WALLS)
def method(request):
    """Each way to put up walls."""
    return request.param


@pytest.fixture(params=[*[m for m in WALLS if m != "bubblewrap" or shutil.which("bwrap")], "none"])
def any_method(request):
    """Each way to run a program that is there, that without walls too."""
    return request.param
