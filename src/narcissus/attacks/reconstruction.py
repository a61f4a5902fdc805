"""Reconstruct bits from answers to counts: by linear programming, by trying all, place by place.

Source: Dinur and Nissim 2003 (all data sets, and linear programming); Dwork, McSherry and Talwar
2007 (least absolute deviation).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from narcissus._options import FilledIn
from narcissus._validation import integer, one_of
from narcissus.attacks.base import Conversation, ConversationOverError
from narcissus.errors import InputError
from narcissus.worlds.base import all_tuples

Bits = NDArray[np.uint8]

_LISTED = 14
"""Bits of which all data sets are tried."""


def _bits_of(game: Any, attack: str, option: str = "", asked: int = 0) -> int:
    """Return how many bits a data set has; refuse what cannot be asked so much about them."""
    n = getattr(game.world, "n", None)
    if n is None or not hasattr(game.mechanism, "answers"):
        raise InputError(
            f"the attack `{attack}` needs a world with a number of bits `n`, and a mechanism that "
            "answers questions about them: `count-queries` or `sparse-vector`"
        )
    limit = getattr(game.mechanism, "questions", None)
    if limit is not None and asked > limit:
        raise InputError(
            f"`{option}` of the attack `{attack}` makes {asked:,} questions, and the mechanism "
            f"answers {limit:,}: ask less, or leave it out"
        )
    return int(n)


@dataclass(frozen=True)
class LinearReconstruction:
    """Ask for the counts of random subsets, and name the bits that fit all answers best.

    questions: How many subsets; as many as are answered where not given, but no more than 16 for
        each bit.
    method: ``"least-squares"`` (of the answers, rounded) or ``"linear-program"`` (the least sum of
        deviations, of bits between 0 and 1, rounded), which single wrong answers hardly move.
    """

    questions: int | None = None
    method: Literal["least-squares", "linear-program"] = "least-squares"
    n: Annotated[int, FilledIn()] = 0

    def __post_init__(self) -> None:
        if self.questions is not None:
            integer("questions", self.questions, low=1)
        one_of("method", self.method, ("least-squares", "linear-program"))

    def prepare(self, game: Any) -> LinearReconstruction:
        count = self.questions or 0
        return replace(self, n=_bits_of(game, "linear-reconstruction", "questions", count))

    def converse(self, conversation: Conversation, known: Any, rng: np.random.Generator) -> Bits:
        count = 16 * self.n if self.questions is None else self.questions
        if conversation.left is not None:
            count = min(count, conversation.left)
        subsets = rng.integers(0, 2, (count, self.n))
        heard = np.array([conversation.ask(subset) for subset in subsets], dtype=np.float64)
        if self.method == "least-squares":
            # an answer is half the size of its subset where all bits are a coin's
            estimate = (
                0.5 + np.linalg.lstsq(subsets, heard - subsets.sum(axis=1) / 2, rcond=None)[0]
            )
        else:
            estimate = _least_deviation(subsets, heard)
        return (estimate > 0.5).astype(np.uint8)


def _least_deviation(subsets: NDArray[Any], heard: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the numbers in [0, 1] whose sums are off by the least in all."""
    m, n = subsets.shape
    matrix: Any = sparse.hstack(
        [sparse.csr_array(subsets), sparse.eye_array(m), -sparse.eye_array(m)]
    )
    cost = np.concatenate([np.zeros(n), np.ones(2 * m)])
    limits = [(0.0, 1.0)] * n + [(0.0, None)] * (2 * m)
    solution = optimize.linprog(cost, A_eq=matrix, b_eq=heard, bounds=limits, method="highs")
    if solution.x is None:
        raise InputError(f"the linear program was not solved: {solution.message}")
    return np.asarray(solution.x[:n])


@dataclass(frozen=True)
class ExhaustiveReconstruction:
    """Ask for the counts of all subsets, and name a data set that is far off from none of them.

    Where no answer is off by more than ``E``, what is named has at most ``4 E`` bits wrong: of the
    places where it has a one too many, and of those where it has one too few, the count is off by
    at most ``2 E``.

    Source: Dinur and Nissim 2003.
    """

    n: Annotated[int, FilledIn()] = 0

    def prepare(self, game: Any) -> ExhaustiveReconstruction:
        n = _bits_of(game, "exhaustive-reconstruction")
        if n > _LISTED:
            raise InputError(
                f"the attack `exhaustive-reconstruction` asks 2^n questions, for {_LISTED} bits at "
                f"most, got {n}: take `linear-reconstruction`"
            )
        return replace(self, n=n)

    def converse(self, conversation: Conversation, known: Any, rng: np.random.Generator) -> Bits:
        every = all_tuples(2, self.n).astype(np.float64)  # BLAS is much faster
        subsets = every[1:]
        if conversation.left is not None and conversation.left < len(subsets):
            subsets = rng.permutation(subsets)[: conversation.left]
        heard = np.array(
            [conversation.ask(subset) for subset in subsets.astype(np.int64)], dtype=np.float64
        )
        off = np.empty(len(every))
        step = max(1, 2_000_000 // len(subsets))
        for start in range(0, len(every), step):
            sums = every[start : start + step] @ subsets.T
            off[start : start + step] = np.abs(sums - heard).max(axis=1)
        return every[int(off.argmin())].astype(np.uint8)


@dataclass(frozen=True)
class AskEach:
    """Ask of each place whether there is a one, and whether there is a zero; believe the larger.

    repeat: How often each is asked; as often as is answered where not given, 100 times at most.
    """

    repeat: int | None = None
    n: Annotated[int, FilledIn()] = 0

    def __post_init__(self) -> None:
        if self.repeat is not None:
            integer("repeat", self.repeat, low=1)

    def prepare(self, game: Any) -> AskEach:
        n = _bits_of(game, "ask-each")
        return replace(self, n=_bits_of(game, "ask-each", "repeat", 2 * n * (self.repeat or 0)))

    def converse(self, conversation: Conversation, known: Any, rng: np.random.Generator) -> Bits:
        """Name all bits, shape (n,); those that were not answered for by a coin."""
        times, left = self.repeat, conversation.left
        if times is None:
            times = 100 if left is None else min(100, max(1, left // (2 * self.n)))
        ones, zeros = np.zeros(self.n), np.zeros(self.n)
        single = np.eye(self.n, dtype=np.int64)
        try:
            for _ in range(times):
                for place in range(self.n):
                    ones[place] += conversation.ask(single[place])
                    zeros[place] += conversation.ask(-single[place])
        except ConversationOverError:
            pass  # what was heard until now must do
        coins = rng.integers(0, 2, self.n)
        return np.where(ones == zeros, coins, ones > zeros).astype(np.uint8)
