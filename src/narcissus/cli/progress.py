"""Progress of long work on standard error: a bar at a terminal, a line now and then elsewhere."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import IO, cast

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from narcissus._visible import Unguarded, visible
from narcissus.observer import SILENT, Observer

AS_JSON = "NARCISSUS_PROGRESS"
"""Variable of the environment that makes progress JSON lines where it is ``json``."""


def duration(seconds: float) -> str:
    """Format a time as '0:42', '12:05' or '3:00:10'."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


class BarObserver:
    """A progress bar with the time left, for a terminal."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task: TaskID | None = None

    def start(self, what: str, total: int, done: int = 0) -> None:
        """Begin a bar; work of an earlier run counts as done but not for the speed."""
        self.finish()
        self._task = self._bars.add_task(visible(what), total=total, completed=done)

    def advance(self, steps: int = 1) -> None:
        if self._task is not None:
            self._bars.advance(self._task, steps)

    def finish(self) -> None:
        """Leave the finished bar where it is."""
        if self._task is not None:
            self._bars.stop_task(self._task)
            self._task = None

    def note(self, message: str) -> None:
        self._bars.console.print(visible(message), markup=False, highlight=False)


class LineObserver:
    """A line at the start and at each tenth of a stage, for logs and pipes."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._what, self._total, self._done = "", 0, 0
        self._before, self._began, self._tenth = 0, 0.0, 0

    def start(self, what: str, total: int, done: int = 0) -> None:
        self._what, self._total, self._done, self._before = what, total, done, done
        self._began = time.monotonic()
        self._tenth = 10 * done // total if total else 0
        kept = f", {done} done earlier" if done else ""
        self.note(f"{what}: {total} steps{kept}")

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        tenth = 10 * self._done // self._total if self._total else 0
        if tenth <= self._tenth:
            return
        self._tenth = tenth
        fresh = self._done - self._before
        spent = time.monotonic() - self._began
        left = spent / fresh * (self._total - self._done)
        self.note(
            f"{self._what}: {self._done} of {self._total} ({10 * tenth}%), "
            f"{duration(spent)} so far, about {duration(left)} left"
        )

    def finish(self) -> None:
        """Do nothing: the line of the last tenth has ended the stage."""

    def note(self, message: str) -> None:
        print(visible(message), file=self._stream, flush=True)


class JsonObserver:
    """A JSON object on a line for each step, for a program that reads them (`narcissus app`)."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._stage: Mapping[str, object] = {}
        self._done, self._last = 0, 0.0

    def start(self, what: str, total: int, done: int = 0) -> None:
        self._stage, self._done = {"what": what, "total": total, "before": done}, done
        self._write({**self._stage, "done": done})

    def advance(self, steps: int = 1) -> None:
        """Write what is done by now, at most some times a second."""
        self._done += steps
        if time.monotonic() - self._last > 0.25 or self._done == self._stage.get("total"):
            self._write({**self._stage, "done": self._done})

    def finish(self) -> None:
        """Do nothing: the next stage begins with a line of its own."""

    def note(self, message: str) -> None:
        self._write({"note": visible(message)})

    def _write(self, found: dict[str, object]) -> None:
        self._last = time.monotonic()
        line = json.dumps({**found, "time": round(time.time(), 1)})
        print(line, file=self._stream, flush=True)


@contextmanager
def progress(*, quiet: bool = False, stream: IO[str] | None = None) -> Generator[Observer]:
    """Yield an observer that writes to ``stream``, standard error by default."""
    out = sys.stderr if stream is None else stream
    if quiet:
        yield SILENT
        return
    if not out.isatty():
        is_read = os.environ.get(AS_JSON) == "json"
        yield JsonObserver(out) if is_read else LineObserver(out)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=Console(file=cast("IO[str]", Unguarded(out))), transient=False
    ) as bars:
        yield BarObserver(bars)
