"""The duration of a game, estimated before it is played."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from threadpoolctl import threadpool_limits

from narcissus.game.block import Arrays
from narcissus.game.executor import Executor
from narcissus.game.loop import Blocks, Through
from narcissus.game.rules import is_own
from narcissus.study.game.schema import Setup
from narcissus.study.kinds import RunOptions
from narcissus.study.store import TrialStore
from narcissus.study.work import agree, timed

Player = Callable[[str], Arrays]

ENOUGH = 0.3  # seconds of play from which the rest is reckoned
LONG = 1.0  # seconds of one trial that is taken at its word: others may have paid for a whole block


def agreed(
    through: Through,
    setup: Setup,
    store: TrialStore | None,
    executor: Executor,
    options: RunOptions,
) -> Through:
    """Play blocks through ``through``, once the time of those not in the store was agreed to."""

    def play(player: Player, keys: Sequence[str]) -> Blocks:
        held = store.keys() if store is not None else set[str]()
        left = [key for key in keys if key not in held]
        if left and options.hours is not None:
            is_ours = not is_own([setup.game, *setup.attacks.values()])
            check(player, left, executor, options, is_ours=is_ours)
        yield from through(player, keys)

    return play


def check(
    player: Player, keys: Sequence[str], executor: Executor, options: RunOptions, *, is_ours: bool
) -> None:
    """Refuse blocks that take longer than was agreed to.

    Raises LongWorkError then, or if the first trial of parts that are not ours does not end.
    """
    measure = partial(time_of_trial, player, keys[0])
    seconds = (
        measure()
        if is_ours
        else timed(measure, "the first trial", hours=options.hours, observer=options.observer)
    ) or 0.0
    trials = sum(size_of(key) for key in keys)
    processes = min(executor.workers, len(keys))
    agree(
        trials * seconds / processes,
        f"at most {trials:,} trials of {seconds:.3g} s each, in {processes} processes",
        hours=options.hours,
        observer=options.observer,
    )


def time_of_trial(player: Player, key: str) -> float:
    """Play ever larger blocks until the time of a trial shows; return it in seconds.

    Larger blocks take less time per trial; what is played here counts for nothing.
    """
    batch, number, size, *seat = key.split("/")
    count = 1
    with threadpool_limits(1):  # as where it counts
        while True:
            begin = time.perf_counter()
            player("/".join([batch, number, str(count), *seat]))
            seconds = time.perf_counter() - begin
            if count >= int(size) or (seconds >= ENOUGH and (count > 1 or seconds >= LONG)):
                return seconds / count
            count = min(10 * count, int(size))


def size_of(key: str) -> int:
    """Return the number of trials of a block."""
    return int(key.split("/")[2])
