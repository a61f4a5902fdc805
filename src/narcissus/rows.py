"""A study's findings as rows, and the criteria they are held to.

One `StudyRow` is one fact: its role says how the judge (`narcissus.judgement`) may use it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from narcissus.results import Bound, Estimate, Grade, Status

SLACK = 1e-9
"""Rounding allowed before numbers that should be in order are not."""
INFINITE = "infinite"
"""How a record writes infinity, which JSON has no number for."""


def _read(value: Any) -> Any:
    return math.inf if value == INFINITE else value


def _write(value: float | str) -> float | str:
    return INFINITE if value == math.inf else value


def _not_nan(value: float | str) -> float | str:
    if isinstance(value, float) and (math.isnan(value) or value == -math.inf):
        raise ValueError("a number or infinity is needed")
    return value


Number = Annotated[
    float,
    Field(allow_inf_nan=True),
    BeforeValidator(_read, json_schema_input_type=float | Literal["infinite"]),
    AfterValidator(_not_nan),
    PlainSerializer(_write, return_type=float | str),
]
Place = Annotated[
    int | Annotated[float, Field(allow_inf_nan=True)] | str,
    BeforeValidator(_read, json_schema_input_type=int | float | str),
    AfterValidator(_not_nan),
    PlainSerializer(_write, return_type=int | float | str),
]
Share = Annotated[float, Field(ge=0, le=1)]
Level = Annotated[float, Field(gt=0, lt=1, description="Of confidence.")]
MOST_COUNTED = 2**63 - 1
"""More than anybody counts: what draws a record computes with numbers of this size."""
Count = Annotated[int, Field(ge=0, le=MOST_COUNTED)]
Positive = Annotated[int, Field(ge=1, le=MOST_COUNTED)]


class Fact(BaseModel):
    """A part of a record: frozen, no unknown key; what has its default value is not written."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @classmethod
    def taken(cls, found: object, **more: Any) -> Self:
        """Take its fields from an object that has them too, and those given."""
        names = cls.model_fields.keys() - more.keys()
        return cls(**{name: getattr(found, name) for name in names}, **more)

    @model_serializer(mode="wrap")
    def _without_defaults(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        fields = type(self).model_fields
        return {
            key: value
            for key, value in written.items()
            if fields[key].is_required() or getattr(self, key) != fields[key].default
        }


def _require_order(low: float, high: float, words: str) -> None:
    if low > high + SLACK:
        raise ValueError(words.format(f"{low:g}", f"{high:g}"))


class Quantity(Fact):
    """A number with its limits, and what they rest on."""

    value: Number | None = Field(description="Null: there is no answer.")
    low: Number | None = None
    high: Number | None = None
    grade: Grade
    confidence: Level | None = Field(default=None, description="Of the limits.")
    trials: Positive | None = None
    approximate: tuple[Number, Number] | None = Field(
        default=None, description="Approximate limits, which decide nothing."
    )
    counted: tuple[Count, Count] | None = Field(
        default=None, description="How many were observed, and of how many."
    )
    why: str = Field(default="", description="Why a limit is missing.")
    id: str = Field(default="", description="Of the theorem that a limit is by.")
    assumptions: tuple[str, ...] = Field(default=(), description="Conditions of that theorem.")
    takes_as_given: tuple[str, ...] = Field(default=(), description="Premises that nothing tests.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low is not None and self.high is not None:
            _require_order(self.low, self.high, "its lower limit {} is above its upper one {}")
        return self

    @classmethod
    def of(cls, found: Estimate | Bound) -> Self:
        """Take the numbers of an estimate, or of a bound, whose value is its upper limit."""
        numbers: dict[str, Any] = {"high": found.value}
        numbers |= {key: getattr(found, key) for key in cls.model_fields if hasattr(found, key)}
        return cls(**numbers)


class Unaccounted(Fact):
    """Something that was brought in and that no number speaks of.

    A verdict in favour waits until the user declares what it is.
    """

    subject: str = Field(description="What it is, a noun phrase: column `note`.")
    reason: str = Field(description="Why it may matter, a sentence.")
    declaration: str = Field(description='What decides it: `irrelevant = ["note"]` in `[data]`.')

    @property
    def is_plural(self) -> bool:
        """Whether the subject is several things, for the verb after it."""
        things = "exact values|comments|lines|embedded files|other parts|texts|names|rows"
        things += "|unread (?:extra fields|characteristics)"
        return re.match(f"(\\w+ )?columns|values |the ({things})", self.subject) is not None

    @property
    def counts(self) -> str:
        """Return how many people it is about, in a few words; nothing where none are counted."""
        return ""


Role = Literal["guess", "attack", "fresh", "gain", "excess", "bound", "refuted", "measure"]


class StudyRow(Fact):
    """One fact of a study."""

    role: Role = Field(
        description="What it is to the judgement: what an attack did (attack), beyond others "
        "(excess); what no attacker exceeds (bound); the quantity itself (measure). The other "
        "roles are shown next to these."
    )
    of: str = Field(description="What is measured; `quantity` in the frame. Empty: not shown.")
    name: str = Field(default="", description="Of the attack, the theorem, the measure.")
    quantity: Quantity
    baseline: Number | None = Field(
        default=None, description="What the same attempts score without it."
    )
    at: Mapping[str, Place] = Field(
        default={}, description="Where: prior, epsilon, group, copies, ..."
    )
    about: Any = Field(default=None, exclude=True, description="Part of the result it is from.")

    @model_validator(mode="after")
    def _holds(self) -> Self:
        """Refuse what is no share, and limits that do not hold their value.

        A measure may be any number, and the limits of one that is estimated may miss it. A bound
        on a number of people says of how many (`people`); an excess is a share less two.
        """
        quantity = self.quantity
        if self.role in ("measure", "refuted"):
            return self
        lower_limit = {"excess": -2.0, "gain": -1.0}.get(self.role, 0.0)
        people = getattr(self.about, "people", None) or 1.0
        upper_limit = people if self.role == "bound" else 1.0
        order = [lower_limit, quantity.low, quantity.value, quantity.high, float(upper_limit)]
        for low, high in pairwise(number for number in order if number is not None):
            _require_order(
                low, high, "its numbers are outside [0, 1], or out of order: {} above {}"
            )
        return self

    def is_at(self, at: Mapping[str, float | str]) -> bool:
        return all(self.at.get(key) == value for key, value in at.items())

    @property
    def is_known(self) -> bool:
        """Whether it holds a number, or a limit of one."""
        quantity = self.quantity
        return any(number is not None for number in (quantity.value, quantity.low, quantity.high))

    @property
    def is_exact(self) -> bool:
        """Whether the number is its own limit."""
        quantity = self.quantity
        exact = quantity.grade in ("proved", "counted")
        return exact and quantity.low is None and quantity.high is None

    @property
    def value(self) -> float:
        """The number; NaN where there is none."""
        return math.nan if self.quantity.value is None else self.quantity.value


class StudyResult(Fact):
    """What a kind found: a tree of numbers and words. `rows` lists the numbers, one fact a row."""

    def rows(self) -> Iterator[StudyRow]:
        """Yield each number of the tree, with what it is to the judgement and where it is."""
        raise NotImplementedError


class StudyCriterion(Fact):
    """What is accepted of one measure, at one place; without a limit, what is only looked at."""

    of: str = Field(description="What is compared: rows of this measure, and bounds next to them.")
    name: str = Field(default="", description="Of these rows; empty: any.")
    label: str = Field(default="", description="The place in words.")
    at: Mapping[str, Place] = {}
    at_most: Number | None = None
    at_least: Number | None = None
    decides: bool = Field(default=True, description="Whether the study's status depends on it.")


@dataclass(frozen=True)
class Conflict:
    """A contradiction that a kind found for itself, next to those between claims.

    text: A sentence that names what cannot both hold.
    grade: The weakest of what contradicts.
    """

    text: str
    grade: Grade = "sampled"


class HoldsResult(Protocol):
    """A record, for whoever judges it."""

    @property
    def criteria(self) -> tuple[StudyCriterion, ...]: ...

    @property
    def result(self) -> Any: ...


@dataclass(frozen=True)
class Findings:
    """What a study found."""

    criteria: tuple[StudyCriterion, ...]
    rows: tuple[StudyRow, ...]
    result: Any  # Model of the kind: what is no number of an attack, a bound, a measure
    confidence: float | None = None  # Of all limits together
    premises: tuple[str, ...] = ()  # What every sampled row assumes
    refuted: tuple[Conflict, ...] = ()  # Contradictions that the kind found beside those of rows
    # Status of a kind that weighs for itself and leaves it open, whatever is accepted
    undecided: Status | None = None
    # Measures of what an attack was seen to do: judged nevertheless, and before contradictions
    decided: tuple[str, ...] = ()

    @property
    def unaccounted(self) -> tuple[Unaccounted, ...]:
        """What was brought in and not understood, as the kind's result lists it."""
        return getattr(self.result, "unaccounted", ())

    def select(
        self, at: Mapping[str, float | str] | None = None, *, of: str = "", role: Role | None = None
    ) -> tuple[StudyRow, ...]:
        """Return the rows at a place, of a measure and with a role; each may be left open."""
        return tuple(
            row
            for row in self.rows
            if row.is_at(at or {}) and of in ("", row.of) and role in (None, row.role)
        )
