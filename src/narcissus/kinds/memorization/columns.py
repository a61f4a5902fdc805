"""Groups of documents or images as cells of tables and numbers of a verdict."""

from __future__ import annotations

from collections.abc import Callable

from narcissus.kinds.memorization.engine import CountedGroup
from narcissus.report.format import MISSING, between_points, limits
from narcissus.report.page import Cell
from narcissus.rows import Quantity


def value_of(share: Quantity | None) -> Cell:
    return None if share is None else share.value


def between(share: Quantity | None) -> Cell:
    return MISSING if share is None else limits(share.low, share.high)


def count_columns(back: str) -> dict[str, Callable[[CountedGroup], Cell]]:
    """Return the columns of a table of groups up to the share of fresh ones.

    back: heading of those that came back.
    """
    return {
        "Trained on": lambda group: group.total,
        back: lambda group: group.recovered,
        "Share": lambda group: group.share,
        "Never seen": lambda group: value_of(group.fresh),
        "Limits": lambda group: between(group.fresh),
    }


def gain_cell(group: CountedGroup) -> Cell:
    ends = group.limits_of_gain
    return MISSING if ends is None else between_points(*ends)
