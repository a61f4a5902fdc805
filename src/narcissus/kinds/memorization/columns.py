"""Groups of documents or images as cells of tables and numbers of a verdict."""

from __future__ import annotations

from collections.abc import Callable

from narcissus.kinds.memorization.engine import CountedGroup
from narcissus.report.format import MISSING, between_points, limits, percent
from narcissus.report.page import Cell, Headline
from narcissus.rows import Quantity


def headline(label: str, group: CountedGroup, unit: str) -> Headline:
    """Return the share of a group, with that of fresh ones and the gain."""
    fresh, gain = group.fresh, group.limits_of_gain
    if fresh is None or gain is None:
        return label, percent(group.share), f"no fresh {unit}", "not assessed"
    text = f"never seen {percent(fresh.value)}; gain {between_points(*gain)} points"
    return label, percent(group.share), text, "sampled"


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
