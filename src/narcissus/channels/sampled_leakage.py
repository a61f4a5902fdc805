"""Every leakage from samples, for any prior and gain, with limits that hold at every sample size.

Upper limits of information and capacity take no union over outputs: what the samples themselves
seem to give is no less than the mean on them of the true density, ``ln(p(s|o) / pi_s)`` or, over
the best prior, ``ln(C_so / q_o)``, whose mean is the quantity itself. How seldom that mean comes
out small is bounded by its exponential moments. Those of the capacity are largest where an output
either names its secret outright or tells against it a little, and the best prior rests on two
secrets.

Source: Narcissus theory 6.15.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, sparse

from narcissus._arrays import Floats
from narcissus._outwards import upper
from narcissus._pandas import is_frame, pd
from narcissus._random import RandomSource, generator
from narcissus._validation import between, one_of
from narcissus.channels.estimate import as_limits, between_text
from narcissus.channels.estimators import portfolio
from narcissus.channels.limits import NO_LOWER, below, mean_high
from narcissus.channels.limits import upper as most_of
from narcissus.channels.measures import guess_table, shannon_capacity, shannon_leakage
from narcissus.channels.prequential import (
    EXHAUSTED,
    MIXED,
    MOST_CONTINUOUS,
    Draws,
    Gained,
    LogScore,
    Paid,
    draw,
    how_many,
    paid_ahead,
    with_prior,
)
from narcissus.channels.samples import Codes, SampledResult, Samples, samples
from narcissus.errors import InputError
from narcissus.evidence.betting import mean_limits
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate

HEAVIEST = 1 - 1 / math.e
"""No secret is likelier under the best prior.

Source: Majani and Rumsey 1991, for two secrets; Narcissus theory 6.15."""
POWERS, COARSE, FINE, HALVINGS = 24, 50, 50, 40
"""Points of the grids, and halvings of an interval; more could only lower the limit."""
NEAR = 1e-7  # Of a root, in nats; it is rounded up
LIGHT = 1e-6  # What the secrets that are next to impossible under the best prior weigh together
RARE = 0.01
"""Share of the heaviest secret's chance below which one is left out of a prior that is chosen."""
ROOM = 1.5  # Nats that a limit from one sample would be below the information, roughly


def capacity_high(data: Samples, alpha: float) -> float:
    """Limit the Shannon capacity over the secrets seen from above, in nats.

    Secrets with too few samples count as told for certain: with k of them the capacity is at most
    ``ln(e^c + k)``, c that of the others. Which ones follows from the numbers of samples alone.
    """
    each = data.each(np.arange(data.size))
    fewest = np.unique(each[each > 0])
    given_up = (each > 0).sum() - (each[:, None] >= fewest).sum(axis=0)
    best = int(np.argmin(np.exp(2 / np.sqrt(fewest)) + given_up))
    is_frequent = each >= fewest[best]
    counts = data.counts().tocsc()[:, is_frequent].tocsr()
    # outputs seen with one secret only are joined, which changes nothing
    secrets = np.diff(counts.indptr)
    alone, shared = np.flatnonzero(secrets == 1), np.flatnonzero(secrets > 1)
    lone_counts = np.asarray(counts[alone].sum(axis=0)).ravel().astype(np.float64)
    counts = sparse.csr_array(sparse.hstack([counts[shared].T, sparse.diags_array(lone_counts)]))
    near = 0.01 / math.sqrt(float(fewest[best]))
    shown = sparse.diags_array(1 / counts.sum(axis=1)) @ counts
    seen = shannon_capacity(shown, tolerance=near).high * math.log(2)
    limit = most_capacity(seen, int(fewest[best]), int(is_frequent.sum()), alpha)
    return math.log(math.exp(limit) + int(given_up[best]))


