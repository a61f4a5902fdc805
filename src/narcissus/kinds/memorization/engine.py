"""What came back of what a model was trained on, next to fresh ones: the results of three kinds.

A group counts documents or images, and holds the same share of those never seen and of other
models. The gain follows from the counts, so that no record can say another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from pydantic import BaseModel, Field, model_validator

from narcissus._validation import some_of
from narcissus.evidence import clopper_pearson, each_confidence
from narcissus.evidence.intervals import TwoSamples
from narcissus.extraction.recovered import RecoveredDocuments
from narcissus.extraction.sandbox import check_isolation
from narcissus.kinds.engine import Kind, PreparedWork
from narcissus.membership.blind import FEWEST, BlindBaseline, blind_baseline
from narcissus.membership.reported import PRECISION, is_void, without_claims
from narcissus.results import NotAssessed, Status
from narcissus.rows import (
    SLACK,
    Count,
    Fact,
    Level,
    Place,
    Positive,
    Quantity,
    StudyCriterion,
    StudyResult,
    StudyRow,
)
from narcissus.study.kinds import RunOptions
from narcissus.study.merging import MergedGroups
from narcissus.study.store import TrialStore

StudyT = TypeVar("StudyT", bound=BaseModel)
WorkT = TypeVar("WorkT", bound="PreparedWork[Any]")
Ends = tuple[float, float]
Criteria = tuple[StudyCriterion, ...]


def copies_text(copies: Sequence[int]) -> str:
    """Write how often the members of a group were trained on.

    >>> copies_text([1]), copies_text([2, 5, 1000])
    ('1 copy', '2, 5 or 1,000 copies')
    """
    *first, last = (f"{number:,}" for number in copies)
    text = f"{', '.join(first)} or {last}" if first else last
    return "1 copy" if text == "1" else f"{text} copies"


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


class CountedGroup(Fact):
    """How many documents or images came back that a model was trained on, and of others."""

    alone_may_be_gain: ClassVar[bool] = False
    """Whether a share without fresh ones may be gain, to more trials."""

    total: Positive
    recovered: Count
    fresh: Quantity | None = Field(
        default=None, description="Share of those never seen; null: none is like them."
    )

    @classmethod
    def of(cls, counts: RecoveredDocuments, **more: Any) -> Self:
        """Take what was counted, and the fields that a kind adds."""
        fresh = None if counts.fresh is None else Quantity.of(counts.fresh)
        return cls(total=counts.documents, recovered=counts.recovered, fresh=fresh, **more)

    @model_validator(mode="after")
    def _within(self) -> Self:
        if self.recovered > self.total:
            raise ValueError(f"{self.recovered} came back of {self.total}")
        return self

    @property
    def is_whole(self) -> bool:
        """Whether it is all of what the attack was played on."""
        return True

    @property
    def at(self) -> dict[str, Place]:
        """Its place in the rows of a record."""
        return {}

    @property
    def others(self) -> dict[str, Quantity | None]:
        """Shares of others, by what they are about."""
        return {"fresh": self.fresh}

    @property
    def beside(self) -> dict[str, Quantity]:
        return {about: share for about, share in self.others.items() if share is not None}

    @property
    def share(self) -> float:
        return self.recovered / self.total

    @property
    def gain(self) -> Quantity:
        """The share less that of fresh ones; the limits let both sides vary."""
        if self.fresh is not None:
            value, trials = self.fresh.value or 0.0, self.fresh.trials or 1
            level = self.fresh.confidence or 0.95
            counts = self.recovered, self.total, round(value * trials), trials
            low, high = limits_of(*counts, level)
            return Quantity(value=self.share - value, low=low, high=high, grade="sampled")
        if self.alone_may_be_gain:
            return Quantity(value=self.share, low=-1.0, grade="sampled")
        return Quantity(value=None, grade="not assessed", why="no fresh one is like them")

    @property
    def shown_gain(self) -> float:
        """The gain that is shown; 0 or below: none."""
        return -1.0 if self.gain.low is None else self.gain.low

    @property
    def limits_of_gain(self) -> Ends | None:
        """None without fresh ones."""
        low, high = self.gain.low, self.gain.high
        return None if low is None or high is None else (low, high)

    def words(self, unit: str) -> str:
        """Name the group by how often its members are in the training data."""
        return f"all {unit}"

    def rows(self, of: str, attack: str) -> Iterator[StudyRow]:
        """Yield the count, the shares of others, and the gain."""
        labels: dict[str, Any] = {"name": attack, "at": self.at, "about": self}
        count = Quantity(value=self.share, grade="counted")
        baseline = None if self.fresh is None else self.fresh.value
        yield StudyRow(role="attack", of=of, quantity=count, baseline=baseline, **labels)
        for about, share in self.beside.items():
            yield StudyRow(role="fresh", of=about, quantity=share, **labels)
        yield StudyRow(role="excess", of="gain", quantity=self.gain, **labels)


class GroupOfCopies(CountedGroup):
    """A group of those that are in the training data equally often."""

    copies: tuple[Positive, ...] = Field(default=(), description="Of each; none: all are in it.")

    @property
    def is_whole(self) -> bool:
        return not self.copies

    @property
    def at(self) -> dict[str, Place]:
        first, *others = self.copies or [0]
        return {"copies": first, **({"group": copies_text(self.copies)} if others else {})}

    def words(self, unit: str) -> str:
        return copies_text(self.copies) if self.copies else super().words(unit)


GroupT = TypeVar("GroupT", bound=CountedGroup)


def require_whole(groups: tuple[GroupT, ...]) -> tuple[GroupT, ...]:
    """Refuse groups of which the first is not the whole of the others."""
    whole, *parts = groups
    sums = [sum(part.total for part in parts), sum(part.recovered for part in parts)]
    adds_up = not parts or sums == [whole.total, whole.recovered]
    if not whole.is_whole or any(part.is_whole for part in parts) or not adds_up:
        raise ValueError("the groups do not add up to all")
    return groups


TOLD, ABOVE = "told", "above a fresh one"
_VOIDED = ("gain", TOLD, ABOVE, PRECISION)


class MemorizedResult(StudyResult):
    """What all three kinds say of a model."""

    counted: ClassVar[str] = "recovered"
    """What counts of a group are called."""

    parameters: Positive
    trained: Positive = Field(description="Different ones that the model was trained on.")
    fresh: Positive
    by_chance: bool = Field(description="Whether chance decided on which ones it was trained.")
    confidence: Level
    claims: Count = Field(description="Limits that hold jointly, each at `claim_confidence`.")
    unpublished: tuple[str, ...] = Field(
        default=(),
        description="Files and folders next to the model that are not published, as the user "
        "declares.",
    )
    blind: tuple[BlindBaseline, ...] = Field(
        default=(), description="Points alone, without a model."
    )

    @property
    def claim_confidence(self) -> float:
        return level_of_each(self.confidence, self.claims)

    @property
    def groups_by_attack(self) -> Mapping[str, Sequence[CountedGroup]]:
        """The groups of each attack, all its documents or images first."""
        raise NotImplementedError

    @property
    def shown(self) -> Sequence[Fact]:
        """Pictures of single images."""
        return ()

    @property
    def how_merged(self) -> MergedGroups | None:
        """Which groups of few were merged; None without groups."""
        return None

    @model_validator(mode="after")
    def _of_one_level(self) -> Self:
        groups = (group for part in self.groups_by_attack.values() for group in part)
        levels = {share.confidence or 0.0 for group in groups for share in group.beside.values()}
        if any(abs(level - self.claim_confidence) > SLACK for level in levels):
            raise ValueError("a limit is of another level than that of all claims")
        return self

    def rows(self) -> Iterator[StudyRow]:
        """Yield each group with its gain, then what else is known of the model.

        Where points alone tell those trained on, what attacks reached is void.
        """
        yield from without_claims([*self.all_rows()], self.blind, _VOIDED)

    def all_rows(self) -> Iterator[StudyRow]:
        """Yield the rows as if nothing were void."""
        for attack, groups in self.groups_by_attack.items():
            for group in groups:
                yield from group.rows(self.counted, attack)


def level_of_each(confidence: float, claims: int) -> float:
    """Return the level of each limit, so that all hold jointly (Bonferroni)."""
    return each_confidence(confidence, max(1, claims))


def asks_points(trained: Sized, fresh: Sized, *, by_chance: bool) -> bool:
    """Return whether a blind baseline is tested: chance has not divided, and there are enough."""
    return not by_chance and len(fresh) > 0 and len(trained) + len(fresh) >= FEWEST


def model_not_assessed(
    *,
    trains: bool,
    limits_memory: bool,
    others: Sequence[str] = (),
    are_searched: bool = False,
) -> list[NotAssessed]:
    """Return what a model of others may have done where nothing prevented it.

    trains: whether this program made the model.
    limits_memory: whether the limit on its memory holds.
    others: texts and pictures in its folder.
    are_searched: whether those texts are searched for what the model was trained on.
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
    if others:
        found.append(
            NotAssessed(
                f"what the model's folder holds besides the model ({some_of(others, 6)})",
                "its texts were searched for stretches of documents, as they are and in the usual "
                "codes, and nothing else of it was looked at"
                if are_searched
                else "it was only seen to be texts, pictures or tokenizers, and no attack reads it",
                "read it before you publish the folder",
            )
        )
    return found


