"""Reproduction of items: piece by piece, on any engine, kept as they end, resumable.

An engine plays the pieces, which are the long work, and the items without pieces. An item with
pieces is assembled here, quickly, as soon as the last is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from narcissus.game.executor import WORTH_SENDING, Executor, KeyLostError, Serial, each_or_lost
from narcissus.observer import SILENT, Observer
from narcissus.study.engines import executor_of
from narcissus.study.kinds import RunOptions
from narcissus.study.sections import PlayedRun
from narcissus.study.work import agree, in_words
from narcissus_papers.base import Item, Reproduced
from narcissus_papers.job import MadeText, Maker, item_of, key_of, read
from narcissus_papers.kept import KeptItems, digests, origin
from narcissus_papers.page import Made, remove_item, write_item, write_page


def reproduce(
    items: Sequence[Item],
    out: Path | None = None,
    *,
    data: Path | None = None,
    engine: str | Executor | None = None,
    workers: int | None = None,
    hours: float | None = None,
    observer: Observer = SILENT,
) -> list[Made]:
    """Reproduce items; one that fails reports so in its verdict and does not stop the others.

    Parameters
    ----------
    items
        See `narcissus_papers.chosen`.
    out
        Output folder; None writes nothing. Each finished item gets ``PAPER/KIND-NUMBER/`` with
        ``data.csv``, ``data.json`` (numbers, printed values, verdict), ``picture.svg`` and
        ``picture.pdf``; at the end ``index.html`` shows all. Finished pieces and items are kept
        there, and made again only if the code, the versions or the data have changed.
    data
        A folder with the files that items need and the project does not hold (`Item.needs`).
    engine, workers
        As in `narcissus.run`; the default is processes, or this one alone for a few seconds of
        work. No number depends on it.
    hours
        Longest time agreed to; None is any.
    observer
        Receives the expected time, each piece and each item.

    Raises
    ------
    InputError
        The folder cannot be written, or a file of data is not the one that an item needs.
    LongWorkError
        It takes longer than ``hours``.
    """
    found = digests(items, data, observer)
    origins = {item.name: origin(item, found) for item in items}
    run = _Run(items, KeptItems(out, origins), data, observer)
    options = RunOptions(entropy=0, observer=observer, engine=engine, workers=workers)
    is_quick = engine is None and workers is None and run.seconds < WORTH_SENDING
    is_here = is_quick or not run.todo
    with nullcontext(Serial()) if is_here else executor_of(options, PlayedRun()) as executor:
        run.agree(executor, hours)
        run.play(executor)
    made: list[Made] = [(item, run.outcome(item)) for item in items]
    if out is not None:
        for item, one in made:
            if one.failed:
                remove_item(out / item.name)
            else:
                write_item(out / item.name, item, one, anew=False)
        write_page(out / "index.html", made)
    return made


class _Run:
    """Results so far, by key, and what is still to be played."""

    def __init__(
        self, items: Sequence[Item], kept: KeptItems, data: Path | None, observer: Observer
    ) -> None:
        self.items, self.kept, self.data, self.observer = items, kept, data, observer
        self.of = {item.name: item for item in items}
        self.maker = Maker(self.of, None if data is None else data.resolve())
        self.failed: dict[str, str] = {}
        found = {key: kept.get(key) for item in items for key in _keys(item)}
        self.texts = {key: text for key, text in found.items() if text is not None}
        self.todo = [key for item in items for key in self._left(item)]
        self._steps = len(found)

    def _left(self, item: Item) -> list[str]:
        """Return the keys of an item left for the engine."""
        if item.name in self.texts:
            return []
        keys = [key_of(item, piece) for piece in item.pieces] or [item.name]
        return [key for key in keys if key not in self.texts]

    @property
    def seconds(self) -> float:
        return sum(self._seconds(key) for key in self.todo)

    def _seconds(self, key: str) -> float:
        item = self.of[item_of(key)]
        return item.seconds / max(1, len(item.pieces))

    def agree(self, executor: Executor, hours: float | None) -> None:
        if not self.todo:
            return
        processes = min(executor.workers, len(self.todo))
        longest = max(map(self._seconds, self.todo))
        seconds = max(longest, self.seconds / processes)
        count = len({item_of(key) for key in self.todo})
        kept = len(self.items) - count
        work = f"{count} to make again" + (f" ({kept} were made earlier)" if kept else "")
        work += f", in {processes} {'process' if processes == 1 else 'processes'}"
        agree(seconds, work, hours=hours, observer=SILENT, instead="name fewer of them")
        if len(self.todo) > 1 or kept:
            self.observer.note(f"about {in_words(seconds)}: {work}")

    def play(self, executor: Executor) -> None:
        waiting = [item for item in self.items if item.pieces and item.name not in self.texts]
        done = self._steps - len(self.todo) - len(waiting)
        self.observer.start("pieces and items", self._steps, done)
        for item in waiting:  # a run may have stopped before the last step
            self._finish(item)
        # Others have not the user's files; they are not sent.
        here = [key for key in self.todo if self._needs_files(key) and not executor.is_here]
        others = [key for key in self.todo if key not in here]
        for player, keys in ((executor, others), (Serial(), here)):
            for key, tried in each_or_lost(player, self.maker, keys, self.observer):
                lost = isinstance(tried, KeyLostError)
                self._take(key, MadeText("", str(tried)) if lost else tried)
                self._finish(self.of[item_of(key)])
        self.observer.finish()

    def outcome(self, item: Item) -> Reproduced:
        text = self.texts.get(item.name)
        return Reproduced(failed=self.failed[item.name]) if text is None else read(text)

    def _needs_files(self, key: str) -> bool:
        return self.data is not None and bool(self.of[item_of(key)].needs)

    def _take(self, key: str, tried: MadeText) -> None:
        name = item_of(key)
        if tried.why:
            if name not in self.failed:
                self.observer.note(f"{name} failed: {tried.why}")
            self.failed.setdefault(name, tried.why)
        else:
            self.texts[key] = tried.text
            self.kept.put(key, tried.text)
        self.observer.advance()
        if key == name and not tried.why:
            item, made = self.of[name], read(tried.text)
            self.observer.note(f"{name}: {made.verdict}")
            if self.kept.folder is not None:
                write_item(self.kept.folder / name, item, made, anew=True)

    def _finish(self, item: Item) -> None:
        is_over = item.name in self.texts or item.name in self.failed
        if is_over or not item.pieces or self._left(item):
            return
        answers = {piece: self.texts[key_of(item, piece)] for piece in item.pieces}
        self._take(item.name, self.maker.finished(item, answers))


def _keys(item: Item) -> list[str]:
    return [*(key_of(item, piece) for piece in item.pieces), item.name]
