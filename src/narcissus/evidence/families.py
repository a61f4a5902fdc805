"""Levels of several claims made from the same trials.

A claim that was chosen because it looked best among ``k`` holds at the level of one only if its
limit was made for all ``k``: the family is everything that was chosen *from*, groups times attacks
times settings. The union bound (Bonferroni) makes it so for claims that depend in any way.

Claims taken in an order that was fixed beforehand, up to the first that fails, need no correction:
a false claim is made only if the first false one of the list passes its test, and that is one test
(fixed-sequence testing; Maurer, Hothorn and Lehmacher 1995).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from narcissus._validation import fraction, integer


def each_confidence(confidence: float, family: int) -> float:
    """Give the level at which each of ``family`` limits must be made for all to hold at once.

    Parameters
    ----------
    confidence
        Level in (0, 1) of all together.
    family
        Among how many claims is chosen; must be fixed before the trials are seen.

    Examples
    --------
    >>> round(each_confidence(0.95, 10), 4)
    0.995
    """
    level = fraction("confidence", confidence)
    return 1 - (1 - level) / integer("family", family, low=1)


def first_in_sequence(passed: Iterable[bool]) -> int:
    """Count the claims that hold, all at the level of one, of a list tested in its order.

    Parameters
    ----------
    passed
        Whether each claim passes its own test at the full level, in an order that was fixed before
        the trials were seen: settings from most noise to least.

    Examples
    --------
    >>> first_in_sequence([True, True, False, True])
    2
    """
    return sum(1 for _ in takewhile(bool, passed))
