"""Counts of one's own choice, answered with noise: what Dinur and Nissim reconstruct from."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer, positive
from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP, Guarantee, PureDP
from narcissus.mechanisms.geometric_noise import TwoSidedGeometric
from narcissus.mechanisms.patterns_asked import agreeing, all_patterns, bits_of, pattern
from narcissus.worlds.base import Array

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class CountQueries:
    """Answer how many places of the data set are as the attacker says, with noise or without.

    A question is a list with a number for each bit: 1 where a one is counted, -1 where a zero is, 0
    where nothing is; of ones only, it is a subset. At most one kind of noise is given; without, the
    counts are exact.

    Parameters
    ----------
    questions
        How many are answered.
    error
        A whole number E: noise of -E to E, each alike. No privacy, but the noise that Dinur and
        Nissim allow.
    epsilon
        Privacy of the whole conversation: two-sided geometric noise of scale
        ``questions / epsilon``, the answer cut to what the count can be, which loses nothing.
    mu
        Gaussian privacy of the whole conversation: Gaussian noise of standard deviation
        ``sqrt(questions) / mu``.

    Notes
    -----
    Source: Dinur and Nissim 2003. The privacy holds also for questions that depend on earlier
    answers: basic composition (epsilon); composition of Dong, Roth and Su 2022 (mu).
    """

    questions: int
    error: int | None = None
    epsilon: float | None = None
    mu: float | None = None
    interactive = True

    def __post_init__(self) -> None:
        integer("questions", self.questions, low=1, high=10**6)
        if self.error is not None:
            integer("error", self.error, low=0)
        for name in ("epsilon", "mu"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        if sum(one is not None for one in (self.error, self.epsilon, self.mu)) > 1:
            raise InputError("`error`, `epsilon` and `mu` are three kinds of noise; give one")

    @cached_property
    def noise(self) -> TwoSidedGeometric:
        """The geometric noise of an answer; none where there is no epsilon."""
        return TwoSidedGeometric(0.0 if self.epsilon is None else self.questions / self.epsilon)

    def answers(self, data: Array, rng: np.random.Generator) -> Generator[Any, Any, None]:
        """Talk about one data set of bits."""
        bits = bits_of(np.asarray(data)[None])
        question = yield None
        for _ in range(self.questions):
            asked = pattern(question, bits.shape[1])
            question = yield self._noisy(int(agreeing(bits, asked)[0]), asked, rng)

    def _noisy(self, count: int, asked: NDArray[np.int64], rng: np.random.Generator) -> Any:
        if self.mu is not None:
            return count + float(rng.normal()) * math.sqrt(self.questions) / self.mu
        if self.error is not None:
            return count + int(rng.integers(-self.error, self.error + 1))
        return min(max(count + self.noise.sample(rng), 0), int(np.abs(asked).sum()))

    def promise(self, data: Array) -> Guarantee | None:
        """Return what is guaranteed of the whole conversation; None where nothing is."""
        if self.epsilon is not None:
            return PureDP(self.epsilon)
        return None if self.mu is None else GaussianDP(self.mu)

    def begin(self, data: Array) -> Weights:
        """Start to write conversations out: nothing is hidden, shape (data sets, 1)."""
        if self.mu is not None:
            raise InputError(
                "conversations with Gaussian noise have no list of answers; play the game instead, "
                "or take `epsilon`"
            )
        return np.ones((len(bits_of(data)), 1))

    def worth_asking(self, data: Array, asked: Sequence[Any]) -> Sequence[Any]:
        """List the questions that may follow those that were asked."""
        left = len(asked) < self.questions
        return all_patterns(bits_of(data).shape[1]) if left else ()

    def advance(self, weights: Weights, data: Array, question: Any) -> list[tuple[Any, Weights]]:
        """Return each answer to a question with the weights that it leaves."""
        bits = bits_of(data)
        asked = pattern(question, bits.shape[1])
        count, most = agreeing(bits, asked), int(np.abs(asked).sum())
        error = self.error or 0
        possible = np.arange(-error, most + error + 1)
        off = possible - count[:, None]
        if self.epsilon is None:
            chances = (np.abs(off) <= error) / (2 * error + 1)
        else:
            chances = self.noise.at(off)
            chances[:, 0] = 1 - self.noise.at_least(off[:, 0] + 1)
            chances[:, -1] = self.noise.at_least(off[:, -1])
        return [
            (int(a), weights * chance[:, None])
            for a, chance in zip(possible, chances.T, strict=True)
        ]
