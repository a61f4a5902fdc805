"""When an output counts as extraction: the interface of the relations of Cohen et al. 2024.

A relation decides whether an output is a valid extraction of a data set, and names valid outputs
that are cheap to print. The complexity of the set of valid outputs is the least over its members,
so every member named here lowers the upper estimate, and none can make it wrong.

Source: Cohen et al. 2024, appendix D.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from narcissus.extraction.files import DataSet


class OutputRelation(ABC):
    """A relation between data sets and printed outputs.

    It is a `narcissus.success.relations.Relation`, so games can use it, and can also judge one
    fixed release.
    """

    @abstractmethod
    def counts(self, data: DataSet, output: bytes) -> bool:
        """Check whether ``output`` is a valid extraction of ``data``."""

    @abstractmethod
    def cheap_members(self, data: DataSet) -> Iterator[bytes]:
        """Yield valid outputs that are short when compressed; none if none can count."""

    @abstractmethod
    def describe(self) -> str:
        """Describe in words when an output counts."""

    def program_sizes(self, data: DataSet) -> dict[str, int]:
        """Return the sizes in bytes of programs, known by other means, whose output counts."""
        return {}

    def holds(
        self, data: Sequence[DataSet], attempt: Sequence[bytes], rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Score a batch of a game, shape (trials,)."""
        return np.array([self.counts(d, o) for d, o in zip(data, attempt, strict=True)], dtype=bool)


def text_of(output: bytes) -> str | None:
    """Decode an output; None if it is no text."""
    try:
        return output.decode("utf-8")
    except UnicodeDecodeError:
        return None


def lines_of(output: bytes) -> list[str]:
    """Return the non-blank lines of an output; none if it is no text."""
    text = text_of(output)
    return [] if text is None else [line for line in text.splitlines() if line.strip()]
