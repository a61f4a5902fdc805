"""Progress of long work on standard error: a bar at a terminal, a line now and then elsewhere.

Nothing is silent for longer than two seconds: a bar moves by itself, and where there are lines, one
says what goes on, for how long, and how much is left. After a minute of one stage such lines come
every ten seconds.
"""

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
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from narcissus._pace import Pace
from narcissus._visible import Unguarded, visible
from narcissus.cli.heart import Heart, again, duration, rest
from narcissus.observer import SILENT, Observer

AS_JSON = "NARCISSUS_PROGRESS"
"""Variable of the environment that makes progress JSON lines where it is ``json``."""


def speed(what: str, a_second: float | None) -> str:
    """Format the speed of a stage whose steps are tokens; empty for others.

    >>> speed("score texts, in tokens", 1234.5), speed("trials", 3.0)
    (', 1,234 tokens a second', '')
    """
    return f", {a_second:,.0f} tokens a second" if a_second and what.endswith("in tokens") else ""


class _Speed(ProgressColumn):
    """Tokens a second of this run, at a bar of tokens."""

    def render(self, task: Task) -> Text:
        return Text(speed(task.description, task.finished_speed or task.speed).removeprefix(", "))


class BarObserver:
    """A progress bar with the time left, for a terminal."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task: TaskID | None = None
        self._is_open = True
        self.start("starting", 0)

    def start(self, what: str, total: int, done: int = 0) -> None:
        """Begin a bar; work of an earlier run counts as done but not for the speed."""
        self.close()
        self._task = self._bars.add_task(visible(what), total=total or None, completed=done)
        self._is_open = not total

    def advance(self, steps: int = 1) -> None:
        if self._task is not None:
            self._bars.advance(self._task, steps)

    def finish(self) -> None:
        """Wait for the next stage."""
        self.start("working", 0)

    def close(self) -> None:
        """Leave the finished bar where it is; one of unknown length goes."""
        if self._task is not None:
            self._bars.stop_task(self._task)
            if self._is_open:
                self._bars.remove_task(self._task)
            self._task = None

    def note(self, message: str) -> None:
        self._bars.console.print(visible(message), markup=False, highlight=False)
        if self._is_open:
            self.start(message, 0)


class LineObserver:
    """A line at the start and at each tenth of a stage, for logs and pipes."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._what, self._total, self._done = "", 0, 0
        self._before, self._began, self._tenth = 0, 0.0, 0
        self._pace = Pace()
        self.heart = Heart(self._print, "starting")

    def start(self, what: str, total: int, done: int = 0) -> None:
        self._what, self._total, self._done, self._before = what, total, done, done
        self._began = time.monotonic()
        self._pace = Pace(total, done)
        self._tenth = 10 * done // total if total else 0
        if total:
            remark = f", {done} done earlier" if done else ""
            self._print(f"{what}: {total} steps{remark}")
        self.heart.hear(what, self._share if total else str)

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        self._pace.advance(steps, time.monotonic())
        tenth = 10 * self._done // self._total if self._total else 0
        if tenth <= self._tenth:
            return
        self._tenth = tenth
        self._print(f"{self._what}: {self._share()}")
        self.heart.hear()

    def _share(self) -> str:
        """Return how far the stage is, and how long the rest takes at the speed that was seen."""
        now = time.monotonic()
        spent, fresh = now - self._began, self._done - self._before
        rest = self._pace.left(now)
        left = "" if rest is None else f", about {duration(rest)} left"
        share = 100 * self._done // max(1, self._total)
        so_far = f"{self._done} of {self._total} ({share}%), {duration(spent)} so far{left}"
        return so_far + speed(self._what, fresh / max(spent, 1e-3))

    def finish(self) -> None:
        """Wait for the next stage: the line of the last tenth has ended this one."""
        self.heart.hear("working")

    def note(self, message: str) -> None:
        self._print(message)
        self.heart.hear(None if self._done < self._total else message)

    def _print(self, message: str) -> None:
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
        """Do nothing: the next stage begins with a separate line."""

    def note(self, message: str) -> None:
        self._write({"note": visible(message)})

    def _write(self, found: dict[str, object]) -> None:
        self._last = time.monotonic()
        line = json.dumps({**found, "time": round(time.time(), 1)})
        print(line, file=self._stream, flush=True)


@contextmanager
def progress(*, quiet: bool = False, stream: IO[str] | None = None) -> Generator[Observer]:
    """Yield an observer that writes to ``stream``, standard error by default."""
    rest()
    out = sys.stderr if stream is None else stream
    if quiet:
        yield SILENT
        return
    if not out.isatty():
        if os.environ.get(AS_JSON) == "json":
            yield JsonObserver(out)
            return
        lines = LineObserver(out)
        try:
            yield lines
        finally:
            lines.heart.stop()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        _Speed(),
    )
    with Progress(
        *columns, console=Console(file=cast("IO[str]", Unguarded(out))), transient=False
    ) as bars:
        bar = BarObserver(bars)
        try:
            yield bar
        finally:
            bar.close()
    again()
