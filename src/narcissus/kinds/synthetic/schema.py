"""The study file of an audit of a given synthetic file.

The descriptions here are the documentation of the study file (`narcissus init --schema synthetic`).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from narcissus.kinds.table.schema import BinsSpec, Strictly
from narcissus.study.sections import (
    Approval,
    LeastGroup,
    SeededRun,
    without_default_least_group,
    without_defaults,
)
from narcissus.synthetic.assessment import RiskName
from narcissus.synthetic.copies import COPIES, CopiesName
from narcissus.tables.spelling import ReadAs

Columns = Annotated[list[str], Field(min_length=1)]
Share = Annotated[float, Field(ge=0, lt=1)]


class FilesSpec(Strictly):
    """The files: CSV (also .csv.gz, .tsv) or Parquet, relative to the study file."""

    real: str = Field(description="The people that the synthetic file was made from.")
    synthetic: str = Field(description="The file that was made from them.")
    control: str | None = Field(
        default=None,
        description="People of the same population who are not in the data, set aside at random "
        "before the file was made. Without them only copies of people are judged.",
    )
    columns: list[str] | None = Field(
        default=None, description="Columns to use; those that all files have, if left out."
    )
    drop: list[str] = Field(default=[], description="Columns to leave out.")
    left_out: dict[str, str] = Field(
        default={},
        description="More columns to leave out, each with the reason, which the report tells.",
    )
    irrelevant: list[str] = Field(
        default=[],
        description="Columns that say nothing about a person, as you declare: only names and "
        "numbers of people are sought in them. All others are examined for copies, those that are "
        "left out as well. Also what a file holds next to its table: 'sheet NAME', 'comments', "
        "'lines left out'.",
    )
    bins: dict[str, BinsSpec] = Field(
        default={}, description="How to bin numeric columns, in all files alike."
    )
    unit: str | None = Field(
        default=None,
        description="A column of the real data and the control that names each row's person, "
        "household or cluster, where some have several rows; it is no column of the data. One row "
        "of each is tried, drawn at random, so that what is tried is independent.",
    )
    missing: Literal["refuse", "drop", "category"] = Field(
        default="refuse",
        description="Missing values: an error, rows dropped, or a separate value.",
    )
    read_as: dict[str, ReadAs] = Field(
        default={},
        description="How to read columns whose values do not settle it: as 'text', as 'numbers' "
        "(with a decimal point), with a 'decimal-comma', as dates 'day-first' or 'month-first'. "
        "A column that is named is not asked whether its values overlap between the files.",
    )

    same: dict[str, str] = Field(
        default={},
        description="Columns of the real data that the synthetic file has under another name, and "
        'that name: {"income" = "pay"}.',
    )

    @model_serializer(mode="wrap")
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is not given: earlier studies do not have it."""
        written: dict[str, Any] = write(self)
        later = ("read_as", "left_out", "unit", "irrelevant", "same")
        return {k: v for k, v in written.items() if k not in later or v}


class AttackerSpec(Strictly):
    """What the attacker is after."""

    unknown: Columns = Field(
        description="Columns to guess, one by one and together, from all columns not named here."
    )
    linked: tuple[Columns, Columns] | None = Field(
        default=None,
        description="Two sets of columns to link; random divisions of all columns if left out.",
        strict=False,
    )
    known: Columns | None = Field(
        default=None,
        description="Columns that an attacker plausibly knows, for the measures of disclosure "
        "control; proposed by their names if left out.",
    )
    people: int = Field(
        default=10_000,
        ge=40,
        le=1_000_000,
        description="Most people of each file that are tried, drawn at random. Up to 10000, fewer "
        "are tried of a file of more than 100,000 cells, and 2,000 at least; the report says how "
        "many.",
    )

    _as_before = model_serializer(mode="wrap")(without_defaults(known=None))

    @model_validator(mode="after")
    def _apart(self) -> AttackerSpec:
        if both := [name for name in self.known or () if name in self.unknown]:
            raise ValueError(f"`known` and `unknown` both name `{both[0]}`")
        return self


class ExcessThreshold(Approval, Strictly):
    """How much more often people of the data may be hit than people who are not in it."""

    at_most: Share = Field(default=0.0, description="The excess accepted, for every risk.")
    inference: Share | None = Field(default=None, description="Instead, for inference.")
    singling_out: Share | None = Field(
        default=None, description="Instead, for singling out, by a value alone as well."
    )
    linkability: Share | None = Field(default=None, description="Instead, for linkability.")
    copies: Share | None = Field(
        default=None,
        description="Instead, for people who are unique in the data and appear in the file: how "
        "many of them, beyond the control or, without one, beyond coincidence.",
    )
    worst_group: Share | None = Field(
        default=None, description="The excess accepted in each group of [groups]; none is asked."
    )

    def accepts(self, risk: RiskName | CopiesName) -> float:
        """Return the excess that is accepted of a risk, or of copies."""
        limit = {
            "inference": self.inference,
            "singling out": self.singling_out,
            "singling out by a value": self.singling_out,
            "linkability": self.linkability,
            COPIES: self.copies,
        }[risk]
        return self.at_most if limit is None else limit


class GroupColumns(Strictly):
    """Whose numbers are shown next to everybody's."""

    columns: list[str] = Field(default=[], description="A group for each value of these columns.")
    least_group: int = LeastGroup

    _as_before = model_serializer(mode="wrap")(without_default_least_group)


class SyntheticRun(SeededRun, Strictly):
    """How it is run."""

    confidence: float = Field(
        default=0.95, gt=0, lt=1, description="Of all claims together, both sides of each limit."
    )


class SyntheticStudy(Strictly):
    """An audit of a given synthetic file."""

    title: str = Field("", description="A name for the report.")
    data: FilesSpec
    threat: AttackerSpec
    threshold: ExcessThreshold | None = Field(
        default=None, description="No excess at all is accepted if left out."
    )
    policy: str | None = Field(
        default=None, description="A file with its own [threshold], instead of one here."
    )
    groups: GroupColumns = GroupColumns()
    run: SyntheticRun = SyntheticRun()

    @model_validator(mode="after")
    def _one_threshold(self) -> SyntheticStudy:
        if self.threshold is not None and self.policy is not None:
            raise ValueError("give `threshold` or `policy`, not both")
        if self.threshold and self.threshold.worst_group is not None and not self.groups.columns:
            raise ValueError("`threshold.worst_group` needs `groups.columns`")
        return self


class SyntheticPolicy(Strictly):
    """A policy: the threshold of the person who approves releases, with its origin and reason."""

    threshold: ExcessThreshold
