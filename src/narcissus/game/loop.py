"""The one loop: draw a data set, release it, attack the release, score it and a fresh data set.

A trial draws ``Nature`` and ``S``, tells the attacker ``K``, releases ``y = M(S)``, takes the
attempt ``z = A(y, K)`` and scores ``R(S, z)``; then it draws fresh data sets ``T`` from the same
``Nature`` given ``K`` and scores the same ``z`` against them: the attacker's own baseline.
Trials are played in blocks whose size and random numbers depend on the game and the seed alone,
so that they may be played anywhere, and stored; they are looked at in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._random import RandomSource, child, entropy_of
from narcissus._validation import between, integer
from narcissus.attacks.base import Failure
from narcissus.errors import InputError
from narcissus.evidence.sequential import log_mean
from narcissus.game.asking import ask, converse, guarded
from narcissus.game.outcome import Arrays, Block, Play, packed, remarks, summary, unpacked
from narcissus.game.rules import Game, is_own
from narcissus.observer import SILENT, Observer
from narcissus.success.relations.base import Attempts, take
from narcissus.success.statements import (
    Evidence,
    Resilience,
    Scores,
    Statement,
    largest_refuted,
    prepared,
)
from narcissus.worlds.base import Draw
from narcissus.worlds.batches import gather, stacked

Blocks = Generator[Arrays, None, None]
Through = Callable[[Callable[[str], Arrays], Sequence[str]], Blocks]


def in_turn(player: Callable[[str], Arrays], keys: Sequence[str]) -> Blocks:
    """Play one block after the other, in this process."""
    for key in keys:
        yield player(key)


def play(
    game: Game,
    attacks: Mapping[str, Any] | Any,
    statement: Statement | None = None,
    *,
    trials: int = 10_000,
    fresh: int = 1,
    confidence: float = 0.95,
    stop: bool = True,
    rng: RandomSource = None,
    observer: Observer = SILENT,
    through: Through = in_turn,
) -> Play:
    """Play a game and weigh the evidence against a statement.

    Parameters
    ----------
    game
        What is played. Each member of a family is played and judged by itself, with attackers
        prepared for it; the level is shared among the members, and one of them is named.
    attacks
        One attacker, or several by name: their capital is averaged, so trying several is paid for.
    statement
        What is tested; by default resilience at epsilon 0 and delta 0.
    trials
        Most trials to play, shared evenly among the members of a family.
    fresh
        Fresh data sets for each attempt, where the baseline has no formula.
    confidence
        Level of "violates", and of all limits together.
    stop
        End the run once the statement is refuted. The evidence is valid either way.
    rng
        Seed; with it a run is repeated exactly.
    observer
        Hears of progress.
    through
        Plays blocks by their keys and gives them in the order of the keys: in worker processes,
        or out of a store. The numbers do not depend on it.

    Raises
    ------
    InputError
        The game cannot be played: the relation raised or gave something else than true or false,
        side information contradicts the world, an attack does not fit.
    """
    integer("trials", trials, low=1)
    integer("fresh", fresh, low=1)
    level = between("confidence", confidence, 0, 1, open_low=True, open_high=True)
    entropy = entropy_of(rng)
    claim = statement or Resilience()
    seats = _seats(game, attacks)
    # Paid for once for each member of a family: a member is named, so each is a claim.
    hurdle = math.log(len(seats)) - math.log(1 - level)
    tallies = [_Tally(seat, prepared(claim, seat.game), hurdle) for seat in seats]
    plan = _plan(seats, trials)
    observer.start("trials", sum(block.size for block in plan))
    keys = [block.key for block in plan]
    with closing(through(BlockPlayer(seats, fresh, entropy), keys)) as results:
        for block, arrays in zip(plan, results, strict=True):
            tally = tallies[block.seat]
            tally.add(block.size, arrays)
            observer.advance(block.size)
            if stop and tally.decided is not None:
                break
    observer.finish()
    worst = max(tallies, key=lambda tally: (tally.decided is not None, tally.capital))
    share = (1 - level) / len(worst.seat.players) / len(seats)
    attackers = [
        summary(name, blocks, 1 - share, stopped=stop) for name, blocks in worst.collected.items()
    ]
    refuted = None
    if isinstance(claim, Resilience):
        refuted = largest_refuted([one.scores for one in attackers], claim.delta, hurdle)
    return Play(
        outcome="no violation found" if worst.decided is None else "violates",
        statement=worst.claim,
        confidence=level,
        trials=worst.done,
        decided=worst.decided,
        capital=worst.capital,
        refuted=refuted,
        attackers=attackers,
        entropy=entropy,
        remarks=remarks(attackers),
        member=worst.seat.name,
        members=len(seats),
    )


@dataclass(frozen=True)
class Seat:
    """One distribution of the world, with the attackers who are prepared for it."""

    name: str
    game: Game
    players: dict[str, Any]


def _seats(game: Game, attacks: Mapping[str, Any] | Any) -> list[Seat]:
    named: dict[str, Any] = dict(attacks) if isinstance(attacks, Mapping) else {"attack": attacks}
    if not named:
        raise InputError("a game needs at least one attack to be played")
    return [
        Seat(
            name,
            member,
            {
                title: attack.prepare(member) if hasattr(attack, "prepare") else attack
                for title, attack in named.items()
            },
        )
        for name, member in game.members().items()
    ]


class _Tally:
    """What the trials of one distribution have come to so far."""

    def __init__(self, seat: Seat, claim: Statement, hurdle: float) -> None:
        self.seat, self.claim, self.hurdle = seat, claim, hurdle
        self.evidence = {name: Evidence(claim) for name in seat.players}
        self.collected: dict[str, list[Block]] = {name: [] for name in seat.players}
        self.done = 0
        self.decided: int | None = None
        self.capital = -math.inf

    def add(self, size: int, arrays: Arrays) -> None:
        """Take one more block into account."""
        blocks = {name: unpacked(arrays, place) for place, name in enumerate(self.seat.players)}
        paths = [self.evidence[name].update(block.scores) for name, block in blocks.items()]
        capital = log_mean(np.stack(paths))
        for name, block in blocks.items():
            self.collected[name].append(block.moved(self.done))
        self.capital = max(self.capital, float(capital.max()))
        if self.decided is None and self.capital >= self.hurdle:
            self.decided = self.done + int(np.argmax(capital >= self.hurdle)) + 1
        self.done += size


@dataclass(frozen=True)
class _Planned:
    """A block to play: its number, its size, and which distribution it is of."""

    number: int
    size: int
    seat: int
    key: str


def _plan(seats: Sequence[Seat], trials: int) -> list[_Planned]:
    """Share the trials among the distributions, and take their blocks in turn."""
    shares = [max(1, (trials + place) // len(seats)) for place in range(len(seats))][::-1]
    plan: list[_Planned] = []
    for place, seat in enumerate(seats):
        for number, size in enumerate(_blocks(seat.game, seat.players, shares[place])):
            # The size stands in the key: a longer run may cut its last block elsewhere.
            key = f"batch/{number}/{size}" + (f"/{place}" if len(seats) > 1 else "")
            plan.append(_Planned(number, size, place, key))
    return sorted(plan, key=lambda block: (block.number, block.seat))


_BLOCK_BYTES = 32_000_000
_FIRST_BLOCK, _LARGEST_BLOCK = 500, 10_000


def _blocks(game: Game, players: Mapping[str, Any], trials: int) -> Iterator[int]:
    """Give block sizes: such that a block's data is some 32 MB, whatever the machine."""
    rng = np.random.default_rng(0)
    sample = guarded("world", game.world, lambda: game.world.draw(1, rng))
    entry = sample.data[0]
    size = entry.nbytes if isinstance(entry, np.ndarray | np.generic) else 1_000
    told = None if game.side is None else game.side.reveal(game.world, sample, rng)
    # Both may be much larger than the data: a whole population.
    size += sum(part.nbytes for part in (sample.nature, told) if isinstance(part, np.ndarray))
    block = max(1, min(_LARGEST_BLOCK, _BLOCK_BYTES // max(size, 1)))
    # The first blocks are small, so that a plain violation is seen at once.
    done, now = 0, min(block, _FIRST_BLOCK)
    if _slow(game, players):
        block = now  # an interrupted run loses the blocks in flight
    while done < trials:
        count = min(now, trials - done)
        yield count
        done += count
        now = min(block, now * 4)


def _slow(game: Game, players: Mapping[str, Any]) -> bool:
    """Say whether a trial may take long: parts of the user's own, or a conversation."""
    parts = [game.world, game.mechanism, game.relation, game.side, game.looser, *players.values()]
    return getattr(game.mechanism, "interactive", False) or is_own(parts)


@dataclass(frozen=True)
class BlockPlayer:
    """Plays a block by its key; what comes out depends on that alone.

    A key is ``batch/NUMBER/SIZE``, and ``/PLACE`` of the distribution in a family.
    """

    seats: Sequence[Seat]
    fresh: int
    entropy: int

    def __call__(self, key: str) -> Arrays:
        """Play the block; give its scores as arrays."""
        _, number, size, *place = key.split("/")
        seat, entropy = self.seats[0], self.entropy
        if place:
            seat = self.seats[int(place[0])]
            entropy = int(child(entropy, 0, 0, int(place[0])).integers(2**63))
        block = (int(number), int(size))
        played = _play_block(seat.game, seat.players, block, fresh=self.fresh, entropy=entropy)
        return packed(list(played.values()))


def _play_block(
    game: Game, players: dict[str, Any], block: tuple[int, int], *, fresh: int, entropy: int
) -> dict[str, Block]:
    """Play one block, given by its number and size; give the scores of each attacker."""
    number, size = block
    rng = child(entropy, 0, number)
    draw = guarded("world", game.world, lambda: game.world.draw(size, rng))
    known = None if game.side is None else game.side.reveal(game.world, draw, rng)
    interactive = getattr(game.mechanism, "interactive", False)
    release = (
        None
        if interactive
        else guarded("mechanism", game.mechanism, lambda: game.mechanism.release(draw.data, rng))
    )
    made: dict[str, tuple[Attempts, list[Failure]]] = {}
    for place, (name, attack) in enumerate(players.items()):
        own = child(entropy, 1 + place, number)
        if interactive:
            made[name] = converse(game.mechanism, draw, attack, own)
        else:
            made[name] = ask(attack, release, known, size, own)
    success: dict[str, NDArray[np.bool_]] = {}
    exact: dict[str, NDArray[np.float64] | None] = {}
    for name, (attempts, _) in made.items():
        success[name] = _score(game, game.relation, draw.data, attempts, rng)
        if game.surprisal is not None:
            success[name] &= _surprising(game, draw, known, attempts)
        exact[name] = _exact_baseline(game, attempts)
    sampled = {name: np.zeros(size) for name, chance in exact.items() if chance is None}
    for _ in range(fresh if sampled else 0):
        others = guarded("world", game.world, lambda: _fresh(game, draw, known, rng))
        for name in sampled:
            attempts = made[name][0]
            sampled[name] += _score(game, game.looser or game.relation, others, attempts, rng)
    result: dict[str, Block] = {}
    for name, (attempts, failures) in made.items():
        chance = exact[name]
        scores = Scores(
            success[name],
            sampled[name] / fresh if chance is None else chance,
            fresh if chance is None else 0,
            _weight(game, attempts, size),
            attempts.made,
        )
        result[name] = Block(scores, len(failures), failures[:20])
    return result


def _fresh(game: Game, draw: Draw, known: Any, rng: np.random.Generator) -> Any:
    if game.side is None:
        return game.world.fresh(draw, rng)
    return game.side.fresh(game.world, draw, known, rng)


def _score(
    game: Game, relation: Any, data: Any, attempts: Attempts, rng: np.random.Generator
) -> NDArray[np.bool_]:
    if attempts.made.all():
        values, rows = attempts.values, None
    else:
        rows = np.flatnonzero(attempts.made)
        if not rows.size:
            return np.zeros(len(attempts.made), dtype=bool)
        values, data = take(attempts.values, rows), gather(data, rows)
    try:
        if isinstance(values, list) and isinstance(data, np.ndarray):
            values = stacked(values)
        held = np.asarray(relation.holds(data, values, rng))
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"the relation {type(relation).__name__} cannot score an attempt: "
            f"{type(error).__name__}: {error}"
        ) from error
    if held.dtype != np.bool_ or held.shape != (len(values),):
        raise InputError(
            f"the relation {type(relation).__name__} must give one true or false for each trial, "
            f"got {held.dtype} of shape {held.shape} for {len(values)} trials"
        )
    if rows is None:
        return held
    scores = np.zeros(len(attempts.made), dtype=bool)
    scores[rows] = held
    return scores


def _exact_baseline(game: Game, attempts: Attempts) -> NDArray[np.float64] | None:
    """Give the exact chance of each attempt against a fresh data set, where it has a formula."""
    relation = game.looser or game.relation
    if game.side is not None or not hasattr(relation, "baseline"):
        return None
    values = attempts.values
    if isinstance(values, list) and not (values and callable(values[0])):
        return None
    chance = relation.baseline(game.world, values)
    return None if chance is None else np.where(attempts.made, chance, 0.0)


def _surprising(game: Game, draw: Draw, known: Any, attempts: Attempts) -> NDArray[np.bool_]:
    """Say where some recovered row is still surprising to who knows ``K`` and the other rows."""
    result = np.zeros(draw.trials, dtype=bool)
    made = np.flatnonzero(attempts.made)
    if not made.size:
        return result
    values = np.asarray(take(attempts.values, made))
    match = game.relation.matches(gather(draw.data, made), values)
    for place in range(match.shape[1]):
        rows = made[match[:, place] & ~result[made]]
        if not rows.size:
            continue
        some, index = draw.take(rows), np.full(rows.size, place)
        told = game.side.surprisal(game.world, some, gather(known, rows), index)
        plain = game.world.surprisal(some, index)
        result[rows] = told >= game.surprisal * plain - 1e-9
    return result


def _weight(game: Game, attempts: Attempts, size: int) -> NDArray[np.float64]:
    if not hasattr(attempts.values, "weight"):
        return np.full(size, np.nan)
    weight = attempts.values.weight(game.world)
    return np.full(size, np.nan) if weight is None else weight
