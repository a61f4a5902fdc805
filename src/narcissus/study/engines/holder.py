"""State held on the workers of an engine: the shards of a release too large for one worker.

Held state stays in the memory of the worker that made it, and is lost with that worker. A
replacement reports that it holds nothing, receives the maker and all changes since, and is asked
again. So the state must be a function of its maker and of those changes alone.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from narcissus.attacks.table.shards import holding, shares_of
from narcissus.errors import NarcissusError
from narcissus.game.executor import Ended, Executor, HasPlaces, Job, Serial
from narcissus.observer import SILENT, Observer

Told = tuple[str, tuple[Any, ...]]

IN_VAIN = 10  # times in a row that something is made anew and lost before it answers

# In a worker: what it holds, by whose it is and its place, with the number of changes it received.
_things: dict[tuple[str, str], tuple[Any, int]] = {}


def _called(thing: Any, what: Told) -> Any:
    name, arguments = what
    return getattr(thing, name)(*arguments)


@dataclass(frozen=True)
class _Make:
    """Make the state on a worker and replay all changes."""

    owner: str
    maker: Callable[[], Any]
    history: tuple[Told, ...]

    def __call__(self, key: str) -> None:
        for owner, place in list(_things):  # one release at a time: its owner may be gone
            if owner != self.owner:
                del _things[owner, place]
        _things.pop((self.owner, key), None)  # both may not fit
        thing = self.maker()
        for request in self.history:
            _called(thing, request)
        _things[self.owner, key] = (thing, len(self.history))


@dataclass(frozen=True)
class _Ask:
    """Query the state that a worker holds; return nothing if it holds none."""

    owner: str
    what: Told
    told: int  # how often it must have been told what changes it
    changes: bool

    def __call__(self, key: str) -> tuple[Any] | None:
        thing, version = _things.get((self.owner, key), (None, -1))
        if version != self.told:
            return None
        if self.changes:
            _things[self.owner, key] = (thing, -1)  # what breaks off in the middle is of no use
        answer = _called(thing, self.what)
        if self.changes:
            _things[self.owner, key] = (thing, self.told + 1)
        return (answer,)


@dataclass(frozen=True)
class _Drop:
    owner: str

    def __call__(self, key: str) -> None:
        _things.pop((self.owner, key), None)


class WorkerShards:
    """State held by the workers of an engine, fixed for as long as it lives."""

    def __init__(
        self, executor: HasPlaces, makers: Sequence[Callable[[], Any]], observer: Observer
    ) -> None:
        self._executor, self._makers, self._observer = executor, makers, observer
        self._owner = uuid.uuid4().hex
        self._history: list[Told] = []
        self._make(range(len(makers)))

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method that changes nothing; return the answers in order."""
        return self._answers((name, arguments), changes=False)

    def tell(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method that changes the state; return the answers in order."""
        answers = self._answers((name, arguments), changes=True)
        self._history.append((name, arguments))
        return answers

    def close(self) -> None:
        drop = _Drop(self._owner)
        self._play(dict.fromkeys(range(len(self._makers)), drop))

    def _make(self, places: Sequence[int]) -> None:
        history = tuple(self._history)
        self._play({n: _Make(self._owner, self._makers[n], history) for n in places})

    def _answers(self, what: Told, *, changes: bool) -> list[Any]:
        """Query all workers; rebuild what is lost, and query that again."""
        job = _Ask(self._owner, what, len(self._history), changes)
        payloads: dict[int, Any] = {}
        left, in_vain = list(range(len(self._makers))), 0
        while left:
            answers = self._play(dict.fromkeys(left, job))
            payloads |= {
                place: answer[0] for place, answer in answers.items() if answer is not None
            }
            lost = [place for place in left if place not in payloads]
            in_vain = in_vain + 1 if lost == left else 0
            if in_vain > IN_VAIN:
                raise NarcissusError(
                    f"workers lose part {lost[0] + 1} of the release again and again before it "
                    "answers: use fewer workers with more memory each"
                )
            if lost:
                self._observer.note(f"{len(lost)} parts of the release are made anew")
                self._make(lost)
            left = lost
        return [payloads[place] for place in range(len(self._makers))]

    def _play(self, jobs: Mapping[int, Job]) -> dict[int, Any]:
        return self._executor.play_at(jobs, self._observer)


@dataclass(frozen=True)
class ByWorkers:
    executor: HasPlaces
    observer: Observer = SILENT

    def hold(self, makers: Sequence[Callable[[], Any]]) -> WorkerShards:
        return WorkerShards(self.executor, makers, self.observer)


class SplitReleases:
    """Executor that plays keys one by one here, splitting large releases over workers."""

    workers = 1
    is_here = True

    def __init__(self, executor: HasPlaces) -> None:
        self._executor = executor

    def play(self, job: Job, keys: Sequence[str], observer: Observer = SILENT) -> Ended:
        holder = ByWorkers(self._executor, observer)

        def held(key: str) -> Any:
            with holding(holder):
                return job(key)

        yield from Serial().play(held, keys, observer)

    def close(self) -> None:
        self._executor.close()


def split_if_few(executor: Executor, keys: Sequence[str], people: int, values: int) -> Executor:
    """Return an executor that splits large releases if the keys are fewer than the workers.

    As many keys as workers keep these busy by themselves. ``people`` and ``values`` are the people
    of a release and the joint values of their unknown columns.
    """
    if shares_of(people, values) == 1 or not isinstance(executor, HasPlaces):
        return executor
    return SplitReleases(executor) if 0 < len(keys) < executor.workers else executor
