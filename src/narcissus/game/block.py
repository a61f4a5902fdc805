"""One block of trials: draw, tell, release, let every attack try, score. Everything plays this.

A trial draws ``Nature`` and ``S``, tells the attacker ``K``, releases ``y = M(S)``, takes the
attempt ``z = A(y, K)`` and scores ``R(S, z)``; then it draws fresh data sets ``T`` from the same
``Nature`` given ``K`` and scores the same ``z`` against them, or takes the exact chance of that:
the attacker's own baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.base import Failure, ToldMore
from narcissus.game.asking import ask, converse, guarded
from narcissus.game.rules import Game
from narcissus.game.scoring import Floats, Hits, exact_baseline, score, surprising
from narcissus.knowledge.base import MoreKnowledge
from narcissus.mechanisms.base import is_interactive
from narcissus.success.relations.base import Attempts
from narcissus.worlds.base import Batch, Draw

Arrays = Mapping[str, NDArray[np.generic]]
"""What is kept of a block, as plain arrays, to be stored or sent."""


@dataclass(frozen=True)
class Sources:
    """The generators of one block.

    Attributes
    ----------
    world
        Draws the data, what is told of it and fresh data, and tosses for relations with coins.
    release
        Of the mechanism.
    attack
        From an attack's place and name to its generator.
    """

    world: np.random.Generator
    release: np.random.Generator
    attack: Callable[[int, str], np.random.Generator]


class Streams(Protocol):
    """Says which generators a block gets: from its number and seat alone, whoever plays it."""

    def __call__(self, number: int, place: int) -> Sources:
        """Give the generators of the block ``number`` of the seat ``place``."""
        ...


@dataclass(frozen=True)
class Turn:
    """What one attack made of a block.

    Attributes
    ----------
    attempts, failures
        Its attempts, and where it raised.
    success
        Whether each attempt holds for the data, shape (trials,) or (trials, targets).
    baseline
        How often each holds for a fresh data set; same shape.
    fresh
        Fresh data sets behind ``baseline``; 0 where it is exact.
    """

    attempts: Attempts
    failures: list[Failure]
    success: Hits
    baseline: Floats
    fresh: int


@dataclass(frozen=True)
class Seat:
    """One game of a family, with the attacks that are prepared for it.

    Attributes
    ----------
    name
        Of the distribution, or of the level of noise; empty where there is one only.
    game, attacks
        The game, and the attacks by name.
    first
        Attacks that take part in the first so many blocks only, by name.
    strict
        Whether an attack that raises ends the run; else those trials count as failures.
    """

    name: str
    game: Game
    attacks: Mapping[str, Any]
    first: Mapping[str, int] = field(default_factory=dict)
    strict: bool = False

    def playing(self, number: int) -> dict[str, Any]:
        """Give the attacks that take part in a block."""
        return {
            name: attack
            for name, attack in self.attacks.items()
            if number < self.first.get(name, number + 1)
        }


@dataclass(frozen=True)
class Round:
    """A block that was played.

    Attributes
    ----------
    seat, number, place
        The game with its attacks, the block's number and its seat's place.
    draw, known, release
        The data, what the game told, what was released: batches.
    turns
        What each attack made of it, by name.
    """

    seat: Seat
    number: int
    place: int
    draw: Draw
    known: Batch
    release: Batch
    turns: dict[str, Turn] = field(default_factory=dict)
    _added: dict[MoreKnowledge, Batch] = field(default_factory=dict, init=False)

    def told(self, more: MoreKnowledge) -> Batch:
        """Give what somebody is told who is told more than the game tells; worked out once."""
        if more not in self._added:
            self._added[more] = more.add(self.draw, self.known)
        return self._added[more]

    def attempts(
        self, attacks: Mapping[str, Any], sources: Sources
    ) -> dict[str, tuple[Attempts, list[Failure]]]:
        """Let each attack try."""
        game = self.seat.game
        made: dict[str, tuple[Attempts, list[Failure]]] = {}
        for place, (name, attack) in enumerate(attacks.items()):
            rng = sources.attack(place, name)
            if is_interactive(game.mechanism):
                made[name] = converse(game.mechanism, self.draw, attack, rng)
                continue
            known = self.told(attack.knows) if isinstance(attack, ToldMore) else self.known
            made[name] = ask(
                attack, self.release, known, self.draw.trials, rng, strict=self.seat.strict
            )
        return made

    def again(self, data: Batch, sources: Sources) -> dict[str, Attempts]:
        """Release other data, and let those try who know no more than the game tells."""
        attacks = {
            name: attack
            for name, attack in self.seat.playing(self.number).items()
            if not isinstance(attack, ToldMore)
        }
        release = _released(self.seat.game, data, sources)
        other = Round(self.seat, self.number, self.place, Draw(data), self.known, release)
        return {name: made for name, (made, _) in other.attempts(attacks, sources).items()}


class Measure(Protocol):
    """What is kept of a block: named arrays, worked out where the block is played."""

    def __call__(self, played: Round) -> Arrays:
        """Give the arrays."""
        ...


def play_block(
    seat: Seat, number: int, place: int, *, size: int, streams: Streams, fresh: int = 1
) -> Round:
    """Play one block of ``size`` trials; what comes out depends on these arguments alone.

    Raises
    ------
    InputError
        A part of the game raised, or gave something that cannot be scored.
    """
    game, sources = seat.game, streams(number, place)
    world = sources.world
    draw = guarded("world", game.world, lambda: game.world.draw(size, world))
    known = None if game.side is None else game.side.reveal(game.world, draw, world)
    played = Round(seat, number, place, draw, known, _released(game, draw.data, sources))
    made = played.attempts(seat.playing(number), sources)
    success: dict[str, Hits] = {}
    exact: dict[str, Floats | None] = {}
    for name, (attempts, _) in made.items():
        success[name] = score(game.relation, draw.data, attempts, world)
        if game.surprisal is not None:
            success[name] &= surprising(game, draw, known, attempts)
        exact[name] = exact_baseline(game, known, attempts)
    open_ = {name: made[name][0] for name, chance in exact.items() if chance is None}
    sampled = _against_fresh(played, open_, world, fresh)
    for name, (attempts, failures) in made.items():
        chance = exact[name]
        baseline, count = (sampled[name], fresh) if chance is None else (chance, 0)
        played.turns[name] = Turn(attempts, failures, success[name], baseline, count)
    return played


def _released(game: Game, data: Batch, sources: Sources) -> Batch:
    if is_interactive(game.mechanism):
        return None
    return guarded(
        "mechanism", game.mechanism, lambda: game.mechanism.release(data, sources.release)
    )


def _against_fresh(
    played: Round, attempts: Mapping[str, Attempts], rng: np.random.Generator, fresh: int
) -> dict[str, Floats]:
    """Give the share of fresh data sets for which each attempt holds."""
    game, draw = played.seat.game, played.draw
    held = {name: np.zeros(draw.trials) for name in attempts}

    def others() -> Batch:
        if game.side is None:
            return game.world.fresh(draw, rng)
        return game.side.fresh(game.world, draw, played.known, rng)

    for _ in range(fresh if held else 0):
        data = guarded("world", game.world, others)
        for name, made in attempts.items():
            held[name] += score(game.looser or game.relation, data, made, rng)
    return {name: total / fresh for name, total in held.items()}
