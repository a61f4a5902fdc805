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
from narcissus.game.rules import Game
from narcissus.observer import SILENT, Observer
from narcissus.priors.worlds.base import Draw
from narcissus.priors.worlds.batches import gather
from narcissus.success.relations.base import Attempts, take
from narcissus.success.statements import Evidence, Resilience, Scores, Statement, largest_refuted

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
        What is played.
    attacks
        One attacker, or several by name: their capital is averaged, so trying several is paid for.
    statement
        What is tested; by default resilience at epsilon 0 and delta 0.
    trials
        Most trials to play.
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
    players = _prepared(game, attacks)
    claim = statement or Resilience()
    hurdle = -math.log(1 - level)
    evidence = {name: Evidence(claim) for name in players}
    collected: dict[str, list[Block]] = {name: [] for name in players}
    done, decided, best = 0, None, -math.inf
    observer.start("trials", trials)
    sizes = list(_blocks(game, players, trials))
    # The size stands in the key: a longer run may cut its last block elsewhere.
    keys = [f"batch/{number}/{size}" for number, size in enumerate(sizes)]
    with closing(through(BlockPlayer(game, players, fresh, entropy), keys)) as results:
        for size, arrays in zip(sizes, results, strict=True):
            blocks = {name: unpacked(arrays, place) for place, name in enumerate(players)}
            paths = np.stack([evidence[name].update(blocks[name].scores) for name in players])
            capital = log_mean(paths)
            for name, block in blocks.items():
                collected[name].append(block.moved(done))
            best = max(best, float(capital.max()))
            if decided is None and best >= hurdle:
                decided = done + int(np.argmax(capital >= hurdle)) + 1
            done += size
            observer.advance(size)
            if stop and decided is not None:
                break
    observer.finish()
    share = (1 - level) / len(players)
    attackers = [
        summary(name, blocks, 1 - share, stopped=stop) for name, blocks in collected.items()
    ]
    refuted = None
    if isinstance(claim, Resilience):
        refuted = largest_refuted([one.scores for one in attackers], claim.delta, hurdle)
    return Play(
        outcome="no violation found" if decided is None else "violates",
        statement=claim,
        confidence=level,
        trials=done,
        decided=decided,
        capital=best,
        refuted=refuted,
        attackers=attackers,
        entropy=entropy,
        remarks=remarks(attackers),
    )


def _prepared(game: Game, attacks: Mapping[str, Any] | Any) -> dict[str, Any]:
    named: dict[str, Any] = dict(attacks) if isinstance(attacks, Mapping) else {"attack": attacks}
    if not named:
        raise InputError("a game needs at least one attack to be played")
    return {
        name: attack.prepare(game) if hasattr(attack, "prepare") else attack
        for name, attack in named.items()
    }


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
    return getattr(game.mechanism, "interactive", False) or any(
        # a user's function is held by a class of the package, as its `function`
        not type(part).__module__.startswith("narcissus.") or hasattr(part, "function")
        for part in parts
        if part is not None
    )


@dataclass(frozen=True)
class BlockPlayer:
    """Plays a block by its key, ``batch/NUMBER/SIZE``; what comes out depends on that alone."""

    game: Game
    players: dict[str, Any]
    fresh: int
    entropy: int

    def __call__(self, key: str) -> Arrays:
        """Play the block; give its scores as arrays."""
        _, number, size = key.split("/")
        block = (int(number), int(size))
        played = _play_block(self.game, self.players, block, fresh=self.fresh, entropy=self.entropy)
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
        if isinstance(values, list) and isinstance(data, np.ndarray) and _numeric(values):
            values = np.asarray(values)
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


def _numeric(values: list[Any]) -> bool:
    shapes = {np.shape(value) for value in values if isinstance(value, np.ndarray | int | float)}
    return len(shapes) == 1 and all(
        isinstance(value, np.ndarray | np.generic | int | float) for value in values
    )


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
