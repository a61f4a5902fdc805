"""The study file of a channel: its sections, and which of its options go together."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import Field, model_validator

from narcissus.study import earlier
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part
from narcissus.study.sections import Approval, FileSection, SeededRun

# source -> its options and their defaults
SOURCE_OPTIONS: dict[str, dict[str, Any]] = {
    "file": {"prior": None, "tolerance": 1e-9, "uses": 1},
    "mechanism": {"prior": None, "uses": 1},
    "samples": {"secret": None, "estimators": None},
}


class ChannelSpec(FileSection):
    """The channel; give exactly one of file, mechanism and samples."""

    file: str | None = Field(
        default=None, description="CSV or Parquet: a row per secret, a column per output."
    )
    mechanism: Annotated[Part, PartSection("channel-mechanism")] | None = Field(
        default=None, description="In closed form."
    )
    samples: str | None = Field(
        default=None, description="CSV or Parquet of secret and output, a row per sample."
    )
    secret: str | None = Field(default=None, description="The column of secrets in the samples.")
    estimators: list[str] | None = Field(
        default=None, description="Estimators to try on samples; those that suit if left out."
    )
    prior: str | None = Field(default=None, description="CSV of secret, probability.")
    tolerance: float | None = Field(
        default=None, ge=0, lt=0.01, description="Of a file: of a row's sum; 1e-9 if left out."
    )
    uses: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Outputs that the attacker sees; 1 if left out.",
    )

    @model_validator(mode="before")
    @classmethod
    def _of_its_source(cls, values: Any) -> Any:
        """Refuse what the source does not use, and fill in the defaults of what it does."""
        if not isinstance(values, dict):
            return values
        given = {k: v for k, v in cast("dict[str, Any]", values).items() if v is not None}
        named = [source for source in SOURCE_OPTIONS if source in given]
        if len(named) != 1:
            return values
        takes = SOURCE_OPTIONS[named[0]]
        for name in {n for options in SOURCE_OPTIONS.values() for n in options} - takes.keys():
            if name in given:
                users = [source for source, options in SOURCE_OPTIONS.items() if name in options]
                raise ValueError(
                    f"`{name}` is not used with '{named[0]}', only with {' and '.join(users)}: "
                    "leave it out"
                )
        return {**takes, **given}

    @model_validator(mode="after")
    def _one_source(self) -> ChannelSpec:
        if sum(v is not None for v in (self.file, self.mechanism, self.samples)) != 1:
            raise ValueError("give exactly one of `file`, `mechanism` and `samples`")
        return self


class ChannelThreshold(Approval):
    """What the person who approves accepts; one limit or both."""

    beta_star: float | None = Field(
        default=None, ge=0, le=1, description="Bayes security, at least."
    )
    bayes_risk: float | None = Field(default=None, ge=0, le=1, description="Bayes risk, at least.")

    @model_validator(mode="after")
    def _some(self) -> ChannelThreshold:
        if self.beta_star is None and self.bayes_risk is None:
            raise ValueError("give `beta_star`, `bayes_risk` or both")
        return self


class ChannelRun(SeededRun):
    """How sure, and the seed."""

    confidence: float | None = Field(
        default=None, gt=0, lt=1, description="Of each interval, of samples; 0.95 if left out."
    )


class ChannelStudy(FileSection):
    """A study of kind "channel"."""

    title: str = Field("", description="Of the report.")
    channel: ChannelSpec
    threshold: ChannelThreshold | None = None
    run: ChannelRun = ChannelRun()

    _earlier = model_validator(mode="before")(earlier.translated(earlier.channel))

    @model_validator(mode="after")
    def _run_of_samples(self) -> ChannelStudy:
        for name in ChannelRun.model_fields:
            if self.channel.samples is None and getattr(self.run, name) is not None:
                raise ValueError(
                    f"`run.{name}` is for samples, and this channel is exact: leave it out"
                )
        return self
