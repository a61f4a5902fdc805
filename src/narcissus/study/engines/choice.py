"""The choice of an engine: the one asked for, else the study's, else processes.

A scheduler receives the study's data, and whoever runs one can run code here. So the person who
plays a study names the scheduler, by an option or an object; the study may name one only where its
code is allowed.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager

from narcissus._validation import one_of
from narcissus.errors import InputError
from narcissus.game.executor import Executor, Serial
from narcissus.study.engines.dask import Dask, configured_scheduler
from narcissus.study.engines.processes import Processes
from narcissus.study.kinds import RunOptions
from narcissus.study.plugins import allow_scheduler
from narcissus.study.sections import PlayedRun

ENGINES = ("serial", "processes", "dask")
"""In this process; in worker processes of this machine; on a Dask cluster."""


@contextmanager
def executor_of(
    options: RunOptions, run: PlayedRun, *, workers: int | None = None
) -> Generator[Executor]:
    """Yield the executor that plays a study; whatever was started for it ends with the block.

    An executor in ``options`` is used as it is, and stays open. ``run`` is the study's section
    [run]; ``workers`` the default number of processes if no engine is named, None one for each
    core.
    """
    if isinstance(options.engine, str | None):
        with closing(_made(options, run, workers)) as executor:
            yield executor
    else:
        yield options.engine


def _made(options: RunOptions, run: PlayedRun, default: int | None) -> Executor:
    engine = options.engine
    assert isinstance(engine, str | None)
    settings = run if engine is None else PlayedRun()
    name = engine or settings.engine or (None if settings.scheduler is None else "dask")
    own_workers = getattr(run, "workers", None)
    if name is None:
        return Processes(options.workers or own_workers or default)
    one_of("engine", name, ENGINES)
    if name != "dask" and settings.scheduler is not None:
        raise InputError(f"`run.scheduler` is for the engine dask, and `run.engine` is {name!r}")
    if name == "serial":
        if options.workers not in {None, 1}:
            raise InputError("the engine serial is one process: leave out `workers`")
        return Serial()
    if name == "processes":
        return Processes(options.workers or own_workers)
    if settings.scheduler is not None:
        allow_scheduler(settings.scheduler)
    address = settings.scheduler or configured_scheduler()
    if address is not None:
        return Dask(address, workers=options.workers)
    return Dask(workers=options.workers or own_workers)
