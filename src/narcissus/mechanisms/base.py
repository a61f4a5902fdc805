"""What a mechanism offers: releases to play with and, where finite, its channel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from scipy import sparse

from narcissus.worlds.base import Array, Batch, distinct


@runtime_checkable
class Mechanism(Protocol):
    """Turns data sets into releases."""

    def release(self, data: Batch, rng: np.random.Generator) -> Batch:
        """Release each data set of a batch."""
        ...


@runtime_checkable
class Interactive(Protocol):
    """A mechanism that is talked with; it is one where ``interactive`` is true."""

    interactive: bool

    def answers(self, data: Any, rng: np.random.Generator) -> Generator[Any, Any, None]:
        """Talk about one data set: yield a greeting, or None, then an answer to each question.

        What ``yield`` gives is the attacker's next question; who returns answers no more. A
        question that is no question is refused with ValueError. An attribute ``questions``, where
        there is one, is the most that are asked.
        """
        ...


@runtime_checkable
class WritesConversations(Protocol):
    """A mechanism that is talked with, whose conversations can be written out.

    Weights have shape (data sets, hidden states): the chance, given the data set, of what was
    answered so far and of the coins that nobody sees (`sparse-vector`: the threshold's noise).
    """

    def begin(self, data: Batch) -> Any:
        """Return the weights before the first question."""
        ...

    def worth_asking(self, data: Batch, asked: Sequence[tuple[Any, Any]]) -> Sequence[Any]:
        """List the questions that may follow those asked, with their answers; none: it is over."""
        ...

    def advance(self, weights: Any, data: Batch, question: Any) -> list[tuple[Any, Any]]:
        """Return each possible answer with the weights after it."""
        ...


def is_interactive(mechanism: Any) -> TypeGuard[Interactive]:
    """Check whether a mechanism is talked with, instead of releasing something."""
    return isinstance(mechanism, Interactive) and mechanism.interactive


@dataclass(frozen=True)
class ReleaseChannel:
    """A mechanism written out for a list of data sets."""

    releases: Batch  # The possible releases, a batch of Y
    matrix: sparse.csr_array  # Chance of each release for each data set, shape (D, Y)

    @classmethod
    def of(cls, releases: Batch, rows: Any, chances: Any, data_sets: int) -> ReleaseChannel:
        """Add up the chances of equal releases, each of the data set that ``rows`` names."""
        support, inverse = distinct(releases)
        shape = (data_sets, len(support))
        return cls(support, sparse.coo_array((chances, (rows, inverse)), shape=shape).tocsr())


def deterministic(releases: Batch) -> ReleaseChannel:
    """Return the channel of a mechanism that is a function: one release for each data set."""
    support, inverse = distinct(releases)
    count = len(inverse)
    matrix = sparse.csr_array(
        (np.ones(count), inverse, np.arange(count + 1)), shape=(count, len(support))
    )
    return ReleaseChannel(support, matrix)


class WithoutCoins(ABC):
    """Base of the mechanisms that are functions of the data."""

    @abstractmethod
    def release(self, data: Array, rng: np.random.Generator) -> Array: ...

    def channel(self, data: Array) -> ReleaseChannel:
        return deterministic(self.release(data, np.random.default_rng(0)))
