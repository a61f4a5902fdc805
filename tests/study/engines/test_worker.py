"""The inside of a worker process: messages, what a trial prints or raises, and its own end."""

import io
import os
import pickle
import struct
import subprocess
import sys

import pytest

from narcissus.errors import InputError, NarcissusError
from narcissus.study.engines import Processes, _worker
from narcissus.study.engines._worker import JOB, KEY, answer, opened

KEYS = [str(n) for n in range(5)]


def test_an_exception_that_cannot_be_sent_is_told(two, dies):
    how = "class Odd(Exception):\n    def __reduce__(self): return int, ('x',)\nraise Odd('so')"
    with pytest.raises(RuntimeError, match="Odd: so") as caught:
        list(two.play(dies(how), KEYS))
    assert "in trial 2" in caught.value.__notes__


def test_what_a_trial_reads_and_prints_is_kept_from_the_pipes(dies, capfd):
    how = "import sys; print('printed'); assert sys.stdin.read() == ''"
    played = dict(Processes(2).play(dies(how), KEYS))
    assert played == {key: key for key in KEYS}
    out, err = capfd.readouterr()
    assert out == ""
    assert "printed" in err


def test_what_a_worker_logs_is_shown_as_text(dies, capfd):
    """Prints, warnings and logs may hold a stranger's names."""
    how = (
        "import logging, sys, warnings; forged = '\\x1b[2J\\u202eevil\\r'; print(forged);"
        "warnings.warn(forged); logging.getLogger('distributed').error(forged)"
    )
    assert dict(Processes(2).play(dies(how), KEYS)) == {key: key for key in KEYS}
    err = capfd.readouterr().err
    assert err.count("\\u001b[2J\\u202eevil\\r") >= 3
    assert not set(err) & set("\x1b\r\u202e")


def test_messages_come_as_they_were_sent_or_not_at_all():
    stream = io.BytesIO()
    for parts in ((), (b"o", b"ne"), (bytes(100_000),)):
        _worker.send(stream, *parts)
    whole = stream.getvalue()
    assert whole[:8] == struct.pack("!Q", 0)
    stream.seek(0)
    assert [_worker.receive(stream) for _ in range(4)] == [b"", b"one", bytes(100_000), None]
    for cut in (1, 7, 8 + 8 + 2, len(whole) - 1):  # the other side is gone in the middle
        rest = io.BytesIO(whole[:cut])
        found = list(iter(lambda rest=rest: _worker.receive(rest), None))
        assert found == [b"", b"one"][: len(found)]
        assert len(found) < 3


@pytest.fixture
def worker():
    """Give the function that starts a worker, told who its parent is; it ends with the test."""
    code = "import sys; from narcissus.study.engines._worker import main; main(int(sys.argv[1]))"
    begun = []

    def start(parent):
        begun.append(
            subprocess.Popen(
                [sys.executable, "-c", code, str(parent)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        )
        return begun[-1]

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def heard(process):
    return pickle.loads(_worker.receive(process.stdout))


def test_it_takes_jobs_plays_keys_and_ends_with_its_pipe(worker):
    process = worker(os.getpid())
    _worker.send(process.stdin, JOB + pickle.dumps(int))
    assert heard(process) == (None, None, "")
    _worker.send(process.stdin, KEY + b"12")
    assert heard(process) == (12, None, "")
    _worker.send(process.stdin, KEY + b"x")
    value, error, text = heard(process)
    assert value is None
    assert isinstance(error, ValueError)
    assert "Traceback" in text
    _worker.send(process.stdin, KEY + b"7")  # an error is no end
    assert heard(process)[0] == 7
    _worker.send(process.stdin, JOB + pickle.dumps(str.upper))
    assert heard(process) == (None, None, "")
    _worker.send(process.stdin, KEY + b"x")
    assert heard(process)[0] == "X"
    process.communicate(timeout=60)  # closes its pipe
    assert process.returncode == 0


def test_a_job_that_cannot_be_taken_is_told_and_ends_it(worker):
    process = worker(os.getpid())
    _worker.send(process.stdin, JOB + b"no pickle")
    assert isinstance(heard(process)[1], pickle.UnpicklingError)
    assert process.wait(60) == 0


@pytest.mark.skipif(os.name != "posix", reason="parents are told by their number")
def test_whose_parent_has_ended_before_does_not_begin(worker):
    process = worker(os.getppid())  # not the one that started it
    assert process.wait(60) == 1
    assert process.stdout.read() == b""


def raising(error):
    def play():
        raise error

    return play


def test_a_value_comes_as_it_was():
    assert opened(answer(lambda: {"a": [1, 2]}), "here") == {"a": [1, 2]}


@pytest.mark.parametrize(
    ("raised", "error", "says"),
    [
        (InputError("so"), InputError, "so"),
        (KeyError("x"), KeyError, "x"),
        (MemoryError(), NarcissusError, r"memory ran out in trial 7 \(MemoryError\)"),
        (SystemExit(3), NarcissusError, r"sys.exit\(3\) was called in trial 7"),
    ],
)
def test_what_was_raised_is_raised_here(raised, error, says):
    with pytest.raises(error, match=says) as caught:
        opened(answer(raising(raised)), "in trial 7")
    notes = " ".join(getattr(caught.value, "__notes__", []))
    assert ("in trial 7" in notes) != ("in trial 7" in str(caught.value))
    assert ("Traceback" in notes) == (error is KeyError)  # ours need none


def test_what_cannot_be_sent_is_told():
    class Odd(Exception):
        def __reduce__(self):
            return int, ("x",)

    with pytest.raises(RuntimeError, match="Odd: so"):
        opened(answer(raising(Odd("so"))), "here")
