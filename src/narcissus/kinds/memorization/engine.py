"""What came back of what a model was trained on, beside fresh ones: rows and gains of three kinds.

A group of rows counts documents or images; the rows after it say the same of those never seen, and
of other models. The gain follows from the counts, so that no record can say another one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, Field

from narcissus.evidence import each_confidence
from narcissus.kinds.engine import Kind, PreparedWork
from narcissus.results import Estimate
from narcissus.rows import (
    Count,
    Fact,
    Findings,
    Level,
    Positive,
    Quantity,
    StudyCriterion,
    StudyJudgement,
    StudyRow,
)
from narcissus.study.results.base import MergedGroups

StudyT = TypeVar("StudyT", bound=BaseModel)
WorkT = TypeVar("WorkT", bound="PreparedWork[Any]")
Said = Mapping[str, float | str]

BESIDE = ("fresh", "reference", "shadows")
"""What rows after a count are about: others never seen, and other models."""


class MemorizedDetail(Fact):
    """What all three kinds say of a model beside rows."""

    parameters: Positive
    trained: Positive = Field(description="Different ones that the model was trained on.")
    fresh: Positive
    by_chance: bool = Field(description="Whether chance decided on which ones it was trained.")
    confidence: Level
    claims: Count = Field(description="Limits that hold at once, each at `claim_confidence`.")

    @property
    def claim_confidence(self) -> float:
        return each_confidence(self.confidence, max(1, self.claims))

    @property
    def how_merged(self) -> MergedGroups | None:
        """Which groups of few were merged; None without groups, and in older records."""
        return None


def copies_text(copies: int, more: Sequence[int] | None) -> str:
    """Write how often the members of a group were trained on.

    >>> copies_text(1, None), copies_text(2, (5, 1000))
    ('1 copy', '2, 5 or 1,000 copies')
    """
    *first, last = (f"{one:,}" for one in (copies, *(more or ())))
    text = f"{', '.join(first)} or {last}" if first else last
    return "1 copy" if text == "1" else f"{text} copies"


def of_copies(copies: Sequence[int]) -> Said:
    """Return the place of a group by its numbers of copies; none: of all.

    >>> of_copies([]), of_copies([2, 5])
    ({'copies': 0}, {'copies': 2, 'group': '2 or 5 copies'})
    """
    first, *more = copies or [0]
    return {"copies": first, **({"group": copies_text(first, more)} if more else {})}


def shown_gain(ours: int, of: int, fresh: Quantity) -> float:
    """Return the gain that is shown: its lower limit, and none where chance alone gives as much.

    The limit is about how many fresh ones come back on average. How many of those trained on do
    varies as well, and of a few it varies much: a model that never saw any of them would often
    seem to gain. So Fisher's exact test must refuse that, too, at the level of the limit.
    """
    assert fresh.value is not None
    assert fresh.high is not None
    assert fresh.trials is not None
    assert fresh.confidence is not None
    low, theirs = ours / of - fresh.high, round(fresh.value * fresh.trials)
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


@dataclass(frozen=True)
class Counted:
    """What was counted of a group, and what was sampled beside it."""

    count: StudyRow
    beside: Mapping[str, StudyRow]  # By what they are about, of `BESIDE`
    gain: StudyRow

    @property
    def fresh(self) -> Quantity | None:
        return self.of("fresh")

    def of(self, other: str) -> Quantity | None:
        row = self.beside.get(other)
        return None if row is None else row.quantity

    @property
    def total(self) -> int:
        return int(self.count.facts["of"])

    @property
    def recovered(self) -> int:
        return int(self.count.facts["recovered"])

    @property
    def share(self) -> float:
        return self.count.value

    @property
    def copies(self) -> int:
        """Of each in the training data; 0: of all."""
        return int(self.count.at.get("copies", 0))

    @property
    def shown_gain(self) -> float:
        """The gain that is shown; 0 or below: none."""
        return -1.0 if self.gain.quantity.low is None else self.gain.quantity.low

    @property
    def limits_of_gain(self) -> tuple[float, float] | None:
        """Limits over fresh ones alone; None without them."""
        if self.fresh is None or self.gain.quantity.high is None:
            return None
        return float(self.gain.facts["low"]), self.gain.quantity.high

    def words(self, unit: str) -> str:
        """Name the group by how often its members are in the training data."""
        named = self.count.at.get("group") or copies_text(self.copies, None)
        return str(named) if self.copies else f"all {unit}"


def count_rows(
    what: str,
    name: str,
    counts: tuple[int, int],
    beside: Mapping[str, Quantity | None],
    at: Said | None = None,
    facts: Said | None = None,
) -> list[StudyRow]:
    """Return the rows of a group: a count, and what is known beside it.

    counts: how many came back, of how many.
    beside: by what it is about, of `BESIDE`; None: nothing.
    """
    recovered, of = counts
    facts = {"of": of, "recovered": recovered, **(facts or {})}
    quantity = Quantity(value=recovered / of, grade="proved")
    return [
        StudyRow(role="attack", of=what, name=name, quantity=quantity, at=at or {}, facts=facts),
        *(
            StudyRow(role="fresh", of=about, name=name, quantity=found, at=at or {})
            for about, found in beside.items()
            if found is not None
        ),
    ]


def as_quantity(found: Estimate | dict[str, Any] | None) -> Quantity | None:
    """Take what was estimated, or the same of a record of format 2."""
    if found is None or isinstance(found, Estimate):
        return None if found is None else Quantity.of(found)
    return Quantity(**{k: v for k, v in found.items() if k in Quantity.model_fields})


def groups_of(case: StudyJudgement, counted: str) -> dict[str, list[Counted]]:
    """Return the groups of each attack, all its documents or images first.
    Raises ValueError: the others do not add up to the first.
    """
    found: dict[str, list[Counted]] = {}
    for row in case.findings.select(of=counted):
        own = {one.of: one for one in case.findings.select(row.at) if one.name == row.name}
        beside = {of: own[of] for of in BESIDE if of in own}
        found.setdefault(row.name, []).append(Counted(row, beside, own["gain"]))
    for whole, *parts in found.values():
        sums = [sum(one.total for one in parts), sum(one.recovered for one in parts)]
        adds_up = not parts or sums == [whole.total, whole.recovered]
        if whole.copies or not all(one.copies for one in parts) or not adds_up:
            raise ValueError("the groups do not add up to all")
    return found


def with_gains(
    rows: Sequence[StudyRow], counted: str, *, alone_may_be_gain: bool = False
) -> Iterator[StudyRow]:
    """Yield rows, each group with the share, the baseline and the gain of its counts.

    alone_may_be_gain: whether a share without fresh ones beside it may be gain, to more trials.
    """
    group: list[StudyRow] = []
    for row in rows:
        if row.of == "gain":
            continue
        if row.of not in BESIDE:
            yield from _whole(group, alone_may_be_gain=alone_may_be_gain)
            group = []
        if row.of == counted or group:
            group.append(row)
        else:
            yield row
    yield from _whole(group, alone_may_be_gain=alone_may_be_gain)


def _whole(group: Sequence[StudyRow], *, alone_may_be_gain: bool) -> Iterator[StudyRow]:
    if not group:
        return
    count, *beside = group
    ours, of = int(count.facts["recovered"]), int(count.facts["of"])
    fresh = next((row.quantity for row in beside if row.of == "fresh"), None)
    share = Quantity(value=ours / of, grade="proved", trials=count.quantity.trials)
    facts: Said = {}
    if fresh is None:
        gain = Quantity(value=ours / of if alone_may_be_gain else -1.0, low=-1.0, grade="sampled")
    else:
        others = (fresh.value, fresh.high, fresh.low)
        value, low, high = (ours / of - (one or 0.0) for one in others)
        facts, shown = {"low": low}, shown_gain(ours, of, fresh)
        gain = Quantity(value=value, low=shown, high=high, grade="sampled")
    baseline = None if fresh is None else fresh.value
    yield count.model_copy(update={"quantity": share, "baseline": baseline})
    yield from beside
    yield StudyRow(
        role="excess", of="gain", name=count.name, at=count.at, quantity=gain, facts=facts
    )


class MemorizationKind(Kind[StudyT, WorkT]):
    """What is the same of three kinds."""

    counted: ClassVar[str] = "recovered"
    """What counts of a group are called."""
    alone_may_be_gain: ClassVar[bool] = False
    """Whether a share without fresh ones beside it may be gain, to more trials."""

    def is_of_people(self, study: Mapping[str, Any]) -> bool:
        return True

    def found(self, criteria: Any, rows: Any, detail: Any) -> Findings:
        derived = tuple(self.derived(rows, detail))
        return super().found(self.deciding(criteria, derived, detail), derived, detail)

    def derived(self, rows: Sequence[StudyRow], detail: Any) -> Iterator[StudyRow]:
        """Yield rows with all that follows from them."""
        return with_gains(rows, self.counted, alone_may_be_gain=self.alone_may_be_gain)

    def deciding(
        self, criteria: tuple[StudyCriterion, ...], rows: Sequence[StudyRow], detail: Any
    ) -> tuple[StudyCriterion, ...]:
        """Say which criteria decide."""
        return criteria

    def sizes(self, case: StudyJudgement) -> Sequence[float]:
        if case.detail.how_merged is not None:
            return ()
        return [one.total for own in groups_of(case, self.counted).values() for one in own[1:]]
