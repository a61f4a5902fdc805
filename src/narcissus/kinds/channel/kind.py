"""What a channel leaks, exactly or from samples.

Source: Chatzikokolakis et al. 2023; Narcissus theory 6.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, cast

import numpy as np
from pydantic import Field, model_validator

from narcissus import channels
from narcissus._random import child
from narcissus.channels.estimate import INDEPENDENT
from narcissus.errors import InputError
from narcissus.findings import Finding, contradictions
from narcissus.kinds.engine import Done, Files, Kind, PreparedWork
from narcissus.results import Estimate, Grade, NotAssessed
from narcissus.rows import (
    Fact,
    Findings,
    Level,
    Number,
    Place,
    Positive,
    Quantity,
    Share,
    StudyCriterion,
    StudyResult,
    StudyRow,
)
from narcissus.study.kinds import RunOptions
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part
from narcissus.study.sections import Approval, FileSection, SeededRun
from narcissus.study.work import agree

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
        settings = {k: v for k, v in cast("dict[str, Any]", values).items() if v is not None}
        named = [source for source in SOURCE_OPTIONS if source in settings]
        if len(named) != 1:
            return values
        takes = SOURCE_OPTIONS[named[0]]
        for name in {n for options in SOURCE_OPTIONS.values() for n in options} - takes.keys():
            if name in settings:
                users = [source for source, options in SOURCE_OPTIONS.items() if name in options]
                raise ValueError(
                    f"`{name}` is not used with '{named[0]}', only with {' and '.join(users)}: "
                    "leave it out"
                )
        return {**takes, **settings}

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
        default=None,
        gt=0,
        lt=1,
        description="Of both intervals together, of samples; 0.95 if left out.",
    )


class ChannelStudy(FileSection):
    """A study of kind "channel"."""

    title: str = Field("", description="Of the report.")
    channel: ChannelSpec
    threshold: ChannelThreshold | None = None
    run: ChannelRun = ChannelRun()

    @model_validator(mode="after")
    def _run_of_samples(self) -> ChannelStudy:
        for name in ChannelRun.model_fields:
            if self.channel.samples is None and getattr(self.run, name) is not None:
                raise ValueError(
                    f"`run.{name}` is for samples, and this channel is exact: leave it out"
                )
        return self


ENOUGH = 0.3  # seconds of a look from which the rest is reckoned
MOST_SHOWN = 25
"""Secrets for which every pair is in the record."""
PROFILE_WORK = 2e10
"""Elementary operations that the profile may take."""
DRAWN = "they are drawn as the secrets will be when it matters"
LIMITED = ("beta_star", "bayes_risk")
"""Measures that a threshold may be about, and that samples limit."""

Source = channels.Channel | channels.ClosedForm


class Looks:
    """An observer of looks at ever more samples, twice as many each, that ends what is too long.

    The first looks cost next to nothing, so they are the estimate: the next one takes twice the
    time, the one after that four times.

    LongWorkError: From `advance`: the looks that are left take longer than was agreed to.
    """

    def __init__(self, options: RunOptions) -> None:
        self._options, self._hearer = options, options.observer
        self._left, self._began, self._agreed = 0, 0.0, False
        self.finish, self.note = self._hearer.finish, self._hearer.note

    def start(self, what: str, total: int, done: int = 0) -> None:
        """Take the time."""
        self._left, self._began = total - done, time.perf_counter()
        self._hearer.start(what, total, done)

    def advance(self, steps: int = 1) -> None:
        """Reckon what is left with the first look that took any time."""
        self._hearer.advance(steps)
        self._left -= steps
        now = time.perf_counter()
        seconds, self._began = now - self._began, now
        if seconds < ENOUGH or self._agreed:
            return
        self._agreed = True
        agree(
            seconds * (2 ** (self._left + 1) - 2),
            f"{self._left} looks at more and more of the samples",
            hours=self._options.hours,
            observer=self._hearer,
        )


def _as_proved(value: float) -> Quantity:
    return Quantity(value=value, grade="proved")


def _make_row(of: str, name: str, quantity: Quantity, at: Mapping[str, Place]) -> StudyRow:
    return StudyRow(role="measure", of=of, name=name, quantity=quantity, at=at)


class ProfilePoint(Fact):
    """The smallest delta at an epsilon of local differential privacy."""

    epsilon: Number
    delta: float


class ExactLeakage(Fact):
    """What a channel that is known leaks, for one prior."""

    of: ClassVar[str] = "measure"
    at: ClassVar[Mapping[str, Place]] = {}

    source: Literal["file", "mechanism"]
    prior: Literal["uniform", "given"]
    beta_star: float = Field(description="Bayes security.")
    bayes_risk: float
    guessing_error: float = Field(ge=0, description="Of the best guess without the output.")
    capacity: float
    leakage: float = Field(ge=1, description="Multiplicative, as is the capacity.")
    epsilon_ldp: Number
    shannon_leakage: float | None = Field(None, description="Bits; null: too large for a matrix.")
    implied_bayes_risk: float
    implied_by: str = Field(description="Measure that implies this risk.")
    shown: tuple[str, ...] = Field((), description="Secrets of which all pairs are known.")
    pairs: tuple[tuple[float, ...], ...] = Field(
        (), description="Bayes security of each of these and every one before it."
    )
    profile: tuple[ProfilePoint, ...] = ()

    @model_validator(mode="after")
    def _every_pair(self) -> Self:
        if [len(row) for row in self.pairs] != list(range(len(self.shown))):
            raise ValueError("pairs must be of each secret that is shown and every one before it")
        return self

    @property
    def security(self) -> Quantity:
        return _as_proved(self.beta_star)

    @property
    def risk(self) -> Quantity:
        return _as_proved(self.bayes_risk)

    @property
    def guess(self) -> Quantity:
        return _as_proved(1 - self.guessing_error)

    @property
    def measures(self) -> dict[str, float | None]:
        """All measures by name, with those that follow from others."""
        risk, guess = self.bayes_risk, self.guessing_error
        return {
            "beta_star": self.beta_star,
            "bayes_risk": risk,
            "guessing_error": guess,
            "beta": min(1.0, risk / guess) if guess > 0 else 1.0,
            "capacity": self.capacity,
            "leakage": self.leakage,
            "epsilon_ldp": self.epsilon_ldp,
            "advantage": 1 - self.beta_star,
            "additive_leakage": max(0.0, guess - risk),
            "min_entropy_leakage": math.log2(self.leakage),
            "shannon_leakage": self.shannon_leakage,
            "implied_bayes_risk": self.implied_bayes_risk,
            "delta_at_epsilon_0": 1 - self.beta_star,
        }

    def rows(self) -> Iterator[StudyRow]:
        for name, value in self.measures.items():
            if value is not None:
                yield _make_row(self.of, name, _as_proved(value), self.at)
        for secret, row in zip(self.shown, self.pairs, strict=True):
            for other, security in zip(self.shown, row, strict=False):
                yield _make_row("pair", other, _as_proved(security), {"other": secret})
        for point in self.profile:
            yield _make_row("delta", "delta", _as_proved(point.delta), {"epsilon": point.epsilon})


class LookAtSamples(Fact):
    """Both estimates with their limits, from so many of the samples."""

    samples: Positive
    beta_star: Quantity
    bayes_risk: Quantity

    @property
    def at(self) -> dict[str, Place]:
        return {"samples": float(self.samples)}

    def rows(self, of: str) -> Iterator[StudyRow]:
        yield _make_row(of, "beta_star", self.beta_star, self.at)
        yield _make_row(of, "bayes_risk", self.bayes_risk, self.at)


class EstimatedLeakage(Fact):
    """What samples say of a channel."""

    of: ClassVar[str] = "estimate"

    source: Literal["samples"]
    confidence: Level = Field(description="Of the intervals of both numbers together.")
    guessing_error: Share = Field(description="Of the commonest secret, on these samples.")
    looks: tuple[LookAtSamples, ...] = Field(min_length=1, description="The last has all samples.")
    estimators: Mapping[str, Share] = Field(
        description="Error of each estimator, on a part of the samples set aside."
    )
    estimator: str = Field(description="The one that was chosen.")
    continuous: bool = Field(default=False, description="Whether outputs hardly repeat.")

    @property
    def at(self) -> dict[str, Place]:
        return self.looks[-1].at

    @property
    def security(self) -> Quantity:
        return self.looks[-1].beta_star

    @property
    def risk(self) -> Quantity:
        return self.looks[-1].bayes_risk

    @property
    def guess(self) -> Quantity:
        """What is right without the output: it has no limits."""
        return Quantity(value=1 - self.guessing_error, grade="approximate")

    def rows(self) -> Iterator[StudyRow]:
        error = Quantity(value=self.guessing_error, grade="approximate")
        yield _make_row(self.of, "guessing_error", error, self.at)
        for look in self.looks:
            yield from look.rows(self.of)


class ChannelResult(StudyResult):
    """What a channel leaks, exactly or from samples."""

    name: str
    secrets: int = Field(ge=2, description="How many there are.")
    pair: tuple[str, str] = Field(description="Two secrets that are easiest to tell apart.")
    leakage: ExactLeakage | EstimatedLeakage = Field(discriminator="source")
    refuted: tuple[str, ...] = Field(default=(), description="Numbers that cannot all be right.")

    def rows(self) -> Iterator[StudyRow]:
        yield from self.leakage.rows()


@dataclass(frozen=True, eq=False)
class ChannelWork(PreparedWork[ChannelStudy]):
    """The channel, or its samples."""

    name: str = ""
    source: Source | None = None
    prior: Any = None
    samples: tuple[Any, Any] | None = None


class ChannelKind(Kind[ChannelStudy, ChannelWork]):
    """The kind "channel"."""

    model = ChannelStudy
    result = ChannelResult
    layout = "narcissus.kinds.channel.layout:LAYOUT"
    no_policy = (
        "a study of a channel takes its threshold from its own [threshold]; leave out the policy"
    )

    def prepare(self, study: ChannelStudy, folder: Path, options: RunOptions) -> ChannelWork:
        spec = study.channel
        name = Path(str(spec.file or spec.samples)).name
        if spec.mechanism is not None:
            name = spec.mechanism.to_text()
        work = ChannelWork(study, folder, options.entropy, name=name)
        if spec.samples is not None:
            secrets, outputs, _ = channels.read_samples(folder / spec.samples, secret=spec.secret)
            channels.samples(secrets, outputs)
            return replace(work, samples=(secrets, outputs))
        source = _source(spec, folder)
        prior = None if spec.prior is None else channels.read_prior(folder / spec.prior)
        if prior is not None:
            channels.prior_of(source, prior)
        return replace(work, source=source, prior=prior)

    def files(self, study: ChannelStudy) -> Files:
        spec = study.channel
        return {"channel": spec.file, "samples": spec.samples, "prior": spec.prior}

    def measure(self, work: ChannelWork, done: Done, options: RunOptions) -> Findings:
        if work.source is None:
            result = _estimated(work, options)
        else:
            result = _exact(work, work.source, options)
        return self.found(_criteria(result.leakage, work.study.threshold), result)

    def confidence(self, result: ChannelResult) -> float | None:
        return getattr(result.leakage, "confidence", None)

    def premises(self, result: ChannelResult) -> tuple[str, ...]:
        return (INDEPENDENT, DRAWN) if isinstance(result.leakage, EstimatedLeakage) else ()

    def refuted(self, result: ChannelResult) -> tuple[str, ...]:
        return result.refuted

    def grade_of_refuted(self, result: ChannelResult) -> Grade:
        return "sampled" if isinstance(result.leakage, EstimatedLeakage) else "proved"

    def is_of_people(self, study: Mapping[str, Any]) -> bool:
        return study["channel"].get("samples") is not None


KIND = ChannelKind()


def _criteria(
    leakage: ExactLeakage | EstimatedLeakage, threshold: ChannelThreshold | None
) -> tuple[StudyCriterion, ...]:
    """Hold to a threshold what all samples say, or the channel itself; without one, nothing."""
    limits = {name: getattr(threshold, name, None) for name in LIMITED}
    limited = [name for name in LIMITED if limits[name] is not None] or LIMITED
    return tuple(
        StudyCriterion(of=leakage.of, name=name, at=leakage.at, at_least=limits[name])
        for name in limited
    )


def _source(spec: ChannelSpec, folder: Path) -> Source:
    source: Source
    if spec.mechanism is not None:
        source = spec.mechanism.build()
    else:
        assert spec.file is not None
        assert spec.tolerance is not None
        source = channels.read_channel(folder / spec.file, tolerance=spec.tolerance)
        if source.shape[0] == 1:
            raise InputError(f"{spec.file} has one secret: there is nothing to tell apart")
    if spec.uses is not None and spec.uses > 1:
        made = source.channel() if isinstance(source, channels.ClosedForm) else source
        source = channels.repeat(made, spec.uses)
    return source


def _exact(work: ChannelWork, source: Source, options: RunOptions) -> ChannelResult:
    analysis = channels.analyse(source, work.prior, name=work.name, observer=options.observer)
    findings = analysis.findings()
    shown, pairs = (), ()
    if analysis.channel is not None and analysis.secrets <= MOST_SHOWN:
        values, shown = channels.pairwise(analysis.channel), tuple(analysis.channel.secrets)
        pairs = tuple(tuple(row[:place]) for place, row in enumerate(values.tolist()))
        security = float(values.min())
        findings.append(Finding("Bayes security", "the table of all pairs", security, security))
    profile = ()
    try:
        profile = tuple(_profile(source))
    except InputError as error:
        remedy = "`channels.local_dp_profile` with a larger `most`"
        subject = "the whole (epsilon, delta) profile"
        work.not_assessed.append(NotAssessed(subject, str(error), remedy))
    else:
        security = 1 - profile[0].delta
        findings.append(Finding("Bayes security", "delta at epsilon 0", security, security))
    slack = _slack(source, analysis.guessing_error)
    leakage = ExactLeakage.taken(
        analysis,
        source="mechanism" if work.study.channel.mechanism else "file",
        shannon_leakage=analysis.shannon,
        implied_bayes_risk=analysis.implied_risk,
        shown=shown,
        pairs=pairs,
        profile=profile,
    )
    a, b = analysis.pair
    clashes = contradictions([_widened(finding, slack) for finding in findings])
    return ChannelResult(
        name=work.name,
        secrets=analysis.secrets,
        pair=(a, b),
        leakage=leakage,
        refuted=tuple(map(str, clashes)),
    )


def _slack(source: Source, guessing_error: float) -> float:
    """Return by how much numbers may differ because rows do not sum to one, as the file may say.

    A ratio of errors carries it divided by the error of guessing.
    """
    if isinstance(source, channels.ClosedForm):
        return 0.0
    off = float(np.abs(np.asarray(source.matrix.sum(axis=1)) - 1).max())
    return off / guessing_error if guessing_error > 0 else math.inf


def _widened(finding: Finding, slack: float) -> Finding:
    low, high = finding.low, finding.high
    return replace(
        finding,
        low=None if low is None else low - slack,
        high=None if high is None else high + slack,
    )


def _profile(source: Source) -> Iterator[ProfilePoint]:
    """Yield delta at 21 epsilons, up to the channel's own or 10.
    Raises InputError: it is too much work.
    """
    if isinstance(source, channels.ClosedForm):
        for epsilon in _points(source.local_epsilon):
            yield ProfilePoint(epsilon=epsilon, delta=float(source.delta(epsilon)))
        return
    points = _points(channels.local_dp_epsilon(source))
    profile = channels.local_dp_profile(source, points, most=PROFILE_WORK)
    for epsilon, delta in zip(profile.epsilon, profile.delta, strict=True):
        yield ProfilePoint(epsilon=float(epsilon), delta=float(delta))


def _points(epsilon: float) -> list[float]:
    return [min(epsilon, 10.0) * i / 20 for i in range(21)]


def _estimated(work: ChannelWork, options: RunOptions) -> ChannelResult:
    spec, samples = work.study.channel, work.samples
    assert samples is not None
    level = work.study.run.confidence or 0.95
    estimates = channels.convergence(
        *samples,
        confidence=1 - (1 - level) / len(LIMITED),
        estimators=spec.estimators,
        rng=child(work.entropy, 0),
        observer=Looks(options),
    )
    if estimates.left_out:  # a verdict is about all secrets, or it is none
        few, count = estimates.left_out[0]
        raise InputError(
            f"the secret {few!r} has {count} samples, too few for a verdict about every secret; "
            "collect more of it, or leave it out of the file (`narcissus estimate` does without it)"
        )
    looks = tuple(
        LookAtSamples(
            samples=look.samples,
            beta_star=_limited(look.beta_star, estimates.confidence),
            bayes_risk=_limited(look.bayes_risk, estimates.confidence),
        )
        for look in estimates.history
    )
    leakage = EstimatedLeakage(
        source="samples",
        confidence=level,
        guessing_error=estimates.guessing_error,
        looks=looks,
        estimators=estimates.estimators,
        estimator=estimates.chosen,
        continuous=estimates.continuous,
    )
    return ChannelResult(
        name=work.name,
        secrets=estimates.secrets,
        pair=estimates.pair,
        leakage=leakage,
        refuted=estimates.contradictions,
    )


def _limited(estimate: Estimate, confidence: float) -> Quantity:
    """Take an estimate and its limits; an estimator has no number of trials."""
    return Quantity(
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        grade="sampled",
        confidence=confidence,
        why=estimate.why,
    )
