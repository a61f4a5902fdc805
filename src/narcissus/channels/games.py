"""The indistinguishability games of the paper, to be played: IND-BAY, IND-MINBAY, IND-LDP.

Source: Chatzikokolakis et al. 2023, Game 1 and Figure 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import integer
from narcissus.channels.bayes_security import beta_star
from narcissus.channels.channel import Channel, Matrix, channel, prior_for
from narcissus.channels.measures import bayes_vulnerability
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.results import Estimate, Grade, Result

Attacker = Callable[[int], int]
"""From the number of the output to the number of the guessed secret."""


@dataclass(frozen=True)
class Game(Result):
    """How a game went, beside what the best attacker can do.

    Attributes
    ----------
    name
        "IND-BAY", "IND-MINBAY" or "IND-LDP".
    wins
        The attacker's success, sampled.
    best
        Success of the best attacker, exact.
    """

    name: str
    wins: Estimate
    best: float

    @property
    def grade(self) -> Grade:
        """'sampled': the exact number beside it is for comparison."""
        return "sampled"

    def __str__(self) -> str:
        return f"{self.name}: {self.wins}\n  EXACT: the best attacker wins with {self.best:.6g}"


def _play(
    name: str,
    *,
    c: Channel,
    prior: Matrix,
    attacker: Attacker | None,
    best: float,
    trials: int,
    confidence: float,
    rng: RandomSource,
) -> Game:
    """Draw secrets, outputs and guesses, and count the hits."""
    trials = integer("trials", trials, low=1)
    random = generator(rng)
    secrets = random.choice(prior.size, size=trials, p=prior / prior.sum())
    outputs = np.empty(trials, dtype=np.intp)
    for s in np.unique(secrets):
        who = secrets == s
        # Rows sum to one within the channel's tolerance; the sampler wants it exactly.
        cumulative = np.cumsum(c.row(int(s)))
        draws = np.searchsorted(cumulative / cumulative[-1], random.random(int(who.sum())), "right")
        outputs[who] = np.minimum(draws, c.shape[1] - 1)
    guesses = _bayes_guesses(c, prior)[outputs] if attacker is None else _ask(attacker, c, outputs)
    wins = int(np.count_nonzero(guesses == secrets))
    limits = clopper_pearson(
        wins, trials, confidence=confidence, quantity="success of the attacker"
    )
    return Game(name, limits, best)


def _bayes_guesses(c: Channel, prior: Matrix) -> NDArray[np.intp]:
    """Give the Bayes attacker's guess for each output."""
    joint = c.scaled(prior)
    joint = joint.toarray() if c.is_sparse else joint
    return np.asarray(joint.argmax(axis=0))


def _ask(attacker: Attacker, c: Channel, outputs: NDArray[np.intp]) -> NDArray[np.intp]:
    guesses = np.array([attacker(int(o)) for o in outputs], dtype=np.intp)
    if not ((guesses >= 0) & (guesses < c.shape[0])).all():
        raise InputError(f"`attacker` must give the number of a secret, 0 to {c.shape[0] - 1}")
    return guesses


def play_ind_bay(
    matrix: Any,
    prior: Any = None,
    *,
    attacker: Attacker | None = None,
    trials: int = 10_000,
    confidence: float = 0.95,
    rng: RandomSource = None,
) -> Game:
    """Play IND-BAY: a secret from the prior, its output, one guess.

    Parameters
    ----------
    matrix, prior
        The channel, and the prior (None: uniform).
    attacker
        From the number of an output to the number of a secret; None plays the Bayes attacker.
    trials, confidence, rng
        Rounds, level of the limits, randomness.

    Source: Chatzikokolakis et al. 2023, Game 1.
    """
    c = channel(matrix)
    weights = prior_for(c, prior)
    best = bayes_vulnerability(c, weights)
    return _play(
        "IND-BAY",
        c=c,
        prior=weights,
        attacker=attacker,
        best=best,
        trials=trials,
        confidence=confidence,
        rng=rng,
    )


def play_ind_minbay(
    matrix: Any,
    pair: tuple[int, int] | None = None,
    *,
    attacker: Attacker | None = None,
    trials: int = 10_000,
    confidence: float = 0.95,
    rng: RandomSource = None,
) -> Game:
    """Play IND-MINBAY: the attacker chooses two secrets, a coin picks one, one guess.

    ``pair`` are their numbers; None chooses the pair that reaches ``beta*``, where the best
    attacker wins with ``1 - beta* / 2``.

    Source: Chatzikokolakis et al. 2023, Figure 2 (left).
    """
    c = channel(matrix)
    i, j = beta_star(c).indices if pair is None else pair
    if i == j or not (0 <= i < c.shape[0] and 0 <= j < c.shape[0]):
        raise InputError(f"`pair` must be two different secrets, got {(i, j)}")
    prior = np.zeros(c.shape[0])
    prior[[i, j]] = 0.5
    best = bayes_vulnerability(c, prior)
    return _play(
        "IND-MINBAY",
        c=c,
        prior=prior,
        attacker=attacker,
        best=best,
        trials=trials,
        confidence=confidence,
        rng=rng,
    )


def play_ind_ldp(
    matrix: Any,
    pair: tuple[int, int] | None = None,
    output: int | None = None,
    *,
    trials: int = 10_000,
    confidence: float = 0.95,
    rng: RandomSource = None,
) -> Game:
    """Play IND-LDP: the attacker chooses two secrets *and the output*; one guess.

    None chooses the secrets and output with the largest ratio. The best attacker wins with ``V``,
    and the channel's epsilon is ``ln(V / (1 - V))``.

    Source: Chatzikokolakis et al. 2023, Figure 2 (right) and its footnote 2.
    """
    c = channel(matrix)
    rows = c.dense
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
    posterior = weights / weights.sum()
    trials = integer("trials", trials, low=1)
    drawn = generator(rng).random(trials) < posterior[0]
    hits = int(np.count_nonzero(drawn == (posterior[0] >= 0.5)))
    limits = clopper_pearson(
        hits, trials, confidence=confidence, quantity="success of the attacker"
    )
    return Game("IND-LDP", limits, float(posterior.max()))


def epsilon_of_success(success: float) -> float:
    """Give ``ln(V / (1 - V))``: the LDP epsilon from the success in IND-LDP."""
    return math.inf if success >= 1 else math.log(success) - math.log1p(-success)
