"""A verifier that learns: logistic regression on counts of windows and of distant pairs of bits.

It knows the generator, as verifiers may, and trains on strings that it makes itself.

Source: Cohen et al. 2024, Definition D.10; Narcissus theory 7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._options import FilledIn
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.evidence.randomness import WINDOW, disagreements, strings_of_bits, window_sums
from narcissus.worlds.base import Array, Batch

Floats = NDArray[np.float64]

SEED = 2024
"""Of the strings that it trains on: independent of all trials, whatever their seed."""
LAGS = 128
CLIP = 8.0
"""Standard deviations beyond which a count says no more: no string outweighs all others."""


def features(strings: NDArray[np.uint8]) -> Floats:
    """Return the features of strings of shape (count, n), in standard deviations; one of them is 1.

    Sums modulo two in windows of eight bits (as good as counts of all patterns), and of bits up to
    128 apart; for random strings all have mean 0 and variance 1.
    """
    n = strings.shape[1]
    odd, windows = window_sums(strings)
    lags = np.arange(WINDOW, min(LAGS, n // 2) + 1)
    apart = disagreements(strings, lags)
    near = (2 * odd - windows) / np.sqrt(windows)
    far = (2 * apart - (n - lags)) / np.sqrt(n - lags)
    return np.hstack([np.ones((len(strings), 1)), near.clip(-CLIP, CLIP), far.clip(-CLIP, CLIP)])


def fit_logistic(table: Floats, labels: NDArray[np.float64], penalty: float) -> Floats:
    """Fit a logistic regression by Newton's method, with a squared penalty.

    ``table`` has shape (count, features), the first of them 1 and unpenalised; ``labels`` are 0 or
    1. The loss gets ``penalty / 2`` (above 0) times the sum of the squared weights.
    """
    ridge = np.full(table.shape[1], penalty)
    ridge[0] = 1e-6

    def loss(weights: Floats) -> float:
        score = table @ weights
        return float(np.logaddexp(0, score).sum() - labels @ score + ridge @ weights**2 / 2)

    weights = np.zeros(table.shape[1])
    now = loss(weights)
    for _ in range(50):
        chance = special.expit(table @ weights)
        slope = table.T @ (chance - labels) + ridge * weights
        curve = (table * (chance * (1 - chance))[:, None]).T @ table + np.diag(ridge)
        step, size = np.linalg.solve(curve, slope), 1.0
        while (then := loss(weights - size * step)) > now and size > 1e-6:
            size /= 2
        weights = weights - size * step
        if now - then <= 1e-9 * (1 + abs(now)):
            break
        now = then
    return weights


@dataclass(frozen=True)
class LearnedVerifier:
    """Distinguish the two kinds of strings by logistic regression.

    Parameters
    ----------
    training
        Strings of both kinds to train on, drawn once from the game by a separate seed.
    penalty
        Of the squared weights; features have variance 1 for random strings.
    """

    training: int = 2000
    penalty: float = 20.0
    weights: Annotated[Any, FilledIn()] = None

    def __post_init__(self) -> None:
        integer("training", self.training, low=10)
        if not self.penalty > 0:
            raise InputError(f"`penalty` must be above 0, got {self.penalty!r}")

    def prepare(self, game: Any) -> LearnedVerifier:
        rng = np.random.default_rng(SEED)
        data = game.world.draw(self.training, rng).data
        strings = strings_of_bits(game.mechanism.release(data, rng))
        labels = np.asarray(data).reshape(len(data), -1)[:, 0].astype(np.float64)
        if not np.isin(labels, (0, 1)).all():
            raise InputError("the attack `learned-verifier` tells data sets of one bit apart")
        return replace(self, weights=fit_logistic(features(strings), labels, self.penalty))

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> NDArray[np.int64]:
        if self.weights is None:
            raise InputError("call `prepare` first: the attack learns from the game")
        return (features(strings_of_bits(release)) @ self.weights > 0).astype(np.int64)
