"""The sparse vector technique: which counts are above a threshold, right and as often got wrong.

Source: Lyu, Su and Li 2017, Figures 1 and 2: six published algorithms, of which two are as private
as they say. Their Laplace noise is two-sided geometric here, and counts are whole numbers: the
proofs are the same, and the privacy can be computed exactly.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer, one_of, positive
from narcissus.guarantees import Guarantee, PureDP
from narcissus.mechanisms.geometric_noise import TwoSidedGeometric
from narcissus.mechanisms.patterns_asked import agreeing, all_patterns, bits_of, pattern
from narcissus.worlds.base import Array

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class Published:
    """How one published algorithm spends its epsilon."""

    threshold: float  # Share of epsilon for the threshold's noise; the rest is for the answers
    # threshold_scale, answer_scale: From the number of positives ``c`` to the scale of the
    # noise times its epsilon
    threshold_scale: tuple[int, int]
    answer_scale: tuple[int, int]
    redraws: bool = False  # Whether the threshold gets new noise after a positive answer
    numbers: bool = False  # Whether a positive answer is the noisy count itself
    stops: bool = True  # Whether it ends after ``c`` positive answers
    # From ``c`` to the factor on epsilon that holds; None: nothing does
    private: tuple[float, float] | None = None


# scales and factors are (a, b), for a + b c
PUBLISHED = {
    "standard": Published(1 / 2, (1, 0), (0, 2), private=(1, 0)),
    "dwork-roth": Published(1 / 2, (0, 1), (0, 2), redraws=True, private=(1, 0)),
    "roth": Published(1 / 2, (1, 0), (0, 1), numbers=True),
    "lee-clifton": Published(1 / 4, (1, 0), (1, 0), private=(1 / 4, 6 / 4)),
    "stoddard": Published(1 / 2, (1, 0), (0, 0), stops=False),
    "chen": Published(1 / 2, (1, 0), (1, 0), stops=False),
}
"""Algorithms 1 to 6 of Lyu, Su and Li 2017."""


@dataclass(frozen=True)
class SparseVector:
    """Return of each count whether it is above a threshold, both with noise: sparse vector.

    A question is a list with a number for each bit: 1 where a one is counted, -1 where a zero is, 0
    where nothing is. The answer is 1 if the noisy count reaches the noisy threshold, else 0.

    Parameters
    ----------
    epsilon
        What the algorithm says of its privacy.
    threshold
        The count that is asked for, a whole number.
    questions
        How many are answered at most.
    positives
        Positive answers after which it ends: ``c``. Two algorithms never end.
    algorithm
        ``"standard"`` and ``"dwork-roth"`` are as private as they say; ``"lee-clifton"`` is
        ``(1 + 6c)/4`` times less so; ``"roth"`` (answers with the noisy count), ``"stoddard"`` (no
        noise on counts) and ``"chen"`` (no end) are not private at all.
    """

    epsilon: float
    threshold: int = 1
    questions: int = 10
    positives: int = 1
    algorithm: Literal["standard", "dwork-roth", "roth", "lee-clifton", "stoddard", "chen"] = (
        "standard"
    )
    interactive = True

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        integer("threshold", self.threshold)
        integer("questions", self.questions, low=1, high=10**6)
        integer("positives", self.positives, low=1)
        one_of("algorithm", self.algorithm, tuple(PUBLISHED))

    @property
    def how(self) -> Published:
        """The algorithm."""
        return PUBLISHED[self.algorithm]

    @cached_property
    def on_threshold(self) -> TwoSidedGeometric:
        """Noise of the threshold."""
        a, b = self.how.threshold_scale
        return TwoSidedGeometric((a + b * self.positives) / (self.how.threshold * self.epsilon))

    @cached_property
    def on_answers(self) -> TwoSidedGeometric:
        """Noise of a count."""
        a, b = self.how.answer_scale
        spent = (1 - self.how.threshold) * self.epsilon
        return TwoSidedGeometric((a + b * self.positives) / spent)

    def answers(self, data: Array, rng: np.random.Generator) -> Generator[Any, Any, None]:
        """Talk about one data set of bits."""
        bits = bits_of(np.asarray(data)[None])
        limit = self.threshold + self.on_threshold.sample(rng)
        left = self.positives
        question = yield None
        for _ in range(self.questions):
            count = int(agreeing(bits, pattern(question, bits.shape[1]))[0])
            noisy = count + self.on_answers.sample(rng)
            if noisy < limit:
                question = yield 0
                continue
            left -= 1
            question = yield noisy if self.how.numbers else 1
            if left == 0 and self.how.stops:
                return
            if self.how.redraws:
                limit = self.threshold + self.on_threshold.sample(rng)

    def promise(self, data: Array) -> Guarantee | None:
        """Return what holds of the whole conversation; None where nothing does."""
        if self.how.private is None:
            return None
        a, b = self.how.private
        return PureDP((a + b * self.positives) * self.epsilon)

    @cached_property
    def _limits(self) -> NDArray[np.int64]:
        """The noise of the threshold that is written out: all but ``e^-40`` of it."""
        reach = self.on_threshold.reach
        return np.arange(-reach, reach + 1)

    @cached_property
    def _chances(self) -> NDArray[np.float64]:
        chances = self.on_threshold.at(self._limits)
        return chances / chances.sum()

    def begin(self, data: Array) -> Weights:
        """Start to write conversations out: hidden is the threshold's noise."""
        return np.tile(self._chances, (len(bits_of(data)), 1))

    def worth_asking(self, data: Array, asked: Sequence[Any]) -> Sequence[Any]:
        """List the questions that may follow those that were asked, with their answers."""
        above = sum(not _is_no(answer) for _, answer in asked)
        over = len(asked) >= self.questions or (self.how.stops and above >= self.positives)
        return () if over else all_patterns(bits_of(data).shape[1])

    def advance(self, weights: Weights, data: Array, question: Any) -> list[tuple[Any, Weights]]:
        """Return each answer to a question with the weights that it leaves."""
        bits = bits_of(data)
        count = agreeing(bits, pattern(question, bits.shape[1]))[:, None]
        limit = self.threshold + self._limits
        yes = self.on_answers.at_least(limit - count)
        found: list[tuple[Any, Weights]] = [(0, weights * (1 - yes))]
        if not self.how.numbers:
            return [*found, (1, self._after(weights * yes))]
        reach = self.on_answers.reach
        for noisy in range(int(count.min()) - reach, int(count.max()) + reach + 1):
            left = weights * self.on_answers.at(noisy - count) * (noisy >= limit)
            found.append((("count", noisy), left))
        return found

    def _after(self, weights: Weights) -> Weights:
        """Draw the threshold's noise anew, where the algorithm does."""
        return weights.sum(axis=1, keepdims=True) * self._chances if self.how.redraws else weights


def _is_no(answer: Any) -> bool:
    return isinstance(answer, int) and answer == 0
