"""The kind of study "channel": what a channel leaks, exactly or from samples, against a threshold.

Source: Chatzikokolakis et al. 2023; Narcissus theory 6.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, TypeAdapter

from narcissus import channels
from narcissus._files import file_digest
from narcissus._outwards import lower, upper
from narcissus._random import child
from narcissus.channels.estimate import INDEPENDENT
from narcissus.errors import InputError
from narcissus.findings import Finding, contradictions
from narcissus.observer import Observer
from narcissus.results import Estimate, NotAssessed, Status
from narcissus.study.channel.schema import ChannelSpec, ChannelStudy, ChannelThreshold
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.results.channel import (
    ChannelResults,
    ExactChannel,
    Leakage,
    LimitedShare,
    Measures,
    Pairwise,
    PrivacyProfile,
    SampledChannel,
    SamplesLook,
)
from narcissus.study.work import agree

ENOUGH = 0.3  # seconds of a look from which the rest is reckoned


class Looks:
    """An observer of looks at ever more samples, twice as many each, that ends what is too long.

    The first looks cost next to nothing, so they are the estimate: the next one takes twice the
    time, the one after that four times.

    Raises
    ------
    LongWorkError
        From `advance`: the looks that are left take longer than was agreed to.
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


MOST_SHOWN = 25
"""Secrets for which every pair stands in the record."""
PROFILE_WORK = 2e10
"""Elementary operations that the profile may take."""

NOT_COVERED = [
    "Secrets, outputs and uses of the channel other than those described: how long an answer "
    "takes, what is sent beside it, several outputs about the same secret.",
    "What the secret itself gives away once it is guessed.",
]
DRAWN = "they are drawn as the secrets will be when it matters"


class ChannelKind:
    """Studies of channels."""

    model: type[BaseModel] = ChannelStudy
    results: TypeAdapter[Any] = TypeAdapter(ChannelResults)

    def check(self, study: ChannelStudy, folder: Path, observer: Observer) -> None:
        """Read and check the channel or the samples."""
        spec = study.channel
        if spec.samples is not None:
            secrets, outputs, _ = channels.read_samples(folder / spec.samples, secret=spec.secret)
            channels.samples(secrets, outputs)
        else:
            source = _source(spec, folder)
            if spec.prior is not None:
                channels.prior_of(source, channels.read_prior(folder / spec.prior))

    def play(self, study: ChannelStudy, folder: Path, options: RunOptions) -> Outcome:
        """Compute or estimate, and compare with the threshold."""
        if options.policy is not None:
            raise InputError(
                "a study of a channel takes its threshold from its own [threshold]; "
                "leave out the policy"
            )
        spec = study.channel
        digests = {
            name: file_digest(folder / file)
            for name, file in (
                ("channel", spec.file),
                ("samples", spec.samples),
                ("prior", spec.prior),
            )
            if file is not None
        }
        if spec.samples is not None:
            return _sampled(study, folder, options, digests)
        return _exact(study, folder, options, digests)


def _source(spec: ChannelSpec, folder: Path) -> channels.Channel | channels.ClosedForm:
    source: channels.Channel | channels.ClosedForm
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
    study: ChannelStudy, folder: Path, options: RunOptions, digests: dict[str, str]
) -> Outcome:
    spec = study.channel
    prior = None if spec.prior is None else channels.read_prior(folder / spec.prior)
    name = spec.mechanism.to_text() if spec.mechanism else Path(str(spec.file)).name
    source = _source(spec, folder)
    found = channels.analyse(source, prior, name=name, observer=options.observer)
    left: list[NotAssessed] = []
    said = found.findings()
    pairwise: Pairwise | None = None
    if found.channel is not None and found.secrets <= MOST_SHOWN:
        values = channels.pairwise(found.channel)
        pairwise = Pairwise(
            secrets=tuple(found.channel.secrets), values=tuple(map(tuple, values.tolist()))
        )
        least = float(values.min())
        said.append(Finding("Bayes security", "the table of all pairs", least, least))
    profile = _profile(source)
    if isinstance(profile, NotAssessed):
        left.append(profile)
    else:
        least = 1 - profile.delta[0]
        said.append(Finding("Bayes security", "delta at epsilon 0", least, least))
    told = {"pair", "secrets"}
    measures = {k: v for k, v in (found.to_dict() | found.more()).items() if k not in told}
    both = {"beta_star": found.beta_star, "bayes_risk": found.bayes_risk}
    said = [_widened(finding, _slack(source, found.guessing_error)) for finding in said]
    refuted = tuple(str(c) for c in contradictions(said))
    status = _judge(study.threshold, {k: (v, v) for k, v in both.items()}, refuted)
    a, b = found.pair
    verdict = (
        f"Of 100 attempts to tell {a!r} from {b!r}, the pair easiest to tell apart, "
        f"{100 - 50 * found.beta_star:.1f} are right with the output and 50 without. "
        f"Over all secrets the best attacker is right {100 * (1 - found.bayes_risk):.1f} times in "
        f"100, and {100 * (1 - found.guessing_error):.1f} times without the output."
    )
    return Outcome(
        title=study.title or f"What {name} leaks",
        status=status,
        verdict=" ".join([*refuted, verdict]),
        grade="proved",
        contradictions=refuted,
        results=ExactChannel(
            source="mechanism" if spec.mechanism else "file",
            name=name,
            secrets=found.secrets,
            pair=(a, b),
            prior=found.prior,
            exact=Measures(**measures),
            pairwise=pairwise,
            profile=None if isinstance(profile, NotAssessed) else profile,
        ),
        assessed=[
            "Bayes security: the pair of secrets easiest to tell apart, exactly",
            f"Bayes risk and leakage for a {found.prior} prior, exactly",
            "Capacity and local differential privacy, exactly",
        ],
        not_assessed=left,
        not_covered=NOT_COVERED,
        digests=digests,
    )


