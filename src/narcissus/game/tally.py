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
    the trial at which it reached ``hurdle``, None if it never did.
    """

    def __init__(self, seat: Seat, claim: Statement, hurdle: float) -> None:
        self.seat, self.claim, self.hurdle = seat, claim, hurdle
        self.evidence = {name: Evidence(claim) for name in seat.attacks}
        self.collected: dict[str, list[BlockScores]] = {name: [] for name in seat.attacks}
        self.done = 0
        self.decided: int | None = None
        self.capital = -math.inf

    def add(self, size: int, arrays: Arrays) -> None:
        """Take one more block into account."""
        blocks = {name: unpacked(arrays, place) for place, name in enumerate(self.seat.attacks)}
        paths = [self.evidence[name].update(block.scores) for name, block in blocks.items()]
        capital = log_mean(np.stack(paths))
        for name, block in blocks.items():
            self.collected[name].append(block.moved(self.done))
        self.capital = max(self.capital, float(capital.max()))
        if self.decided is None and self.capital >= self.hurdle:
            self.decided = self.done + int(np.argmax(capital >= self.hurdle)) + 1
        self.done += size
