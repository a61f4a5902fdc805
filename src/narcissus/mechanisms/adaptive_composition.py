"""Several mechanisms on the same data, of which the attacker chooses one after the other."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from narcissus._options import OfRoom
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee, optimal_composition
from narcissus.mechanisms.base import is_interactive
from narcissus.worlds.base import Array

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class AdaptiveComposition:
    """Release by the mechanism whose number is asked for, each time anew: interactive composition.

    The attacker sees a release before it asks for the next.

    Parameters
    ----------
    parts
        The mechanisms, at least one; the question is the number of one, from 0.
    questions
        How many releases there are in all.

    Notes
    -----
    Its guarantee is the optimal one for so many answers of the least private part, whatever is
    asked: Kairouz, Oh and Viswanath 2015, Theorem 3.3.
    """

    parts: Sequence[Annotated[Any, OfRoom("mechanism")]]
    questions: int
    interactive = True

    def __post_init__(self) -> None:
        integer("questions", self.questions, low=1, high=10**6)
        if not self.parts:
            raise InputError("`parts` must hold at least one mechanism")
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
        """Talk about one data set."""
        question = yield None
        for _ in range(self.questions):
            release = self._part(question).release(np.asarray(data)[None], rng)
            question = yield release[0]

    def promise(self, data: Array) -> Guarantee | None:
        """Get what is guaranteed of the whole conversation; None where a part promises nothing."""
        promises = [p.privacy(data) if hasattr(p, "privacy") else None for p in self.parts]
        known = [promise for promise in promises if promise is not None]
        if len(known) < len(promises):
            return None
        epsilon, delta = max(e for e, _ in known), max(d for _, d in known)
        if math.isinf(epsilon):
            return None
        return optimal_composition(epsilon, self.questions, delta)

    def begin(self, data: Array) -> Weights:
        """Start to write conversations out: nothing is hidden, shape (data sets, 1)."""
        for part in self.parts:
            if not hasattr(part, "channel"):
                raise InputError(
                    f"the mechanism {type(part).__name__} cannot be written out; play the study "
                    "instead"
                )
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