def promising_prior(data: Samples, aside: Codes) -> Floats:
    """Choose a prior whose information is likely to limit the Shannon capacity best from below.

    It is uniform, or that which reaches the capacity that samples set aside seem to have, secrets
    of little weight left out. Shape (secrets,).

    aside: numbers of these samples, in random order.
    """
    half = len(aside) // 2
    learned, test_counts = (data.counts(part).T.tocsr() for part in (aside[:half], aside[half:]))
    sizes = [np.asarray(part.sum(axis=1)).ravel() for part in (learned, test_counts)]
    there = (sizes[0] > 0) & (sizes[1] > 0)
    uniform = np.full(there.size, 1 / there.size)
    if there.sum() < 2:
        return uniform
    shown = [
        sparse.diags_array(1 / size[there]) @ counts[there]
        for size, counts in zip(sizes, (learned, test_counts), strict=True)
    ]
    best = shannon_capacity(shown[0], tolerance=0.01).prior
    made = np.zeros(there.size)
    made[there] = np.where(best < RARE * best.max(), 0.0, best)
    left = np.bincount(data.secret) - np.bincount(data.secret[aside], minlength=there.size)

    def promise(prior: Floats) -> float:
        leakage = shannon_leakage(shown[1], prior[there] / prior[there].sum()) * math.log(2)
        return leakage - ROOM / math.sqrt(how_many(left, prior, data.size))

    return max(uniform, made / made.sum(), key=promise)


def most_capacity(seen: float, size: int, secrets: int, alpha: float) -> float:
    """Return the largest capacity, in nats, that samples so often seem as low as these.

    seen: capacity of the channel of relative frequencies, or more than that.
    secrets: how many.

    >>> round(most_capacity(0.1, 1000, 3, 0.025), 3)
    0.133
    """
    top = math.log(secrets)

    def beyond(capacity: float) -> float:
        return capacity - room(capacity, size, secrets, alpha) - seen

    bottom = max(seen, NEAR)  # nothing seems to leak with a capacity of 0, and with more as well
    if bottom >= top or beyond(top) <= 0:
        return top
    if beyond(bottom) >= 0:
        return bottom
    return min(top, float(optimize.brentq(beyond, bottom, top, xtol=NEAR, rtol=NEAR)) + 3 * NEAR)


def room(capacity: float, size: int, secrets: int, alpha: float) -> float:
    """Return how far below its capacity a channel seems, but for chance alpha (all in nats).

    With ``e(u, a)`` from `excess`, Chernoff's bound at power r times the size gives
    ``min_r (max_pi sum_s e(r pi_s, pi_s) + ln(1/alpha)/size) / r``. Over cells of pi: one secret is
    the heaviest, and the others, no heavier, have at most the steepest ``e / pi`` up to there.
    """
    top = min(HEAVIEST, math.exp(-capacity))
    light = LIGHT / secrets
    edges = np.concatenate(
        [np.geomspace(light, top / 5, COARSE + 1)[:-1], np.linspace(top / 5, top, FINE + 1)]
    )
    lower_edges, upper_edges = edges[:-1], edges[1:]
    power = np.geomspace(1e-4, 0.999 / top, POWERS)[:, None]
    cell = excess(power * upper_edges, lower_edges, capacity)
    steepest = np.maximum.accumulate(cell / lower_edges, axis=1)
    others = (
        np.searchsorted(lower_edges, np.minimum(upper_edges, 1 - lower_edges), side="right") - 1
    )
    total = (cell + (1 - lower_edges) * steepest[:, others]).max(axis=1) + power[
        :, 0
    ] * capacity * LIGHT
    return float(((total - math.log(alpha) / size) / power[:, 0]).min())


