"""Well-known mechanisms in closed form, relatively accurate where ``beta*`` is tiny.

Each has its Bayes security, capacity, LDP level and profile without any matrix, for a uniform prior
also the Bayes risk, and a channel where that is finite and fits.

Under noise on a line two scaled copies of a log-concave density change hands at most once, the one
on the left first. So the numbers that are ever the best guess win on intervals in their own order,
as the upper envelope of lines does, and the attacker's error is a sum of tails.

Source: Chatzikokolakis et al. 2023, section VI; Narcissus theory 6, 6.11.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from narcissus._arrays import Floats
from narcissus._validation import between, integer, non_negative, positive
from narcissus.channels.bayes_security import beta_star, local_dp_delta, local_dp_epsilon
from narcissus.channels.channel import Channel, ClosedForm, Matrix, Numbers, channel
from narcissus.channels.measures import bayes_risk, capacity
from narcissus.errors import InputError, TooLargeError

MOST_ENTRIES = 150_000_000


def check_size(secrets: float, outputs: float) -> None:
    """Refuse a matrix of more than 150 million entries, with its size."""
    secrets, outputs = float(secrets), float(outputs)  # whole numbers may be of any size
    if secrets * outputs > MOST_ENTRIES:
        raise TooLargeError(
            f"the channel would have {secrets:.3g} secrets x {outputs:.3g} outputs "
            f"({8 * secrets * outputs / 2**30:.3g} GiB); use the closed form "
            "(`beta_star`, `capacity`, `delta`), which needs no matrix"
        )


class OfMatrix(ClosedForm):
    """A mechanism whose numbers all come from its channel.

    No dataclass itself, so that each mechanism keeps its own order of fields.
    """

    by_matrix = True

    @property
    def beta_star(self) -> float:
        return beta_star(self.channel()).value

    @property
    def pair(self) -> tuple[str, ...]:
        return beta_star(self.channel()).pair

    @property
    def indices(self) -> tuple[int, ...]:
        return beta_star(self.channel()).indices

    @property
    def capacity(self) -> float:
        return capacity(self.channel())

    @property
    def bayes_risk(self) -> float:
        """From the channel, where a risk near 0 keeps its digits."""
        return bayes_risk(self.channel())

    @property
    def local_epsilon(self) -> float:
        return local_dp_epsilon(self.channel())

    def delta(self, epsilon: float) -> float:
        return local_dp_delta(self.channel(), epsilon)


def numbered(count: int) -> tuple[str, ...]:
    return tuple(str(i + 1) for i in range(count))


def put(form: ClosedForm, **checked: Any) -> None:
    """Put checked values into a frozen mechanism."""
    for name, value in checked.items():
        object.__setattr__(form, name, value)


class SymmetricForm(ClosedForm):
    """A mechanism on ``values`` values of which every two are told apart as well as any two.

    No dataclass itself, so that each mechanism keeps its own order of fields.
    """

    values: int
    epsilon: float

    def __post_init__(self) -> None:
        values = integer("values", self.values, low=2)
        put(self, values=values, epsilon=non_negative("epsilon", self.epsilon))

    @property
    def secrets(self) -> int:
        return self.values

    @property
    def indices(self) -> tuple[int, ...]:
        return 0, 1

    @property
    def _telling(self) -> float:
        """Mass of the outputs that are likelier under one secret than under a given other."""
        raise NotImplementedError

    def delta(self, epsilon: float) -> float:
        """Mass of the outputs that tell two secrets apart, times ``1 - e^(epsilon - epsilon0)``."""
        epsilon = non_negative("epsilon", epsilon)
        if epsilon >= self.epsilon:
            return 0.0
        return self._telling * -math.expm1(epsilon - self.epsilon)


@dataclass(frozen=True)
class KaryRandomizedResponse(SymmetricForm):
    """k-ary randomized response: the true value with weight ``e^epsilon``, any other with 1.

    Source: Chatzikokolakis et al. 2023, Equation 7: ``beta* = n / (e^epsilon + n - 1)``.

    values: Number of secrets.
    epsilon: Privacy level.

    >>> round(KaryRandomizedResponse(1_000_000, 10).beta_star, 7)
    0.9784492
    """

    values: int
    epsilon: float

    @property
    def _other(self) -> float:
        small = math.exp(-self.epsilon)
        return small / (1 + (self.values - 1) * small)

    @cached_property
    def numbers(self) -> Numbers:
        n = self.values
        security, capacity = min(1.0, n * self._other), n / (1 + (n - 1) * math.exp(-self.epsilon))
        return Numbers(security, capacity, (n - 1) * self._other, self.epsilon)

    @property
    def _telling(self) -> float:
        return 1 / (1 + (self.values - 1) * math.exp(-self.epsilon))

    def channel(self) -> Channel:
        n = self.values
        check_size(n, n)
        matrix = np.full((n, n), self._other)
        diagonal = self._other * math.exp(self.epsilon) if self.epsilon < 700 else 1.0
        np.fill_diagonal(matrix, diagonal)
        return channel(matrix, secrets=numbered(n), outputs=numbered(n))


@dataclass(frozen=True)
class Subset(SymmetricForm):
    """k-subset mechanism: a set of ``size`` values, likelier if it holds the secret.

    Sets with the secret have ``e^epsilon`` times the probability of sets without.

    Source: Ye and Barg 2018; ``beta*`` by counting sets (Narcissus theory 6).
    """

    values: int
    size: int
    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        put(self, size=integer("size", self.size, low=1, high=self.values - 1))

    @property
    def _weights(self) -> tuple[float, float]:
        n, k = self.values, self.size
        out = (n - k) / k * math.exp(-self.epsilon)
        return 1 / (1 + out), out / (1 + out)

    @cached_property
    def numbers(self) -> Numbers:
        """Count sets; the attacker names one of the set."""
        (n, k), (holds, misses) = (self.values, self.size), self._weights
        both = holds * (k - 1) / (n - 1)
        none = misses * (n - 1 - k) / (n - 1)
        # A set with exactly one counts with the weight of a set that misses the secret.
        single = 2 * misses * k / (n - 1)
        risk = misses + holds * (k - 1) / k
        return Numbers(min(1.0, both + none + single), n / k * holds, risk, self.epsilon)

    @property
    def _telling(self) -> float:
        """Mass of the sets with the one value and without the other."""
        return self._weights[0] * (self.values - self.size) / (self.values - 1)

    def channel(self) -> Channel:
        n, k = self.values, self.size
        # As a float: the exact number may have any length.
        check_size(n, float(special.comb(float(n), float(k))))
        count = math.comb(n, k)
        sets = np.array(list(itertools.combinations(range(n), k)))
        member = np.zeros((n, count), dtype=bool)
        member[sets.T, np.arange(count)] = True
        holds, misses = self._weights
        matrix = np.where(member, holds / math.comb(n - 1, k - 1), misses / math.comb(n - 1, k))
        names = ["{" + " ".join(str(i + 1) for i in s) + "}" for s in sets.tolist()]
        return channel(matrix, secrets=numbered(n), outputs=names)


@dataclass(frozen=True)
class UnaryEncoding(SymmetricForm):
    """RAPPOR-style unary encoding: one bit per value, each kept or flipped on its own.

    A bit that is one is reported as one with probability ``p``, a zero with probability ``q``.
    ``optimized`` false: ``p = e^(epsilon/2) / (1 + e^(epsilon/2))``, ``q = 1 - p`` (basic RAPPOR);
    true: ``p = 1/2``, ``q = 1 / (1 + e^epsilon)`` (Wang et al. 2017).
    """

    values: int
    epsilon: float
    optimized: bool = False

    @property
    def _rates(self) -> tuple[float, float, float, float]:
        """``p, 1 - p, q, 1 - q``, each computed on its own."""
        share = self.epsilon if self.optimized else self.epsilon / 2
        flip, keep = special.expit(-share).item(), special.expit(share).item()
        return (0.5, 0.5, flip, keep) if self.optimized else (keep, flip, flip, keep)

    @cached_property
    def numbers(self) -> Numbers:
        """Compute: a pair differs in two bits; the attacker names one of the reported ones, if any.

        With ``j`` of the other bits reported as ones (binomial), the secret's own bit wins with
        ``1 / (j + 1)``; without any one all values are alike.
        """
        p, not_p, q, not_q = self._rates
        n = self.values
        risk = p * _lost(n, q) + not_p * (1 - not_q ** (n - 1) / n)
        return Numbers(min(1.0, not_p + q), n * (1 - risk), risk, self.epsilon)

    @property
    def _telling(self) -> float:
        """Mass of the secret's bit alone: reports of both bits, or of neither, tell nothing."""
        p, _, _, not_q = self._rates
        return p * not_q

    def channel(self) -> Channel:
        n = self.values
        check_size(n, 2.0**n if n < 1024 else math.inf)
        p, not_p, q, not_q = self._rates
        bits = (np.arange(2**n)[:, None] >> np.arange(n - 1, -1, -1)) & 1
        zeros = np.where(bits == 1, q, not_q)
        rows: list[Matrix] = []
        for i in range(n):
            factors = zeros.copy()
            factors[:, i] = np.where(bits[:, i] == 1, p, not_p)
            rows.append(factors.prod(axis=1))
        names = [format(i, f"0{n}b") for i in range(2**n)]
        return channel(np.array(rows), secrets=numbered(n), outputs=names)


