"""Estimates from below of the resilience profile, for worlds too large to write out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._random import RandomSource, child, entropy_of
from narcissus._validation import fraction, integer
from narcissus.errors import InputError, TooLargeError
from narcissus.evidence import mean_limits
from narcissus.game import Game, play
from narcissus.game.executor import Executor, Serial, soon
from narcissus.profiles.profile import EPSILONS, game_of
from narcissus.profiles.write_out import LIMIT, write_out
from narcissus.profiles.written import WrittenOut
from narcissus.results import Estimate
from narcissus.success.statements import Resilience
from narcissus.worlds.base import Draw, Enumeration, World
from narcissus.worlds.batches import distinct, gather, key_of, stacked
from narcissus.worlds.finite import Finite

MOST_DRAWS = 1_000_000
"""Most data sets from which an attacker learns."""


@dataclass(frozen=True)
class _Sampled:
    """A world of data sets drawn from another one, all equally likely.

    Where the draw decides on the fresh data set as well, as in a world of pairs, ``pairs`` holds
    the numbers of both and ``weight`` how often they came together.
    """

    sets: Any
    pairs: NDArray[np.int64] | None = None
    weight: NDArray[np.float64] | None = None

    def count(self) -> int:
        return len(self.sets)

    def enumerate(self) -> Enumeration:
        if self.pairs is None or self.weight is None:
            return Finite(self.sets).enumerate()
        each, none = np.eye(len(self.sets)), np.zeros(len(self.pairs), dtype=np.int64)
        released, other = self.pairs.T
        return Enumeration(self.sets, self.weight, each[released], each[other], none)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        return Draw(gather(self.sets, rng.integers(0, len(self.sets), trials)))

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Any:
        return self.draw(draw.trials, rng).data


def sampled_profile(
    game: Any,
    epsilon: float | Iterable[float] = EPSILONS,
    *,
    draws: int = 2_000,
    trials: int = 10_000,
    confidence: float = 0.95,
    limit: int = LIMIT,
    rng: RandomSource = None,
    executor: Executor | None = None,
) -> list[Estimate]:
    """Estimate the profile of a large game from below, by sampling releases.

    The best attacker of a world of ``draws`` sampled data sets is learned, then played against
    fresh ones. Its gain, ``success - e^epsilon baseline``, is at most ``delta(epsilon)``, so the
    lower limits hold for the profile. A better attacker may exist: ``high`` is None.

    Parameters
    ----------
    game
        Mechanism and relation must be ones that can be written out for the sampled data sets.
        Families and side information are not sampled.
    epsilon
        Where to estimate.
    draws
        Data sets from which the attacker learns.
    trials
        Trials for each epsilon.
    confidence
        Level of each lower limit.
    limit
        Largest number of (data set, release) pairs to learn from.
    rng
        Seed.
    executor
        Plays the games, where that takes long; None is this process.
    """
    game = game_of(game).single("a profile by sampling")
    if game.side is not None:
        raise InputError("the profile with side information is not sampled; play the game instead")
    points = [epsilon] if isinstance(epsilon, int | float) else list(epsilon)
    integer("draws", draws, low=2, high=MOST_DRAWS)
    level = fraction("confidence", confidence)
    entropy = entropy_of(rng)
    small = Game(
        _some(game.world, draws, child(entropy, 0), limit),
        game.mechanism,
        game.relation,
        looser=game.looser,
    )
    learned = write_out(small, limit=limit)
    job = _Played(game, learned, points, trials, level, entropy)
    keys = [str(number) for number in range(len(points))]
    return list(soon(executor or Serial(), job, keys))


def _some(world: World, draws: int, rng: np.random.Generator, limit: int) -> _Sampled:
    """Draw data sets, with their fresh ones where the draw decides on both."""
    drawn = world.draw(draws, rng)
    fresh = None if drawn.nature is None else world.fresh(drawn, rng)
    # The same again, whatever is drawn: then it belongs to the draw.
    if fresh is None or any(
        key_of(a) != key_of(b) for a, b in zip(fresh, world.fresh(drawn, rng), strict=True)
    ):
        return _Sampled(distinct(drawn.data)[0])
    sets, number = distinct(stacked([*drawn.data, *fresh]))
    pairs, often = np.unique(number.reshape(2, -1).T, axis=0, return_counts=True)
    if len(sets) * len(pairs) > limit:
        raise TooLargeError(
            f"{draws:,} draws are {len(pairs):,} pairs of {len(sets):,} data sets, too many to "
            f"learn from together (at most {limit:,} of both multiplied): sample fewer"
        )
    return _Sampled(sets, pairs, often / draws)


@dataclass(frozen=True)
class _Played:
    """Play of the attacker learned for an epsilon, which is passed by its position."""

    game: Game
    learned: WrittenOut
    points: Sequence[float]
    trials: int
    level: float
    entropy: int

    def __call__(self, key: str) -> Estimate:
        point = self.points[int(key)]
        played = play(
            self.game,
            self.learned.attacker(point),
            Resilience(point),
            trials=self.trials,
            stop=False,
            rng=int(child(self.entropy, 1, int(key)).integers(2**62)),
        )
        scores = played.attackers[0].scores
        factor = math.exp(point)
        gain = scores.success - factor * scores.baseline
        limits = mean_limits((gain + factor) / (1 + factor), confidence=2 * self.level - 1)
        assert limits.low is not None
        return Estimate(
            max(0.0, float(gain.mean())),
            max(0.0, limits.low * (1 + factor) - factor),
            None,
            self.level,
            self.trials,
            quantity=f"delta at epsilon {point:g}",
            method="learned attacker, played; betting",
            why="a better attacker may exist: there is no upper limit",
        )
