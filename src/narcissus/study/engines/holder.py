"""Hold things on the workers of an engine: the shares of a release too large for one of them.

What is held stays in the memory of the worker that made it. A worker that is lost takes its part
along: whoever is asked instead says that it has nothing, is told how to make it and what has
changed it since, and is asked again. So what is held must depend on how it was made and on what it
was told alone.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from narcissus.attacks.table.shares import holding, shares_of
from narcissus.errors import NarcissusError
from narcissus.game.executor import Ended, Executor, HasPlaces, Job, Serial
from narcissus.observer import SILENT, Observer

Told = tuple[str, tuple[Any, ...]]

IN_VAIN = 10
"""Times in a row that something is made anew and lost before it answers."""


@dataclass(eq=False)
class _Thing:
    """What a worker holds, and how often it was told what changes it."""

    thing: Any
    told: int

    def asked(self, what: Told) -> Any:
        name, arguments = what
        return getattr(self.thing, name)(*arguments)


_things: dict[tuple[str, str], _Thing] = {}
"""In a worker: what it holds, by whose it is and its place."""


@dataclass(frozen=True)
class _Make:
    """Has a worker make something, and tell it what others were told."""

    owner: str
    maker: Callable[[], Any]
    history: tuple[Told, ...]

    def __call__(self, key: str) -> None:
        for owner, place in list(_things):  # one release at a time: its owner may be gone
            if owner != self.owner:
                del _things[owner, place]
        _things.pop((self.owner, key), None)  # both may not fit
        thing = _Thing(self.maker(), len(self.history))
        for what in self.history:
            thing.asked(what)
        _things[self.owner, key] = thing


@dataclass(frozen=True)
class _Ask:
    """Asks what a worker holds; gives the answer, or nothing where it does not hold it."""

    owner: str
    what: Told
    told: int
    """How often it must have been told what changes it."""
    changes: bool

    def __call__(self, key: str) -> tuple[Any] | None:
        thing = _things.get((self.owner, key))
        if thing is None or thing.told != self.told:
            return None
        if self.changes:
            thing.told = -1  # what breaks off in the middle is of no use
        answer = thing.asked(self.what)
        if self.changes:
            thing.told = self.told + 1
        return (answer,)


@dataclass(frozen=True)
class _Drop:
    """Has a worker let go of what it holds."""

    owner: str

    def __call__(self, key: str) -> None:
        _things.pop((self.owner, key), None)


class HeldByWorkers:
    """Things that the workers of an engine hold, each always the same as long as it lives."""

    def __init__(
        self, executor: HasPlaces, makers: Sequence[Callable[[], Any]], observer: Observer
    ) -> None:
        self._executor, self._makers, self._observer = executor, makers, observer
        self._owner = uuid.uuid4().hex
        self._history: list[Told] = []
        self._make(range(len(makers)))

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method that changes nothing; give the answers in order."""
        return self._answers((name, arguments), changes=False)

    def tell(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method that changes what is held; give the answers in order."""
        answers = self._answers((name, arguments), changes=True)
        self._history.append((name, arguments))
        return answers

    def close(self) -> None:
        """Let go of them."""
        drop = _Drop(self._owner)
        self._play(dict.fromkeys(range(len(self._makers)), drop))

    def _make(self, places: Sequence[int]) -> None:
        history = tuple(self._history)
        self._play({n: _Make(self._owner, self._makers[n], history) for n in places})

    def _answers(self, what: Told, *, changes: bool) -> list[Any]:
        """Ask everybody; make anew what is lost, and ask that again."""
        job = _Ask(self._owner, what, len(self._history), changes)
        found: dict[int, Any] = {}
        left, in_vain = list(range(len(self._makers))), 0
        while left:
            answers = self._play(dict.fromkeys(left, job))
            found |= {place: answer[0] for place, answer in answers.items() if answer is not None}
            lost = [place for place in left if place not in found]
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
        return [found[place] for place in range(len(self._makers))]

    def _play(self, jobs: Mapping[int, Job]) -> dict[int, Any]:
        return self._executor.play_at(jobs, self._observer)


@dataclass(frozen=True)
class ByWorkers:
    """Has things held by the workers of an engine."""

    executor: HasPlaces
    observer: Observer = SILENT

    def hold(self, makers: Sequence[Callable[[], Any]]) -> HeldByWorkers:
        """Make them and hold them."""
        return HeldByWorkers(self.executor, makers, self.observer)


class SplitReleases:
    """Plays one key after the other in this process, its large releases split over workers.

    Parameters
    ----------
    executor
        Whose workers hold the parts.
    """

    workers = 1
    is_here = True

    def __init__(self, executor: HasPlaces) -> None:
        self._executor = executor

    def play(self, job: Job, keys: Sequence[str], observer: Observer = SILENT) -> Ended:
        """Play every key, and give each as it ends."""
        holder = ByWorkers(self._executor, observer)

        def held(key: str) -> Any:
            with holding(holder):
                return job(key)

        yield from Serial().play(held, keys, observer)

    def close(self) -> None:
        """End what was started for it."""
        self._executor.close()


def split_if_few(executor: Executor, keys: Sequence[str], people: int, values: int) -> Executor:
    """Give who plays keys with large releases: in parts where they are fewer than workers.

    As many as there are workers keep these busy by themselves.

    Parameters
    ----------
    executor
        Who has the workers.
    keys
        What is to be played.
    people, values
        People of each release and joint values of their unknown columns.
    """
    if shares_of(people, values) == 1 or not isinstance(executor, HasPlaces):
        return executor
    return SplitReleases(executor) if 0 < len(keys) < executor.workers else executor
