"""Workers on other machines: releases that they make are sent back, and kept by who asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narcissus.errors import StoreError
from narcissus.game.executor import Ended, Executor, Job
from narcissus.mechanisms import Shelf
from narcissus.mechanisms.table.shelf import BROUGHT, SENT_BACK
from narcissus.observer import SILENT, Observer


class ReleasesSentBack:
    """An executor whose workers bring kept releases along, and send back those that they make.

    Parameters
    ----------
    executor
        Who plays, elsewhere.
    shelf
        Where releases are kept, here; the same that the mechanisms of a job have.
    """

    is_here = False

    def __init__(self, executor: Executor, shelf: Shelf) -> None:
        self._executor, self._shelf = executor, shelf
        self._told = 0

    @property
    def workers(self) -> int:
        """How many keys are played at once."""
        return self._executor.workers

    def play(self, job: Job, keys: Sequence[str], observer: Observer = SILENT) -> Ended:
        """Play every key, and give each as it ends; what was released is kept before that."""
        brought, left = self._shelf.to_bring()
        if left:
            observer.note(
                f"{left} kept releases are not sent to the workers, which make them again: at most "
                f"{BROUGHT / 2**20:g} MiB are sent"
            )
        away = _Away(job, self._shelf, brought)
        with closing(self._executor.play(away, keys, observer)) as ending:
            for key, (found, made, large) in ending:
                for name, content in made.items():
                    if Path(name).name != name:
                        raise StoreError(f"a worker sent a release back that is called {name!r}")
                    self._shelf.put(name, content)
                if large > self._told:
                    self._told = large
                    observer.note(
                        f"a release of {large / 2**20:.3g} MiB was not kept: more than "
                        f"{SENT_BACK / 2**20:g} MiB are not sent back"
                    )
                yield key, found

    def close(self) -> None:
        """End what was started for it."""
        self._executor.close()


@dataclass(frozen=True)
class _Away:
    """A job where the folder is not; with what came of a key it gives the releases made."""

    job: Job
    shelf: Shelf
    """The very one of the job's mechanisms: they are sent together."""
    brought: Mapping[str, bytes]

    def __call__(self, key: str) -> tuple[Any, dict[str, bytes], int]:
        self.shelf.leave(self.brought)
        try:
            found = self.job(key)
        except BaseException:
            self.shelf.handed_over()
            raise
        return found, *self.shelf.handed_over()
