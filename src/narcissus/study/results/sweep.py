"""Which setting of a sweep its status is from, so that its numbers stand for the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from narcissus.study.record import Status

if TYPE_CHECKING:
    from narcissus.study.results.table import SettingResult

# A sweep has the status of the setting that is worst, in this order.
WORST: tuple[Status, ...] = (
    "exceeded",
    "contradicted",
    "not assessed",
    "too few trials",
    "inconclusive",
    "met",
    "no threshold",
)


def decisive(settings: Sequence[SettingResult]) -> SettingResult:
    """Give the setting that a verdict on a sweep rests on, whose numbers stand for it.

    Of those that decide, the worst by their status; of these the least noise that is noise at all,
    so that nothing looks better than it is.
    """
    deciding = [one for one in settings if one.decides] or settings
    status = WORST[min(WORST.index(one.status) for one in deciding)]
    worst = [one for one in deciding if one.status == status]
    noisy = [one for one in worst if not one.noiseless]
    return min(noisy or worst, key=lambda one: one.protection)
