"""The people's own rows: the release that hides nothing, to see that the attacks work."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from narcissus.mechanisms.marginals import Codes
from narcissus.mechanisms.table.base import TableMechanism
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.rows import PreparedRows


@dataclass(frozen=True)
class PublishedRows(TableMechanism):
    """The rows themselves in random order, without names: nothing is guaranteed."""

    @property
    def label(self) -> str:
        """What is released."""
        return "the rows"

    @property
    def title(self) -> str:
        """What is released, as a title begins."""
        return "The rows themselves"

    def prepare(self, columns: Columns) -> PreparedRows:
        """Return the rows of any table."""
        return replace(PreparedRows.of(columns, _shuffled), fixed=True)


def _shuffled(codes: Codes, rng: np.random.Generator) -> Codes:
    return rng.permutation(codes)