class ComparedWithFresh(Protocol):
    """A result on what a model was trained on, next to points that it never saw."""

    @property
    def by_chance(self) -> bool: ...

    @property
    def blind(self) -> tuple[BlindBaseline, ...]: ...


class MemorizationKind(Kind[StudyT, WorkT]):
    unit: ClassVar[str] = "images"
    """What is counted."""
    trained: ClassVar[str] = "model"

    def kept_batches(self, options: RunOptions) -> AbstractContextManager[TrialStore | None]:
        """Return the store of batches, whose keys say all that they depend on."""
        return self.stored(options, {"batches of": self.result.__name__})

    def criteria(self, gain: float | None, quality: float | None = None) -> Criteria:
        """Hold all gains to what is accepted."""
        return (StudyCriterion(of="gain", at_most=gain),)

    def premises(self, result: Any) -> tuple[str, ...]:
        unit = self.unit
        premise = (
            f"the fresh {unit} are of the same source as those trained on, and the {self.trained} "
            "was not trained on them"
        )
        conditions = () if result.by_chance else (premise,)
        return (f"{unit} are independent draws of one source", *conditions)

    def is_of_people(self, study: Mapping[str, object]) -> bool:
        return True

    def undecided(self, result: ComparedWithFresh) -> Status | None:
        return "not assessed" if is_void(result.blind) else None

    def without_model(
        self, trained: Any, fresh: Any, *, by_chance: bool, each: float
    ) -> tuple[BlindBaseline, ...]:
        """Test whether points alone tell those trained on from fresh ones, unless chance chose.

        each: level of each limit of the study.
        """
        if not asks_points(trained, fresh, by_chance=by_chance):
            return ()
        both = [*trained, *fresh]
        labels = [True] * len(trained) + [False] * len(fresh)
        points = np.array(both) if isinstance(trained, np.ndarray) else both
        compared = f"{self.unit} trained on and fresh ones"
        # labels are dealt anew by one seed, so that the same data have the same p-value
        return (blind_baseline(points, labels, level=1 - each, compared=compared, rng=0),)