def _slack(source: channels.Channel | channels.ClosedForm, guessing_error: float) -> float:
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


def _profile(source: channels.Channel | channels.ClosedForm) -> PrivacyProfile | NotAssessed:
    """Return delta at 21 epsilons, up to the channel's own or 10."""
    if isinstance(source, channels.ClosedForm):
        end = min(source.local_epsilon, 10.0)
        points = [end * i / 20 for i in range(21)]
        return PrivacyProfile(
            epsilon=tuple(points), delta=tuple(float(source.delta(e)) for e in points)
        )
    end = min(channels.local_dp_epsilon(source), 10.0)
    points = [end * i / 20 for i in range(21)]
    try:
        found = channels.local_dp_profile(source, points, most=PROFILE_WORK)
    except InputError as error:
        return NotAssessed(
            "the whole (epsilon, delta) profile",
            str(error),
            "`channels.local_dp_profile` with a larger `most`",
        )
    return PrivacyProfile(
        epsilon=tuple(map(float, found.epsilon)), delta=tuple(map(float, found.delta))
    )


def _sampled(
    study: ChannelStudy, folder: Path, options: RunOptions, digests: dict[str, str]
) -> Outcome:
    spec, name = study.channel, Path(str(study.channel.samples)).name
    secrets, outputs, _ = channels.read_samples(folder / str(spec.samples), secret=spec.secret)
    found = channels.convergence(
        secrets,
        outputs,
        confidence=study.run.confidence or 0.95,
        estimators=spec.estimators,
        rng=child(options.entropy, 0),
        observer=Looks(options),
    )
    _require_enough(found)
    results = SampledChannel(
        source="samples",
        name=name,
        secrets=found.secrets,
        pair=found.pair,
        estimated=Leakage(
            beta_star=_limited(found.beta_star),
            bayes_risk=_limited(found.bayes_risk),
            guessing_error=found.guessing_error,
            samples=found.samples,
            confidence=found.confidence,
            estimator=found.chosen,
            estimators=found.estimators,
            continuous=found.continuous,
            history=tuple(
                SamplesLook(
                    samples=look.samples,
                    beta_star=_limited(look.beta_star),
                    bayes_risk=_limited(look.bayes_risk),
                )
                for look in found.history
            ),
        ),
    )
    both = {"beta_star": found.beta_star, "bayes_risk": found.bayes_risk}
    limits = {k: (e.low, e.high) for k, e in both.items()}
    status = _judge(study.threshold, limits, found.contradictions)
    left = [
        NotAssessed(
            f"how low {words} may be",
            both[key].why,
            "round the outputs to fewer values before release and sample those, or describe the "
            "channel as a table",
        )
        for key, words in (("beta_star", "Bayes security"), ("bayes_risk", "the Bayes risk"))
        if both[key].low is None
    ]
    a, b = found.pair
    high = 1.0 if found.beta_star.high is None else found.beta_star.high
    least = lower(100 - 50 * high, places=1)
    verdict = (
        f"Of 100 attempts to tell {a!r} from {b!r}, at least {least} are right with "
        f"the output (50 without), with {100 * found.confidence:g}% confidence"
    )
    if found.beta_star.low is None:
        verdict += "; how much more leaks cannot be said from these samples."
    else:
        most = upper(100 - 50 * found.beta_star.low, places=1)
        verdict += f"; for no two secrets are there more than {most}."
    return Outcome(
        title=study.title or f"What {name} gives away",
        status=status,
        verdict=" ".join([*found.contradictions, verdict]),
        grade="sampled",
        assumptions=(INDEPENDENT, DRAWN),
        contradictions=found.contradictions,
        results=results,
        assessed=[
            "Bayes security: two secrets that are told apart, on samples new to the rule",
            "Bayes risk, for the prior from which the samples were drawn",
        ],
        not_assessed=left,
        not_covered=NOT_COVERED,
        digests=digests,
    )


def _require_enough(found: channels.LeakageEstimate) -> None:
    """Refuse secrets with few samples: a verdict is about all secrets, or it is none."""
    if found.left_out:
        few, count = found.left_out[0]
        raise InputError(
            f"the secret {few!r} has {count} samples, too few for a verdict about every secret; "
            "collect more of it, or leave it out of the file (`narcissus estimate` does without it)"
        )


def _limited(e: Estimate) -> LimitedShare:
    return LimitedShare(estimate=e.value, low=e.low, high=e.high, why=e.why)


def _judge(
    threshold: ChannelThreshold | None,
    found: dict[str, tuple[float | None, float | None]],
    refuted: tuple[str, ...],
) -> Status:
    """Compare limits with the threshold: met only if the lower limit is, exceeded by the upper."""
    if refuted:
        return "contradicted"
    if threshold is None:
        return "no threshold"
    verdicts: set[Literal["met", "exceeded", "inconclusive"]] = set()
    for key, (low, high) in found.items():
        wanted = getattr(threshold, key)
        if wanted is None:
            continue
        if low is not None and low >= wanted:
            verdicts.add("met")
        elif high is not None and high < wanted:
            verdicts.add("exceeded")
        else:
            verdicts.add("inconclusive")
    return next(s for s in ("exceeded", "inconclusive", "met") if s in verdicts)


KIND = ChannelKind()
