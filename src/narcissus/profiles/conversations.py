"""The tree of every conversation with a mechanism: questions, answers, and their chances.

The gain is summed over the answers, which the attacker does not choose, and maximised over the
questions, which it does. So the best attacker, of all whose questions may depend on the answers so
far, is found by backward induction from the ends of the conversations. An attacker who stops
earlier gains no more than one who asks on and ignores the answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus.attacks.bayes import BestQuestions, Plan
from narcissus.errors import TooLargeError
from narcissus.mechanisms.base import ReleaseChannel, WritesConversations
from narcissus.profiles.written import Best, Guesses, WrittenOut
from narcissus.success.singling_out import SAME
from narcissus.worlds.base import Batch, key_of

Floats = NDArray[np.float64]

MOST = 30_000
"""Conversations that are written out, whatever the limit: some seconds."""


@dataclass
class _Heard:
    """A node of the tree: the questions that may follow, or the conversation's number."""

    leaf: int = -1
    asks: list[tuple[Any, list[tuple[Any, _Heard]]]] = field(
        default_factory=list[tuple[Any, list[tuple[Any, Any]]]]
    )


@dataclass(frozen=True)
class Tree:
    """All conversations with a mechanism about a list of data sets.

    ``channel`` has each whole conversation as a release, a tuple of questions with answers, with
    the chance of its answers for each data set, given that its questions are asked.
    """

    channel: ReleaseChannel
    _root: _Heard

    def best_leaves(self, gain: Floats) -> NDArray[np.bool_]:
        """Return which conversations the best questions lead to, given the gain of each."""
        kept = np.zeros(len(gain), dtype=bool)
        _, leaves = _value(self._root, gain)
        kept[leaves] = True
        return kept

    def plan(self, gain: Floats, guess: NDArray[np.int64]) -> Plan:
        """Return the best questions as a plan, with the attempt at the end of each conversation."""
        return _plan(self._root, gain, guess)


def _value(heard: _Heard, gain: Floats) -> tuple[float, list[int]]:
    """Return the largest gain from here on, and the conversations that it comes from."""
    if heard.leaf >= 0:
        return float(gain[heard.leaf]), [heard.leaf]
    best, leaves = -np.inf, list[int]()
    for _, answers in heard.asks:
        parts = [_value(after, gain) for _, after in answers]
        value = sum(part for part, _ in parts)
        if value > best:
            best, leaves = value, [leaf for _, some in parts for leaf in some]
    return best, leaves


def _plan(heard: _Heard, gain: Floats, guess: NDArray[np.int64]) -> Plan:
    if heard.leaf >= 0:
        return Plan(None, {}, int(guess[heard.leaf]))
    values = [sum(_value(after, gain)[0] for _, after in answers) for _, answers in heard.asks]
    question, answers = heard.asks[int(np.argmax(values))]
    return Plan(question, {key_of(answer): _plan(after, gain, guess) for answer, after in answers})


def conversations(mechanism: WritesConversations, data: Batch, limit: int) -> Tree:
    """Write out every conversation about some data sets, shape (D, ...).

    Raises `TooLargeError` for more than ``limit`` pairs of data set and conversation, or more than
    `MOST` conversations.
    """
    releases: list[tuple[Any, ...]] = []
    rows: list[Floats] = []
    most = min(MOST, limit // len(data))

    def grow(weights: Floats, asked: tuple[tuple[Any, Any], ...]) -> _Heard:
        questions = mechanism.worth_asking(data, asked)
        if not len(questions):
            if len(rows) >= most:
                raise TooLargeError(
                    f"there are more than {most:,} conversations about {len(data):,} data sets, "
                    "too many to write out: allow fewer questions, make the world smaller, or play "
                    "the game instead"
                )
            rows.append(weights.sum(axis=1))
            releases.append(asked)
            return _Heard(len(rows) - 1)
        heard = _Heard()
        for question in questions:
            after = [
                (answer, grow(left, (*asked, (question, answer))))
                for answer, left in mechanism.advance(weights, data, question)
                if left.any()
            ]
            heard.asks.append((question, after))
        return heard

    root = grow(mechanism.begin(data), ())
    matrix = sparse.csr_array(np.array(rows).T)
    return Tree(ReleaseChannel(releases, matrix), root)


@dataclass(frozen=True)
class WrittenConversations(WrittenOut):
    """A game of conversations written out, with every question allowed after every answer.

    A release is a whole conversation, a leaf of ``tree``. The best attacker asks, after each
    answer, the question with the largest gain, found by backward induction.
    """

    tree: Any = None  # a `Tree`; what comes before has defaults

    def sweep(self, epsilons: Sequence[float]) -> list[Best]:
        """Compute the best attacker at each epsilon, asking only the best question at each node."""
        return [best.asking(self.tree.best_leaves) for best in super().sweep(epsilons)]

    def best(self, epsilon: float) -> list[tuple[int, int, int, float]]:
        """Return the best attacker's attempts, for conversations in which it makes one."""
        return [entry for entry in super().best(epsilon) if entry[2] >= 0]

    def robust(self, epsilon: float) -> tuple[float, float]:
        best = float(self.fixed.max(initial=0.0))
        return max(0.0, self.rates(-math.inf)[0] - math.exp(epsilon) * best), best

    def light(self, weights: NDArray[np.float64], limit: float) -> float:
        allowed = weights <= limit * (1 + SAME)
        best = Best.nothing(-math.inf, self.told, self.channel.matrix.shape[1])
        for block in self.blocks():
            kept = allowed[block.guesses]
            if kept.any():
                some = (block.guesses[kept], block.success[kept], block.baseline[kept])
                best.add(Guesses(block.told, *some), additive=False)
        return best.asking(self.tree.best_leaves).rates[0]

    def attacker(self, epsilon: float) -> Any:
        best = self.sweep([epsilon])[0]
        told = {key_of(self.enumeration.labels[k]): k for k in self.told}
        plans = {key: self.tree.plan(best.gain[k], best.guess[k]) for key, k in told.items()}
        return BestQuestions(self.guesses, plans)
