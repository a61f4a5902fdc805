"""Refutation from membership scores with unequal coins.

Source: Narcissus theory 4.4 and 5; Swanberg et al. 2025, Theorem 3.2.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import between, fraction, probabilities
from narcissus.bounds import PoissonBinomial, follow_attempts
from narcissus.errors import InputError
from narcissus.evidence.refutation import Refutation, largest_refuted
from narcissus.evidence.scores import UNBELIEVABLE, checked_scores, threshold_choices
from narcissus.evidence.unequal import refute_guesses

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_EVERY = 3  # one canary in so many chooses the threshold
_MOST = 3000  # that choose, at most
_FEWEST = 6  # canaries that can be shared out


def refute_prior_scores(
    scores: ArrayLike,
    members: ArrayLike,
    priors: ArrayLike,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    claimed: float = 0.0,
    rng: RandomSource = None,
) -> Refutation:
    """Find the largest epsilon refuted by scores of canaries included by unequal coins.

    As `narcissus.evidence.refute_scores`: the canaries are shuffled, a part of them determines the
    numbers of highest scores guessed in and of lowest scores guessed out, and only the others are
    counted, each guess by its prior chance.

    Parameters
    ----------
    priors
        The chance with which each canary was in, by an independent coin, shape (m,).
    scores, members, delta, confidence, claimed, rng
        As in `narcissus.evidence.refute_scores`.

    Raises
    ------
    InputError
        Among others if such coins cannot have produced the members: too many or too few are in.
    """
    score, inside = checked_scores(scores, members)
    coins = probabilities("priors", priors)
    if coins.shape != score.shape:
        raise InputError(f"`priors` must be of {score.size} canaries, got shape {coins.shape}")
    if ((coins == 0) & inside | (coins == 1) & ~inside).any():
        raise InputError("`priors` must be above 0 of canaries that are in, below 1 of the others")
    allowed = between("delta", delta, 0, 1, open_high=True)
    level = fraction("confidence", confidence)
    law, ones = PoissonBinomial(coins), int(inside.sum())
    if 2 * min(law.tail(ones), law.cdf(ones)) <= UNBELIEVABLE:
        raise InputError(
            f"`members` must be drawn by coins of the chances in `priors`, but {ones} of "
            f"{inside.size} are in where {law.mean:.6g} are expected; give all canaries, those "
            "that were left out as well"
        )
    if score.size < _FEWEST:
        raise InputError(f"`scores` must be of at least {_FEWEST} canaries, got {score.size}")
    order = generator(rng).permutation(score.size)
    first = order[: min(score.size // _EVERY, _MOST)]
    rest = order[first.size :]
    share = _choose(score[first], inside[first], coins[first], rest.size, allowed, 1.0 - level)
    chances, right = _guessed(score[rest], inside[rest], coins[rest], share)
    sides = np.stack([coins[rest], 1.0 - coins[rest]])
    found = refute_guesses(
        chances,
        int(right.sum()),
        2.0 * sides[0] * sides[1],
        best=float(sides.max()),
        delta=allowed,
        confidence=level,
        claimed=claimed,
    )
    return dataclasses.replace(found, chosen_on=first.size).asked("membership")


def _guessed(
    score: FloatArray, inside: BoolArray, coins: FloatArray, share: tuple[float, float]
) -> tuple[FloatArray, BoolArray]:
    """Guess these shares in and out: each guess's prior chance, and whether it is right."""
    m = score.size
    a = min(m, round(share[0] * m))
    b = min(m - a, round(share[1] * m))
    order = np.argsort(score, kind="stable")
    high, low = order[m - a :], order[:b]
    chances = np.concatenate([coins[high], 1.0 - coins[low]])
    return chances, np.concatenate([inside[high], ~inside[low]])


def _choose(
    score: FloatArray,
    inside: BoolArray,
    coins: FloatArray,
    rest: int,
    delta: float,
    alpha: float,
) -> tuple[float, float]:
    """Choose the shares guessed in and out that are most promising for ``rest`` similar others."""
    best, chosen = 0.0, (0.5, 0.5)
    spent = delta * rest * float((2.0 * coins * (1.0 - coins)).mean())
    level = (alpha / 2 if delta > 0 else alpha) - spent
    if level <= 0:
        return chosen
    for a, b in threshold_choices(score.size):
        share = a / score.size, b / score.size
        chances, right = _guessed(score, inside, coins, share)
        rate = float(right.mean())
        # A rate that was chosen for being high is too high: expect one deviation less.
        rate -= math.sqrt(max(rate * (1.0 - rate), 1.0 / right.size) / right.size)
        count = max(0, math.floor(rate * right.size))
        if count <= chances.sum():
            continue  # what is right on average is never refuted beyond
        # as many guesses as were seen; more of the same would promise the same order of choices
        promise = largest_refuted(
            lambda e, c=chances, v=count: follow_attempts(c, e, 0.0, v).value, level, 1e-2
        )
        if promise > best:
            best, chosen = promise, share
    return chosen
