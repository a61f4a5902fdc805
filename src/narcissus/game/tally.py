"""What the trials of one seat have come to so far, and what they say of the statement."""

from __future__ import annotations

import math

import numpy as np

from narcissus.evidence.sequential import log_mean
from narcissus.game.block import Arrays, Seat
from narcissus.game.outcome import BlockScores, unpacked
from narcissus.success.statements import Evidence, Statement


class Tally:
    """Bets against the statement by all attacks of one seat together.

    ``done`` counts the trials so far, ``capital`` is the log of the largest capital, ``decided``
    the trial at which it reached ``hurdle``, None if it never did. ``decides`` is the attack with
    the largest capital, at that trial or at the last one.
    """

    def __init__(self, seat: Seat, claim: Statement, hurdle: float) -> None:
        self.seat, self.claim, self.hurdle = seat, claim, hurdle
        self.evidence = {name: Evidence(claim) for name in seat.attacks}
        self.collected: dict[str, list[BlockScores]] = {name: [] for name in seat.attacks}
        self.done = 0
        self.decided: int | None = None
        self.capital = -math.inf
        self.decides = ""

    def add(self, size: int, arrays: Arrays) -> None:
        """Take one more block into account."""
        blocks = {name: unpacked(arrays, place) for place, name in enumerate(self.seat.attacks)}
        paths = [self.evidence[name].update(block.scores) for name, block in blocks.items()]
        capital = log_mean(np.stack(paths))
        for name, block in blocks.items():
            self.collected[name].append(block.moved(self.done))
        self.capital = max(self.capital, float(capital.max()))
        if self.decided is None:
            last = len(capital) - 1
            if self.capital >= self.hurdle:
                last = int(np.argmax(capital >= self.hurdle))
                self.decided = self.done + last + 1
            # of attacks that say the same but for rounding, the first
            each = {name: round(float(p[last]), 6) for name, p in zip(blocks, paths, strict=True)}
            self.decides = max(each, key=lambda name: each[name])
        self.done += size
