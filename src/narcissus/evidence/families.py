"""Confidence levels of several claims from the same trials.

A claim selected as the best among ``k`` holds at the level of one only if its limit was computed
for all ``k``: the family is everything that was selected *from*, groups times attacks times
settings. The union bound (Bonferroni) covers arbitrarily dependent claims.

Claims tested in an order fixed beforehand, up to the first failure, need no correction: a false
claim is made only if the first false one of the list passes its test, which is one test
(fixed-sequence testing; Maurer, Hothorn and Lehmacher 1995).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from narcissus._validation import fraction, integer


def each_confidence(confidence: float, family: int) -> float:
    """Return the level of each of ``family`` limits at which all hold at once with ``confidence``.

    ``family``, the number of claims selected from, must be fixed before the trials are seen.

    >>> round(each_confidence(0.95, 10), 4)
    0.995
    """
    level = fraction("confidence", confidence)
    return 1 - (1 - level) / integer("family", family, low=1)


def first_in_sequence(passed: Iterable[bool]) -> int:
    """Count the leading claims of a sequence that pass; all hold at the level of one.

    Parameters
    ----------
    passed
        Whether each claim passes its test at the full level, in an order fixed before the trials
        were seen: settings from most noise to least.

    Examples
    --------
    >>> first_in_sequence([True, True, False, True])
    2
    """
    return sum(1 for _ in takewhile(bool, passed))
