"""Trials in worker processes: the same numbers however many play them, and errors passed on."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from narcissus.errors import NarcissusError
from narcissus.game.executor import KeyLostError
from narcissus.observer import SilentObserver
from narcissus.study.engines import Processes, processes
from narcissus.study.engines.processes import default_workers
from narcissus.study.pool import play_all

KEYS = [str(n) for n in range(5)]
SWEEP = {"epsilon": [1, "=inf"]}


def test_workers_do_not_change_a_digit(two, study, play):
    path = study(mechanism=SWEEP, attacks={
        "prior": {}, "posterior": {}, "ceiling": {}, "rap": {"steps": 20, "trials": 2},
        "gibbs": {"name": "gibbs", "sweeps": 8},
    })  # fmt: skip
    one, hears = play(path, workers=1)
    both, _ = play(path, engine=two)
    assert one.record.digest == both.record.digest
    assert one.record.to_json() == both.record.to_json()
    assert [start for start in hears.starts if start[1]] == [("trials", 12, 0)]
    assert hears.steps == 12
    other, _ = play(path, workers=1, rng=4)
    assert other.record.digest != one.record.digest


def pid(key):
    return os.getpid()


def test_workers_stay_between_plays_and_end_with_the_executor(kin):
    """Of one job after the other, also after a worker was killed while it had nothing to do."""
    here, notes, heard = Processes(2), SilentObserver(), []
    notes.note = heard.append
    first = set(dict(here.play(pid, KEYS)).values())
    assert dict(here.play(int, KEYS)) == {key: int(key) for key in KEYS}
    assert set(dict(here.play(pid, KEYS)).values()) <= first
    victim = first.pop()
    os.kill(victim, signal.SIGKILL)
    after = set(dict(here.play(pid, [str(n) for n in range(40)], notes)).values())
    assert victim not in after
    assert all("is played again: it was killed by signal 9" in text for text in heard)
    del here
    assert kin.all_gone(first | after)


def dots():
    """How many trials were played so far; at most four of them are not stored yet."""
    return Path("played").stat().st_size if Path("played").exists() else 0


@pytest.mark.parametrize(
    "how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.nightly)]
)
def test_killed_and_continued(slow, play, command, narcissus, kin, digest, how):
    """kill -9 and Ctrl-C in the middle: the rest is played, and nothing changes."""
    path = slow(18)
    process = subprocess.Popen(
        command(path, "--out", "out", "--workers", 2),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while dots() < 6 and time.monotonic() < deadline:
        time.sleep(0.02)
    workers = kin.children(process.pid)
    assert process.poll() is None, process.communicate()
    assert workers
    if how == signal.SIGKILL:
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the whole group
    out, err = process.communicate(timeout=60)
    assert out == ""
    assert not Path("out/record.json").exists()
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted; continue with: narcissus audit" in err
        assert "Traceback" not in err
    # Nobody is left behind.
    assert kin.all_gone(workers)
    code, _, again = narcissus("audit", path, "--allow-code", "--out", "out", "--workers", 1)
    assert code == 0, again
    assert "continuing:" in again
    kept = int(again.split("continuing: ")[1].split(" of 18")[0])
    assert 1 <= kept < 18
    assert digest() == digest(play(path, workers=1)[0].record)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("raise MemoryError", r"memory ran out in trial 2 \(MemoryError\)"),
        ("raise SystemExit(0)", r"sys.exit\(0\) was called in trial 2"),
    ],
)
@pytest.mark.one_in(2)
def test_what_would_end_the_command_is_an_error(two, dies, how, says):
    """An attack that calls sys.exit(0) must not end the command as if the threshold were met."""
    with pytest.raises(NarcissusError, match=says):
        play_all(dies(how), KEYS, store=None, executor=two, what="")


def test_as_many_workers_as_cores():
    assert 1 <= default_workers() <= os.cpu_count()


@pytest.fixture
def start(command):
    """Give the function that starts a command with two workers."""
    return lambda path, folder, *options: subprocess.Popen(
        command(path, "--out", folder, "--workers", 2, *options),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


REASON = re.compile(r"killed by signal 9 \(SIGKILL\)")


@pytest.fixture
def run_under_fire(start, kin):
    """Give the function that runs a study whose workers are killed at random until it is done."""

    def run(path, folder, enough, chance):
        """Run a study whose workers are killed at random, again where it gives up; count both."""
        kills, starts, seen = 0, 0, []
        while not (Path(folder) / "record.json").exists():
            starts += 1
            process = start(path, folder)
            while process.poll() is None:
                time.sleep(chance.uniform(0.02, 0.7))
                workers = kin.children(process.pid)
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
        assert kin.all_gone(seen)
        return kills, starts

    return run


@pytest.fixture
def under_fire(run_under_fire, slow, play, digest):
    """Kill so many workers over as many runs as that takes; every run has the same numbers."""

    def fire(kills, seed, trials=24):
        path = slow(trials)
        expected = digest(play(path, workers=1)[0].record)
        chance = random.Random(seed)
        done = starts = runs = 0
        while done < kills:
            folder = f"out{runs}"
            more, begun = run_under_fire(path, folder, min(12, kills - done), chance)
            assert digest(folder) == expected
            done, starts, runs = done + more, starts + begun, runs + 1
        print(f"{done} kills, {runs} runs, {starts - runs} of them had to be started again")

    return fire


@pytest.mark.nightly
def test_killed_workers_change_nothing(under_fire):
    under_fire(2, seed=1, trials=10)


@pytest.mark.nightly
def test_two_hundred_killed_workers_change_nothing(under_fire):
    under_fire(200, seed=2)


@pytest.fixture
def kill_while_it_starts(slow, start, kin):
    """Give the function that kills a command after its workers are there."""
    path = slow(24)

    def kill(delay):
        """Kill the command as soon as it has children, and a little later."""
        process = start(path, "never", "--restart")
        until = time.monotonic() + 60
        while not (workers := kin.children(process.pid)) and time.monotonic() < until:
            time.sleep(0.001)
        assert workers, process.communicate()
        time.sleep(delay)
        workers = {*workers, *kin.children(process.pid)}
        process.kill()
        process.communicate(timeout=60)
        assert kin.all_gone(workers)

    return kill


@pytest.mark.parametrize("delay", [0, pytest.param(0.1, marks=pytest.mark.nightly)])
def test_no_worker_is_orphaned_while_it_starts(kill_while_it_starts, delay):
    kill_while_it_starts(delay)


def test_no_worker_ends_its_trial_first(slow, start, kin):
    """A trial of an hour ends with the command as well."""
    # the first trial is timed before any worker starts
    endless = (
        "import os; timed = os.path.exists('timed'); "
        "open('in' if timed else 'timed', 'w').close(); time.sleep(3600 if timed else 0)"
    )
    path = slow(24)
    source = Path("slow.py")
    source.write_text(source.read_text().replace("time.sleep(0.15)", endless))
    process = start(path, "never")
    until = time.monotonic() + 60
    while not Path("in").exists() and time.monotonic() < until:
        time.sleep(0.02)
    workers = kin.children(process.pid)
    assert workers, process.communicate()
    process.kill()
    process.communicate(timeout=60)
    try:
        assert kin.all_gone(workers)
    finally:
        for pid in filter(kin.alive, workers):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.nightly
def test_no_worker_is_ever_orphaned(kill_while_it_starts):
    chance = random.Random(3)
    for _ in range(50):
        kill_while_it_starts(chance.uniform(0, 1.5))


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("import os; os.kill(os.getpid(), 9)", r"signal 9 \(SIGKILL\)"),
        ("import ctypes; ctypes.string_at(0)", r"signal 11 \(SIGSEGV\): a crash in compiled code"),
        ("import os; os._exit(7)", "exit code 7"),
        ("import os; os.kill(os.getpid(), 15)", r"signal 15 \(SIGTERM\)$"),
    ],
)
def test_a_worker_that_dies_says_why(two, dies, hears, tmp_path, how, says):
    played = dict(two.play(dies(how, str(tmp_path / "mark")), KEYS, hears))
    assert played == {key: key for key in KEYS}
    assert len(hears.notes) == 1
    assert re.search(f"^trial 2 is played again: it .*{says}", hears.notes[0])


def test_a_trial_that_kills_every_worker_is_given_up(two, dies):
    says = r"ended 3 times during trial 2 \(it ended with exit"
    with pytest.raises(KeyLostError, match=says) as lost:
        list(two.play(dies("import os; os._exit(7)"), KEYS))
    assert lost.value.keys == ("2",)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (3, 4, "memory ran out: use fewer --workers"),
        (3, 3, "not for want of memory"),
        (None, None, "cannot be told"),
    ],
)
def test_the_kernel_is_asked_about_memory(before, after, says):
    assert says in processes.how_it_ended(-9, before, after)


def test_counts_of_the_kernel_are_read():
    count = processes.oom_kills()
    assert count is None or count >= 0


def test_nothing_is_imported_from_where_it_stands(tmp_path, monkeypatch):
    for name in ("json.py", "narcissus.py", "numpy.py"):
        (tmp_path / name).write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    told = (
        "import json, sys, os, numpy; print(json.dumps([sys.path, os.getpgid(0) == os.getpid()]))"
    )
    monkeypatch.setattr(
        processes, "_CODE", processes._CODE.replace("main(int(sys.argv[2]))", f"exec({told!r})")
    )
    process = processes.start("_worker")
    out, _ = process.communicate(timeout=60)
    path, apart = json.loads(out)
    assert path == [place for place in sys.path if place]
    assert apart == (os.name == "posix")
    assert not (tmp_path / "ran").exists()


def test_it_prints_where_it_is_told(tmp_path):
    process = processes.start("_worker", prints=subprocess.DEVNULL)
    assert process.stdout is None
    process.communicate(timeout=60)
    assert process.returncode == 0  # told no job
