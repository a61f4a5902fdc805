"""The study file of published tables.

The descriptions here are the documentation of the study file (`narcissus init --schema
published-tables`).
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator

from narcissus._options import MOST_COUNT, MOST_WORKERS
from narcissus._validation import one_of
from narcissus.counts import Publication, WantedSecret
from narcissus.counts.declared import split_hierarchy
from narcissus.counts.posterior import STEPS
from narcissus.study.sections import Approval, FileSection, PlayedRun, Seconds


class TablesSpec(FileSection):
    """The tables, and the people they are about; paths from the study file."""

    tables: list[str] = Field(min_length=1, description="Published tables: CSV or Excel files.")
    people: str | None = Field(
        default=None,
        description="The records that the tables were made from, a row for each "
        "person, with a column for each dimension: any file that a table study reads. Without "
        "them the study only derives what follows with certainty.",
    )


class SecretOfTables(FileSection):
    """What the attacker knows of a person, and wants."""

    secret: str = Field(description="Dimension of the tables whose label is wanted.")
    known: list[str] = Field(description="Columns whose labels the attacker knows.")

    def wanted(self) -> WantedSecret:
        return WantedSecret(self.secret, tuple(self.known))


class TablesThreshold(Approval):
    """What the person who approves the tables accepts; each limit must be kept."""

    gain: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        description="Share of people in the tables whose secret is "
        "named, beyond that of people left out, at most.",
    )
    share: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Share of people in these tables whose secret any "
        "attacker with the same known columns names, at most.",
    )
    people: int | None = Field(
        default=None,
        ge=0,
        le=MOST_COUNT,
        description="People determined with all their labels, at most; in the "
        "game, people whose secret is certain for who knows these columns, too.",
    )
    groups: int | None = Field(
        default=None,
        ge=0,
        le=MOST_COUNT,
        description="Groups of fewer than `made.below` people whose number is known, at most; as "
        "`people` where it is left out.",
    )

    @model_validator(mode="after")
    def _some(self) -> TablesThreshold:
        if (self.gain, self.share, self.people, self.groups) == (None, None, None, None):
            raise ValueError("give `gain`, `share`, `people` or `groups`")
        return self

    @property
    def known_groups(self) -> int | None:
        """Small groups whose number may be known; None: that is not asked."""
        return self.people if self.groups is None else self.groups


class TablesRun(PlayedRun):
    """How much work."""

    trials: int = Field(default=200, ge=2, le=10**6, description="Tables of the game.")
    left_out: float = Field(
        default=0.1, gt=0, lt=1, description="Share of the people left out of each."
    )
    confidence: float = Field(default=0.95, gt=0, lt=1, description="Of all limits together.")
    data_sets: int = Field(
        default=1000, ge=1, le=10**6, description="Consistent data sets are counted up to here."
    )
    steps: int = Field(
        default=STEPS,
        ge=0,
        le=10**7,
        description="Of the search for all data sets consistent "
        "with a table of the game; what it does not reach is sampled.",
    )
    seconds: Seconds = Field(default=600.0, description="Most, for the limits of cells.")
    workers: int | None = Field(
        default=None, ge=1, le=MOST_WORKERS, description="Processes; one if left out."
    )


class PublishedTablesStudy(FileSection):
    """Published tables: what follows with certainty, and whose secret they tell."""

    title: str = Field("", description="A name for the report.")
    about: str = Field("", description="One sentence: what this study shows.")
    data: TablesSpec
    made: Publication = Field(
        default=Publication(),
        description="How the tables were made, in the words of the options "
        "of `narcissus tables`; `rounded` is `--round`.",
    )
    threat: SecretOfTables | None = Field(
        default=None, description="Without it, only what follows with certainty is derived."
    )
    threshold: TablesThreshold | None = None
    policy: str | None = Field(
        default=None, description="A file with its own [threshold], instead of one here."
    )
    run: TablesRun = TablesRun()

    def declared(self, folder: Path) -> Publication:
        """Return how the tables were made, with the files that are named next to the study."""
        trees = [_beside(text, folder) for text in self.made.hierarchy]
        key = self.made.cell_key
        return replace(self.made, hierarchy=trees, cell_key=None if key is None else folder / key)

    @field_validator("made", mode="before")
    @classmethod
    def _knows_keys(cls, made: Any) -> Any:
        for key in made if isinstance(made, dict) else ():
            one_of("a key of [made]", key, [field.name for field in fields(Publication)])
        return made

    @model_validator(mode="after")
    def _can_be_played(self) -> PublishedTablesStudy:
        if self.threshold is not None and self.policy is not None:
            raise ValueError("give `threshold` or `policy`, not both")
        if self.made.magnitude is not None:
            raise ValueError("a study is of counts of people: totals have `narcissus tables`")
        if self.data.people is not None and self.threat is None:
            raise ValueError("`data.people` needs [threat]: name `secret` and `known`")
        return self


def _beside(text: str, folder: Path) -> str:
    """Return a declared hierarchy whose file is in a folder."""
    name, _, file = text.partition("=")
    if split_hierarchy(text) is not None or not file.strip():
        return text
    return f"{name}={folder / file.strip()}"


class TablesPolicy(FileSection):
    """The threshold of the person who approves the tables, with its origin and reason."""

    threshold: TablesThreshold
