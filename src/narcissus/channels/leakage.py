"""What samples say about a channel: estimates with limits, in numbers, words and a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from narcissus._outwards import lower, upper
from narcissus._pandas import pd
from narcissus.results import Estimate, Grade, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Look:
    """The state after some samples: both quantities with their limits."""

    samples: int
    beta_star: Estimate
    bayes_risk: Estimate


@dataclass(frozen=True)
class LeakageEstimate(Result):
    """What samples say about a channel.

    Attributes
    ----------
    beta_star
        Bayes security; ``high`` is certified at ``pair``.
    bayes_risk
        Error of the best attacker, for the prior from which secrets were drawn.
    guessing_error
        Error of the commonest secret, on the samples on which the estimate of the Bayes risk was
        made. Approximate: it has no limits, and no verdict rests on it.
    pair
        The two secrets that seem easiest to tell apart.
    secrets, samples
        How many.
    confidence
        Of each interval: each side misses with probability at most half of what is left.
    estimators
        Error of each estimator where they were compared, each block predicted from earlier ones.
    chosen
        The estimator that was best at the end; earlier blocks may have been predicted by others.
    continuous
        Whether outputs were taken as continuous.
    history
        One look, or several of a run that was continued until it was precise enough.
    contradictions
        Limits that cross: then the samples are not independent (or it is the chance that was
        allowed for), or what was assumed is not so.
    pairs
        How many pairs the upper limit of ``beta*`` is the mean of; 1 is ``pair`` itself.
    alternatives
        Miss and false hit of each estimator on one pair, where they were compared.
    assumptions
        What the lower limits rest on besides; empty if nothing was assumed.
    remarks
        Why limits are far apart and what would help; that estimators disagree.
    left_out
        Secrets with too few samples, and how many each has: the claims are about the others.
    """

    beta_star: Estimate
    bayes_risk: Estimate
    guessing_error: float
    pair: tuple[str, str]
    secrets: int
    samples: int
    confidence: float
    estimators: dict[str, float]
    chosen: str
    continuous: bool
    history: tuple[Look, ...] = field(repr=False)
    contradictions: tuple[str, ...] = ()
    pairs: int = 1
    alternatives: dict[str, float] = field(default_factory=dict[str, float])
    assumptions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()

    @property
    def grade(self) -> Grade:
        """Always 'sampled'."""
        return "sampled"

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the command line, under its keys; what is empty is left out."""
        more: dict[str, Any] = {
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
        } | {key: value for key, value in more.items() if value}

    def to_frame(self) -> pd.DataFrame:
        """Return the history: a row per look, with both estimates and their limits."""
        rows: list[dict[str, Any]] = []
        for look in self.history:
            row: dict[str, Any] = {"samples": look.samples}
            for name in ("beta_star", "bayes_risk"):
                e: Estimate = getattr(look, name)
                row |= {name: e.value, f"{name}_low": e.low, f"{name}_high": e.high}
            rows.append(row)
        return pd.DataFrame(rows)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw both estimates with their bands against the number of samples."""
        from matplotlib import pyplot as plt

        axes: Axes = ax if ax is not None else plt.subplots(layout="constrained")[1]
        frame = self.to_frame()
        for name, label in (("beta_star", "Bayes security"), ("bayes_risk", "Bayes risk")):
            low = frame[f"{name}_low"].astype(float).fillna(0.0)
            high = frame[f"{name}_high"].astype(float).fillna(1.0)
            (line,) = axes.plot(frame["samples"], frame[name], marker="o", label=label)
            axes.fill_between(frame["samples"], low, high, alpha=0.2, color=line.get_color())
        axes.set_xscale("log")
        axes.set_ylim(0, 1)
        axes.set_xlabel("samples")
        axes.set_ylabel(f"estimate and {100 * self.confidence:g}% limits")
        axes.legend()
        return axes

    def __str__(self) -> str:
        def limits(e: Estimate) -> str:
            low = "no limit" if e.low is None else lower(e.low, places=4)
            high = "no limit" if e.high is None else upper(e.high, places=4)
            return f"{e.value:.4f}   limits {low} to {high}"

        worst = self.beta_star.high if self.beta_star.high is not None else 1.0
        least = lower(100 - 50 * worst, places=1)
        right = f"right in at least {least} of 100 attempts (50 by guessing)"
        apart = f"told apart best: {self.pair[0]!r} and {self.pair[1]!r}, {right}"
        if self.pairs > 1:
            apart = f"some two secrets are told apart, {right}: the mean of {self.pairs} pairs"
        lines = [
            f"{self.samples} samples of {self.secrets} secrets, {100 * self.confidence:g}% limits",
            "",
            f"  Bayes security (worst pair)  {limits(self.beta_star)}",
            f"    {apart}",
            f"  Bayes risk                   {limits(self.bayes_risk)}",
            f"    by the estimator {self.chosen!r}; the best attacker is wrong no more often "
            "than the upper limit",
        ]
        lines += [f"  assuming for the lower limits that {text}" for text in self.assumptions]
        lines += [
            f"  note: {why}"
            for why in dict.fromkeys([self.beta_star.why, self.bayes_risk.why, *self.remarks])
            if why
        ]
        lines += [f"  {c}" for c in self.contradictions]
        lines += few_samples(self.left_out)
        hold = "; the lower ones if what is assumed is so" if self.assumptions else ""
        lines += [
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
    more = f" and {len(left_out) - 5} more" if len(left_out) > 5 else ""
    return [
        f"  note: left out, too few samples: {shown}{more}. All is about the other secrets; only "
        "the upper limit of Bayes security holds for all of them"
    ]


def as_limits(e: Estimate) -> dict[str, Any]:
    """Return an estimate with its limits, and why one is missing, for JSON."""
    out: dict[str, Any] = {"estimate": e.value, "low": e.low, "high": e.high}
    return out | ({"why": e.why} if e.low is None or e.high is None else {})
