"""What came back of what a model was trained on, beside fresh ones: rows and gains of three kinds.

A group of rows counts documents or images; the rows after it say the same of those never seen, and
of other models. The gain follows from the counts, so that no record can say another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from pydantic import BaseModel, Field

from narcissus._version import __version__
from narcissus.evidence import clopper_pearson, each_confidence
from narcissus.evidence.intervals import TwoSamples
from narcissus.extraction.sandbox import check_isolation
from narcissus.kinds.engine import Kind, PreparedWork
from narcissus.membership.blind import FEWEST, BlindBaseline, blind_baseline
from narcissus.membership.reported import PRECISION, is_void, without_claims
from narcissus.results import Estimate, NotAssessed, Status
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
from narcissus.study.kinds import RunOptions
from narcissus.study.merging import MergedGroups
from narcissus.study.store import TrialStore

StudyT = TypeVar("StudyT", bound=BaseModel)
WorkT = TypeVar("WorkT", bound="PreparedWork[Any]")
Said = Mapping[str, float | str]
Ends = tuple[float, float]
Criteria = tuple[StudyCriterion, ...]

TOLD, ABOVE = "told", "above a fresh one"
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
    blind: tuple[BlindBaseline, ...] = Field(
        default=(), description="Points alone, without a model."
    )

    @property
    def claim_confidence(self) -> float:
        return each_confidence(self.confidence, max(1, self.claims))

    @property
    def shown(self) -> Sequence[Fact]:
        """Pictures of single images."""
        return ()

    @property
    def how_merged(self) -> MergedGroups | None:
        """Which groups of few were merged; None without groups."""
        return None


def copies_text(copies: int, more: Sequence[int] | None) -> str:
    """Write how often the members of a group were trained on.

    >>> copies_text(1, None), copies_text(2, (5, 1000))
    ('1 copy', '2, 5 or 1,000 copies')
    """
    *first, last = (f"{number:,}" for number in (copies, *(more or ())))
    text = f"{', '.join(first)} or {last}" if first else last
    return "1 copy" if text == "1" else f"{text} copies"


def of_copies(copies: Sequence[int]) -> Said:
    """Return the place of a group by its numbers of copies; none: of all.

    >>> of_copies([]), of_copies([2, 5])
    ({'copies': 0}, {'copies': 2, 'group': '2 or 5 copies'})
    """
    first, *others = copies or [0]
    return {"copies": first, **({"group": copies_text(first, others)} if others else {})}


LARGE = 200_000
"""Documents or images from which on the shares of both sides are limited each by itself."""


@cache
def limits_of(ours: int, of: int, theirs: int, others: int, confidence: float) -> Ends:
    """Limit the gain: how many of those trained on come back varies, as of fresh ones.

    Around the limits over fresh ones alone, which hold for the very ones trained on, so that no
    dependence between these through the model makes them too narrow.
    """
    fresh = clopper_pearson(theirs, others, confidence=confidence).ends
    if of + others > LARGE:
        limits = clopper_pearson(ours, of, confidence=(1 + confidence) / 2).ends
        fresh = clopper_pearson(theirs, others, confidence=(1 + confidence) / 2).ends
        return limits[0] - fresh[1], limits[1] - fresh[0]
    both = TwoSamples(ours, of, theirs, others).excess(confidence=confidence).ends
    return min(both[0], ours / of - fresh[1]), max(both[1], ours / of - fresh[0])


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
    def limits_of_gain(self) -> Ends | None:
        """None without fresh ones."""
        low, high = self.gain.quantity.low, self.gain.quantity.high
        return None if self.fresh is None or low is None or high is None else (low, high)

    def words(self, unit: str) -> str:
        """Name the group by how often its members are in the training data."""
        named = self.count.at.get("group") or copies_text(self.copies, None)
        return str(named) if self.copies else f"all {unit}"


def count_rows(
    what: str,
    name: str,
    counts: tuple[int, int],
    beside: Mapping[str, Estimate | None],
    at: Said | None = None,
    facts: Said | None = None,
) -> list[StudyRow]:
    """Return the rows of a group: a count, and what is known beside it.

    counts: how many came back, of how many.
    beside: by what it is about, of `BESIDE`; None: nothing.
    """
    labels: dict[str, Any] = {"name": name, "at": at or {}}
    facts = {"of": counts[1], "recovered": counts[0], **(facts or {})}
    share = Quantity(value=counts[0] / counts[1], grade="counted")
    quantities = {
        about: Quantity.of(estimate) for about, estimate in beside.items() if estimate is not None
    }
    return [
        StudyRow(role="attack", of=what, quantity=share, facts=facts, **labels),
        *(
            StudyRow(role="fresh", of=about, quantity=estimate, **labels)
            for about, estimate in quantities.items()
        ),
    ]


def groups_of(case: StudyJudgement, counted: str) -> dict[str, list[Counted]]:
    """Return the groups of each attack, all its documents or images first.
    Raises ValueError: the others do not add up to the first.
    """
    groups: dict[str, list[Counted]] = {}
    for row in case.findings.select(of=counted):
        rows = {part.of: part for part in case.findings.select(row.at) if part.name == row.name}
        beside = {of: rows[of] for of in BESIDE if of in rows}
        groups.setdefault(row.name, []).append(Counted(row, beside, rows["gain"]))
    for whole, *parts in groups.values():
        sums = [sum(part.total for part in parts), sum(part.recovered for part in parts)]
        adds_up = not parts or sums == [whole.total, whole.recovered]
        if whole.copies or not all(part.copies for part in parts) or not adds_up:
            raise ValueError("the groups do not add up to all")
    return groups


_VOIDED = ("gain", TOLD, ABOVE, PRECISION)


def asks_points(trained: Sized, fresh: Sized, *, by_chance: bool) -> bool:
    """Return whether a blind baseline is tested: chance has not divided, and there are enough."""
    return not by_chance and len(fresh) > 0 and len(trained) + len(fresh) >= FEWEST


def with_gains(
    rows: Sequence[StudyRow],
    counted: str,
    *,
    alone_may_be_gain: bool = False,
) -> Iterator[StudyRow]:
    """Yield rows, each group with the share, the baseline and the gain of its counts.

    alone_may_be_gain: whether a share without fresh ones beside it may be gain, to more trials.
    """
    whole = partial(_whole, alone_may_be_gain=alone_may_be_gain)
    group: list[StudyRow] = []
    for row in rows:
        if row.of == "gain":
            continue
        if row.of not in BESIDE:
            yield from whole(group)
            group = []
        if row.of == counted or group:
            group.append(row)
        else:
            yield row
    yield from whole(group)


def _whole(group: Sequence[StudyRow], *, alone_may_be_gain: bool) -> Iterator[StudyRow]:
    if not group:
        return
    count, *beside = group
    ours, of = int(count.facts["recovered"]), int(count.facts["of"])
    fresh = next((row.quantity for row in beside if row.of == "fresh"), None)
    share = Quantity(value=ours / of, grade="counted")
    if fresh is None and alone_may_be_gain:
        gain = Quantity(value=ours / of, low=-1.0, grade="sampled")
    elif fresh is None:
        gain = Quantity(value=None, grade="not assessed", why="no fresh one is like them")
    else:
        value, trials, level = fresh.value or 0.0, fresh.trials or 1, fresh.confidence or 0.95
        low, high = limits_of(ours, of, round(value * trials), trials, level)
        gain = Quantity(value=ours / of - value, low=low, high=high, grade="sampled")
    baseline = None if fresh is None else fresh.value
    yield count.model_copy(update={"quantity": share, "baseline": baseline})
    yield from beside
    yield StudyRow(role="excess", of="gain", name=count.name, at=count.at, quantity=gain)


def model_not_assessed(*, trains: bool, limits_memory: bool) -> list[NotAssessed]:
    """Return what a model of others may have done where nothing prevented it.

    trains: whether this program made the model.
    limits_memory: whether the limit on its memory holds.
    """
    found: list[NotAssessed] = []
    if not trains and not check_isolation().safe:
        found.append(
            NotAssessed(
                "what reading the model did besides",
                "its files were read without isolation, and may have changed what was measured",
                "read it on a machine with user namespaces, Landlock and seccomp",
            )
        )
    if not trains and not limits_memory:
        found.append(
            NotAssessed(
                "how much memory the model took",
                "the limit on it (`memory`) holds on Linux and on the processor alone",
                'choose `device = "cpu"` on Linux',
            )
        )
    return found


class MemorizationKind(Kind[StudyT, WorkT]):
    counted: ClassVar[str] = "recovered"
    """What counts of a group are called."""
    unit: ClassVar[str] = "images"
    """What is counted."""
    trained: ClassVar[str] = "model"
    alone_may_be_gain: ClassVar[bool] = False
    """Whether a share without fresh ones beside it may be gain, to more trials."""

    def kept_batches(self, options: RunOptions) -> AbstractContextManager[TrialStore | None]:
        """Return the store of batches, whose keys say all that they depend on."""
        return self.stored(options, {"batches of": self.detail.__name__, "version": __version__})

    def criteria(self, gain: float | None, quality: float | None = None) -> Criteria:
        """Hold all gains to what is accepted."""
        return (StudyCriterion(of="gain", at_most=gain),)

    def premises(self, detail: Any) -> tuple[str, ...]:
        unit = self.unit
        premise = (
            f"the fresh {unit} are of the same source as those trained on, and the {self.trained} "
            "was not trained on them"
        )
        conditions = () if detail.by_chance else (premise,)
        return (f"{unit} are independent draws of one source", *conditions)

    def is_of_people(self, study: Mapping[str, Any]) -> bool:
        return True

    def found(self, criteria: Any, rows: Any, detail: Any) -> Findings:
        derived = without_claims([*self.derived(rows, detail)], detail.blind, _VOIDED)
        return super().found(self.deciding(criteria, derived, detail), derived, detail)

    def undecided(self, detail: Any) -> Status | None:
        return "not assessed" if is_void(detail.blind) else None

    def without_model(
        self, trained: Any, fresh: Any, detail: MemorizedDetail
    ) -> tuple[BlindBaseline, ...]:
        """Test whether points alone tell those trained on from fresh ones, unless chance chose."""
        if not asks_points(trained, fresh, by_chance=detail.by_chance):
            return ()
        both = [*trained, *fresh]
        labels = [True] * len(trained) + [False] * len(fresh)
        compared, level = f"{self.unit} trained on and fresh ones", 1 - detail.claim_confidence
        points = np.array(both) if isinstance(trained, np.ndarray) else both
        # labels are dealt anew by one seed, so that the same data have the same p-value
        return (blind_baseline(points, labels, level=level, compared=compared, rng=0),)

    def derived(self, rows: Sequence[StudyRow], detail: Any) -> Iterator[StudyRow]:
        """Yield rows with all that follows from them."""
        return with_gains(rows, self.counted, alone_may_be_gain=self.alone_may_be_gain)

    def deciding(self, criteria: Criteria, rows: Sequence[StudyRow], detail: Any) -> Criteria:
        """Choose the criteria that decide."""
        return criteria
