"""One block of trials, which every run plays: draw, tell, release, attack, score.

A trial draws ``Nature`` and ``S``, tells the attacker ``K``, releases ``y = M(S)``, takes the
attempt ``z = A(y, K)`` and scores ``R(S, z)``; then it draws fresh data sets ``T`` from the same
``Nature`` given ``K`` and scores the same ``z`` against them, or takes the exact chance of that:
the attacker's own baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.base import Answers, Asks, ToldMore
from narcissus.game.asking import KEPT, ask, converse, guarded
from narcissus.game.rules import Game, is_own
from narcissus.game.scoring import Floats, Scores, exact_baseline, score, surprising
from narcissus.knowledge.base import MoreKnowledge
from narcissus.mechanisms.base import is_interactive
from narcissus.success.relations.base import Attempts
from narcissus.worlds.base import Batch, Draw

Arrays = Mapping[str, NDArray[np.generic]]
"""What is kept of a block, as plain arrays, to be stored or sent."""


@dataclass(frozen=True)
class Sources:
    """The generators of one block."""

    world: np.random.Generator
    """Draws the data, what is told of it, fresh data, and coins of relations."""
    release: np.random.Generator
    """Of the mechanism."""
    attack: Callable[[int, str], np.random.Generator]
    """From an attack's place and name to its own."""


Streams = Callable[[int, int], Sources]
"""From a block's number and its seat's place to its generators, whoever plays it."""


@dataclass(frozen=True)
class Turn:
    """The attempts and scores of one attack in a block."""

    attempts: Answers
    success: Scores
    """Whether each attempt holds for the data, or how much it is worth, in [0, 1]; shape (trials,)
    or (trials, targets)."""
    baseline: Floats
    """How often each holds for a fresh data set; same shape."""
    fresh: int
    """Fresh data sets behind ``baseline``; 0 where it is exact."""


@dataclass(frozen=True)
class Seat:
    """One game of a family, with the attacks prepared for it."""

    name: str
    """Of the distribution, or of the level of noise; empty where there is one only."""
    game: Game
    attacks: Mapping[str, Any]
    first: Mapping[str, int] = field(default_factory=dict)
    """Attacks that take part in the first so many blocks only, by name."""
    strict: bool = False
    """Whether an attack that raises ends the run; else those trials count as failures."""

    def playing(self, number: int) -> dict[str, Any]:
        """Return the attacks that take part in a block."""
        return {
            name: attack
            for name, attack in self.attacks.items()
            if number < self.first.get(name, number + 1)
        }


@dataclass(frozen=True, eq=False)
class Deal:
    """The data of a block, and the side information about them, before any release."""

    draw: Draw
    known: Batch

    @classmethod
    def of(cls, game: Game, size: int, rng: np.random.Generator) -> Deal:
        """Draw the data of ``size`` trials and their side information."""
        draw = guarded("world", game.world, lambda: game.world.draw(size, rng))
        known = None if game.side is None else game.side.reveal(game.world, draw, rng)
        return cls(draw, known)


