"""Progress of long work, reported to an observer that is silent by default."""

from __future__ import annotations

from typing import Protocol


class Observer(Protocol):
    """A receiver of progress reports."""

    def start(self, what: str, total: int, done: int = 0) -> None:
        """Begin a stage of ``total`` steps, ``done`` of them finished in an earlier run.

        A total of 0 is a stage of unknown length; it ends where another begins.
        """
        ...

    def advance(self, steps: int = 1) -> None:
        """Count finished steps of the stage."""
        ...

    def finish(self) -> None:
        """End the stage."""
        ...

    def note(self, message: str) -> None:
        """Pass on a message that the user should read (a resumed run, a skipped part)."""
        ...


class SilentObserver:
    """An observer that ignores everything."""

    def start(self, what: str, total: int, done: int = 0) -> None:
        """Ignore the start of a stage."""

    def advance(self, steps: int = 1) -> None:
        """Ignore finished steps."""

    def finish(self) -> None:
        """Ignore the end of a stage."""

    def note(self, message: str) -> None:
        """Ignore a message."""


SILENT: Observer = SilentObserver()