def _lost(n: int, q: float) -> float:
    """Return ``1 - E[1 / (1 + J)]``, ``J`` binomial(n - 1, q): ``1 - (1 - (1 - q)^n) / (n q)``.

    For few other ones it is a difference of numbers near 1; its series in ``q`` has none.
    """
    if n * q > 0.5:
        return 1 + math.expm1(n * math.log1p(-q)) / (n * q)
    total, k, term = 0.0, 2, (n - 1) * q / 2
    while abs(term) > 1e-17 * total:
        total += term
        term *= -(n - k) * q / (k + 1)
        k += 1
    return total


@dataclass(frozen=True)
class Geometric(ClosedForm):
    """Two-sided geometric noise on whole numbers ``0 .. values - 1``, clamped to that range.

    The noise is ``z`` with probability ``(1 - a) / (1 + a) a^|z|``, ``a = e^-rate``; clamping
    changes neither ``beta*`` nor the capacity of the ends.

    values: Number of secrets.
    rate: Privacy level of neighbouring secrets, above 0.
    """

    values: int
    rate: float

    def __post_init__(self) -> None:
        values = integer("values", self.values, low=2)
        put(self, values=values, rate=positive("rate", self.rate))

    @property
    def secrets(self) -> int:
        return self.values

    def _overlap(self, distance: int) -> float:
        if distance % 2 == 0:
            return math.exp(-self.rate * distance / 2)
        half = (distance + 1) / 2
        return 2 * math.exp(-self.rate * half) / (1 + math.exp(-self.rate))

    @cached_property
    def numbers(self) -> Numbers:
        """Compute: the two ends are told apart best; neighbours set capacity and risk."""
        n, near = self.values, self._overlap(1)
        capacity, risk = 1 + (n - 1) * (1 - near), (n - 1) * near / n
        return Numbers(self._overlap(n - 1), capacity, risk, (n - 1) * self.rate)

    def delta(self, epsilon: float) -> float:
        """Sum of what one end exceeds ``e^epsilon`` times the other by."""
        epsilon = non_negative("epsilon", epsilon)
        d, r = self.values - 1, self.rate
        # Outputs 0 .. t have a likelihood ratio of e^(r (d - 2 o)); take those above e^epsilon.
        t = math.ceil((d - epsilon / r) / 2) - 1
        if t < 0:
            return 0.0
        # P_0(o <= t) - e^epsilon P_d(o <= t), the mass at 0 including the clamped tail.
        scale = 1 / (1 + math.exp(-r))
        near = 1 - math.exp(-r * (t + 1)) * scale
        far = math.exp(epsilon - r * (d - t)) * scale
        return max(0.0, near - far)

    def channel(self) -> Channel:
        n = self.values
        check_size(n, n)
        distance = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
        tails = np.exp(-self.rate * distance) / (1 + math.exp(-self.rate))
        matrix = tails * -math.expm1(-self.rate)
        matrix[:, 0], matrix[:, -1] = tails[:, 0], tails[:, -1]
        return channel(matrix, secrets=numbered(n), outputs=numbered(n))


