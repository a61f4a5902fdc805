"""What a mechanism offers: releases to play with and, where finite, its channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from scipy import sparse

from narcissus.worlds.base import Batch
from narcissus.worlds.batches import distinct


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

    def interact(self, data: Any, player: Any, rng: np.random.Generator) -> Any:
        """Hold one conversation about one data set; give the player's attempt, None for none."""
        ...


def is_interactive(mechanism: Any) -> TypeGuard[Interactive]:
    """Say whether a mechanism is talked with, instead of releasing something."""
    return isinstance(mechanism, Interactive) and mechanism.interactive


@dataclass(frozen=True)
class ReleaseChannel:
    """A mechanism written out for a list of data sets.

    Attributes
    ----------
    releases
        The possible releases, a batch of Y.
    matrix
        Probability of each release for each data set, sparse, shape (D, Y).
    """

    releases: Batch
    matrix: sparse.csr_array


def deterministic(releases: Batch) -> ReleaseChannel:
    """Give the channel of a mechanism that is a function: one release for each data set."""
    kept, inverse = distinct(releases)
    count = len(inverse)
    matrix = sparse.csr_array(
        (np.ones(count), inverse, np.arange(count + 1)), shape=(count, len(kept))
    )
    return ReleaseChannel(kept, matrix)
