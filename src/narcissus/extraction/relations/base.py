"""When an output counts as extraction: what the relations of Cohen et al. 2024 offer.

A relation says whether an output is a valid extraction of a data set, and names members of the
set of valid outputs that are cheap to print: the complexity of that set is the least over all its
members, so every member named here lowers the upper estimate, and none can make it wrong.

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

    It is a `narcissus.success.relations.Relation`, so that games are played with it, and it says
    what is needed to judge one fixed release.
    """

    @abstractmethod
    def counts(self, data: DataSet, output: bytes) -> bool:
        """Tell whether ``output`` is a valid extraction of ``data``."""

    @abstractmethod
    def cheap_members(self, data: DataSet) -> Iterator[bytes]:
        """Yield outputs that count and are short when compressed; none where none can count."""

    @abstractmethod
    def describe(self) -> str:
        """Say in words when an output counts."""

    def program_sizes(self, data: DataSet) -> dict[str, int]:
        """Give sizes in bytes of programs, known by other means, whose output counts."""
        return {}

    def holds(
        self, data: Sequence[DataSet], attempt: Sequence[bytes], rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Score a batch of a game, shape (trials,)."""
        return np.array([self.counts(d, o) for d, o in zip(data, attempt, strict=True)], dtype=bool)


def text_of(output: bytes) -> str | None:
    """Give an output as text; None where it is none."""
    try:
        return output.decode("utf-8")
    except UnicodeDecodeError:
        return None


def lines_of(output: bytes) -> list[str]:
    """Give the lines of an output that are not blank; none where it is no text."""
    text = text_of(output)
    return [] if text is None else [line for line in text.splitlines() if line.strip()]
