"""Attackers of an average: the majority, and the posterior of a counting query."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from narcissus._validation import non_negative
from narcissus.errors import InputError
from narcissus.success.relations.base import Attempts
from narcissus.worlds.base import Array, Batch
from narcissus.worlds.products import Bits


@dataclass(frozen=True)
class Majority:
    """Round the average of each attribute: the row that is closest to the rows on average."""

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        """Return rows of bits, shape (trials, d)."""
        return (release >= 0.5).astype(np.uint8)


@dataclass(frozen=True)
class Posterior:
    """Name one place of a vector of bits and its likelier entry, judged against the baseline.

    Given the share ``m`` of ones, a place is one with probability ``m``; the attempt made is the
    one with the larger ``posterior - e^epsilon prior``, none if both are negative. For an exact
    counting query on bits that are alike this is the best attack there is.

    Parameters
    ----------
    epsilon
        The ``epsilon`` of the statement that is attacked.
    rate
        Prior probability of a one; taken from the world where not given.
    """

    epsilon: float = 0.0
    rate: float | None = None

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)

    def prepare(self, game: Any) -> Posterior:
        """Take the prior from the world."""
        if self.rate is not None:
            return self
        if not isinstance(game.world, Bits):
            raise InputError("the attack `posterior` needs a world of bits, or its own `rate`")
        return replace(self, rate=float(game.world.rates[0]))

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Attempts:
        """Name place 0 and an entry; where nothing was released, the prior is the posterior."""
        rate = 0.5 if self.rate is None else self.rate
        share = np.where(np.isnan(release), rate, release)
        factor = math.exp(self.epsilon)
        one, zero = share - factor * rate, (1 - share) - factor * (1 - rate)
        entry = (one > zero).astype(np.int64)
        attempt = np.stack([np.zeros_like(entry), entry], axis=1)[..., None]
        return Attempts(attempt, np.maximum(one, zero) > 0)
