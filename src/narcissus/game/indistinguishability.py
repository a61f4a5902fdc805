"""The indistinguishability games IND-BAY, IND-MINBAY and IND-LDP of a channel.

Each is an ordinary game: a secret is drawn, goes through the channel, and is to be named.
Source: Chatzikokolakis et al. 2023, Game 1 and Figure 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus._arrays import first_largest
from narcissus._random import RandomSource
from narcissus.attacks import BayesGuess, FixedGuess, OwnAttack
from narcissus.errors import InputError
from narcissus.game.loop import named_right
from narcissus.game.rules import Game
from narcissus.mechanisms.plain import Constant, ThroughChannel
from narcissus.results import Estimate, Grade, Result
from narcissus.success.relations.shipped import NamesSecret
from narcissus.worlds.finite import Secret

Attacker = Callable[[int], int]
"""From the number of the output to the number of the guessed secret."""


@dataclass(frozen=True)
class Indistinguishability(Result):
    """The result of a game, with the success of the best attacker for comparison."""

    name: str  # "IND-BAY", "IND-MINBAY" or "IND-LDP"
    wins: Estimate  # the attacker's success, sampled
    best: float  # success of the best attacker, exact
    remarks: tuple[str, ...] = ()  # for a reader, such as errors that the attacker raised

    @property
    def grade(self) -> Grade:
        """'sampled': the exact success is only for comparison."""
        return "sampled"

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.wins}"]
        lines += [f"  EXACT: the best attacker wins with {self.best:.6g}"]
        return "\n".join([*lines, *self.remarks])


def _play(name: str, game: Game, attack: Any, best: float, **how: Any) -> Indistinguishability:
    wins, _, remarks = named_right(game, {"attacker": attack}, **how)
    return Indistinguishability(name, wins["attacker"], best, remarks)


def _through_channel(
    name: str, matrix: Any, prior: Any, attacker: Attacker | None, **how: Any
) -> Indistinguishability:
    """Play a game in which the secret goes through the whole channel."""
    from narcissus.channels import bayes_vulnerability, channel, prior_for

    c = channel(matrix)
    weights = prior_for(c, prior)
    game = Game(Secret(weights), ThroughChannel(c), NamesSecret(c.shape[0]))
    attack = BayesGuess() if attacker is None else OwnAttack(lambda output: attacker(int(output)))
    return _play(name, game, attack, bayes_vulnerability(c, weights), **how)


def play_ind_bay(
    matrix: Any,
    prior: Any = None,
    *,
    attacker: Attacker | None = None,
    trials: int = 10_000,
    confidence: float = 0.95,
    rng: RandomSource = None,
) -> Indistinguishability:
    """Play IND-BAY: a secret from the prior, its output, one guess.

    Source: Chatzikokolakis et al. 2023, Game 1.

    matrix, prior: The channel, and the prior (None: uniform).
    attacker: Maps the number of an output to the number of a secret; None plays the Bayes attacker.
    trials, confidence, rng: Rounds, level of the limits, randomness.
    """
    return _through_channel(
        "IND-BAY", matrix, prior, attacker, trials=trials, confidence=confidence, rng=rng
    )


def play_ind_minbay(
    matrix: Any,
    pair: tuple[int, int] | None = None,
    *,
    attacker: Attacker | None = None,
    trials: int = 10_000,
    confidence: float = 0.95,
    rng: RandomSource = None,
) -> Indistinguishability:
    """Play IND-MINBAY: the attacker chooses two secrets, a coin picks one, one guess.

    ``pair`` holds their numbers; None chooses the pair that reaches ``beta*``, where the best
    attacker wins with ``1 - beta* / 2``. The rest is as in `play_ind_bay`.

    Source: Chatzikokolakis et al. 2023, Figure 2 (left).
    """
    from narcissus.channels import beta_star, channel

    c = channel(matrix)
    i, j = beta_star(c).indices if pair is None else pair
    if i == j or not (0 <= i < c.shape[0] and 0 <= j < c.shape[0]):
        raise InputError(f"`pair` must be two different secrets, got {(i, j)}")
    prior = np.zeros(c.shape[0])
    prior[[i, j]] = 0.5
    return _through_channel(
        "IND-MINBAY", c, prior, attacker, trials=trials, confidence=confidence, rng=rng
    )


def play_ind_ldp(
    matrix: Any,
    pair: tuple[int, int] | None = None,
    output: int | None = None,
    *,
    trials: int = 10_000,
    confidence: float = 0.95,
    rng: RandomSource = None,
) -> Indistinguishability:
    """Play IND-LDP: the attacker chooses two secrets *and the output*; one guess.

    None chooses the secrets and output with the largest ratio. The best attacker wins with ``V``,
    and the channel's epsilon is ``ln(V / (1 - V))``.

    Source: Chatzikokolakis et al. 2023, Figure 2 (right) and its footnote 2.
    """
    from narcissus.channels import channel

    rows = channel(matrix).dense
    if output is None:
        top, bottom = rows.max(axis=0), rows.min(axis=0)
        share = np.divide(top, top + bottom, out=np.zeros_like(top), where=top > 0)
        output = int(np.argmax(share))
    if pair is None:
        pair = int(np.argmax(rows[:, output])), int(np.argmin(rows[:, output]))
        if pair[0] == pair[1]:
            pair = 0, 1
    weights = rows[list(pair), output]
    if weights.sum() == 0:
        raise InputError(f"`output` {output} never happens for either secret; choose another")
    # The output is given, so the release says nothing more: the secret has its posterior.
    posterior = weights / weights.sum()
    game = Game(Secret(posterior), Constant(), NamesSecret(2))
    guess, best = FixedGuess(int(first_largest(posterior))), float(posterior.max())
    return _play("IND-LDP", game, guess, best, trials=trials, confidence=confidence, rng=rng)


def epsilon_of_success(success: float) -> float:
    """Compute ``ln(V / (1 - V))``, the LDP epsilon from the success in IND-LDP."""
    return math.inf if success >= 1 else math.log(success) - math.log1p(-success)
