"""Counts that the attacker asks for: noisy answers, and the sparse vector technique.

Source: Lyu, Su and Li 2017, Figures 1 and 2: six published algorithms of sparse vector, of which
two are as private as they say. Their Laplace noise is two-sided geometric here, and counts are
whole numbers: the proofs are the same, and the privacy can be computed exactly.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer, one_of, positive
from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP, Guarantee, PureDP
from narcissus.guarantees.base import EXACT_NOISE, NOTHING_ELSE
from narcissus.mechanisms.noise import TwoSidedGeometric
from narcissus.worlds.base import Array, all_tuples

Weights = NDArray[np.float64]
Counted = NDArray[np.int64]

WRITTEN = 4
"""Bits of a data set up to which all questions are listed, 3^n - 1 of them."""


def bits_of(data: Array) -> Counted:
    """Return data sets as rows of bits, shape (trials, n); refuse others."""
    bits = np.asarray(data).reshape(len(data), -1)
    if bits.dtype.kind not in "biu" or bits.min(initial=0) < 0 or bits.max(initial=0) > 1:
        raise InputError("the mechanism answers questions about bits; the records must be 0 or 1")
    return bits.astype(np.int64)


def counted(bits: Counted, question: Any) -> tuple[Counted, int]:
    """Return how many places are as a question says, shape (trials,), and how many can be.

    One record more or less like it changes the count by one at most.
    """
    n, signs = bits.shape[1], np.asarray(question)
    if signs.shape != (n,) or signs.dtype.kind not in "iu" or np.abs(signs).max(initial=0) > 1:
        raise InputError(
            f"a question is a list of {n} numbers, 1 where a one is counted, -1 where a zero is, "
            "and 0 elsewhere"
        )
    signs = signs.astype(np.int64)
    return bits @ signs + int((signs < 0).sum()), int(np.abs(signs).sum())


def all_patterns(n: int) -> list[tuple[int, ...]]:
    """List every question about ``n`` bits but the empty one, if they are few enough."""
    if n > WRITTEN:
        raise InputError(
            f"conversations about {n} bits are not written out, {WRITTEN} at most are; play the "
            "game instead"
        )
    return [tuple(map(int, row)) for row in all_tuples(3, n) - 1 if row.any()]


@dataclass(frozen=True)
class CountQueries:
    """Answer how many places of the data set are as the attacker says, with noise or without.

    A question is a list with a number for each bit: 1 where a one is counted, -1 where a zero is, 0
    where nothing is; of ones only, it is a subset. At most one kind of noise is given; without, the
    counts are exact.

    questions: How many are answered.
    error: A whole number E: noise of -E to E, each alike. No privacy, but the noise that Dinur and
        Nissim allow.
    epsilon: Privacy of the whole conversation: two-sided geometric noise of scale ``questions /
        epsilon``, the answer cut to what the count can be, which loses nothing.
    mu: Gaussian privacy of the whole conversation: Gaussian noise of standard deviation
        ``sqrt(questions) / mu``.

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
        if sum(level is not None for level in (self.error, self.epsilon, self.mu)) > 1:
            raise InputError("`error`, `epsilon` and `mu` are three kinds of noise; give one")

    @cached_property
    def noise(self) -> TwoSidedGeometric:
        """The geometric noise of an answer; none where there is no epsilon."""
        return TwoSidedGeometric(0.0 if self.epsilon is None else self.questions / self.epsilon)

    def answers(self, data: Array, rng: np.random.Generator) -> Generator[Any, Any, None]:
        bits = bits_of(np.asarray(data)[None])
        question = yield None
        for _ in range(self.questions):
            (count,), limit = counted(bits, question)
            question = yield self._noisy(int(count), limit, rng)

    def _noisy(self, count: int, most: int, rng: np.random.Generator) -> float:
        if self.mu is not None:
            return count + float(rng.normal()) * math.sqrt(self.questions) / self.mu
        if self.error is not None:
            return count + int(rng.integers(-self.error, self.error + 1))
        return min(max(count + self.noise.sample(rng), 0), most)

    def promise(self, data: Array) -> Guarantee | None:
        """Return what is guaranteed of the whole conversation; None where nothing is."""
        if self.epsilon is not None:
            return PureDP(self.epsilon, program=self._program("two-sided geometric"))
        return None if self.mu is None else GaussianDP(self.mu, program=self._program("normal"))

    def _program(self, noise: str) -> tuple[str, ...]:
        answers = "one count of bits is answered"
        if self.questions > 1:
            answers = f"at most {self.questions:,} counts of bits are answered"
        return f"{answers}, each with {noise} noise, drawn separately", EXACT_NOISE, NOTHING_ELSE

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
        return all_patterns(bits_of(data).shape[1]) if len(asked) < self.questions else ()

    def advance(self, weights: Weights, data: Array, question: Any) -> list[tuple[Any, Weights]]:
        """Return each answer to a question with the weights that it leaves."""
        count, limit = counted(bits_of(data), question)
        error = self.error or 0
        possible = np.arange(-error, limit + error + 1)
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


