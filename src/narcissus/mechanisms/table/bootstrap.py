"""Rows drawn again from the people's own: two in three people are in the release as they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from narcissus.mechanisms.marginals import Codes
from narcissus.mechanisms.table.base import TableMechanism
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.rows import PreparedRows


@dataclass(frozen=True)
class Bootstrap(TableMechanism):
    """As many rows as there are people, drawn from theirs with replacement.

    Each person is in it at least once with probability ``1 - (1 - 1/n)^n``, about .632; nothing
    is guaranteed.
    """

    @property
    def label(self) -> str:
        """How the rows are made."""
        return "bootstrap"

    @property
    def title(self) -> str:
        """What is released, as a title begins."""
        return "Rows drawn with replacement"

    def prepare(self, columns: Columns) -> PreparedRows:
        """Draw from the rows of any table."""
        return PreparedRows.of(columns, _redrawn)


def _redrawn(codes: Codes, rng: np.random.Generator) -> Codes:
    return codes[rng.integers(len(codes), size=len(codes))]
