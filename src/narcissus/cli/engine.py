"""The options ``--engine`` and ``--scheduler``."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from narcissus._validation import one_of
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.game.executor import Executor


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
