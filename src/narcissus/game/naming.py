"""Games of naming a secret, with separate limits for each attacker's success."""

from __future__ import annotations

from typing import Any

from narcissus._random import RandomSource
from narcissus.evidence import clopper_pearson
from narcissus.game.loop import play
from narcissus.game.rules import Game
from narcissus.results import Estimate


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
