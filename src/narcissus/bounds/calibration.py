"""The least noise that keeps the risk below a limit: on success, true-positive rate or precision.

An attacker who distinguishes two neighbouring data sets calls "in" (or one of two values); a false
positive is such a call where the other is true. Both bounds on error rates are read off the
trade-off function, which holds in both directions.

Source: Dong, Roth and Su 2022, Definition 2.3; Narcissus theory 4.8; Swanberg et al. 2025, section
4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from narcissus._validation import between, distribution, integer, probability
from narcissus.bounds.at_most import ThreatToPeople
from narcissus.bounds.theorems import advantage, best, bounds_on
from narcissus.bounds.threat import Threat, threat
from narcissus.errors import InputError
from narcissus.guarantees import (
    Adjacency,
    ApproximateDP,
    Divisor,
    GaussianDP,
    Guarantee,
    PureDP,
    Sampling,
    Secret,
    as_asked,
    dp_sgd,
    require_replace_one,
)
from narcissus.guarantees.risk import ROUNDING, true_positive_rate
from narcissus.results import Bound


def beta_star_of_rates(tpr: float, fpr: float) -> Bound:
    """Bound the Bayes security of a channel on which a test has these rates, both in [0, 1].

    A channel of two outputs has these rates and this very beta*; the way back is
    `true_positive_rate` of `narcissus.guarantees.BayesSecurity`.

    Source: Narcissus theory 4.12: ``1 - |tpr - fpr|``.

    >>> round(beta_star_of_rates(0.3, 0.1).value, 6)
    0.8
    """
    seen, false = probability("tpr", tpr), probability("fpr", fpr)
    return Bound(
        1.0 - abs(seen - false),
        f"beta* where a test has true positive rate {seen:g} at false positive rate {false:g}",
        "Narcissus theory 4.12",
    )


def precision(guarantee: Guarantee, recall: float, base_rate: float) -> Bound:
    """Bound the precision of any attack with at least the given recall, in (0, 1).

    ``base_rate`` is the share of members among the records in question, in (0, 1). With ``a`` the
    least false-positive rate at that recall it is ``base_rate recall / (base_rate recall + (1 -
    base_rate) a)``. ``recall / a`` falls with the recall, since the trade-off function is convex.

    Source: Narcissus theory 4.8.

    >>> from narcissus.guarantees import GaussianDP
    >>> round(precision(GaussianDP(1.0), 0.1, 0.5).value, 6)
    0.898812
    """
    require_replace_one(guarantee)
    hit_rate = between("recall", recall, 0, 1, open_low=True, open_high=True)
    members = between("base_rate", base_rate, 0, 1, open_low=True, open_high=True)
    # One minus a rate loses up to a unit in the last place of 1.
    alpha = float(guarantee.least_alpha(hit_rate)) * (1 - ROUNDING) - 4 * np.finfo(float).eps
    called = members * hit_rate
    value = float(min(1.0, called / (called + (1 - members) * max(0.0, alpha)) * (1 + ROUNDING)))
    return Bound(
        value,
        f"precision at a recall of {hit_rate:g} and a base rate of {members:g}",
        "Narcissus theory 4.8 (precision)",
        guarantee.assumed,
    )


_LARGEST = 1e4
_LEAST_NOISE = Decimal("0.001")  # below, dp-accounting's losses are indistinguishably large
_FEW = 100  # most guesses for linear programs at every step of a search
_HOPELESS = (
    "`at_most` or `success` is exceeded even by an attacker who sees no release; "
    "take a higher limit or a lower confidence"
)


@dataclass(frozen=True)
class Limit:
    """Limits on the risk; None for no limit."""

    advantage: float | None = None  # largest ``(success - prior) / (1 - prior)`` on any one target
    # `at_most`, `confidence`: With this confidence at most ``at_most`` targets are reconstructed
    at_most: int | None = None
    confidence: float = 0.95
    success: float | None = field(default=None, kw_only=True)  # largest success on any one target
    # `tpr`, `fpr`: Largest true-positive rate at a false-positive rate of at most ``fpr``;
    # see `true_positive_rate`
    tpr: float | None = field(default=None, kw_only=True)
    fpr: float | None = field(default=None, kw_only=True)
    # `precision`, `recall`, `base_rate`: Largest precision of an attack with at least this
    # recall; see `narcissus.bounds.precision`
    precision: float | None = field(default=None, kw_only=True)
    recall: float | None = field(default=None, kw_only=True)
    base_rate: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("advantage", "success"):
            if getattr(self, name) is not None:
                probability(name, getattr(self, name))
        _together({"tpr": self.tpr, "fpr": self.fpr})
        rates = {name: getattr(self, name) for name in ("precision", "recall", "base_rate")}
        _together(rates)
        if not self.of_threat and self.tpr is None and self.precision is None:
            raise InputError(
                "`advantage`, `success`, `at_most`, `tpr` or `precision` must be given"
            )
        # The rate attained without a release, by a coin.
        for name, over, floor in (
            ("tpr", "fpr", self.fpr),
            ("precision", "base_rate", self.base_rate),
        ):
            limit = getattr(self, name)
            if limit is not None and not limit > probability(over, floor):
                raise InputError(
                    f"`{name}` must be above `{over}` {floor:g}, which is reached without any "
                    f"release, got {limit:g}"
                )
            if limit is not None:
                probability(name, limit)
        if self.precision is not None:
            for name in ("recall", "base_rate"):
                between(name, rates[name], 0, 1, open_low=True, open_high=True)
        if self.at_most is not None:
            integer("at_most", self.at_most, low=0)
        between("confidence", self.confidence, 0, 1, open_high=True)

    @property
    def of_threat(self) -> bool:
        """Whether it limits more than error rates, so that the prior matters."""
        return not (self.advantage is self.success is self.at_most is None)

    def kept(self, danger: Threat | ThreatToPeople, guarantee: Guarantee) -> bool:
        """Check that a guarantee keeps the limit."""
        if not self._rates_kept(guarantee):
            return False
        if isinstance(danger, ThreatToPeople) and danger.alike is not None:
            danger = danger.alike
        if isinstance(danger, ThreatToPeople):
            return self._kept_by_people(danger, guarantee)
        if self.advantage is not None or self.success is not None:
            success = best(bounds_on(danger, guarantee, expensive=False)).value
            if not self._one_kept(success, advantage(success, danger.prior)):
                return False
        return self.at_most is None or self._count_kept(danger, guarantee, self.at_most)

    def _count_kept(self, danger: Threat, guarantee: Guarantee, at_most: int) -> bool:
        # The formulas first: if they suffice, no programs are needed.
        for expensive in (False, True) if danger.guesses <= _FEW else (False,):
            bound = best(bounds_on(danger, guarantee, at_most + 1, expensive=expensive))
            if bound.value <= 1.0 - self.confidence:
                return True
        return False

    def _rates_kept(self, guarantee: Guarantee) -> bool:
        is_within = True
        if self.tpr is not None and self.fpr is not None:
            is_within = true_positive_rate(guarantee, self.fpr).value <= self.tpr
        if self.precision is None or self.recall is None or self.base_rate is None:
            return is_within
        return (
            is_within and precision(guarantee, self.recall, self.base_rate).value <= self.precision
        )

    def _one_kept(self, success: float, gained: float) -> bool:
        # A success equal to the prior is rounded by a unit in the last place.
        limits = (
            1.0 if limit is None else limit + 1e-15 for limit in (self.success, self.advantage)
        )
        return all(rate <= limit for rate, limit in zip((success, gained), limits, strict=True))

    def _kept_by_people(self, people: ThreatToPeople, guarantee: Guarantee) -> bool:
        """Check the limit for each of several people with their own priors, and for the count."""
        if self.advantage is not None or self.success is not None:
            worst = people.success(guarantee).max(), people.advantage(guarantee).max()
            if not self._one_kept(*map(float, worst)):
                return False
        if self.at_most is None:
            return True
        allowed = 1.0 - self.confidence
        return self.at_most >= people.n or bool(
            people.tails(guarantee, allowed)[self.at_most + 1] <= allowed
        )


def _together(given: Mapping[str, float | None]) -> None:
    """Refuse a limit with a missing part."""
    missing = [f"`{name}`" for name, value in given.items() if value is None]
    if 0 < len(missing) < len(given):
        names = " and ".join(f"`{name}`" for name in given)
        raise InputError(f"{names} go together; {missing[0]} is missing")


def largest_epsilon(
    danger: Threat | ThreatToPeople,
    limit: Limit,
    *,
    delta: float = 0.0,
    adjacency: Adjacency = "replace-one",
    secret: Secret = "value",
) -> float:
    """Return the largest epsilon of (epsilon, delta)-DP that keeps the limit; at most 10^4.

    ``adjacency`` is the guarantee's, which is converted to the question asked about ``secret`` (see
    `narcissus.guarantees.as_asked`). Raises `InputError` if not even epsilon 0 keeps the limit.

    >>> round(largest_epsilon(threat(prior=0.00543), Limit(advantage=0.05), delta=1e-5), 3)
    2.369
    """
    d = between("delta", delta, 0, 1, open_high=True)

    def make(epsilon: float) -> Guarantee:
        around: Any = {"adjacency": adjacency}
        once = ApproximateDP(epsilon, d, **around) if d > 0 else PureDP(epsilon, **around)
        return as_asked(once, secret)

    solution = largest(make, danger, limit)
    if solution is None and (d == 0 or not limit.kept(danger, PureDP(0.0))):
        raise InputError(_HOPELESS)
    if solution is None:
        raise InputError(
            f"`delta` {d:g} alone exceeds the limit, even with epsilon 0; "
            "take a smaller delta or a higher limit"
        )
    return solution


def largest_mu(
    danger: Threat | ThreatToPeople,
    limit: Limit,
    *,
    adjacency: Adjacency = "replace-one",
    secret: Secret = "value",
) -> float:
    """Return the largest mu of Gaussian DP that keeps the limit; at most 10^4."""

    def make(mu: float) -> Guarantee:
        return as_asked(GaussianDP(mu, adjacency=adjacency), secret)

    solution = largest(make, danger, limit)
    if solution is None:
        raise InputError(_HOPELESS)
    return solution


def largest(
    make: Callable[[float], Guarantee],
    danger: Threat | ThreatToPeople,
    limit: Limit,
    *,
    digits: int = 9,
) -> float | None:
    """Bisect for the largest parameter of ``make`` that keeps a limit; None if not even 0 does."""
    if not limit.kept(danger, make(0.0)):
        return None
    low, high = 0.0, 1.0
    while limit.kept(danger, make(high)):
        low, high = high, 2 * high
        if low >= _LARGEST:
            return _LARGEST
    while high - low > 10.0**-digits * max(high, 1e-12):
        middle = (low + high) / 2
        low, high = (middle, high) if limit.kept(danger, make(middle)) else (low, middle)
    return low


def smallest_noise(
    danger: Threat | ThreatToPeople,
    limit: Limit,
    *,
    rate: float,
    steps: int,
    digits: int = 4,
    sampling: Sampling = "poisson",
    divisor: Divisor = "constant",
    interval: float = 1e-3,
    secret: Secret = "value",
) -> float:
    """Return the smallest noise multiplier of DP-SGD that keeps the limit, to ``digits`` digits.

    The number is rounded up to that many digits and the rounded decimal itself is checked: the
    profile of `narcissus.guarantees.dp_sgd` (extra ``accounting``) keeps the limit there, and fails
    it at a slightly smaller decimal, up to the accountant's discretisation, ``interval``. Raises
    `InputError` where no noise keeps the limit, or none above 10^-3 is needed.
    """

    def kept(noise: Decimal) -> bool:
        how: dict[str, Any] = {
            "sampling": sampling,
            "divisor": divisor,
            "secret": secret,
            "interval": interval,
        }
        curve = dp_sgd(float(noise), rate, steps, **how)
        return limit.kept(danger, curve)

    if not limit.kept(danger, PureDP(0.0)):
        raise InputError(_HOPELESS)
    up = Context(prec=integer("digits", digits, low=1, high=9), rounding=ROUND_CEILING)
    low, high = Decimal(0), Decimal(1)
    while not kept(high):
        low, high = high, 2 * high
        if high > _LARGEST:
            raise InputError(
                f"the limit is not kept by any noise multiplier up to "
                f"{_LARGEST:g}; take a higher limit, or fewer steps"
            )
    while low == 0 and high > _LEAST_NOISE:
        half = up.create_decimal(high / 2)
        low, high = (Decimal(0), half) if kept(half) else (half, high)
    if low == 0:
        raise InputError(
            f"the limit is kept even by a noise multiplier of {high:g}: such a "
            "limit asks for no noise"
        )
    while (middle := up.create_decimal((low + high) / 2)) < high:
        low, high = (low, middle) if kept(middle) else (middle, high)
    return float(high)


@dataclass(frozen=True)
class ByValue:
    """A number for the least likely, the median and the most likely value of a prior."""

    least: float
    median: float
    most: float


def typical_priors(values: ArrayLike) -> ByValue:
    """Return the prior mass of the least likely, the median and the most likely value.

    At the median, half of all targets have a likelier value.

    Source: Swanberg et al. 2025, Figure 2.
    """
    row = np.sort(distribution("values", values))
    row = row[row > 0]
    middle = int(np.searchsorted(np.cumsum(row), 0.5 - 1e-12))
    return ByValue(float(row[0]), float(row[min(middle, row.size - 1)]), float(row[-1]))


def epsilon_by_value(values: ArrayLike, limit: Limit, *, delta: float = 0.0) -> ByValue:
    """Return the largest epsilon that keeps the limit, for the typical values of a prior."""
    priors = astuple(typical_priors(values))
    return ByValue(*(largest_epsilon(threat(prior=p), limit, delta=delta) for p in priors))


def advantage_by_value(values: ArrayLike, guarantee: Guarantee) -> ByValue:
    """Bound the advantage under a guarantee, for the typical values of a prior.

    Source: Swanberg et al. 2025, Figure 2.
    """
    priors = astuple(typical_priors(values))
    return ByValue(
        *(advantage(best(bounds_on(threat(prior=p), guarantee)).value, p) for p in priors)
    )
