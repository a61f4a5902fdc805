"""Several mechanisms on the same data: released together, or one after the other as asked for."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from narcissus._options import OfRoom
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee, optimal_composition
from narcissus.guarantees.base import EXACT_NOISE, NOTHING_ELSE
from narcissus.mechanisms.base import ReleaseChannel, is_interactive
from narcissus.worlds.base import Array, Batch

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class Parallel:
    """Release what each part releases, each with separate coins, as a tuple for each trial.

    parts: The mechanisms, at least one.
    """

    parts: Sequence[Annotated[Any, OfRoom("mechanism")]]

    def __post_init__(self) -> None:
        _require_parts(self.parts)

    @property
    def exchangeable(self) -> bool:
        """Whether every part depends on the number of ones only."""
        return all(getattr(part, "exchangeable", False) for part in self.parts)

    def release(self, data: Batch, rng: np.random.Generator) -> list[tuple[Any, ...]]:
        """Return the releases of all parts, a tuple for each trial."""
        return list(zip(*(part.release(data, rng) for part in self.parts), strict=True))

    def channel(self, data: Batch) -> ReleaseChannel:
        """Write the composition out: products of the parts' probabilities for each data set."""
        for part in self.parts:
            _require_channel(part)
        whole: list[ReleaseChannel] = [part.channel(data) for part in self.parts]
        releases: list[tuple[Any, ...]] = []
        rows: list[int] = []
        chances: list[float] = []
        for index in range(len(data)):
            combined: list[tuple[tuple[Any, ...], float]] = [((), 1.0)]
            for channel in whole:
                start, end = channel.matrix.indptr[index], channel.matrix.indptr[index + 1]
                columns = channel.matrix.indices[start:end]
                values = channel.matrix.data[start:end]
                combined = [
                    ((*head, channel.releases[column]), chance * value)
                    for head, chance in combined
                    for column, value in zip(columns, values, strict=True)
                ]
            releases += [release for release, _ in combined]
            chances += [chance for _, chance in combined]
            rows += [index] * len(combined)
        return ReleaseChannel.of(releases, rows, chances, len(data))

    def outcomes(self, n: int) -> int:
        """Return how many releases a data set of ``n`` records can have at most."""
        return math.prod(p.outcomes(n) if hasattr(p, "outcomes") else 1 for p in self.parts)

    def privacy(self, data: Batch) -> tuple[float, float] | None:
        """Return (epsilon, delta) by basic composition; None where a part promises nothing."""
        known = _privacy(self.parts, data)
        return None if known is None else (sum(e for e, _ in known), sum(d for _, d in known))


@dataclass(frozen=True)
class AdaptiveComposition:
    """Release by the mechanism whose number is asked for, each time anew: interactive composition.

    The attacker sees a release before it asks for the next.

    parts: The mechanisms, at least one; the question is the number of one, from 0.
    questions: How many releases there are in all.

    Its guarantee is the optimal one for so many answers of the least private part, whatever is
    asked: Kairouz, Oh and Viswanath 2015, Theorem 3.3.
    """

    parts: Sequence[Annotated[Any, OfRoom("mechanism")]]
    questions: int
    interactive = True

    def __post_init__(self) -> None:
        integer("questions", self.questions, low=1, high=10**6)
        _require_parts(self.parts)
        for part in self.parts:
            if is_interactive(part):
                raise InputError(f"`parts` must release something; {type(part).__name__} talks")

    def _part(self, question: Any) -> Any:
        number = int(question)
        if not 0 <= number < len(self.parts):
            raise InputError(
                f"a question is the number of a mechanism, 0 to {len(self.parts) - 1}, got {number}"
            )
        return self.parts[number]

    def answers(self, data: Array, rng: np.random.Generator) -> Generator[Any, Any, None]:
        question = yield None
        for _ in range(self.questions):
            release = self._part(question).release(np.asarray(data)[None], rng)
            question = yield release[0]

    def promise(self, data: Array) -> Guarantee | None:
        """Return the guarantee of the whole conversation; None where a part promises nothing."""
        known = _privacy(self.parts, data)
        if known is None:
            return None
        epsilon, delta = max(e for e, _ in known), max(d for _, d in known)
        if math.isinf(epsilon):
            return None
        answers = f"each of {self.questions:,} answers has separate coins"
        program = (answers, EXACT_NOISE, NOTHING_ELSE)
        return replace(optimal_composition(epsilon, self.questions, delta), program=program)

    def begin(self, data: Array) -> Weights:
        """Start to write conversations out: nothing is hidden, shape (data sets, 1)."""
        for part in self.parts:
            _require_channel(part)
        return np.ones((len(data), 1))

    def worth_asking(self, data: Array, asked: Sequence[Any]) -> Sequence[Any]:
        """List the parts that may follow those that were asked for."""
        return range(len(self.parts)) if len(asked) < self.questions else ()

    def advance(self, weights: Weights, data: Array, question: Any) -> list[tuple[Any, Weights]]:
        """Return each release of a part with the weights that it leaves."""
        channel = self._part(question).channel(data)
        chances = channel.matrix.toarray()
        return [
            (release, weights * chances[:, [place]])
            for place, release in enumerate(channel.releases)
        ]


def _require_parts(parts: Sequence[Any]) -> None:
    if not parts:
        raise InputError("`parts` must hold at least one mechanism")


def _require_channel(part: Any) -> None:
    if not hasattr(part, "channel"):
        raise InputError(
            f"the mechanism {type(part).__name__} cannot be written out; play the study instead"
        )


def _privacy(parts: Sequence[Any], data: Batch) -> list[tuple[float, float]] | None:
    """Return (epsilon, delta) of each part; None where one promises nothing."""
    promises = [part.privacy(data) if hasattr(part, "privacy") else None for part in parts]
    known = [promise for promise in promises if promise is not None]
    return known if len(known) == len(promises) else None