@dataclass(frozen=True, eq=False)
class Exponential(OfMatrix):
    """Exponential mechanism: output o with weight ``exp(epsilon u(s, o) / (2 sensitivity))``."""

    utility: Any  # Shape (secrets, outputs), finite
    epsilon: float  # Guarantee
    # Largest change of the utility of an output between two secrets; None computes it over all
    # pairs, so that the channel is epsilon-LDP
    sensitivity: float | None = None

    def __post_init__(self) -> None:
        values = np.asarray(self.utility, dtype=np.float64)
        if values.ndim != 2 or values.shape[0] < 2 or not np.isfinite(values).all():
            raise InputError("`utility` must be finite, a row per secret (two at least)")
        check_size(*values.shape)
        epsilon = non_negative("epsilon", self.epsilon)
        widest = float(np.ptp(values, axis=0).max())
        sensitivity = (
            widest if self.sensitivity is None else positive("sensitivity", self.sensitivity)
        )
        put(self, utility=values, epsilon=epsilon, sensitivity=sensitivity or 1.0)

    @classmethod
    def on_a_line(cls, values: int, epsilon: float) -> Exponential:
        """Return the mechanism on ``0 .. values - 1`` with utility minus the distance."""
        n = integer("values", values, low=2)
        check_size(n, n)
        return cls(-np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float), epsilon)

    @property
    def secrets(self) -> int:
        return self.utility.shape[0]

    def channel(self) -> Channel:
        assert self.sensitivity is not None
        logs = self.epsilon * self.utility / (2 * self.sensitivity)
        n, m = logs.shape
        # softmax: entries keep their relative accuracy however small
        matrix = special.softmax(logs, axis=1)
        return channel(matrix, secrets=numbered(n), outputs=numbered(m))


