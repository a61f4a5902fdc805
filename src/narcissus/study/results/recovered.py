"""What a model gives back of what it was trained on, beside fresh ones: a frame for each kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field

from narcissus.study.results.base import SLACK, Positive, ResultModel, SampledShare, Signed

RecoveredStatus = Literal["exceeded", "too few trials", "inconclusive", "no threshold"]


AndCopies = Annotated[
    tuple[Positive, ...] | None,
    Field(description="More numbers of copies, of groups that were merged with this small one."),
]


def copies_text(copies: int, more: Sequence[int] | None) -> str:
    """Write how often the members of a group were trained on.

    >>> copies_text(1, None), copies_text(2, (5, 1000))
    ('1 copy', '2, 5 or 1,000 copies')
    """
    *first, last = (f"{one:,}" for one in (copies, *(more or ())))
    text = f"{', '.join(first)} or {last}" if first else last
    return "1 copy" if text == "1" else f"{text} copies"


class GainOverFresh(ResultModel):
    """The share recovered of documents trained on, beyond that of documents never seen."""

    value: Signed
    low: Signed
    high: Signed
    grade: Literal["sampled"]

    @classmethod
    def of(cls, gain: tuple[float, float, float] | None) -> Self | None:
        """Take a value, its lower and its upper limit; None stays None."""
        if gain is None:
            return None
        value, low, high = gain
        return cls(value=value, low=low, high=high, grade="sampled")


def require_gain(
    share: float, fresh: SampledShare | None, gain: GainOverFresh | None, of: str
) -> None:
    if (gain is None) != (fresh is None):
        raise ValueError(f"a gain is said without fresh {of}, or none with them")
    if gain is not None and fresh is not None:
        assert fresh.low is not None
        assert fresh.high is not None
        wanted = (fresh.value, fresh.high, fresh.low)
        said = (gain.value, gain.low, gain.high)
        if any(abs(share - a - b) > SLACK for a, b in zip(wanted, said, strict=True)):
            raise ValueError(f"`gain` is not the share beyond that of fresh {of}")


def shown_gain(share: float, of: int, fresh: SampledShare | None) -> float:
    """Return the gain that is shown: its lower limit, and none where chance alone gives as much.

    The limit is about how many fresh ones come back on average. How many of those trained on do
    varies as well, and of a few it varies much: a model that never saw any of them would often
    seem to gain. So Fisher's exact test must refuse that, too, at the level of the limit.
    """
    if fresh is None:
        return -1.0
    assert fresh.high is not None
    low, ours, theirs = share - fresh.high, round(share * of), round(fresh.value * fresh.trials)
    if low > 0 and _chance_of_as_many(ours, of, theirs, fresh.trials) > 1 - fresh.confidence:
        return 0.0
    return low


def _chance_of_as_many(ours: int, of: int, theirs: int, others: int) -> float:
    """Return the chance of as many or more of ours if all that came were drawn from all."""
    back = ours + theirs
    every = _log_choices(of + others, back)
    return sum(
        math.exp(_log_choices(of, k) + _log_choices(others, back - k) - every)
        for k in range(ours, min(of, back) + 1)
    )


def _log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def require_groups(groups: Sequence[tuple[int, int, int]], of: str) -> None:
    """Refuse groups (copies, recovered, all) of which the first is not the whole of the others."""
    (copies, *whole), *parts = groups
    if copies != 0 or any(part[0] == 0 for part in parts):
        raise ValueError(f"all {of} must come first, and once")
    if parts and [sum(part[i] for part in parts) for i in (1, 2)] != whole:
        raise ValueError(f"the groups do not add up to all {of}")


def status_of(most: float | None, gains: Iterable[tuple[float, float]]) -> RecoveredStatus:
    """Return the status by gains (value, what is shown): attempts that fail prove nothing."""
    if most is None:
        return "no threshold"
    values, lows = zip(*gains, strict=True)
    if max(lows) > most:
        return "exceeded"
    return "too few trials" if max(values) > most else "inconclusive"
