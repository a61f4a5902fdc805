"""Trials in worker processes: the same numbers however many play them, and errors passed on."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from narcissus.errors import NarcissusError
from narcissus.observer import SilentObserver
from narcissus.study.engines import Processes
from narcissus.study.engines.processes import default_workers
from narcissus.study.pool import play_all

KEYS = [str(n) for n in range(5)]
SWEEP = {"epsilon": [1, "=inf"]}


def test_workers_do_not_change_a_digit(two, study, play):
    path = study(mechanism=SWEEP, attacks={
        "prior": {}, "posterior": {}, "ceiling": {}, "rap": {"steps": 20, "trials": 2},
        "gibbs": {"kind": "posterior", "method": "gibbs", "sweeps": 8},
    })  # fmt: skip
    one, hears = play(path, workers=1)
    both, _ = play(path, engine=two)
    assert one.record.digest == both.record.digest
    assert one.record.to_json() == both.record.to_json()
    assert hears.starts == [("trials", 12, 0)]
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
    path = slow(40)
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
    kept = int(again.split("continuing: ")[1].split(" of 40")[0])
    assert 1 <= kept < 40
    assert digest() == digest(play(path, workers=1)[0].record)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("raise MemoryError", r"memory ran out in trial 2 \(MemoryError\)"),
        ("raise SystemExit(0)", r"sys.exit\(0\) was called in trial 2"),
    ],
)
def test_what_would_end_the_command_is_an_error(two, dies, how, says):
    """An attack that calls sys.exit(0) must not end the command as if the threshold were met."""
    with pytest.raises(NarcissusError, match=says):
        play_all(dies(how), KEYS, store=None, executor=two, what="")


def test_as_many_workers_as_cores():
    assert 1 <= default_workers() <= os.cpu_count()