def intervals(
    places: Floats, prior: Floats, crossing: Callable[[float, float], float]
) -> list[tuple[int, float, float]]:
    """Return number, start and end of where each of some numbers is the best guess, in order.

    places: the numbers, ascending, shape (n,).
    crossing: of a distance of two numbers and the log odds of the left one: where it loses the
        lead, measured from it; infinite if it never does, minus infinite if it never has it.
    """
    segments: list[tuple[int, float]] = []
    for new in np.flatnonzero(prior > 0).tolist():
        start = -math.inf
        while segments:
            last, began = segments[-1]
            odds = math.log(prior[last]) - math.log(prior[new])
            start = places[last] + crossing(places[new] - places[last], odds)
            if start > began:
                break
            segments.pop()
            start = -math.inf
        if start < math.inf:
            segments.append((new, start))
    ends = [start for _, start in segments[1:]] + [math.inf]
    return [(i, start, end) for (i, start), end in zip(segments, ends, strict=True)]


class LocationFamily(ClosedForm):
    """Noise added to evenly spaced numbers: secrets ``0, span/(points-1), ..., span``.

    No dataclass itself, so that each mechanism keeps its own order of fields.
    """

    span: float
    points: int

    def __post_init__(self) -> None:
        points = integer("points", self.points, low=2)
        put(self, span=positive("span", self.span), points=points)

    @property
    def secrets(self) -> int:
        return self.points

    def _overlap(self, distance: float) -> float:
        raise NotImplementedError

    def _tail(self, size: float) -> float:
        """Return the chance that the noise is at least so large; any number, infinite ones too."""
        raise NotImplementedError

    def _crossing(self, distance: float, log_odds: float) -> float:
        """Return where the left one of two numbers loses the lead, as in `intervals`."""
        raise NotImplementedError

    @property
    def _epsilon(self) -> float:
        raise NotImplementedError

    @cached_property
    def numbers(self) -> Numbers:
        """Compute: the two ends are told apart best, capacity is one plus neighbours' distances.

        The upper envelope of shifted copies of a log-concave density changes hands once between
        neighbours, so each adds its total variation from the one before.
        """
        n, near = self.points, self._overlap(self.span / (self.points - 1))
        capacity, risk = 1 + (n - 1) * (1 - near), (n - 1) * near / n
        return Numbers(self._overlap(self.span), capacity, risk, self._epsilon)

    def bayes_risk_of(self, prior: Matrix) -> float:
        """Return the error of the best attacker for any prior, checked, shape (points,).

        A sum of positive terms, so that a risk near 0 keeps its digits.
        Source: Narcissus theory 6.11.
        """
        places = np.linspace(0.0, self.span, self.points)
        segments = {i: (start, end) for i, start, end in intervals(places, prior, self._crossing)}
        lost: list[float] = []
        for i, weight in enumerate(prior.tolist()):
            if i in segments:
                start, end = segments[i]
                lost += [
                    weight * self._tail(places[i] - start),
                    weight * self._tail(end - places[i]),
                ]
            else:
                lost.append(weight)
        return min(math.fsum(lost), 1.0)


