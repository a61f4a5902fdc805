"""Leakage from samples: point estimates, and limits that hold at every sample size.

If two of many secrets give some outputs a little more often and others a little less, at random,
few samples of each do not tell. A lower limit that assumes nothing must allow for it: where it is
far from the estimate a symmetry is missing, or samples, and no better method.

Source: Narcissus theory 6.2, limits 1 to 4, and 6.10 (the second moment of a mixture; Ingster
1987); Chatzikokolakis et al. 2023, section VII-D.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
from scipy import optimize

from narcissus._outwards import lower, upper
from narcissus._pandas import pd
from narcissus._random import RandomSource, generator
from narcissus._validation import between, integer
from narcissus.channels.bayes_security import new_axes
from narcissus.channels.estimators import portfolio
from narcissus.channels.limits import (
    NOTHING,
    Assumed,
    Assumptions,
    SecurityHigh,
    assumed,
    may_be_monotone,
    risk_high,
    security_high,
    without_lower,
)
from narcissus.channels.prequential import cuts, predict_ahead, some
from narcissus.channels.samples import FEWEST, Matrix, SampledResult, Samples, samples
from narcissus.errors import InputError
from narcissus.findings import Finding, contradictions
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Look:
    """The state after some samples: both quantities with their limits."""

    samples: int
    beta_star: Estimate
    bayes_risk: Estimate


@dataclass(frozen=True)
class LeakageEstimate(SampledResult):
    """What samples say about a channel."""

    beta_star: Estimate  # Bayes security; ``high`` is certified at ``pair``
    bayes_risk: Estimate  # Error of the best attacker, for the prior from which secrets were drawn
    # Error of the commonest secret, on the samples on which the estimate of the Bayes risk was
    # made. Approximate: it has no limits, and no verdict rests on it.
    guessing_error: float
    pair: tuple[str, str]  # The two secrets that seem easiest to tell apart
    secrets: int
    samples: int
    # Of each interval: each side misses with probability at most half of what is left
    confidence: float
    # Error of each estimator where they were compared, each block predicted from earlier ones
    estimators: dict[str, float]
    # The estimator that was best at the end; earlier blocks may have been predicted by others
    chosen: str
    continuous: bool  # Whether outputs were taken as continuous
    # One look, or several of a run that was continued until it was precise enough
    history: tuple[Look, ...] = field(repr=False)
    # Limits that cross: then the samples are not independent (or it is the chance that was allowed
    # for), or what was assumed is not so
    contradictions: tuple[str, ...] = ()
    # How many pairs the upper limit of ``beta*`` is the mean of; 1 is ``pair`` itself
    pairs: int = 1
    # Miss and false hit of each estimator on one pair, where they were compared
    alternatives: dict[str, float] = field(default_factory=dict[str, float])
    # What the lower limits rest on besides; empty if nothing was assumed
    assumptions: tuple[str, ...] = ()
    # Why limits are far apart and what would help; that estimators disagree
    remarks: tuple[str, ...] = ()
    # Secrets with too few samples, and how many each has: the claims are about the others
    left_out: tuple[tuple[str, int], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the command line, under its keys; what is empty is left out."""
        extras: dict[str, Any] = {
            "pairs": self.pairs if self.pairs > 1 else None,
            "assumptions": list(self.assumptions),
            "remarks": list(self.remarks),
            "left_out": dict(self.left_out),
        }
        return {
            "beta_star": as_limits(self.beta_star),
            "bayes_risk": as_limits(self.bayes_risk),
            "guessing_error": self.guessing_error,
            "pair": list(self.pair),
            "secrets": self.secrets,
            "samples": self.samples,
            "confidence": self.confidence,
            "estimator": self.chosen,
        } | {key: value for key, value in extras.items() if value}

    @property
    def slack(self) -> float:
        """How far the wider of both limits leaves its quantity open."""

        def open_(e: Estimate) -> float:
            return 1.0 if e.high is None else e.high - (e.value if e.low is None else e.low)

        return max(open_(self.beta_star), open_(self.bayes_risk))

    def to_frame(self) -> pd.DataFrame:
        """Return the history: a row per look, with both estimates and their limits."""
        rows = [
            {"samples": look.samples}
            | as_columns("beta_star", look.beta_star)
            | as_columns("bayes_risk", look.bayes_risk)
            for look in self.history
        ]
        return pd.DataFrame(rows)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw both estimates with their bands against the number of samples."""
        axes, frame = new_axes(ax), self.to_frame()
        for name, label in (("beta_star", "Bayes security"), ("bayes_risk", "Bayes risk")):
            low = frame[f"{name}_low"].astype(float).fillna(0.0)
            high = frame[f"{name}_high"].astype(float).fillna(1.0)
            (line,) = axes.plot(frame["samples"], frame[name], marker="o", label=label)
            axes.fill_between(frame["samples"], low, high, alpha=0.2, color=line.get_color())
        limits = f"estimate and {100 * self.confidence:g}% limits"
        axes.set(xscale="log", ylim=(0, 1), xlabel="samples", ylabel=limits)
        axes.legend()
        return axes

    def __str__(self) -> str:
        def limits(e: Estimate) -> str:
            return f"{e.value:.4f}   limits {between_text(e.low, e.high)}"

        worst = self.beta_star.high if self.beta_star.high is not None else 1.0
        right = f"right in at least {lower(100 - 50 * worst, places=1)} of 100 attempts"
        right += " (50 by guessing)"
        apart = f"told apart best: {self.pair[0]!r} and {self.pair[1]!r}, {right}"
        if self.pairs > 1:
            apart = f"some two secrets are told apart, {right}: the mean of {self.pairs} pairs"
        notes = dict.fromkeys([self.beta_star.why, self.bayes_risk.why, *self.remarks])
        hold = "; the lower ones if what is assumed is so" if self.assumptions else ""
        rare = f"; {rare_secrets(self.left_out)}" if self.left_out else ""
        lines = [
            f"{self.samples} samples of {self.secrets} secrets, {100 * self.confidence:g}% limits"
            f"{rare}",
            "",
            f"  Bayes security (worst pair)  {limits(self.beta_star)}",
            f"    {apart}",
            f"  Bayes risk                   {limits(self.bayes_risk)}",
            f"    by the estimator {self.chosen!r}; the best attacker is wrong no more often "
            "than the upper limit",
            *(f"  assuming for the lower limits that {text}" for text in self.assumptions),
            *(f"  note: {why}" for why in notes if why),
            *(f"  {c}" for c in self.contradictions),
            *few_samples(self.left_out),
            "",
            "  Sampled: the estimates are as good as the samples and estimators; the limits hold"
            f"{hold}.",
        ]
        return "\n".join(lines)


def few_samples(left_out: tuple[tuple[str, int], ...]) -> list[str]:
    """Describe which secrets were left out, and what the numbers are about then."""
    if not left_out:
        return []
    shown = ", ".join(f"{name!r} ({count})" for name, count in left_out[:5])
    rest = f" and {len(left_out) - 5} more" if len(left_out) > 5 else ""
    return [
        f"  note: too few samples of {shown}{rest} to tell one from another: Bayes security is "
        "estimated of the other secrets, its upper limit holds for all, and the Bayes risk is of "
        "all"
    ]


def as_limits(e: Estimate) -> dict[str, Any]:
    """Return an estimate with its limits, and why one is missing, for JSON."""
    out: dict[str, Any] = {"estimate": e.value, "low": e.low, "high": e.high}
    return out | ({"why": e.why} if e.low is None or e.high is None else {})


def as_columns(name: str, e: Estimate) -> dict[str, float | None]:
    """Return an estimate with its limits as columns of a frame."""
    return {name: e.value, f"{name}_low": e.low, f"{name}_high": e.high}


def between_text(low: float | None, high: float | None) -> str:
    """Format two limits, rounded outwards; each may be missing."""
    lower_text = "no limit" if low is None else lower(low, places=4)
    upper_text = "no limit" if high is None else upper(high, places=4)
    return f"{lower_text} to {upper_text}"


NOTICED = 0.1  # Distance in total variation up to which it goes unnoticed


def second_moment(shift: float, shares: Matrix, samples: float, secrets: int) -> float:
    """Return the chi-square distance of samples with a hidden pair from samples without one.

    shift: Share by which the two give each output more or less often, in [0, 1].
    shares: Chance of each output, shape (outputs,).
    secrets: How many; each pair is as likely the hidden one.

    Outputs go up and down in twos, by fair coins; what the first secret gives more often the second
    gives less often. Two hidden pairs have both secrets in common with chance ``1 / pairs``, one
    with chance ``2 (secrets - 2) / pairs``; for each that is common the exponents of the coins'
    hyperbolic cosines add up.
    """
    twos = _twos(shares)
    pairs = secrets * (secrets - 1) / 2

    def excess(common: int) -> float:
        exponent = 2 * common * samples * twos * shift**2
        # ln cosh without overflow
        logs = exponent + np.log1p(np.exp(-2 * exponent)) - math.log(2)
        return math.expm1(min(700.0, float(logs.sum())))

    return excess(2) / pairs + 2 * (secrets - 2) / pairs * excess(1)


def _twos(shares: Matrix) -> Matrix:
    """Return the chance that the smaller of each two outputs has, likeliest ones first."""
    ordered = np.sort(shares)[::-1]
    return np.minimum(ordered[0:-1:2], ordered[1::2])


def hidden_share(shares: Matrix, samples: float, secrets: int) -> float:
    """Return the share of `beta*` that two secrets may lack unnoticed, 0 to 1.

    A lower limit at level alpha is at most the rest with chance ``1 - alpha - NOTICED``.
    """
    threshold = 4 * NOTICED**2  # the total variation is at most half the root of chi-square

    def over(shift: float) -> float:
        return second_moment(shift, shares, samples, secrets) - threshold

    moved = 2 * float(_twos(shares).sum())  # what is beyond the smaller of two stays as it is
    if over(1.0) <= 0:
        return moved
    return moved * float(optimize.brentq(over, 0.0, 1.0, xtol=1e-6))


FAR = 0.1  # Distance of the limits from which on they are called far apart
COUNTING = ("guess", "frequentist")
"""Estimators that see nothing in outputs that do not repeat, and say nothing by it."""
DISAGREE = 2.0  # Ratio of what two estimators see from which on they disagree


def remarks(
    data: Samples, security: Estimate, found: SecurityHigh, assumed: Assumed
) -> tuple[str, ...]:
    """Return remarks on the limits of `beta*`."""
    notes = [_disagree(found), _far(data, security, assumed)]
    return tuple([note for note in notes if note])


def _disagree(found: SecurityHigh) -> str:
    tried = {name: value for name, value in found.alternatives.items() if name not in COUNTING}
    if not tried or max(tried.values()) < DISAGREE * min(tried.values()) + FAR:
        return ""
    shown = sorted(tried.items(), key=lambda item: item[1])
    each = ", ".join(f"{name} {min(1.0, value):.3f}" for name, value in shown)
    return (
        f"the estimators disagree ({each}, where they were compared): the upper limit is that of "
        "taking at each step the one that did best before, and nothing better is certified. The "
        "others may see a leak where one sees none"
    )


def _far(data: Samples, security: Estimate, assumed: Assumed) -> str:
    low, high = security.low, security.high
    if low is None or high is None or high - low < FAR or assumed.symmetric or assumed.monotone:
        return ""
    secrets, each = len(data.names), float(np.median(np.bincount(data.secret)))
    hidden = security.value * hidden_share(np.bincount(data.output) / data.size, each, secrets)
    why = "; so few do not tell more"
    if hidden >= FAR / 2:
        why = (
            ", can hide two that are easier to tell apart than they look. In a channel like this "
            f"one, {upper(security.value - hidden, 2)} is about the most that a method without "
            f"assumptions gives (but for a chance of {NOTICED:g} and the error allowed)"
        )
    would = ["more samples of each secret"]
    if data.shown is not None:
        would.append("`symmetric` (if all secrets are treated alike, as in randomised response)")
    if may_be_monotone(data):
        would.append("`monotone` (if larger secrets make larger outputs likelier throughout)")
    if secrets > 2:
        would.append("`among` or `pair` (if it is known which are the easiest to tell apart)")
    return (
        f"the lower limit of Bayes security is far below the upper one: {secrets} secrets with "
        f"about {each:.0f} samples each, over {data.distinct} outputs{why}. What would help: "
        f"{'; '.join(would)}"
    )


Sampler = Callable[[int, np.random.Generator], tuple[Any, Any]]
"""Asked for a number of samples, gives as many fresh secrets and outputs."""

INDEPENDENT = "the samples are independent of one another"


class _How:
    """What `estimate` was asked for."""

    def __init__(
        self,
        confidence: float,
        wanted: Any,
        kind: str,
        rng: RandomSource,
        observer: Observer = SILENT,
        assumed: Assumed = NOTHING,
    ) -> None:
        self.level = between("confidence", confidence, 0, 1, open_low=True, open_high=True)
        if kind not in ("auto", "discrete", "continuous"):
            raise InputError(f"`kind` must be 'auto', 'discrete' or 'continuous', got {kind!r}")
        self.wanted, self.kind, self.random = wanted, kind, generator(rng)
        self.observer, self.assumed = observer, assumed


def estimate(
    source: Any,
    outputs: Any = None,
    *,
    confidence: float = 0.95,
    estimators: Any = None,
    kind: str = "auto",
    until: float | None = None,
    first: int = 1_000,
    most: int = 1_000_000,
    rng: RandomSource = None,
    observer: Observer = SILENT,
    **assumptions: Unpack[Assumptions],
) -> LeakageEstimate:
    """Estimate ``beta*`` and the Bayes risk of a channel known only by samples.

    Limits hold for independent samples: for the Bayes risk drawn from the prior of interest, for
    ``beta*`` also with numbers per secret that were fixed beforehand. Upper ones never rest on what
    is assumed.

    source: The secret of each sample, shape (samples,); or a sampler: a function of a number and a
        generator that gives that many fresh secrets and outputs.
    outputs: The output of each sample, shape (samples,) or (samples, columns), discrete or
        continuous; None with a sampler.
    confidence: Level in (0, 1) of each of the two intervals; half of the rest on each side.
    estimators: Names, or classifiers in scikit-learn's style; None takes those that suit the
        samples.
    kind: "discrete", "continuous", or "auto": continuous where fewer than half of the samples share
        their output with another. It decides only whether a lower limit is worth stating.
    until: With a sampler: ask for more until every limit is this near its estimate (or the interval
        this narrow), or ``most`` samples are drawn. The limits stay valid: look ``t`` spends
        ``(1 - confidence) / (t (t + 1))``.
    first, most: With a sampler: samples at the first look, and at most. Each look doubles them.
    rng: Splits the samples; with a sampler also its randomness.
    **assumptions: ``symmetric``, ``monotone``, ``among``, ``pair``: what may be taken for granted
        (`Assumptions`). Lower limits then hold if it is so, and say so.

    Source: Narcissus theory 6.2.

    >>> rng = np.random.default_rng(1)
    >>> secret = rng.integers(2, size=4000)
    >>> shown = np.where(rng.random(4000) < 0.75, secret, 1 - secret)  # beta* = 0.5
    >>> found = estimate(secret, shown, rng=1).beta_star
    >>> found.low < 0.5 < found.high
    True
    """
    how = _How(confidence, estimators, kind, rng, observer, assumed(**assumptions))
    if not callable(source):
        if until is not None:
            raise InputError("`until` needs a sampler that can be asked for more samples")
        if outputs is None:
            raise InputError("`outputs` is missing: the output of each sample")
        return _assess(*_coded(source, outputs), how, alpha=1 - how.level)
    if until is None:
        raise InputError("with a sampler give `until`: how narrow the limits must get")
    width = between("until", until, 0, 1, open_low=True)
    first = integer("first", first, low=40)
    return _until(cast(Sampler, source), how, width, first, integer("most", most, low=first))


def _until(sampler: Sampler, how: _How, width: float, size: int, most: int) -> LeakageEstimate:
    drawn: list[tuple[pd.Series[Any], pd.DataFrame]] = []
    total, look, history = 0, 0, ()
    while True:
        secret, output = sampler(size - total, how.random)
        table = np.asarray(output)
        table = pd.DataFrame(table.reshape(len(table), -1))
        drawn.append((pd.Series(np.asarray(secret).ravel()), table))
        total, look = size, look + 1
        data = _coded(pd.concat([d[0] for d in drawn]), pd.concat([d[1] for d in drawn]))
        # Sum over all looks of 1 / (t (t + 1)) is one, so all of them hold together.
        result = _assess(*data, how, alpha=(1 - how.level) / (look * (look + 1)), history=history)
        history = result.history
        if size >= most or result.slack <= width:
            return result
        size = min(most, 2 * size)


def convergence(
    secrets: Any,
    outputs: Any,
    *,
    looks: int = 6,
    confidence: float = 0.95,
    estimators: Any = None,
    kind: str = "auto",
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> LeakageEstimate:
    """Estimate from ever more of the samples, to see how the estimates settle.

    That of all samples, with a look per size in ``history``. The limits of each look hold for that
    look by itself.

    secrets, outputs, confidence, estimators, kind, rng, observer: As in `estimate`.
    looks: At most so many sizes, each twice the one before, the last one all samples. Sizes at
        which a secret has too few samples are left out.
    """
    looks = integer("looks", looks, low=1, high=30)
    how = _How(confidence, estimators, kind, rng)
    data = samples(secrets, outputs)
    order = how.random.permutation(data.size)
    result: LeakageEstimate | None = None
    observer.start("sample sizes", looks)
    for halvings in range(looks - 1, -1, -1):
        part = order[: data.size >> halvings]
        if halvings == 0 or data.each(part).min() >= FEWEST:
            codes, output = np.unique(data.output[part], return_inverse=True)
            points = None if data.points is None else data.points[codes]
            smaller = replace(data, secret=data.secret[part], output=output, points=points)
            history = () if result is None else result.history
            result = _assess(smaller, smaller, how, alpha=1 - how.level, history=history)
        observer.advance()
    observer.finish()
    assert result is not None
    return result


def _coded(secrets: Any, outputs: Any) -> tuple[Samples, Samples]:
    """Return all samples, and those of the secrets that have enough to be told from another."""
    enough = samples(secrets, outputs)
    return (samples(secrets, outputs, fewest=1) if enough.left_out else enough), enough


def _assess(
    whole: Samples, data: Samples, how: _How, *, alpha: float, history: tuple[Look, ...] = ()
) -> LeakageEstimate:
    side = alpha / 2
    continuous = whole.continuous if how.kind == "auto" else how.kind == "continuous"
    how.assumed.check(whole)
    part = how.assumed.part(data)
    tried = portfolio(how.wanted, whole)
    order = some(whole, how.random.permutation(whole.size))
    ends = cuts(whole, tried, order)
    observer = how.observer
    observer.start("estimators", 2 * len(ends) + len(tried))
    ahead = predict_ahead(whole, tried, order, ends, observer)
    risk = risk_high(whole, ahead, side)
    known = how.assumed.known_pair(part)
    security_bound = security_high(part, how.wanted, how.random, side, observer, known)
    limited = how.assumed.monotone or not continuous
    lows = how.assumed.lows(whole, part, side) if limited else (None, None)
    security, texts = security_bound.limit, how.assumed.texts()
    crossed = _crossed((risk, security), lows, len(whole.names), side, texts)
    each = np.bincount(whole.secret[ahead.tested])
    guess = 1 - float(each.max() / each.sum())
    why = "" if limited else without_lower(whole)
    # Nobody needs to do worse than with the commonest secret.
    risk = _with_low(replace(risk, value=min(risk.value, guess)), lows[0], how.level, why)
    rare = _why_rare(data.left_out, how.assumed)
    lower_limit = None if rare else lows[1]
    security = _with_low(security, lower_limit, how.level, rare or why)
    observer.finish()
    return LeakageEstimate(
        beta_star=security,
        bayes_risk=risk,
        guessing_error=max(guess, risk.value),
        pair=(part.names[security_bound.pair[0]], part.names[security_bound.pair[1]]),
        secrets=len(whole.names),
        samples=whole.size,
        confidence=how.level,
        estimators=ahead.errors,
        chosen=ahead.chosen,
        continuous=continuous,
        history=(*history, Look(whole.size, security, risk)),
        contradictions=crossed,
        left_out=data.left_out,
        pairs=security_bound.pairs,
        alternatives=security_bound.alternatives,
        assumptions=texts,
        remarks=remarks(part, security, security_bound, how.assumed),
    )


def _why_rare(left_out: tuple[tuple[str, int], ...], given: Assumed) -> str:
    """Return why no lower limit of Bayes security holds; "": no secret that may matter is rare.

    The worst pair may be one of a secret that was hardly seen, unless it is declared which secrets
    the worst pair is among.
    """
    if not left_out or given.among:
        return ""
    return (
        f"{rare_secrets(left_out)}, and one of these may be the easiest to tell apart: draw more "
        "samples of them, or declare `among` or `pair`"
    )


def rare_secrets(left_out: tuple[tuple[str, int], ...]) -> str:
    """Word how many secrets have too few samples, without the end of the sentence."""
    if len(left_out) == 1:
        return f"1 secret, {left_out[0][0]!r}, has fewer than {FEWEST} samples"
    return f"{len(left_out):,} secrets have fewer than {FEWEST} samples"


def _crossed(
    highs: tuple[Estimate, Estimate],
    lows: tuple[float | None, float | None],
    secrets: int,
    side: float,
    texts: tuple[str, ...],
) -> tuple[str, ...]:
    """Compare the limits from samples judged ahead with those from all samples."""
    findings = [Finding(highs[0].quantity, "the number of secrets", high=1 - 1 / secrets)]
    for high, low in zip(highs, lows, strict=True):
        # Four one-sided limits are compared at once.
        for limits, source, assumptions in (
            ((None, high.high), "samples judged by earlier ones", ()),
            ((low, None), "all samples", texts),
        ):
            findings.append(
                Finding(
                    high.quantity,
                    source,
                    *limits,
                    kind="sampled",
                    assumptions=(INDEPENDENT, *assumptions),
                    confidence=1 - 4 * side,
                )
            )
    return tuple(str(c) for c in contradictions(findings))


def _with_low(e: Estimate, low: float | None, level: float, why: str) -> Estimate:
    """Put a lower limit, or the reason why there is none, next to an upper one."""
    if low is not None:
        # The two limits come from different arguments and can cross (`_crossed` says so where
        # they do): keep them in order.
        low = min(low, 1.0 if e.high is None else e.high)
    value = e.value if low is None else max(e.value, low)
    return replace(e, value=value, low=low, confidence=level, why=why)
