"""Every leakage from samples, for any prior and gain, with limits that hold at every sample size.

Source: Narcissus theory 6.15.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._outwards import lower, upper
from narcissus._pandas import is_frame, pd
from narcissus._random import RandomSource, generator
from narcissus._validation import between, one_of
from narcissus.channels.ahead import MOST_CONTINUOUS
from narcissus.channels.assumed import NO_LOWER
from narcissus.channels.capacity_limits import promising_prior
from narcissus.channels.estimators import portfolio
from narcissus.channels.leakage import as_limits
from narcissus.channels.paid_ahead import Gained, LogScore, paid_ahead
from narcissus.channels.prior_draws import draw, with_prior
from narcissus.channels.sampled_measures import MEASURES, Played, Prior
from narcissus.channels.samples import Codes, Samples, samples
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate, Grade, Result

Floats = NDArray[np.float64]
ASIDE = 1 / 8
"""Share of the samples by which a prior is chosen."""
UNSEEN = "outputs hardly repeat (they are continuous): no finite sample rules out that more leaks"


@dataclass(frozen=True)
class SampledLeakage(Result):
    """Leakages of a channel known by samples, each with limits of its own.

    Attributes
    ----------
    measures
        The estimates, by the names of `MEASURES`. A limit that continuous outputs do not allow is
        None, and ``why`` says so.
    prior
        "given", or "samples": as often as secrets occur there.
    secrets, samples
        How many.
    lacking
        Share of the prior's draws for which a secret had no sample left: counted as the worst.
    confidence
        Of each interval.
    estimator
        The one that did best in the end.
    """

    measures: dict[str, Estimate]
    prior: str
    secrets: int
    samples: int
    lacking: float
    confidence: float
    estimator: str

    @property
    def grade(self) -> Grade:
        """Always 'sampled'."""
        return "sampled"

    def said_at(self, confidence: float) -> SampledLeakage:
        """Return same limits as part of a claim over several looks, at the confidence of all."""
        measures = {n: replace(e, confidence=confidence) for n, e in self.measures.items()}
        return replace(self, measures=measures, confidence=confidence)

    def __getitem__(self, name: str) -> Estimate:
        """Return one measure."""
        return self.measures[one_of("measure", name, self.measures)]

    def to_dict(self) -> dict[str, Any]:
        """Return each measure with its limits, by its name."""
        return {name: as_limits(e) for name, e in self.measures.items()}

    def to_frame(self) -> pd.DataFrame:
        """Return a row per measure."""
        rows = [{"measure": n, "estimate": e.value, "low": e.low, "high": e.high}
                for n, e in self.measures.items()]  # fmt: skip
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        which = "the prior given" if self.prior == "given" else "secrets as often as in the samples"
        lines = [f"Leakage, {which}, {100 * self.confidence:g}% limits each", ""]
        for name, e in self.measures.items():
            low = "no limit" if e.low is None else lower(e.low, places=4)
            high = "no limit" if e.high is None else upper(e.high, places=4)
            lines.append(f"  {name:<24} {e.value:.4f}   limits {low} to {high}")
        whys = dict.fromkeys(e.why for e in self.measures.values() if e.why)
        lines += [f"  note: {why}" for why in whys]
        if self.lacking:
            lines.append(
                f"  note: up to {upper(100 * self.lacking, 2)}% of the secrets drawn had no sample "
                "left; they count as the worst on either side"
            )
        return "\n".join(lines)


def sampled_leakage(
    secrets: Any,
    outputs: Any,
    *,
    measures: Sequence[str] | None = None,
    prior: ArrayLike | dict[str, float] | None = None,
    gain: Any = None,
    confidence: float = 0.95,
    estimators: Any = None,
    kind: str = "auto",
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> SampledLeakage:
    """Estimate leakages of a channel known only by samples, with limits.

    Parameters
    ----------
    secrets, outputs, confidence, estimators, kind, rng, observer
        As in `narcissus.channels.estimate`. Secrets with few samples are taken along.
    measures
        Names among `MEASURES`; None is all that need no gain, and with a gain those that do.
        Information and entropies are in bits. Capacities are over the secrets in the samples.
    prior
        Probability of each secret: by name, or in the order of the sorted secrets. None takes the
        secrets as often as they occur in the samples. It may name secrets without samples.
    gain
        What a guess gains for a secret, shape (guesses, secrets): a data frame with a column per
        secret, or an array in their order.

    Returns
    -------
    SampledLeakage
        Each interval holds with the confidence, whatever the estimators did, for samples that are
        independent given their secrets (numbers per secret fixed or random). Where outputs are
        continuous there is no upper limit of what leaks.

    Raises
    ------
    InputError
        Bad samples, an unknown measure, a prior or a gain that does not fit the secrets.

    Source: Narcissus theory 6.15.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> secret = rng.integers(2, size=4000)
    >>> shown = np.where(rng.random(4000) < 0.75, secret, 1 - secret)  # 0.1887 bits
    >>> found = sampled_leakage(secret, shown, prior=[0.5, 0.5], rng=1)["shannon-leakage"]
    >>> found.low < 0.1887 < found.high
    True
    """
    level = between("confidence", confidence, 0, 1, open_low=True, open_high=True)
    kind = one_of("kind", kind, ("auto", "discrete", "continuous"))
    wanted = _wanted(measures, gain)
    data = samples(secrets, outputs, fewest=1)
    seen = np.bincount(data.secret) / data.size
    of_all, weights = (data, seen) if prior is None else with_prior(data, prior)
    continuous = data.continuous if kind == "auto" else kind == "continuous"
    sought = _Sought(
        wanted,
        {} if gain is None else {"gain": _gain(gain, of_all.names)},
        estimators,
        generator(rng),
        (1 - level) / 2,
        continuous,
        observer,
    )
    by_prior = sought.by_prior(data, of_all, weights)
    played = list(by_prior.values())
    paid = [*played[0].gained.values(), played[0].told]
    return SampledLeakage(
        {name: _estimate(name, by_prior[MEASURES[name].prior], level) for name in wanted},
        "samples" if prior is None else "given",
        len(of_all.names),
        data.size,
        max(p.exhausted / len(p.draws.labels) for p in played),
        level,
        next(one.chosen for one in paid if one is not None),
    )


def _estimate(name: str, played: Played, level: float) -> Estimate:
    """Return one measure with its limits, and why one is missing."""
    low, value, high = MEASURES[name].limits(played)
    is_risk = name == "bayes-risk"
    why = "" if not played.continuous else NO_LOWER if is_risk else UNSEEN
    method = f"{len(played.draws.labels)} labels drawn from the prior"
    missing = played.continuous and is_risk
    trials = played.data.size
    what = name.replace("-", " ")
    return Estimate(value, None if missing else low, high, level, trials, what, method, why)


def _wanted(measures: Sequence[str] | None, gain: Any) -> list[str]:
    """Return the names of what is asked for."""
    if measures is not None and not measures:
        raise InputError("`measures` is empty: name one at least, or leave it out for all")
    if measures is None:
        return [n for n, m in MEASURES.items() if gain is not None or "gain" not in m.needs]
    wanted = [one_of("measures", name, MEASURES) for name in measures]
    lacking = [name for name in wanted if "gain" in MEASURES[name].needs]
    if lacking and gain is None:
        raise InputError(f"{lacking[0]} needs `gain`: what a guess gains for a secret")
    return wanted


def _gain(gain: Any, names: tuple[str, ...]) -> Floats:
    """Return the gain with a column for each of the secrets."""
    if is_frame(gain):
        frame = gain.rename(columns=str)
        lacking = [name for name in names if name not in frame.columns]
        if lacking:
            raise InputError(f"`gain` lacks the secret {lacking[0]!r}")
        gain = frame[list(names)].to_numpy()
    array = np.asarray(gain, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != len(names) or not len(array):
        raise InputError(
            f"`gain` must have a row per guess and a column per secret ({len(names)}), got shape "
            f"{array.shape}"
        )
    if not np.isfinite(array).all():
        raise InputError("`gain` must be finite")
    return array


@dataclass(frozen=True)
class _Sought:
    """What was asked for."""

    wanted: list[str]
    gains: dict[str, Floats]
    estimators: Any
    random: np.random.Generator
    side: float
    continuous: bool
    observer: Observer

    def by_prior(self, data: Samples, of_all: Samples, prior: Floats) -> dict[Prior, Played]:
        """Play under each prior that measures need; all but the given one on the secrets seen."""
        found: dict[Prior, Played] = {}
        needed: list[Prior] = [MEASURES[name].prior for name in self.wanted]
        for which in dict.fromkeys(needed):
            seen = len(data.names)
            weights, aside = np.full(seen, 1 / seen), np.arange(0)
            if which == "promising" and not self.continuous:
                aside = self.random.permutation(data.size)[: math.ceil(data.size * ASIDE)]
                weights = promising_prior(data, aside)
            given = (of_all, prior) if which == "given" else (data, weights)
            found[which] = self.played(*given, which, aside)
        return found

    def played(self, data: Samples, prior: Floats, which: Prior, aside: Codes) -> Played:
        """Draw from the prior, and let all rules play that the measures need."""
        mine = [MEASURES[name] for name in self.wanted if MEASURES[name].prior == which]
        needs = {need for measure in mine for need in measure.needs}
        gain = {"guess": np.eye(len(prior)), **self.gains}
        names = [name for name in gain if name in needs]
        most = MOST_CONTINUOUS if self.continuous else data.size
        draws = draw(data, prior, self.random, most=most, aside=aside)
        score = LogScore(np.maximum(prior, 1e-300), draws.scarce(len(prior)))
        payoffs = [*(Gained(gain[name]) for name in names), *([score] if "told" in needs else [])]
        tried = portfolio(self.estimators, data)
        paid = paid_ahead(data, tried, draws, payoffs, prior, self.observer)
        told = paid[-1] if "told" in needs else None
        gained = dict(zip(names, paid, strict=False))
        return Played(data, draws, prior, gained, told, gain, self.side, self.continuous)
