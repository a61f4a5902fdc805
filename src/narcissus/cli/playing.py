"""Commands that play studies: their shared options, consent to long work, files of studies."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from narcissus._validation import one_of
from narcissus.errors import InputError, LongWorkError

if TYPE_CHECKING:
    from narcissus.game.executor import Executor

HOURS = 1 / 6
"""Longest time that work takes without being agreed to."""

PlayedT = TypeVar("PlayedT")


@contextmanager
def engine_of(
    name: str | None, scheduler: str | None, workers: int | None
) -> Generator[str | Executor | None]:
    """Yield the engine as `narcissus.run` takes it; raise InputError for an impossible pair."""
    if name is not None:
        from narcissus.study.engines import ENGINES

        one_of("--engine", name, ENGINES)
    if scheduler is None:
        yield name
        return
    if name not in {None, "dask"}:
        raise InputError(f"`--scheduler` is for the engine dask, and `--engine` is {name}")
    from narcissus.study.engines import Dask

    with closing(Dask(scheduler, workers=workers)) as executor:
        yield executor


def agreed(play: Callable[[float | None], PlayedT], *, yes: bool) -> PlayedT:
    """Call ``play`` with the longest time agreed to, in hours (None: any); ask if it takes longer.

    ``yes`` agrees beforehand. LongWorkError is raised where nobody is there or agrees.
    """
    if yes:
        return play(None)
    try:
        return play(HOURS)
    except LongWorkError as error:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        click.echo(f"narcissus: {error}", err=True)
        if not click.confirm("Start it now?", default=False, err=True):
            raise
        return play(None)


@dataclass(frozen=True)
class Run:
    """The shared options of a command that plays a study; a command takes some of them."""

    out: Path | None = None
    seed: int | None = None
    workers: int | None = None
    engine: str | None = None
    scheduler: str | None = None
    allow_code: bool = False
    yes: bool = False
    restart: bool = False
    as_json: bool = False
    quiet: bool = False

    @contextmanager
    def player(self) -> Generator[str | Executor | None]:
        with engine_of(self.engine, self.scheduler, self.workers) as player:
            yield player

    def play(self, play: Callable[..., PlayedT]) -> PlayedT:
        """Call ``play`` with ``hours``, ``observer`` and ``engine``; ask before long work."""
        from narcissus.cli.progress import progress

        def once(hours: float | None) -> PlayedT:
            with progress(quiet=self.quiet) as observer, self.player() as engine:
                return play(hours=hours, observer=observer, engine=engine)

        return agreed(once, yes=self.yes)


def shared(command: Callable[..., PlayedT]) -> Callable[..., PlayedT]:
    """Pass the options that `Run` has as one argument, ``run``."""

    @wraps(command)
    def gathered(**given: Any) -> PlayedT:
        mine = {one.name: given.pop(one.name) for one in fields(Run) if one.name in given}
        return command(**given, run=Run(**mine))

    return gathered


def refuse_existing(out: Path | None, *, force: bool) -> None:
    if out is not None and out.exists() and not force:
        raise InputError(f"{out} exists; choose another, or replace it with --force")


def written_to(out: Path, text: str, *, quiet: bool = False) -> None:
    """Write a study, and print how to play it."""
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror or error}") from error
    if not quiet:
        click.echo(f"wrote {out}; play it with: narcissus audit {out}")
