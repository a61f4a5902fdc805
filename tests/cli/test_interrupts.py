"""Ctrl-C, SIGTERM and SIGHUP end a command alike: soon, with a word on how to go on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from narcissus.errors import NarcissusError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals")

ROWS = "sex,age,ill\n" + "".join(
    f"{'mf'[n % 2]},{n % 5},{'yes' if n % 7 % 3 else 'no'}\n" for n in range(300)
)
STUDY = """
[data]
path = "people.csv"
[threat]
unknown = ["ill"]
targets = 15
[mechanism]
k = 2
epsilon = 2.0
[attacks]
mine = { name = "mine:Mine" }
[run]
trials = 8
seed = 1
"""
MINE = """
import hashlib, os, time
class Mine:
    title, uses, informed = "mine", "prior", False
    def guess(self, view, *, rng):
        open("begun", "a").close()
        {work}
        return rng.integers(0, 2, view.targets.people)
"""
SLEEP = "time.sleep(0.3)"
COMPUTE = "hashlib.pbkdf2_hmac('sha256', b'x', b'x', 2 * 10**9)"  # an hour of one call in C


def begin(work, *options, before=()):
    Path("people.csv").write_text(ROWS)
    Path("s.toml").write_text(STUDY)
    Path("mine.py").write_text(MINE.format(work=work))
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "narcissus", "audit", "s.toml", "--allow-code", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not Path("begun").exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()
    return process


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("how", "code", "says"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "ended by SIGTERM"),
        (signal.SIGHUP, 129, "ended by SIGHUP"),
    ],
)
@pytest.mark.one_in(2)
def test_each_ends_with_its_own_code(tmp_path, monkeypatch, workers, how, code, says):
    monkeypatch.chdir(tmp_path)
    process = begin(SLEEP, "--workers", str(workers), "--quiet")
    process.send_signal(how)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (code, "")
    assert err == (
        f"{says}; continue with: narcissus audit s.toml --out results/s --workers {workers} "
        "--allow-code --quiet\n"
    )


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.one_in(2)
def test_a_long_computation_does_not_hold_it_up(tmp_path, monkeypatch, workers):
    """The main thread may be in one call for an hour, or wait for workers that are."""
    monkeypatch.chdir(tmp_path)
    process = begin(COMPUTE, "--workers", str(workers))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.count("interrupted; continue with: narcissus audit") == 1


def test_output_that_nobody_reads_does_not_hold_it_up(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    process = begin("import sys; sys.stderr.write('x' * 10**7)", "--workers", "1")
    time.sleep(0.3)  # until the pipe is full
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143
    process.communicate()


def test_what_was_ignored_stays_ignored(tmp_path, monkeypatch):
    """As ``nohup`` wants it."""
    monkeypatch.chdir(tmp_path)
    nohup = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh"]
    process = begin(SLEEP, "--workers", "2", "--quiet", before=nohup)
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err


def test_handlers_are_given_back():
    from narcissus.cli.interrupts import Interrupted, interruptible

    before = signal.getsignal(signal.SIGTERM), signal.set_wakeup_fd(-1)
    with pytest.raises(Interrupted), interruptible():
        signal.raise_signal(signal.SIGTERM)
    assert (signal.getsignal(signal.SIGTERM), signal.set_wakeup_fd(-1)) == before


def test_a_signal_while_a_library_makes_a_class_is_no_error_of_ours(monkeypatch, capsys):
    """Python 3.11 wraps what is raised in ``__set_name__``: an import of ours can be there."""
    from narcissus.cli import main as entry
    from narcissus.cli.interrupts import Interrupted

    def wrapped(**_):
        raise RuntimeError("Error calling __set_name__") from Interrupted(signal.SIGTERM)

    monkeypatch.setattr(sys.modules[entry.__module__].cli, "main", wrapped)
    with pytest.raises(SystemExit) as left:
        entry(["examples"])
    assert left.value.code == 128 + signal.SIGTERM
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("raised", [RuntimeError("no loop"), OSError("gone"), NarcissusError("?")])
def test_what_fails_while_cleaning_up_does_not_hide_the_interruption(raised, monkeypatch, capsys):
    """A library that is ended in the middle may fail in its own way."""
    from narcissus.cli import main as entry
    from narcissus.cli.interrupts import Interrupted

    def cleans_up(**_):
        try:
            raise Interrupted(signal.SIGINT)
        finally:
            raise raised

    monkeypatch.setattr(sys.modules[entry.__module__].cli, "main", cleans_up)
    with pytest.raises(SystemExit) as left:
        entry(["examples"])
    assert left.value.code == 128 + signal.SIGINT
    assert capsys.readouterr().err.startswith("interrupted")


AT_ONCE = """
import os, signal
from narcissus.cli.interrupts import Interrupted, interruptible
pair = {signal.SIGINT, signal.SIGTERM}
try:
    with interruptible():
        signal.pthread_sigmask(signal.SIG_BLOCK, pair)
        for number in pair:
            os.kill(os.getpid(), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, pair)
        print("not told")
except Interrupted as error:
    print(error)
"""


def test_of_two_signals_at_once_one_ends_the_command_and_none_is_complained_of():
    found = subprocess.run(
        [sys.executable, "-c", AT_ONCE], capture_output=True, text=True, timeout=60, check=True
    )
    assert found.stdout in {"SIGINT\n", "SIGTERM\n"}
    assert found.stderr == ""