@dataclass(frozen=True)
class Round:
    """A block that was played: data, side information, release, and each attack's turn."""

    seat: Seat
    number: int
    place: int
    """Of its seat."""
    draw: Draw
    known: Batch
    release: Batch
    turns: dict[str, Turn] = field(default_factory=dict)
    _added: dict[MoreKnowledge, Batch] = field(default_factory=dict, init=False)

    def told(self, more: MoreKnowledge) -> Batch:
        """Return the side information of an attacker who is told more than others; cached."""
        if more not in self._added:
            self._added[more] = more.add(self.draw, self.known)
        return self._added[more]

    def attempts(self, attacks: Mapping[str, Any], sources: Sources) -> dict[str, Answers]:
        game = self.seat.game
        made: dict[str, Answers] = {}
        for place, (name, attack) in enumerate(attacks.items()):
            rng = sources.attack(place, name)
            more = attack.knows if isinstance(attack, ToldMore) else None
            known = self.known if more is None else self.told(more)
            if is_interactive(game.mechanism):
                # What was said of data of the user's own world may name people: it is not kept.
                kept = KEPT if self.number == 0 and not is_own(game.world) else 0
                asks = cast("Asks", attack)
                made[name] = converse(game.mechanism, self.draw, known, asks, rng, kept=kept)
                continue
            made[name] = ask(
                attack, self.release, known, self.draw.trials, rng, strict=self.seat.strict
            )
        return made

    def again(self, data: Batch, sources: Sources) -> dict[str, Answers]:
        """Release other data, and run the attacks that know no more than the game tells."""
        attacks = {
            name: attack
            for name, attack in self.seat.playing(self.number).items()
            if not isinstance(attack, ToldMore)
        }
        release = _released(self.seat.game, data, sources)
        other = Round(self.seat, self.number, self.place, Draw(data), self.known, release)
        return other.attempts(attacks, sources)


Measure = Callable[[Round], Arrays]
"""What is kept of a block: named arrays, worked out where the block is played."""


def play_block(
    seat: Seat,
    number: int,
    place: int,
    *,
    size: int,
    streams: Streams,
    fresh: int = 1,
    deal: Deal | None = None,
) -> Round:
    """Play one block of ``size`` trials; the result depends on these arguments alone.

    Seats that share world, side information and the generator of the world, and whose relation
    tosses no coins, may share a ``deal``: then nothing is drawn. Raises `InputError` where a part
    of the game raised, or returned something that cannot be scored.
    """
    game, sources = seat.game, streams(number, place)
    world = sources.world
    dealt = Deal.of(game, size, world) if deal is None else deal
    known, released = dealt.known, _released(game, dealt.draw.data, sources)
    played = Round(seat, number, place, dealt.draw, known, released)
    made = played.attempts(seat.playing(number), sources)
    success = {name: _success(played, attempts, world) for name, attempts in made.items()}
    exact = {name: exact_baseline(game, known, attempts) for name, attempts in made.items()}
    sampled = _against_fresh(
        played, {name: made[name] for name in made if exact[name] is None}, world, fresh
    )
    for name, attempts in made.items():
        chance = exact[name]
        baseline, count = (sampled[name], fresh) if chance is None else (chance, 0)
        played.turns[name] = Turn(attempts, success[name], baseline, count)
    return played


def _success(played: Round, attempts: Attempts, rng: np.random.Generator) -> Scores:
    game, draw = played.seat.game, played.draw
    held = score(game.relation, draw.data, attempts, rng)
    if (kept := game.kept) is not None:
        counts = surprising(game, game.relation, kept, draw, played.known, attempts)
        return np.logical_and(held, counts)
    return held


def _released(game: Game, data: Batch, sources: Sources) -> Batch:
    if is_interactive(game.mechanism):
        return None
    return guarded(
        "mechanism", game.mechanism, lambda: game.mechanism.release(data, sources.release)
    )


def _against_fresh(
    played: Round, attempts: Mapping[str, Attempts], rng: np.random.Generator, fresh: int
) -> dict[str, Floats]:
    """Compute the share of fresh data sets for which each attempt holds."""
    game, draw = played.seat.game, played.draw
    held = {name: np.zeros(draw.trials) for name in attempts}
    relation, kept = game.looser or game.relation, game.kept and game.kept.of_fresh

    def others() -> Batch:
        if game.side is None:
            return game.world.fresh(draw, rng)
        return game.side.fresh(game.world, draw, played.known, rng)

    for _ in range(fresh if held else 0):
        data = guarded("world", game.world, others)
        for name, made in attempts.items():
            hits = score(relation, data, made, rng)
            if kept is not None:
                other = Draw(data, draw.nature)
                counts = surprising(game, relation, kept, other, played.known, made)
                hits = np.logical_and(hits, counts)
            held[name] += hits
    return {name: total / fresh for name, total in held.items()}