@dataclass(frozen=True)
class Published:
    """How one published algorithm spends its epsilon; scales and factors are (a, b), for a + b c.

    ``c`` is the number of positive answers.
    """

    threshold: float  # Share of epsilon for the threshold's noise; the rest is for the answers
    threshold_scale: tuple[int, int]  # Scale of the threshold's noise times its epsilon
    answer_scale: tuple[int, int]
    redraws: bool = False  # Whether the threshold gets new noise after a positive answer
    numbers: bool = False  # Whether a positive answer is the noisy count itself
    stops: bool = True  # Whether it ends after ``c`` positive answers
    private: tuple[float, float] | None = None  # Factor on epsilon that holds; None: nothing does


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
    """Answer for each count whether it is above a threshold, both with noise: sparse vector.

    A question is a list with a number for each bit: 1 where a one is counted, -1 where a zero is, 0
    where nothing is. The answer is 1 if the noisy count reaches the noisy threshold, else 0.

    epsilon: What the algorithm says of its privacy.
    threshold: The count that is asked for, a whole number.
    questions: How many are answered at most.
    positives: Positive answers after which it ends: ``c``. Two algorithms never end.
    algorithm: ``"standard"`` and ``"dwork-roth"`` are as private as they say; ``"lee-clifton"`` is
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
        bits = bits_of(np.asarray(data)[None])
        limit = self.threshold + self.on_threshold.sample(rng)
        left = self.positives
        question = yield None
        for _ in range(self.questions):
            (count,), _most = counted(bits, question)
            noisy = int(count) + self.on_answers.sample(rng)
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
        program = (
            f"the algorithm ends at positive answer {self.positives:,}, and draws its noise anew "
            "where it is published so",
            EXACT_NOISE,
            NOTHING_ELSE,
        )
        return PureDP((a + b * self.positives) * self.epsilon, program=program)

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
        above = sum(not (isinstance(answer, int) and answer == 0) for _, answer in asked)
        over = len(asked) >= self.questions or (self.how.stops and above >= self.positives)
        return () if over else all_patterns(bits_of(data).shape[1])

    def advance(self, weights: Weights, data: Array, question: Any) -> list[tuple[Any, Weights]]:
        """Return each answer to a question with the weights that it leaves."""
        count = counted(bits_of(data), question)[0][:, None]
        limit = self.threshold + self._limits
        yes = self.on_answers.at_least(limit - count)
        answers: list[tuple[Any, Weights]] = [(0, weights * (1 - yes))]
        if not self.how.numbers:
            after = weights * yes
            if self.how.redraws:
                after = after.sum(axis=1, keepdims=True) * self._chances
            return [*answers, (1, after)]
        reach = self.on_answers.reach
        for noisy in range(int(count.min()) - reach, int(count.max()) + reach + 1):
            left = weights * self.on_answers.at(noisy - count) * (noisy >= limit)
            answers.append((("count", noisy), left))
        return answers