@dataclass(frozen=True)
class Laplace(LocationFamily):
    """Laplace noise of scale ``scale`` on secrets between 0 and ``span``.

    Source: Chatzikokolakis et al. 2023, Proposition 3: ``beta* = exp(-span / (2 scale))``.

    >>> round(Laplace(span=1, scale=10).beta_star, 6)  # epsilon = 0.1
    0.951229
    """

    span: float = 1.0
    scale: float = 1.0
    points: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        put(self, scale=positive("scale", self.scale))

    def _overlap(self, distance: float) -> float:
        return math.exp(-distance / (2 * self.scale))

    @property
    def _epsilon(self) -> float:
        return self.span / self.scale

    def _tail(self, size: float) -> float:
        if size < 0:
            return 1 - math.exp(size / self.scale) / 2
        return math.exp(-size / self.scale) / 2

    def _crossing(self, distance: float, log_odds: float) -> float:
        if abs(log_odds) * self.scale >= distance:  # beyond the numbers the odds change no more
            return math.copysign(math.inf, log_odds)
        return (distance + self.scale * log_odds) / 2

    def delta(self, epsilon: float) -> float:
        epsilon = non_negative("epsilon", epsilon)
        return max(0.0, -math.expm1((epsilon - self.local_epsilon) / 2))


