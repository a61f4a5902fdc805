"""Temporary folders: those in use are left alone, all others go."""

import os
import signal
import subprocess
import sys

import pytest

from narcissus import _scratch

fcntl = pytest.importorskip("fcntl", reason="locks of folders are those of Unix")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


def test_a_folder_in_use_is_left_alone(place):
    """Also one of another container, whose processes nobody here can see."""
    used, stale = place / _scratch.name_folder("used"), place / _scratch.name_folder("stale")
    other, link = place / "narcissus-run-analysis", place / _scratch.name_folder("link")
    for folder in (used, stale, other):
        folder.mkdir(mode=0o700)
        (folder / "release").write_text("x")
    link.symlink_to(other)
    other.chmod(0o700)
    held = os.open(used, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with _scratch.scratch_folder() as mine:
        assert {p.name for p in place.iterdir()} == {used.name, other.name, link.name, mine.name}
        _scratch.sweep.cache_clear()
        _scratch.sweep(str(place))
        assert mine.exists()
    os.close(held)
    assert (other / "release").exists()
    begun = place / ".narcissus-new-x"
    begun.mkdir()
    _scratch.sweep.cache_clear()
    _scratch.sweep(str(place))
    assert begun.exists()
    os.utime(begun, (0, 0))
    _scratch.sweep.cache_clear()
    _scratch.sweep(str(place))
    assert not used.exists()
    assert not begun.exists()


HOLDERS = {
    "a table on standard input": """
from narcissus.tables.sources import located
path = located("-")[1]
""",
    "models that are kept nowhere": """
from narcissus.observer import SILENT
from narcissus.study.kinds import RunOptions
place = RunOptions(1, SILENT).place()
(place.__enter__() / "model").write_text("weights")
""",
}
KILLED = "import os\nos.kill(os.getpid(), 9)\n"


@pytest.mark.parametrize("name", HOLDERS)
def test_what_a_killed_run_leaves_of_people_is_removed_by_the_next(tmp_path, name):
    """A table that was piped in, and a model of people, are left nowhere."""

    def run(code):
        command, table = [sys.executable, "-c", code], b"job,ill\ncook,no\n"
        return subprocess.run(
            command, input=table, env={**os.environ, "TMPDIR": str(tmp_path)}, check=False
        ).returncode

    assert run(HOLDERS[name] + KILLED) == -signal.SIGKILL
    assert len([*tmp_path.iterdir()]) == 1
    assert run("from narcissus._scratch import scratch_folder\nwith scratch_folder(): pass") == 0
    assert not [*tmp_path.iterdir()]
    assert run(HOLDERS["a table on standard input"]) == 0
    assert not [*tmp_path.iterdir()]
