"""People who appear in the file after it was changed in a way: mirrored, exchanged, recoded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.evidence.intervals import TwoSamples
from narcissus.synthetic.copies import BesideControl, Copies, Views, beside_control

Positions = NDArray[np.int64]
CHANGED_ERROR = 0.001
"""Error of telling of changed copies, of all counts of a search together."""


@dataclass(frozen=True)
class ChangedPeople(BesideControl):
    """People who appear in the file after it was changed in a way."""

    way: str
    columns: tuple[str, ...]  # that were changed
    people: int
    standing: int
    expected: float
    beside: TwoSamples | None

    @classmethod
    def of(
        cls,
        way: str,
        columns: tuple[str, ...],
        copies: Copies,
        views: Views,
        sides: tuple[Positions, Positions],
        *,
        expected: float = 0.0,
    ) -> ChangedPeople:
        """Take what was counted, with the control looked up in the same way.

        expected: Coincidences, where these are more than pairs of people explain.
        """
        beside = beside_control(views, *sides) if len(sides[1]) else None
        expected = max(expected, copies.expected)
        return cls(way, columns, copies.unique, copies.standing, expected, beside)


def most_people(each: Iterable[ChangedPeople]) -> ChangedPeople | None:
    """Return the way by which most people appear in the file, the first of equals."""
    return max(each, key=lambda people: people.standing, default=None)