@dataclass(frozen=True)
class Gaussian(LocationFamily):
    """Gaussian noise of standard deviation ``sigma`` on secrets between 0 and ``span``.

    Source: Chatzikokolakis et al. 2023, Proposition 4, as ``beta* = erfc(a / sqrt 2)`` with
    ``a = span / (2 sigma)``: it keeps its accuracy where ``1 - (Phi(a) - Phi(-a))`` has lost it.
    """

    span: float = 1.0
    sigma: float = 1.0
    points: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        put(self, sigma=positive("sigma", self.sigma))

    def _overlap(self, distance: float) -> float:
        return math.erfc(distance / (2 * self.sigma * math.sqrt(2)))

    @property
    def _epsilon(self) -> float:
        return math.inf  # LDP for no epsilon without a delta

    def _tail(self, size: float) -> float:
        return math.erfc(size / (self.sigma * math.sqrt(2))) / 2

    def _crossing(self, distance: float, log_odds: float) -> float:
        return distance / 2 + self.sigma**2 * log_odds / distance

    def delta(self, epsilon: float) -> float:
        """``Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)``, ``mu = span / sigma``."""
        epsilon = non_negative("epsilon", epsilon)
        mu = self.span / self.sigma
        first = float(special.log_ndtr(mu / 2 - epsilon / mu))
        second = epsilon + float(special.log_ndtr(-mu / 2 - epsilon / mu))
        return max(0.0, -math.exp(first) * math.expm1(second - first))

    @classmethod
    def classical(cls, epsilon: float, delta: float) -> Gaussian:
        """Return the mechanism with the classical calibration to (epsilon, delta)-DP, span 1.

        ``sigma = sqrt(2 ln(1.25 / delta)) / epsilon``, proved for epsilon below 1 only.

        >>> round(Gaussian.classical(1, 1e-6).beta_star, 7)
        0.9248224
        """
        epsilon = positive("epsilon", epsilon)
        delta = between("delta", delta, 0, 1, open_low=True, open_high=True)
        return cls(1.0, math.sqrt(2 * math.log(1.25 / delta)) / epsilon)


def exponential(values: int, epsilon: float) -> Exponential:
    """Return the exponential mechanism on ``0 .. values - 1``; the utility is minus the distance.

    values: number of secrets.
    epsilon: privacy level.
    """
    return Exponential.on_a_line(values, epsilon)


def gaussian(
    span: float = 1.0,
    sigma: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    points: int = 2,
) -> Gaussian:
    """Add normal noise to numbers of a span; give ``sigma``, or ``epsilon`` and ``delta``.

    span: distance from the smallest secret to the largest.
    sigma: standard deviation of the noise.
    epsilon: privacy level for the span, of the classical calibration.
    delta: goes with it, above 0.
    points: number of secrets, evenly spread.
    """
    if sigma is not None and epsilon is None and delta is None:
        return Gaussian(span, sigma, points)
    if sigma is None and epsilon is not None and delta is not None:
        return Gaussian(span, span * Gaussian.classical(epsilon, delta).sigma, points)
    raise InputError("gaussian needs `sigma`, or `epsilon` and `delta` (classical calibration)")


def laplace(
    span: float = 1.0, scale: float | None = None, epsilon: float | None = None, points: int = 2
) -> Laplace:
    """Add Laplace noise to numbers of a span; give ``scale`` or ``epsilon``.

    span: distance from the smallest secret to the largest.
    scale: scale of the noise.
    epsilon: privacy level for the span, instead of the scale.
    points: number of secrets, evenly spread.
    """
    if (scale is None) == (epsilon is None):
        raise InputError("laplace needs `scale` or `epsilon` (for the span), one of them")
    if scale is None:
        scale = span / positive("epsilon", epsilon)
    return Laplace(span, scale, points)


def subset(values: int, epsilon: float, size: int | None = None) -> Subset:
    """Release a random set of values, likelier with the true one in it (subset selection).

    values: number of secrets.
    epsilon: privacy level.
    size: values of the set; if left out, what is best for estimating frequencies (Ye and Barg
        2018).
    """
    values = integer("values", values, low=2)
    best = max(1, min(values - 1, round(values / (math.exp(min(epsilon, 700)) + 1))))
    return Subset(values, best if size is None else size, epsilon)


def unary(values: int, epsilon: float) -> UnaryEncoding:
    """Release a bit for each value, each kept or flipped (unary encoding, basic RAPPOR).

    values: number of secrets.
    epsilon: privacy level.
    """
    return UnaryEncoding(values, epsilon)


def optimized_unary(values: int, epsilon: float) -> UnaryEncoding:
    """Release a bit for each value, with the flips that are best for estimating frequencies.

    values: number of secrets.
    epsilon: privacy level.
    """
    return UnaryEncoding(values, epsilon, optimized=True)
