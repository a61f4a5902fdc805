"""A program in its own process group, none of which outlives this process or its time.

`_guard.py` is between the two. It ends the program and all that it started, and removes the
folder of the run: when the program ends, its time is over, or this process is gone.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from narcissus._forked import Forks, RunGuard, isolated_python
from narcissus._guard import ENDING, OVER_MEMORY
from narcissus._validation import MOST_SECONDS
from narcissus.errors import InputError

PATIENCE = ENDING + 2.0  # seconds for the guard to clean up
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
        self._guards: set[RunGuard] = set()
        self._is_over = False

    def add(self, guard: RunGuard) -> None:
        """Register a run; one that comes too late is ended at the same time."""
        with self._lock:
            self._guards.add(guard)
            if self._is_over:
                guard.terminate()

    def remove(self, guard: RunGuard) -> None:
        with self._lock:
            self._guards.discard(guard)

    def end(self) -> None:
        """End all registered runs, and any registered later."""
        with self._lock:
            self._is_over = True
            for guard in self._guards:
                guard.terminate()


def run_guarded(
    config: Mapping[str, Any],
    fill: Callable[[], None],
    *,
    seconds: float,
    output: int,
    environment: Mapping[str, str],
    collect: Callable[[], None] | None = None,
    stop: Stop | None = None,
    forks: Forks | None = None,
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
    forks: What the guard is forked from; None: it is started by itself.
    """
    with _started(
        config, fill, seconds=seconds, environment=environment, stop=stop, forks=forks
    ) as run:
        printed, error, stopped = _read(run.guard, seconds, output, run.began)
        # A program may close its output and go on: it still has no more than its time.
        text = b"" if stopped else run.report.read()
        took = time.monotonic() - run.began
        if collect is not None:
            collect()
        run.end()
        return GuardedRun(printed, error, stopped, text + run.report.read(), took)


@dataclass(frozen=True)
class _Started:
    guard: RunGuard
    report: IO[bytes]
    began: float
    end: Callable[[], None]
    """End the guard, and all that it started; may be called again."""


@contextlib.contextmanager
def _started(
    config: Mapping[str, Any],
    fill: Callable[[], None],
    *,
    seconds: float,
    environment: Mapping[str, str],
    stop: Stop | None = None,
    requests: int | None = None,
    forks: Forks | None = None,
) -> Generator[_Started]:
    """Start a program; `run_guarded` has the arguments.

    requests: the reading end of a pipe, the program's standard input in place of a file.
    """
    if not hasattr(os, "fork"):
        raise InputError(
            "programs are run in a separate process group, which this system does not have: "
            "use Linux or macOS"
        )
    reads, report = os.pipe()
    lifeline_end, lifeline = os.pipe()
    settings = {
        **config,
        "report": report,
        "lifeline": lifeline_end,
        "parent": os.getpid(),
        "seconds": seconds,
        "requests": requests,
    }
    with os.fdopen(reads, "rb") as reported, contextlib.ExitStack() as ending:
        handles = (report, lifeline_end, *([] if requests is None else [requests]))
        guard = forks.fork(settings, environment, handles) if forks is not None else None
        if guard is None:
            guard = _open(settings, environment, handles)
        os.close(report)
        os.close(lifeline_end)
        if stop is not None:
            ending.callback(stop.remove, guard)
        ending.callback(_await, guard)
        ending.callback(os.close, lifeline)
        if stop is not None:
            stop.add(guard)
        # The guard was there first: from here on nothing stays behind, come what may.
        fill()
        began = time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            os.write(lifeline, b"!")
        yield _Started(guard, reported, began, ending.close)