def excess(power: Floats, weight: Floats, capacity: float) -> Floats:
    """Limit ``ln E e^(-u l) + u c`` for a density ``l = ln(P/q)``, ``E l = c``, ``P <= q/weight``.

    power: u, in [0, 1), shape (..., weights).
    weight: Of the secret in the mixture q, shape (weights,), at most ``e^-c``.
    capacity: c, in nats, above 0.

    The limit is reached where P/q has two values, ``1/weight`` and ``1 - d``: whatever u is.
    """
    ratio = 1 / weight
    low, high = np.zeros_like(weight), np.ones_like(weight)
    for _ in range(HALVINGS):
        d = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(d < 1, (1 - d) * np.log1p(-d), 0.0)
        divergence = (d * ratio * np.log(ratio) + (ratio - 1) * rest) / (ratio - 1 + d)
        under = divergence <= capacity
        low, high = np.where(under, d, low), np.where(under, high, d)
    named = low * ratio / (ratio - 1 + low)
    others = (1 - named) * np.expm1(-power * np.log1p(-low))
    return np.log1p(named * np.expm1(-power * np.log(ratio)) + others) + power * capacity


GRID = 300  # Points of either grid; a finer one could only lower the limit


def seeming_information(data: Samples, prior: Floats) -> float:
    """Return largest sum of ``ln(q(s|o) / pi_s)`` over samples that any rule q reaches, nats."""
    counts = data.counts().tocoo()
    output, secret = counts.coords
    each = np.bincount(output, weights=counts.data)
    terms = counts.data * np.log(counts.data / each[output] / prior[secret])
    return float(terms.sum())


def information_high(total: float, size: int, rarest: float, alpha: float) -> float:
    """Limit the mutual information from above, in nats.

    total: Sum of ``ln(p(s|o) / pi_s)`` over independent samples, or more than that.
    rarest: The smallest probability of a secret, above 0.

    For 0 < l < 1 a sum below ``total`` has chance at most ``(e^(l total/size) E)^size``, where E is
    the mean of ``sum_s p^(1-l) pi^l`` over the posteriors p. For any m, E is at most
    ``max_p (sum_s p^(1-l) pi^l + m KL(p | pi)) - m I``; that maximum is reached by a posterior that
    raises the rarest secret alone, or at the prior.

    >>> round(information_high(2000 * 0.1, 2000, 0.25, 0.025), 3)
    0.132
    """
    if rarest == 1:  # one secret alone is possible: nothing is to be told
        return 0.0
    power, slope, maxima = moments(rarest)
    lower_limits = np.exp(-power * total / size + math.log(alpha) / size)
    return min(float(np.nanmin((maxima - lower_limits) / slope)), -math.log(rarest))


@lru_cache(maxsize=8)
def moments(rarest: float) -> tuple[Floats, Floats, Floats]:
    """Return (l, m, M) with ``sum_s p^(1-l) pi^l + m KL(p | pi) <= M`` for every posterior p.

    Shapes (powers, 1), (powers, points), (powers, points); NaN where there is no tangent.
    """
    power = np.linspace(0.005, 0.99, GRID)[:, None]
    raised = np.unique(
        np.concatenate(
            [
                np.geomspace(rarest, 1, GRID)[1:-1],
                1 - np.geomspace(1e-12, 1 - rarest, GRID)[:-1],
                rarest + (1 - rarest) * np.geomspace(1e-6, 1, GRID)[:-1],
            ]
        )
    )[None, ::-1]
    up, down = raised / rarest, (1 - raised) / (1 - rarest)
    divergence = raised * np.log(up) + (1 - raised) * np.log(down)
    moment = raised * up**-power + (1 - raised) * down**-power
    slope = (1 - power) * (down**-power - up**-power) / np.log(up / down)
    # Beyond its smallest slope the curve bends the other way: no tangent there.
    tangent = np.arange(raised.size) < slope.argmin(axis=1)[:, None]
    slope = np.where(tangent, slope, np.nan)
    maxima = np.maximum(moment + slope * divergence, 1.0)
    for made in (power, slope, maxima):
        made.flags.writeable = False
    return power, slope, maxima


Limits = tuple[float, float, float | None]
"""Lower limit, value, upper limit; None where there is none."""
Prior = Literal["given", "uniform", "promising"]
"""The last is chosen by some of the samples, which do not count then."""


