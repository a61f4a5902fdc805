"""What can be measured from samples, each from what rules earned and what they could have earned.

Source: Narcissus theory 6.15.

An upper limit of mutual information from samples, without a union over outputs.

The information that the samples themselves seem to give is no less than the mean of the true
density ``ln(p(s|o) / pi_s)`` on them, whose mean is the information itself. How seldom that mean
comes out small is bounded by its exponential moments, and these by the information alone.

Source: Narcissus theory 6.15.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from narcissus.channels.bounded_mean import mean_high
from narcissus.channels.capacity_limits import capacity_high
from narcissus.channels.limits import upper as most_of
from narcissus.channels.lower_limits import below
from narcissus.channels.paid_ahead import MIXED, Paid
from narcissus.channels.prior_draws import EXHAUSTED, Draws
from narcissus.channels.samples import Samples
from narcissus.errors import InputError
from narcissus.evidence.betting import mean_limits

GRID = 300
"""Points of either grid; a finer one could only lower the limit."""


def seeming_information(data: Samples, prior: Floats) -> float:
    """Return largest sum of ``ln(q(s|o) / pi_s)`` over samples that any rule q reaches, nats."""
    counts = data.counts().tocoo()
    output, secret = counts.coords
    each = np.bincount(output, weights=counts.data)
    terms = counts.data * np.log(counts.data / each[output] / prior[secret])
    return float(terms.sum())


def information_high(total: float, size: int, rarest: float, alpha: float) -> float:
    """Limit the mutual information from above.

    Parameters
    ----------
    total
        Sum of ``ln(p(s|o) / pi_s)`` over independent samples, or more than that.
    size
        How many samples.
    rarest
        The smallest probability of a secret, above 0.
    alpha
        Chance that the limit is too low, in (0, 1).

    Returns
    -------
    float
        In nats.

    Notes
    -----
    For 0 < l < 1 a sum below ``total`` has chance at most ``(e^(l total/size) E)^size``, where E is
    the mean of ``sum_s p^(1-l) pi^l`` over the posteriors p. For any m, E is at most
    ``max_p (sum_s p^(1-l) pi^l + m KL(p | pi)) - m I``; that maximum is reached by a posterior that
    raises the rarest secret alone, or at the prior.

    Examples
    --------
    >>> round(information_high(2000 * 0.1, 2000, 0.25, 0.025), 3)
    0.132
    """
    if rarest == 1:  # one secret alone is possible: nothing is to be told
        return 0.0
    power, slope, most = moments(rarest)
    least = np.exp(-power * total / size + math.log(alpha) / size)
    return min(float(np.nanmin((most - least) / slope)), -math.log(rarest))


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
    told = raised * np.log(up) + (1 - raised) * np.log(down)
    moment = raised * up**-power + (1 - raised) * down**-power
    slope = (1 - power) * (down**-power - up**-power) / np.log(up / down)
    # Beyond its smallest slope the curve bends the other way: no tangent there.
    tangent = np.arange(raised.size) < slope.argmin(axis=1)[:, None]
    slope = np.where(tangent, slope, np.nan)
    most = np.maximum(moment + slope * told, 1.0)
    for made in (power, slope, most):
        made.flags.writeable = False
    return power, slope, most


Floats = NDArray[np.float64]
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

    def vulnerability(self, which: str) -> Limits:
        """Limit the g-vulnerability of a gain; zeros and ones by binomial limits.

        It is no less than without the output, and no more than with the secret itself.
        """
        gain, paid = self.gain[which], self.gained[which].values
        least, range_ = float(gain.min()), float(np.ptp(gain))
        if range_ == 0:
            return least, least, least
        earned, size = float(((paid - least) / range_).sum()), len(paid)
        binary = bool(np.isin(gain, (least, least + range_)).all())
        before = (float((gain @ self.prior).max()) - least) / range_
        if binary:
            low = below(round(earned), size, self.side)
        else:
            low = 1 - mean_high(size - earned, size, self.side)
        low, high = max(low, before), None
        value = max(low, earned / size)
        if not self.continuous:
            counts = self.kept.counts()
            top = (counts @ ((gain - least) / range_).T).max(axis=1)
            total, drawn = float(top.sum()) + self.exhausted, len(self.draws.labels)
            limit = most_of(round(total), drawn, self.side) if binary else mean_high(
                total, drawn, self.side
            )  # fmt: skip
            limit = max(low, min(limit, (float(gain.max(axis=0) @ self.prior) - least) / range_))
            high, value = least + range_ * limit, min(value, limit)
        return least + range_ * low, least + range_ * value, high

    def information(self) -> Limits:
        assert self.told is not None
        least, most = math.log(min(MIXED)), -math.log(float(self.prior[self.prior > 0].min()))
        scaled = np.clip((self.told.values - least) / (most - least), 0, 1)
        found = mean_limits(scaled, confidence=1 - 2 * self.side)
        low = max(0.0, least + (most - least) * (found.low or 0.0))
        value, high = max(low, float(self.told.values.mean())), None
        if not self.continuous:
            used = self.draws.drawn != EXHAUSTED
            total = seeming_information(self.kept, self.prior)
            total += float(-np.log(self.prior[self.draws.labels[~used]]).sum())
            rarest = float(self.prior[self.prior > 0].min())
            high = max(low, information_high(total, len(used), rarest, self.side))
            entropy = float(
                -(self.prior[self.prior > 0] * np.log(self.prior[self.prior > 0])).sum()
            )
            high = max(low, min(high, entropy)) / math.log(2)
            value = min(value, high * math.log(2))
        return low / math.log(2), value / math.log(2), high

    @property
    def kept(self) -> Samples:
        drawn = self.draws.drawn[self.draws.drawn != EXHAUSTED]
        return replace(self.data, secret=self.data.secret[drawn], output=self.data.output[drawn])

    @property
    def exhausted(self) -> int:
        """Labels without a sample."""
        return int((self.draws.drawn == EXHAUSTED).sum())


def _ratio(limits: Limits, before: float, most: float) -> Limits:
    low, value, high = limits
    return (
        max(1.0, low / before),
        max(1.0, value / before),
        None if high is None else max(1.0, min(most, high / before)),
    )


def _less(limits: Limits, before: float) -> Limits:
    low, value, high = limits
    return (
        max(0.0, low - before),
        max(0.0, value - before),
        None if high is None else max(0.0, high - before),
    )


def _bits(limits: Limits) -> Limits:
    low, value, high = limits
    return math.log2(low), math.log2(value), None if high is None else math.log2(high)


def _capacity(p: Played) -> Limits:
    """Under the uniform prior: capacity is the number of secrets times the vulnerability."""
    return _ratio(p.vulnerability("guess"), 1 / len(p.prior), float(len(p.prior)))


def _shannon_capacity(p: Played) -> Limits:
    """Between the information of one prior and what all samples together allow."""
    low, value, high = p.information()
    if high is None:
        return low, value, None
    high = max(low, capacity_high(p.data, p.side) / math.log(2))
    return low, min(value, high), high


def _risk(p: Played) -> Limits:
    low, value, high = p.vulnerability("guess")
    return 0.0 if high is None else 1 - high, 1 - value, 1 - low


def _g_ratio(p: Played) -> Limits:
    before = _before(p)
    if before <= 0 or p.gain["gain"].min() < 0:
        raise InputError(
            "the measure g-leakage is a ratio: it needs gains of at least 0 with some success "
            "before the output; ask for additive-g-leakage"
        )
    return _ratio(p.vulnerability("gain"), before, math.inf)


def _before(p: Played) -> float:
    return float((p.gain["gain"] @ p.prior).max())


def _top(p: Played) -> float:
    return float(p.prior.max())


@dataclass(frozen=True)
class Measure:
    """How a measure is computed, under which prior, and from what."""

    limits: Callable[[Played], Limits]
    prior: Prior = "given"
    needs: tuple[str, ...] = ("guess",)


MEASURES: dict[str, Measure] = {
    "bayes-risk": Measure(_risk),
    "bayes-vulnerability": Measure(lambda p: p.vulnerability("guess")),
    "multiplicative-leakage": Measure(
        lambda p: _ratio(p.vulnerability("guess"), _top(p), 1 / _top(p))
    ),
    "additive-leakage": Measure(lambda p: _less(p.vulnerability("guess"), _top(p))),
    "min-entropy-leakage": Measure(
        lambda p: _bits(_ratio(p.vulnerability("guess"), _top(p), 1 / _top(p)))
    ),
    "shannon-leakage": Measure(lambda p: p.information(), needs=("told",)),
    "capacity": Measure(_capacity, "uniform"),
    "min-capacity": Measure(lambda p: _bits(_capacity(p)), "uniform"),
    "shannon-capacity": Measure(_shannon_capacity, "promising", needs=("told",)),
    "g-vulnerability": Measure(lambda p: p.vulnerability("gain"), needs=("gain",)),
    "g-leakage": Measure(_g_ratio, needs=("gain",)),
    "additive-g-leakage": Measure(
        lambda p: _less(p.vulnerability("gain"), _before(p)), needs=("gain",)
    ),
}
"""What can be asked for, by its name."""
