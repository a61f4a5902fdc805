"""A program that is given a secret, run again and again, and what can be observed of each run.

It runs with the rights of whoever runs Narcissus: nothing is walled off.
"""

from __future__ import annotations

import contextlib
import csv
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import distribution, one_of, positive
from narcissus.errors import InputError

Run = Callable[[str], tuple[str, ...]]
"""Run once with a secret; give what was observed, a text per column."""

PLACE = "{secret}"
LONGEST = 2**20
"""Bytes that one run may print."""
SAID = 5
"""Lines of what a program said last that an error shows."""


@dataclass(frozen=True)
class Program:
    """A program to be run.

    Attributes
    ----------
    command
        The program and its arguments, without a shell.
    secrets
        What it is told, two different ones at least, without line ends.
    prior
        Probability of each secret, in their order or by name; uniform if left out.
    given
        How it is told the secret: "argument" in the place of ``{secret}``, or as its last argument;
        "stdin", a line on its standard input, which then ends; "lines": it is started once and goes
        on, answering each line on its standard input by one line.
    observe
        "output", the line that it prints, with commas between columns; "time", the nanoseconds of
        the wall clock from start to end (in lines: from question to answer); "cpu", the
        microseconds of processor time that it took.
    seconds
        That one run may take.
    """

    command: Sequence[str]
    secrets: Sequence[str]
    prior: Any = None
    given: str = "argument"
    observe: str = "output"
    seconds: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        one_of("given", self.given, ("argument", "stdin", "lines"))
        one_of("observe", self.observe, ("output", "time", "cpu"))
        positive("seconds", self.seconds)
        if isinstance(self.command, str) or not self.command:
            raise InputError("`command` must be the program and its arguments, a list of texts")
        if shutil.which(self.command[0]) is None:
            raise InputError(
                f"there is no program {self.command[0]!r}; give its path, or what is on the PATH"
            )
        _ = _checked(self.secrets), self.weights
        if self.given == "lines" and self.observe == "cpu":
            raise InputError("the processor time of single answers is not known: observe time")
        if self.given != "argument" and any(PLACE in part for part in self.command):
            raise InputError(f"the command holds {PLACE}, but the secret is given by {self.given}")

    @property
    def name(self) -> str:
        """The command in one line, at most 60 characters."""
        line = " ".join(shlex.join(self.command).split())
        return line if len(line) <= 60 else line[:57] + "..."

    @property
    def weights(self) -> NDArray[np.float64]:
        """Probability of each secret, shape (secrets,)."""
        if self.prior is None:
            return np.full(len(self.secrets), 1 / len(self.secrets))
        values = self.prior
        if isinstance(values, dict):
            differ = sorted({str(name) for name in values} ^ set(self.secrets))
            if differ:
                raise InputError(f"`prior` and the secrets differ at {differ[0]!r}")
            values = [values[name] for name in self.secrets]
        weights = distribution("prior", values)
        if len(weights) != len(self.secrets):
            raise InputError(
                f"`prior` has {len(weights)} probabilities for {len(self.secrets)} secrets"
            )
        return weights

    @property
    def columns(self) -> str:
        """What to call what is observed."""
        return {"output": "output", "time": "nanoseconds", "cpu": "microseconds"}[self.observe]


def _checked(secrets: Sequence[str]) -> None:
    if len(set(secrets)) < len(secrets):
        twice = next(s for i, s in enumerate(secrets) if s in secrets[:i])
        raise InputError(f"the secret {twice!r} stands there twice")
    if len(secrets) < 2:
        raise InputError("give two secrets at least: with one there is nothing to tell apart")
    if any(not s or any(c in s for c in "\r\n\0") for s in secrets):
        raise InputError("secrets must not be empty nor hold line ends")


@contextmanager
def runs(program: Program) -> Generator[Run]:
    """Yield a function that runs the program; nothing of it is left in the end.
    Raises InputError: from that function: a run fails, does not end in time, or prints no line or
        more than one.
    """
    if os.name != "posix":
        raise InputError("programs are run on Unix systems; not here")
    with tempfile.TemporaryFile() as errors:
        if program.given != "lines":
            yield lambda secret: _once(program, secret, errors)
            return
        process = _started(program, list(program.command), errors, subprocess.PIPE)
        try:
            yield lambda secret: _asked(program, process, secret, errors)
        finally:
            _end(process)