@dataclass(frozen=True)
class Played:
    """Everything known under one prior: what was earned ahead, what could be in hindsight."""

    data: Samples
    draws: Draws
    prior: Floats
    gained: dict[str, Paid]
    told: Paid | None
    gain: dict[str, Floats]
    side: float
    continuous: bool

    def vulnerability(self, which: str = "guess") -> Limits:
        """Limit the g-vulnerability of a gain; zeros and ones by binomial limits.

        It is no less than without the output, and no more than with the secret itself.
        """
        gain, paid = self.gain[which], self.gained[which].values
        floor, range_ = float(gain.min()), float(np.ptp(gain))
        if range_ == 0:
            return floor, floor, floor
        earned, size = float(((paid - floor) / range_).sum()), len(paid)
        binary = bool(np.isin(gain, (floor, floor + range_)).all())
        before = (float((gain @ self.prior).max()) - floor) / range_
        if binary:
            low = below(round(earned), size, self.side)
        else:
            low = 1 - mean_high(size - earned, size, self.side)
        low, high = max(low, before), None
        value = max(low, earned / size)
        if not self.continuous:
            counts = self.kept.counts()
            top = (counts @ ((gain - floor) / range_).T).max(axis=1)
            total, drawn = float(top.sum()) + self.exhausted, len(self.draws.labels)
            if binary:
                limit = most_of(round(total), drawn, self.side)
            else:
                limit = mean_high(total, drawn, self.side)
            limit = max(low, min(limit, (float(gain.max(axis=0) @ self.prior) - floor) / range_))
            high, value = floor + range_ * limit, min(value, limit)
        return floor + range_ * low, floor + range_ * value, high

    def information(self) -> Limits:
        """Limit the mutual information, in bits."""
        assert self.told is not None
        possible = self.prior[self.prior > 0]
        rarest = float(possible.min())
        lower_limit, upper_limit = math.log(min(MIXED)), -math.log(rarest)
        scaled = np.clip((self.told.values - lower_limit) / (upper_limit - lower_limit), 0, 1)
        limits = mean_limits(scaled, confidence=1 - 2 * self.side)
        low = max(0.0, lower_limit + (upper_limit - lower_limit) * (limits.low or 0.0))
        value, high = max(low, float(self.told.values.mean())), None
        if not self.continuous:
            used = self.draws.drawn != EXHAUSTED
            total = seeming_information(self.kept, self.prior)
            total += float(-np.log(self.prior[self.draws.labels[~used]]).sum())
            high = max(low, information_high(total, len(used), rarest, self.side))
            entropy = float(-(possible * np.log(possible)).sum())
            high = max(low, min(high, entropy)) / math.log(2)
            value = min(value, high * math.log(2))
        return low / math.log(2), value / math.log(2), high

    @property
    def before(self) -> float:
        """The best expected gain without the output."""
        return float((self.gain["gain"] @ self.prior).max())

    @property
    def kept(self) -> Samples:
        drawn = self.draws.drawn[self.draws.drawn != EXHAUSTED]
        return replace(self.data, secret=self.data.secret[drawn], output=self.data.output[drawn])

    @property
    def exhausted(self) -> int:
        return int((self.draws.drawn == EXHAUSTED).sum())


def _mapped(limits: Limits, change: Callable[[float], float]) -> Limits:
    low, value, high = limits
    return change(low), change(value), None if high is None else change(high)


def _ratio(limits: Limits, before: float, most: float) -> Limits:
    low, value, high = _mapped(limits, lambda x: max(1.0, x / before))
    return low, value, None if high is None else min(most, high)


def _less(limits: Limits, before: float) -> Limits:
    return _mapped(limits, lambda x: max(0.0, x - before))


def _leakage(p: Played) -> Limits:
    """Limit the multiplicative leakage."""
    top = float(p.prior.max())
    return _ratio(p.vulnerability(), top, 1 / top)


