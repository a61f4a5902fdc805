"""How long the trials of a study take, from a few of them."""

from __future__ import annotations

import time

from threadpoolctl import threadpool_limits

from narcissus.errors import NarcissusError
from narcissus.game import play
from narcissus.study.game.schema import GameStudy, Setup
from narcissus.study.load import Study

ENOUGH = 0.1
"""Seconds of play from which the rest is reckoned."""


def seconds_of(study: Study) -> float:
    """Give the seconds that all trials of a game take in one process, roughly; 0 without attack.

    The first trial is played alone, since attacks prepare themselves before it; then ever more at
    once, which take less time each. What is played here counts for nothing. A game that cannot be
    played takes no time.
    """
    settings = study.settings
    assert isinstance(settings, GameStudy)
    if not settings.attack:
        return 0.0
    most = settings.run.trials
    with study.code.in_use(), threadpool_limits(1):
        try:
            setup = settings.build()
            first = _seconds(settings, setup, 1)
            count, more = 1, 0.0
            while more < ENOUGH and count < most:
                count = min(10 * count, most)
                more = max(0.0, _seconds(settings, setup, count) - first)
        except NarcissusError:
            return 0.0
    return first + (more / (count - 1) * (most - 1) if count > 1 else 0.0)


def _seconds(settings: GameStudy, setup: Setup, trials: int) -> float:
    begin = time.perf_counter()
    play(
        setup.game,
        setup.attacks,
        setup.statement,
        trials=trials,
        fresh=settings.run.fresh,
        stop=False,
        rng=0,
    )
    return time.perf_counter() - begin
