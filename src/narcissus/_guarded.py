"""A program in a process group of its own, of which nothing outlives this process or its time.

Between the two stands `_guard.py`, a process that ends the program and whatever it has started,
and removes the folder of the run: when the program ends, when its time is over, or when this
process is gone, however that went.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from narcissus.errors import InputError

PATIENCE = 2.0  # seconds for the guard to clean up
_KEPT = 4096  # bytes of what is written on standard error


@dataclass(frozen=True)
class GuardedRun:
    """What one run came to.

    Attributes
    ----------
    output
        Bytes printed on standard output.
    error
        The end of what was written on standard error.
    stopped
        Why it was ended; None where it ended by itself.
    report
        What the jail reported, a line end, and the exit code (minus the number of a signal).
    seconds
        Wall clock, start of the interpreter included.
    """

    output: bytes
    error: bytes
    stopped: Literal["timeout", "output limit"] | None
    report: bytes
    seconds: float


class Stop:
    """Ends programs that run in other threads, for whoever is interrupted while they do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._guards: set[subprocess.Popen[bytes]] = set()
        self._is_over = False

    def add(self, guard: subprocess.Popen[bytes]) -> None:
        """Take a run in; one that comes too late is ended at once."""
        with self._lock:
            self._guards.add(guard)
            if self._is_over:
                guard.terminate()

    def remove(self, guard: subprocess.Popen[bytes]) -> None:
        """Forget a run that has ended."""
        with self._lock:
            self._guards.discard(guard)

    def end(self) -> None:
        """End all that run, and all that are still to come."""
        with self._lock:
            self._is_over = True
            for guard in self._guards:
                guard.terminate()


def isolated_python() -> list[str]:
    """Give the command of this interpreter that looks at nothing of the user's."""
    return [sys.executable, "-I", "-B", "-X", "utf8"]


def run_guarded(
    config: Mapping[str, Any],
    fill: Callable[[], None],
    *,
    seconds: float,
    output: int,
    environment: Mapping[str, str],
    collect: Callable[[], None] | None = None,
    stop: Stop | None = None,
) -> GuardedRun:
    """Run a program once.

    Parameters
    ----------
    config
        What `_guard.py` and the file ``jail`` are told: ``jail``, a file with a function
        ``enter(config)`` that gives what the new process is to run; ``method``; ``folder``, which
        is removed in the end; ``stdin``, the file to read from; ``watch_folder``; and whatever the
        jail needs.
    fill
        Puts what is needed into the folder; the guard is there before.
    seconds
        Wall clock that it may take.
    output
        Bytes that it may print.
    environment
        Of the guard, and so of the program.
    collect
        Looks at what the program has left behind, before the folder is removed.
    stop
        Whoever may end it from another thread.
    """
    if not hasattr(os, "fork"):
        raise InputError(
            "programs are run in a process group of their own, which this system does not have: "
            "use Linux or macOS"
        )
    reads, report = os.pipe()
    held, lifeline = os.pipe()
    told = {
        **config,
        "report": report,
        "lifeline": held,
        "parent": os.getpid(),
        "seconds": seconds,
    }
    with os.fdopen(reads, "rb") as reported:
        guard = subprocess.Popen(
            [*isolated_python(), str(Path(__file__).with_name("_guard.py")), json.dumps(told)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd="/",
            pass_fds=(report, held),
            start_new_session=True,
        )
        os.close(report)
        os.close(held)
        try:
            if stop is not None:
                stop.add(guard)
            # The guard was there first: from here on nothing stays behind, come what may.
            fill()
            started = time.monotonic()
            with contextlib.suppress(BrokenPipeError):
                os.write(lifeline, b"!")
            printed, error, stopped = _read(guard, seconds, output, started)
            # A program may close its output and go on: it still has no more than its time.
            text = b"" if stopped else reported.read()
            took = time.monotonic() - started
            if collect is not None:
                collect()
        finally:
            os.close(lifeline)
            _await(guard)
            if stop is not None:
                stop.remove(guard)
        return GuardedRun(printed, error, stopped, text + reported.read(), took)


def _read(
    guard: subprocess.Popen[bytes], seconds: float, most: int, started: float
) -> tuple[bytes, bytes, Literal["timeout", "output limit"] | None]:
    """Collect what is printed until the end, the deadline or the output limit."""
    assert guard.stdout is not None
    assert guard.stderr is not None
    output, error = bytearray(), bytearray()
    deadline = started + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(guard.stdout, selectors.EVENT_READ)
        selector.register(guard.stderr, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return bytes(output), bytes(error), "timeout"
            for key, _ in selector.select(left):
                stream: IO[bytes] = key.fileobj  # pyright: ignore[reportAssignmentType] (we registered them)
                chunk = os.read(stream.fileno(), 65536)
                if not chunk:
                    selector.unregister(stream)
                elif stream is guard.stdout:
                    output += chunk
                    if len(output) > most:
                        return bytes(output[:most]), bytes(error), "output limit"
                else:
                    error = (error + chunk)[-_KEPT:]
    return bytes(output), bytes(error), None


def _await(guard: subprocess.Popen[bytes]) -> None:
    """Wait until the guard has ended the run, as it does when its lifeline ends; or kill it."""
    try:
        guard.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(guard.pid, signal.SIGKILL)
        guard.wait()
    finally:
        for stream in (guard.stdout, guard.stderr):
            if stream is not None:
                stream.close()