def _started(
    program: Program, command: list[str], errors: IO[bytes], stdin: int
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        )
    except (OSError, ValueError) as error:  # a ValueError: a zero byte in an argument
        said = getattr(error, "strerror", None) or error
        raise InputError(f"the program `{program.name}` cannot be started: {said}") from error


@contextmanager
def _deadline(process: subprocess.Popen[bytes], seconds: float) -> Generator[threading.Event]:
    """End the program when its time is over, and say so by the event."""
    over = threading.Event()

    def end() -> None:
        over.set()
        _kill(process)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield over
    finally:
        timer.cancel()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the program and what it has started (it leads a session of its own)."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    _kill(process)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()


def _tell(process: subprocess.Popen[bytes], secret: str) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it need not read it
        process.stdin.write(secret.encode() + b"\n")
        process.stdin.flush()


def _once(program: Program, secret: str, errors: IO[bytes]) -> tuple[str, ...]:
    """Start the program, give it the secret, and wait for its end."""
    command = list(program.command)
    stdin = subprocess.DEVNULL
    if program.given == "stdin":
        stdin = subprocess.PIPE
    elif any(PLACE in part for part in command):
        command = [part.replace(PLACE, secret) for part in command]
    else:
        command.append(secret)
    errors.seek(0)
    errors.truncate()
    began = time.perf_counter_ns()
    process = _started(program, command, errors, stdin)
    try:
        with _deadline(process, program.seconds) as over:
            if process.stdin is not None:
                _tell(process, secret)
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()
            assert process.stdout is not None
            printed = process.stdout.read(LONGEST + 1)
            if len(printed) > LONGEST:
                raise InputError(
                    f"the program `{program.name}` prints more than {LONGEST:,} bytes with the "
                    f"secret {secret!r}"
                )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            took = time.perf_counter_ns() - began
    finally:
        _end(process)
    if over.is_set():
        raise _too_slow(program, secret, errors)
    if process.returncode != 0:
        raise _failed(program, secret, process.returncode, errors)
    if program.observe == "time":
        return (str(took),)
    if program.observe == "cpu":
        return (str(round(1e6 * (usage.ru_utime + usage.ru_stime))),)
    return _fields(program, secret, printed)


def _asked(
    program: Program, process: subprocess.Popen[bytes], secret: str, errors: IO[bytes]
) -> tuple[str, ...]:
    """Ask a program that goes on."""
    assert process.stdout is not None
    with _deadline(process, program.seconds) as over:
        began = time.perf_counter_ns()
        _tell(process, secret)
        line = process.stdout.readline(LONGEST + 1)
        took = time.perf_counter_ns() - began
    if over.is_set():
        raise _too_slow(program, secret, errors)
    if not line.endswith(b"\n"):
        if len(line) > LONGEST:
            raise InputError(f"the program `{program.name}` prints a line without an end")
        raise _failed(program, secret, process.wait(), errors, "instead of an answer")
    return (str(took),) if program.observe == "time" else _fields(program, secret, line)


def _fields(program: Program, secret: str, printed: bytes) -> tuple[str, ...]:
    lines = printed.decode("utf-8", "replace").strip().splitlines()
    if len(lines) != 1:
        raise InputError(
            f"the program `{program.name}` printed {len(lines)} lines with the secret {secret!r}: "
            "print one, with commas between columns, or observe the time"
        )
    return tuple(field.strip() for field in next(csv.reader(lines)))


def _too_slow(program: Program, secret: str, errors: IO[bytes]) -> InputError:
    return InputError(
        f"the program `{program.name}` did not end within {program.seconds:g} s with the secret "
        f"{secret!r}: give it more with the time limit{_last_lines(errors)}"
    )


def _failed(
    program: Program, secret: str, code: int, errors: IO[bytes], instead: str = ""
) -> InputError:
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return InputError(
        f"the program `{program.name}` {how} with the secret {secret!r}"
        f"{' ' + instead if instead else ''}{_last_lines(errors)}"
    )


def _last_lines(errors: IO[Any]) -> str:
    errors.seek(0, os.SEEK_END)
    errors.seek(max(0, errors.tell() - 4096))
    lines = [t for t in errors.read().decode("utf-8", "replace").splitlines() if t.strip()]
    return ". It said last:\n  " + "\n  ".join(lines[-SAID:]) if lines else ""
