"""Workers and commands that are killed at any moment: the same numbers, and nobody left behind."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import cloudpickle
import pytest

from narcissus import load_study, run
from narcissus.errors import NarcissusError
from narcissus.study import _attendant
from narcissus.study.pool import play_all

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")

SLOW = """
import time
class Slow:
    title, uses, informed = "a slow one", "prior", False
    def guess(self, view, *, rng):
        time.sleep(0.2)
        return rng.integers(0, 2, view.targets.people)
"""
REASON = re.compile(r"killed by signal 9 \(SIGKILL\)")


def stat_of(pid):
    """State and parent of a process, from /proc."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[1])


def children_of(pid):
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = stat_of(place.name)
        except (OSError, IndexError):
            continue
        if parent == pid and state != "Z":
            found.append(int(place.name))
    return found


def alive(pid):
    try:
        return stat_of(pid)[0] != "Z"
    except OSError:
        return False


def all_gone(pids, seconds=20):
    until = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(alive, pids))


def digest(folder):
    return json.loads((Path(folder) / "record.json").read_text())["digest"]


@pytest.fixture
def slow(study):
    Path("slow.py").write_text(SLOW)
    return study(attacks={"slow": {"kind": "slow:Slow"}, "ceiling": {}}, run={"trials": 24})


def start(path, folder, *options):
    return subprocess.Popen(
        [sys.executable, "-m", "narcissus", "audit", str(path), "--allow-code", "--out", folder,
         "--workers", "2", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def run_under_fire(path, folder, enough, chance):
    """Run a study whose workers are killed at random, again where it gives up; count both."""
    kills, starts, seen = 0, 0, []
    while not (Path(folder) / "record.json").exists():
        starts += 1
        process = start(path, folder)
        while process.poll() is None:
            time.sleep(chance.uniform(0.02, 0.7))
            workers = children_of(process.pid)
            seen += workers
            if workers and kills < enough:
                try:
                    os.kill(chance.choice(workers), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                kills += 1
        _, err = process.communicate(timeout=60)
        if process.returncode != 0:  # then it says why
            assert process.returncode == 2, err
            assert "a worker process ended 3 times" in err
            assert REASON.search(err), err
    assert all_gone(seen)
    return kills, starts


def under_fire(path, kills, seed):
    """Kill so many workers over as many runs as that takes; every run has the same numbers."""
    expected = run(load_study(path, allow_code=True), workers=1).record.digest
    chance = random.Random(seed)
    done = starts = runs = 0
    while done < kills:
        folder = f"out{runs}"
        more, begun = run_under_fire(path, folder, min(12, kills - done), chance)
        assert digest(folder) == expected
        done, starts, runs = done + more, starts + begun, runs + 1
    print(f"{done} kills, {runs} runs, {starts - runs} of them had to be started again")


def test_killed_workers_change_nothing(slow):
    under_fire(slow, 5, seed=1)


@pytest.mark.nightly
def test_two_hundred_killed_workers_change_nothing(slow):
    under_fire(slow, 200, seed=2)


def kill_while_it_starts(path, delay):
    """Kill the command as soon as it has children, and a little later."""
    process = start(path, "never", "--restart")
    until = time.monotonic() + 60
    while not (workers := children_of(process.pid)) and time.monotonic() < until:
        time.sleep(0.001)
    assert workers, process.communicate()
    time.sleep(delay)
    workers = {*workers, *children_of(process.pid)}
    process.kill()
    process.communicate(timeout=60)
    assert all_gone(workers)


@pytest.mark.parametrize("delay", [0, 0.01, 0.1])
def test_no_worker_is_orphaned_while_it_starts(slow, delay):
    kill_while_it_starts(slow, delay)


def test_no_worker_ends_its_trial_first(slow):
    """A trial of an hour ends with the command as well."""
    # the first trial is timed before any worker starts
    endless = (
        "import os; timed = os.path.exists('timed'); "
        "open('in' if timed else 'timed', 'w').close(); time.sleep(3600 if timed else 0)"
    )
    Path("slow.py").write_text(SLOW.replace("time.sleep(0.2)", endless))
    process = start(slow, "never")
    until = time.monotonic() + 60
    while not Path("in").exists() and time.monotonic() < until:
        time.sleep(0.02)
    workers = children_of(process.pid)
    assert workers, process.communicate()
    process.kill()
    process.communicate(timeout=60)
    try:
        assert all_gone(workers)
    finally:
        for pid in filter(alive, workers):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.nightly
def test_no_worker_is_ever_orphaned(slow):
    chance = random.Random(3)
    for _ in range(50):
        kill_while_it_starts(slow, chance.uniform(0, 1.5))


@pytest.fixture(autouse=True)
def _classes_of_this_file_can_be_sent():
    """As those of a script or a notebook are."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


class Dies:
    """Ends its process by ``how`` at one trial, each time or the first time only."""

    def __init__(self, how, mark=None):
        self.how, self.mark = how, mark

    def __call__(self, key):
        if key == "2" and (self.mark is None or not Path(self.mark).exists()):
            if self.mark is not None:
                Path(self.mark).touch()
            exec(self.how)
        return key


class Notes:
    def __init__(self):
        self.notes = []

    def start(self, what, total, done=0): ...
    def advance(self, steps=1): ...
    def finish(self): ...
    def note(self, message):
        self.notes.append(message)


KEYS = [str(n) for n in range(5)]


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("import os; os.kill(os.getpid(), 9)", r"signal 9 \(SIGKILL\)"),
        ("import ctypes; ctypes.string_at(0)", r"signal 11 \(SIGSEGV\): a crash in compiled code"),
        ("import os; os._exit(7)", "exit code 7"),
        ("import os; os.kill(os.getpid(), 15)", r"signal 15 \(SIGTERM\)$"),
    ],
)
def test_a_worker_that_dies_says_why(tmp_path, how, says):
    hears = Notes()
    play = Dies(how, str(tmp_path / "mark"))
    played = play_all(play, KEYS, store=None, workers=2, what="", observer=hears)
    assert played == {key: key for key in KEYS}
    assert len(hears.notes) == 1
    assert re.search(f"^trial 2 is played again: it .*{says}", hears.notes[0])


def test_a_trial_that_kills_every_worker_is_given_up():
    with pytest.raises(NarcissusError, match=r"ended 3 times during trial 2 \(it ended with exit"):
        play_all(Dies("import os; os._exit(7)"), KEYS, store=None, workers=2, what="")


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("raise MemoryError", r"memory ran out in trial 2 \(MemoryError\)"),
        ("raise SystemExit(0)", r"sys.exit\(0\) was called in trial 2"),
    ],
)
def test_what_would_end_the_command_is_an_error(workers, how, says):
    """An attack that calls sys.exit(0) must not end the command as if the threshold were met."""
    with pytest.raises(NarcissusError, match=says):
        play_all(Dies(how), KEYS, store=None, workers=workers, what="")


def test_an_exception_that_cannot_be_sent_is_told():
    how = "class Odd(Exception):\n    def __reduce__(self): return int, ('x',)\nraise Odd('so')"
    with pytest.raises(RuntimeError, match="Odd: so") as caught:
        play_all(Dies(how), KEYS, store=None, workers=2, what="")
    assert "in trial 2" in caught.value.__notes__


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (3, 4, "memory ran out: use fewer --workers"),
        (3, 3, "not for want of memory"),
        (None, None, "cannot be told"),
    ],
)
def test_the_kernel_is_asked_about_memory(before, after, says):
    assert says in _attendant.how_it_ended(-9, before, after)


def test_counts_of_the_kernel_are_read():
    count = _attendant.oom_kills()
    assert count is None or count >= 0


def test_what_a_trial_reads_and_prints_is_kept_from_the_pipes(capfd):
    how = "import sys; print('printed'); assert sys.stdin.read() == ''"
    played = play_all(Dies(how), KEYS, store=None, workers=2, what="")
    assert played == {key: key for key in KEYS}
    out, err = capfd.readouterr()
    assert out == ""
    assert "printed" in err
