"""A game against a statement, block by block, until the statement falls or trials run out.

Trials are played in blocks (`narcissus.game.block`) whose size and random numbers depend on the
game and the seed alone, so that they may be played anywhere, and stored. Evidence is weighed in
order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from narcissus._random import RandomSource, entropy_of
from narcissus._validation import between, integer
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.evidence.sequential import log_mean
from narcissus.game.block import Arrays, Seat
from narcissus.game.outcome import BlockScores, Play, packed, remarks, summary, unpacked
from narcissus.game.plan import BlockPlayer, OneStream, plan, seats_of
from narcissus.game.rules import Game
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate
from narcissus.success.relations.base import ManyTargets
from narcissus.success.statements import Evidence, Resilience, Statement, largest_refuted, prepared


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
        Each member of a family is played and judged by itself, with attackers prepared for it; the
        level is shared among the members, and the result names one of them.
    attacks
        One attacker, or several by name: their capital is averaged, which pays for trying several.
    statement
        The statement to test; by default resilience at epsilon 0 and delta 0.
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
        Receives the progress.
    through
        Plays blocks by their keys and yields them in the order of the keys: in worker processes,
        or out of a store. The numbers do not depend on it.

    Raises
    ------
    InputError
        The game cannot be played: the relation raised or returned something else than true or
        false, side information contradicts the world, an attack does not fit.
    """
    integer("trials", trials, low=1)
    integer("fresh", fresh, low=1)
    level = between("confidence", confidence, 0, 1, open_low=True, open_high=True)
    _one_score(game)
    entropy = entropy_of(rng)
    claim = statement or Resilience()
    seats = seats_of(game, attacks)
    # Paid for once for each member of a family: a member is named, so each is a claim.
    hurdle = math.log(len(seats)) - math.log(1 - level)
    tallies = [Tally(seat, prepared(claim, seat.game), hurdle) for seat in seats]
    planned = plan(seats, trials)
    observer.start("trials", sum(block.size for block in planned))
    player = BlockPlayer(seats, OneStream(entropy, len(seats) == 1), fresh, packed)
    with closing(through(player, [block.key for block in planned])) as results:
        for block, arrays in zip(planned, results, strict=True):
            tally = tallies[block.place]
            tally.add(block.size, arrays)
            observer.advance(block.size)
            if stop and tally.decided is not None:
                break
    observer.finish()
    return _weighed(tallies, level, hurdle, claim, entropy, stop=stop)


def _one_score(game: Game) -> None:
    """Refuse a game that scores every person separately."""
    if isinstance(game.relation, ManyTargets):
        raise InputError(
            f"a statement is about one score a trial, and {type(game.relation).__name__} scores "
            "every person by itself: audit the release with a table study"
        )


def _weighed(
    tallies: Sequence[Tally],
    level: float,
    hurdle: float,
    claim: Statement,
    entropy: int,
    *,
    stop: bool,
) -> Play:
    """Combine the trials of all members; the member with the strongest evidence decides."""
    worst = max(tallies, key=lambda tally: (tally.decided is not None, tally.capital))
    share = (1 - level) / len(worst.seat.attacks) / len(tallies)
    attackers = [
        summary(name, blocks, 1 - share, stopped=stop) for name, blocks in worst.collected.items()
    ]
    refuted = None
    if isinstance(claim, Resilience):
        refuted = largest_refuted([one.scores for one in attackers], claim.delta, hurdle)
        if worst.decided is not None:
            # All trials together may say less than the first of them said: what was shown stays.
            refuted = max(claim.epsilon, refuted or 0.0)
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
        decides=worst.decides,
        member=worst.seat.name,
        members=len(tallies),
    )


def named_right(
    game: Game,
    attacks: dict[str, Any],
    *,
    trials: int,
    confidence: float,
    rng: RandomSource,
) -> tuple[dict[str, Estimate], dict[str, float], tuple[str, ...]]:
    """Play a game of naming a secret to its end, and limit each attacker's success separately.

    The game has a world `Secret`, any mechanism and the relation `NamesSecret`. Returns, by
    attacker, its success and the exact mean chance of the same guesses against fresh secrets; then
    remarks.
    """
    played = play(game, attacks, trials=trials, stop=False, rng=rng)
    wins, baselines = {}, {}
    for one in played.attackers:
        # The limits of `play` hold for all its rates at once; these are for one question each.
        hits = round(one.success.value * one.success.trials)
        wins[one.name] = clopper_pearson(
            hits,
            one.success.trials,
            confidence=confidence,
            quantity=f"success of the {one.name}",
        )
        baselines[one.name] = one.baseline.value
    return wins, baselines, tuple(played.remarks)
