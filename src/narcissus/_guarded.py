"""A program in its own process group, none of which outlives this process or its time.

`_guard.py` stands between the two. It ends the program and all that it started, and removes the
folder of the run: when the program ends, its time is over, or this process is gone.
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
    """The outcome of one run."""

    output: bytes  # bytes printed on standard output
    error: bytes  # the end of standard error
    # why it was ended; None where it ended by itself
    stopped: Literal["timeout", "output limit"] | None
    report: bytes  # the report of the jail, a line end, and the exit code (minus a signal's number)
    seconds: float  # wall clock, start of the interpreter included


class Stop:
    """A switch that ends programs running in other threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._guards: set[subprocess.Popen[bytes]] = set()
        self._is_over = False

    def add(self, guard: subprocess.Popen[bytes]) -> None:
        """Register a run; one that comes too late is ended at once."""
        with self._lock:
            self._guards.add(guard)
            if self._is_over:
                guard.terminate()

    def remove(self, guard: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._guards.discard(guard)

    def end(self) -> None:
        """End all registered runs, and any registered later."""
        with self._lock:
            self._is_over = True
            for guard in self._guards:
                guard.terminate()


def isolated_python() -> list[str]:
    """Return the command of this interpreter in isolated mode, without settings of the user."""
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

    config: Settings for `_guard.py` and the file ``jail``: ``jail``, a file whose ``enter(config)``
        returns what the new process is to run; ``method``; ``folder``, removed in the end;
        ``stdin``, the file to read from; ``watch_folder``; and whatever the jail needs.
    fill: Puts what is needed into the folder, after the guard has started.
    seconds: Limit on wall clock.
    output: Limit on printed bytes.
    environment: Environment variables of the guard, and so of the program.
    collect: Inspects what the program has left behind, before the folder is removed.
    stop: Switch that ends the run from another thread.
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
    """Collect the output until the end, the deadline or the output limit."""
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
    """Wait until the guard has ended the run, which the end of its lifeline causes; or kill it."""
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