def _capacity(p: Played) -> Limits:
    return _ratio(p.vulnerability(), 1 / len(p.prior), float(len(p.prior)))


def _shannon_capacity(p: Played) -> Limits:
    low, value, high = p.information()
    if high is None:
        return low, value, None
    high = max(low, capacity_high(p.data, p.side) / math.log(2))
    return low, min(value, high), high


def _g_ratio(p: Played) -> Limits:
    if p.before <= 0 or p.gain["gain"].min() < 0:
        raise InputError(
            "the measure g-leakage is a ratio: it needs gains of at least 0 with some success "
            "before the output; ask for additive-g-leakage"
        )
    return _ratio(p.vulnerability("gain"), p.before, math.inf)


def _bayes_risk(p: Played) -> Limits:
    low, value, high = p.vulnerability()
    return 0.0 if high is None else 1 - high, 1 - value, 1 - low


@dataclass(frozen=True)
class Measure:
    """How a measure is computed, under which prior, and from what."""

    limits: Callable[[Played], Limits]
    prior: Prior = "given"
    needs: tuple[str, ...] = ("guess",)


MEASURES: dict[str, Measure] = {
    "bayes-risk": Measure(_bayes_risk),
    "bayes-vulnerability": Measure(lambda p: p.vulnerability()),
    "multiplicative-leakage": Measure(_leakage),
    "additive-leakage": Measure(lambda p: _less(p.vulnerability(), float(p.prior.max()))),
    "min-entropy-leakage": Measure(lambda p: _mapped(_leakage(p), math.log2)),
    "shannon-leakage": Measure(lambda p: p.information(), needs=("told",)),
    "capacity": Measure(_capacity, "uniform"),
    "min-capacity": Measure(lambda p: _mapped(_capacity(p), math.log2), "uniform"),
    "shannon-capacity": Measure(_shannon_capacity, "promising", needs=("told",)),
    "g-vulnerability": Measure(lambda p: p.vulnerability("gain"), needs=("gain",)),
    "g-leakage": Measure(_g_ratio, needs=("gain",)),
    "additive-g-leakage": Measure(
        lambda p: _less(p.vulnerability("gain"), p.before), needs=("gain",)
    ),
}
"""What can be asked for, by its name."""


ASIDE = 1 / 8  # Share of the samples by which a prior is chosen
UNSEEN = "outputs hardly repeat (they are continuous): no finite sample rules out that more leaks"


@dataclass(frozen=True)
class SampledLeakage(SampledResult):
    """Leakages of a channel known by samples, each with separate limits."""

    # The estimates, by the names of `MEASURES`. A limit that continuous outputs do not allow is
    # None, and ``why`` says so.
    measures: dict[str, Estimate]
    prior: str  # "given", or "samples": as often as secrets occur there
    secrets: int
    samples: int
    # Share of the prior's draws for which a secret had no sample left: counted as the worst
    lacking: float
    confidence: float  # Of each interval
    estimator: str  # The one that did best in the end

    def said_at(self, confidence: float) -> SampledLeakage:
        """Return same limits as part of a claim over several looks, at the confidence of all."""
        measures = {n: replace(e, confidence=confidence) for n, e in self.measures.items()}
        return replace(self, measures=measures, confidence=confidence)

    def __getitem__(self, name: str) -> Estimate:
        """Return one measure."""
        return self.measures[one_of("measure", name, self.measures)]

    def to_dict(self) -> dict[str, Any]:
        return {name: as_limits(e) for name, e in self.measures.items()}

    def to_frame(self) -> pd.DataFrame:
        measures = self.measures.items()
        return pd.DataFrame(
            [{"measure": n, "estimate": e.value, "low": e.low, "high": e.high} for n, e in measures]
        )

    def __str__(self) -> str:
        which = "the prior given" if self.prior == "given" else "secrets as often as in the samples"
        lines = [f"Leakage, {which}, {100 * self.confidence:g}% limits each", ""]
        for name, e in self.measures.items():
            lines.append(f"  {name:<24} {e.value:.4f}   limits {between_text(e.low, e.high)}")
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

    secrets, outputs, confidence, estimators, kind, rng, observer: As in
        `narcissus.channels.estimate`. Secrets with few samples are taken along.
    measures: Names among `MEASURES`; None is all that need no gain, and with a gain those that do.
        Information and entropies are in bits. Capacities are over the secrets in the samples.
    prior: Probability of each secret: by name, or in the order of the sorted secrets. None takes
        the secrets as often as they occur in the samples. It may name secrets without samples.
    gain: What a guess gains for a secret, shape (guesses, secrets): a data frame with a column per
        secret, or an array in their order.

    Each interval holds with the confidence, whatever the estimators did, for samples that
    are independent given their secrets (numbers per secret fixed or random). Where outputs are
    continuous there is no upper limit of what leaks.

    Source: Narcissus theory 6.15.

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
        next(payoff.chosen for payoff in paid if payoff is not None),
    )


