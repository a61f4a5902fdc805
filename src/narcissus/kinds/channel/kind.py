"""What a channel leaks, exactly or from samples.

Source: Chatzikokolakis et al. 2023; Narcissus theory 6.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import numpy as np
from pydantic import Field, model_validator

from narcissus import channels
from narcissus._files import file_digest
from narcissus._random import child
from narcissus.channels.estimate import INDEPENDENT
from narcissus.errors import InputError
from narcissus.findings import Finding, contradictions
from narcissus.kinds.engine import Done, Kind, PreparedWork
from narcissus.results import Estimate, Grade, NotAssessed
from narcissus.rows import Fact, Findings, Level, Quantity, Share, StudyCriterion, StudyRow
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
"""Secrets for which every pair stands in the record."""
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


class ChannelDetail(Fact):
    """Where the channel is from, and what is no measure of it."""

    source: Literal["file", "mechanism", "samples"]
    name: str
    secrets: int = Field(ge=2, description="How many there are.")
    pair: tuple[str, str] = Field(description="Two secrets that are easiest to tell apart.")
    prior: str = Field(default="", description="'uniform' or 'given'; empty: of samples.")
    shown: tuple[str, ...] = Field(default=(), description="Secrets of which all pairs are rows.")
    confidence: Level | None = Field(
        default=None, description="Of the intervals of both numbers together, of samples."
    )
    estimators: Mapping[str, Share] = Field(
        default={}, description="Error of each estimator, on a part of the samples set aside."
    )
    estimator: str = Field(default="", description="The one that was chosen.")
    continuous: bool = Field(default=False, description="Whether outputs hardly repeat.")
    refuted: tuple[str, ...] = Field(default=(), description="Numbers that cannot all be right.")


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
    detail = ChannelDetail
    layout = "narcissus.kinds.channel.layout:LAYOUT"

    def prepare(self, study: ChannelStudy, folder: Path, options: RunOptions) -> ChannelWork:
        if options.policy is not None:
            raise InputError(
                "a study of a channel takes its threshold from its own [threshold]; "
                "leave out the policy"
            )
        spec = study.channel
        named = {"channel": spec.file, "samples": spec.samples, "prior": spec.prior}
        name = Path(str(spec.file or spec.samples)).name
        if spec.mechanism is not None:
            name = spec.mechanism.to_text()
        work = ChannelWork(study, folder, options.entropy, {}, name=name)
        if spec.samples is not None:
            secrets, outputs, _ = channels.read_samples(folder / spec.samples, secret=spec.secret)
            channels.samples(secrets, outputs)
            work = replace(work, samples=(secrets, outputs))
        else:
            source = _source(spec, folder)
            prior = None if spec.prior is None else channels.read_prior(folder / spec.prior)
            if prior is not None:
                channels.prior_of(source, prior)
            work = replace(work, source=source, prior=prior)
        files = {key: folder / file for key, file in named.items() if file is not None}
        return replace(work, digests={key: file_digest(path) for key, path in files.items()})

    def measure(self, work: ChannelWork, done: Done, options: RunOptions) -> Findings:
        if work.source is None:
            rows, detail = _estimated(work, options)
        else:
            rows, detail = _exact(work, work.source, options)
        threshold = work.study.threshold
        wanted = {key: getattr(threshold, key, None) for key in LIMITED}
        return self.found(_criteria(rows, wanted), tuple(rows), detail)

    def premises(self, detail: ChannelDetail) -> tuple[str, ...]:
        return (INDEPENDENT, DRAWN) if detail.source == "samples" else ()

    def refuted(self, detail: ChannelDetail) -> tuple[str, ...]:
        return detail.refuted

    def is_of_people(self, study: Mapping[str, Any]) -> bool:
        return study["channel"].get("samples") is not None


KIND = ChannelKind()


def _criteria(
    rows: list[StudyRow], wanted: Mapping[str, float | None]
) -> tuple[StudyCriterion, ...]:
    """Hold to a threshold what all samples say, or the channel itself; without one, nothing."""
    last = {row.name: row for row in rows if row.name in LIMITED}
    return tuple(
        StudyCriterion(of=row.of, name=name, at=row.at, at_least=wanted[name])
        for name, row in last.items()
        if wanted[name] is not None
        or not any(threshold is not None for threshold in wanted.values())
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


def _exact(
    work: ChannelWork, source: Source, options: RunOptions
) -> tuple[list[StudyRow], ChannelDetail]:
    analysis = channels.analyse(source, work.prior, name=work.name, observer=options.observer)
    rows = list(_measures(analysis.to_dict() | analysis.more()))
    findings = analysis.findings()
    shown: tuple[str, ...] = ()
    if analysis.channel is not None and analysis.secrets <= MOST_SHOWN:
        values, shown = channels.pairwise(analysis.channel), tuple(analysis.channel.secrets)
        rows += _pairs(shown, values.tolist())
        security = float(values.min())
        findings.append(Finding("Bayes security", "the table of all pairs", security, security))
    try:
        epsilon, delta = _profile(source)
    except InputError as error:
        remedy = "`channels.local_dp_profile` with a larger `most`"
        subject = "the whole (epsilon, delta) profile"
        work.not_assessed.append(NotAssessed(subject, str(error), remedy))
    else:
        rows += _profile_rows(epsilon, delta)
        security = 1 - delta[0]
        findings.append(Finding("Bayes security", "delta at epsilon 0", security, security))
    slack = _slack(source, analysis.guessing_error)
    a, b = analysis.pair
    return rows, ChannelDetail(
        source="mechanism" if work.study.channel.mechanism else "file",
        name=work.name,
        secrets=analysis.secrets,
        pair=(a, b),
        prior=analysis.prior,
        shown=shown,
        refuted=tuple(
            str(c) for c in contradictions([_widened(finding, slack) for finding in findings])
        ),
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


def _profile(source: Source) -> tuple[list[float], list[float]]:
    """Return delta at 21 epsilons, up to the channel's own or 10.
    Raises InputError: it is too much work.
    """
    if isinstance(source, channels.ClosedForm):
        points = _points(source.local_epsilon)
        return points, [float(source.delta(e)) for e in points]
    points = _points(channels.local_dp_epsilon(source))
    profile = channels.local_dp_profile(source, points, most=PROFILE_WORK)
    return [float(e) for e in profile.epsilon], [float(d) for d in profile.delta]


def _points(epsilon: float) -> list[float]:
    return [min(epsilon, 10.0) * i / 20 for i in range(21)]


def _row(
    of: str,
    name: str,
    value: float,
    at: Mapping[str, float | str] | None = None,
    grade: Grade = "proved",
    **facts: str,
) -> StudyRow:
    quantity = Quantity(value=value, grade=grade)
    return StudyRow(role="measure", of=of, name=name, quantity=quantity, at=at or {}, facts=facts)


def _measures(found: Mapping[str, Any]) -> Iterator[StudyRow]:
    """Yield all measures of a channel that is known exactly, for one prior."""
    if found["epsilon_ldp"] is None:  # no dictionary for JSON holds infinity
        found = {**found, "epsilon_ldp": math.inf}
    by = {"implied_bayes_risk": {"by": found["implied_by"]}}
    for name, value in found.items():
        if value is not None and name not in ("pair", "secrets", "implied_by"):
            yield _row("measure", name, value, **by.get(name, {}))


def _pairs(secrets: Any, values: Any) -> Iterator[StudyRow]:
    """Yield Bayes security of every two secrets."""
    for i, secret in enumerate(secrets):
        for j, other in enumerate(secrets[:i]):
            yield _row("pair", other, values[i][j], {"other": secret})


def _profile_rows(epsilon: list[float], delta: list[float]) -> Iterator[StudyRow]:
    for at, value in zip(epsilon, delta, strict=True):
        yield _row("delta", "delta", value, {"epsilon": at})


def _estimated(work: ChannelWork, options: RunOptions) -> tuple[list[StudyRow], ChannelDetail]:
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
    a, b = estimates.pair
    history = [
        {"samples": look.samples, **{name: _limited(getattr(look, name)) for name in LIMITED}}
        for look in estimates.history
    ]
    whole = {"samples": estimates.samples, "confidence": estimates.confidence}
    return list(_looks(history, estimates.guessing_error, whole)), ChannelDetail(
        source="samples",
        name=work.name,
        secrets=estimates.secrets,
        pair=(a, b),
        confidence=level,
        estimators=estimates.estimators,
        estimator=estimates.chosen,
        continuous=estimates.continuous,
        refuted=estimates.contradictions,
    )


def _limited(e: Estimate) -> dict[str, Any]:
    return {"estimate": e.value, "low": e.low, "high": e.high, "why": e.why}


def _looks(
    history: list[dict[str, Any]], guessing_error: float | None, whole: Mapping[str, Any]
) -> Iterator[StudyRow]:
    """Yield both estimates of each look at ever more samples; the last one has all."""
    if guessing_error is not None:  # of these samples: no limits
        at = {"samples": float(whole["samples"])}
        yield _row("estimate", "guessing_error", guessing_error, at, "approximate")
    for look in history:
        for name in LIMITED:
            band = look[name]
            limits = Quantity(
                value=band["estimate"],
                low=band["low"],
                high=band["high"],
                grade="sampled",
                confidence=whole["confidence"],
                why=band.get("why", ""),
            )
            yield StudyRow(
                role="measure",
                of="estimate",
                name=name,
                quantity=limits,
                at={"samples": float(look["samples"])},
            )