def _open(
    config: Mapping[str, Any], environment: Mapping[str, str], handles: tuple[int, ...]
) -> RunGuard:
    """Start a guard by itself."""
    return subprocess.Popen(
        [*isolated_python(), str(Path(__file__).with_name("_guard.py")), json.dumps(config)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        cwd="/",
        pass_fds=handles,
        start_new_session=True,
    )


class EndedError(Exception):
    """A program ended that was asked something, or its time for the answer did."""

    def __init__(self, code: int | None, error: bytes) -> None:
        super().__init__(code)
        self.code = code
        """Its exit code, minus a signal's number; None: there was no answer in time."""
        self.error = error
        """The end of its standard error."""

    @property
    def is_of_memory(self) -> bool:
        """Whether the program was ended as it took more memory than it may."""
        return self.code == OVER_MEMORY


class AnsweringProgram:
    """A guarded program that is asked again and again: a request in, an answer out.

    Each is bytes after their number, in eight bytes. What the program writes on standard error is
    kept to its end, and shown to nobody.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        fill: Callable[[], None],
        *,
        environment: Mapping[str, str],
        seconds: float = MOST_SECONDS,
        forks: Forks | None = None,
    ) -> None:
        reads, self._requests = os.pipe()
        self._stack = contextlib.ExitStack()
        self._error = bytearray()
        try:
            self._stack.callback(os.close, self._requests)
            with contextlib.ExitStack() as mine:
                mine.callback(os.close, reads)
                self._run = self._stack.enter_context(
                    _started(
                        config,
                        fill,
                        seconds=seconds,
                        environment=environment,
                        requests=reads,
                        forks=forks,
                    )
                )
            os.set_blocking(self._requests, False)
        except BaseException:
            self._stack.close()
            raise

    def end(self) -> None:
        """End the program; may be called again."""
        self._stack.close()

    def ask(self, request: bytes, *, most: int, seconds: float | None = None) -> bytes:
        """Return the answer to a request.

        most: bytes of an answer, at most.
        seconds: the time for it; None: as long as it takes.
        Raises EndedError: the program ended, answered more, or had no answer in time.
        """
        try:
            return self._ask(request, most, seconds)
        except BaseException:  # what comes afterwards would be the answer to something else
            self.end()
            raise

    def _ask(self, request: bytes, most: int, seconds: float | None) -> bytes:
        guard = self._run.guard
        assert guard.stdout is not None
        assert guard.stderr is not None
        left = memoryview(len(request).to_bytes(8, "big") + request)
        answer = bytearray()
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(guard.stdout, selectors.EVENT_READ, answer)
            selector.register(guard.stderr, selectors.EVENT_READ, self._error)
            selector.register(self._requests, selectors.EVENT_WRITE)
            while (size := _size(answer, most)) is None or len(answer) < size:
                rest = deadline - time.monotonic()
                if rest <= 0:
                    raise EndedError(None, bytes(self._error))
                for key, _ in selector.select(min(rest, 3600.0)):
                    if key.fd == self._requests:
                        left = self._send(left)
                        if not left:
                            selector.unregister(self._requests)
                    elif chunk := os.read(key.fd, 2**20):
                        key.data.extend(chunk)
                    elif key.data is answer:
                        raise self._ended(guard)
                    else:
                        selector.unregister(key.fileobj)
                del self._error[:-_KEPT]
        return bytes(answer[8:size])

    def _send(self, left: memoryview) -> memoryview:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            return left[os.write(self._requests, left[:65536]) :]
        return left

    def _ended(self, guard: RunGuard) -> EndedError:
        """Describe the end of a program that closed its output."""
        assert guard.stderr is not None
        while chunk := os.read(guard.stderr.fileno(), 65536):
            self._error += chunk
        code = self._run.report.read().rpartition(b"\n")[2]
        is_number = code.lstrip(b"-").isdigit()
        return EndedError(int(code) if is_number else 1, bytes(self._error[-_KEPT:]))


def _size(answer: bytearray, most: int) -> int | None:
    """Return the bytes of an answer with its head; None: the head is not there yet."""
    size = 8 + int.from_bytes(answer[:8], "big") if len(answer) >= 8 else None
    if max(size or 0, len(answer)) > 8 + most:
        raise EndedError(1, b"it answered at too great length")
    return size


def _read(
    guard: RunGuard, seconds: float, most: int, started: float
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


def _await(guard: RunGuard) -> None:
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