def _estimate(name: str, played: Played, level: float) -> Estimate:
    low, value, high = MEASURES[name].limits(played)
    why = ""
    if played.continuous:
        is_risk = name == "bayes-risk"
        low, why = (None, NO_LOWER) if is_risk else (low, UNSEEN)
    method = f"{len(played.draws.labels)} labels drawn from the prior"
    quantity = name.replace("-", " ")
    return Estimate(value, low, high, level, played.data.size, quantity, method, why)


def _wanted(measures: Sequence[str] | None, gain: Any) -> list[str]:
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
    if is_frame(gain):
        frame = gain.rename(columns=str)
        lacking = [name for name in names if name not in frame.columns]
        if lacking:
            raise InputError(f"`gain` lacks the secret {lacking[0]!r}")
        gain = frame[list(names)].to_numpy()
    return guess_table("gain", gain, len(names))


@dataclass(frozen=True)
class _Sought:
    wanted: list[str]
    gains: dict[str, Floats]
    estimators: Any
    random: np.random.Generator
    side: float
    continuous: bool
    observer: Observer

    def by_prior(self, data: Samples, of_all: Samples, prior: Floats) -> dict[Prior, Played]:
        """Play under each prior that measures need; all but the given one on the secrets seen."""
        games: dict[Prior, Played] = {}
        needed: list[Prior] = [MEASURES[name].prior for name in self.wanted]
        for which in dict.fromkeys(needed):
            seen = len(data.names)
            weights, aside = np.full(seen, 1 / seen), np.arange(0)
            if which == "promising" and not self.continuous:
                aside = self.random.permutation(data.size)[: math.ceil(data.size * ASIDE)]
                weights = promising_prior(data, aside)
            source = (of_all, prior) if which == "given" else (data, weights)
            games[which] = self.played(*source, which, aside)
        return games

    def played(self, data: Samples, prior: Floats, which: Prior, aside: Codes) -> Played:
        """Draw from the prior, and let all rules play that the measures need."""
        mine = [MEASURES[name] for name in self.wanted if MEASURES[name].prior == which]
        needs = {need for measure in mine for need in measure.needs}
        gain = {"guess": np.eye(len(prior)), **self.gains}
        names = [name for name in gain if name in needs]
        limit = MOST_CONTINUOUS if self.continuous else data.size
        draws = draw(data, prior, self.random, most=limit, aside=aside)
        score = LogScore(np.maximum(prior, 1e-300), draws.scarce(len(prior)))
        payoffs = [*(Gained(gain[name]) for name in names), *([score] if "told" in needs else [])]
        tried = portfolio(self.estimators, data)
        paid = paid_ahead(data, tried, draws, payoffs, prior, self.observer)
        log_scores = paid[-1] if "told" in needs else None
        gained = dict(zip(names, paid, strict=False))
        return Played(data, draws, prior, gained, log_scores, gain, self.side, self.continuous)
