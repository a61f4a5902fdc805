"""Well-known mechanisms in closed form, relatively accurate where ``beta*`` is tiny.

Each says its Bayes security, capacity, LDP level and profile without any matrix, for a uniform
prior over its secrets also the Bayes risk, and gives the channel where that is finite and fits.
Source: Chatzikokolakis et al. 2023, section VI; Narcissus theory 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from narcissus._validation import between, integer, non_negative, positive
from narcissus.channels.bayes_security import beta_star
from narcissus.channels.channel import Channel, Matrix, channel
from narcissus.channels.local_dp import local_dp_delta, local_dp_epsilon
from narcissus.channels.measures import capacity
from narcissus.errors import InputError, TooLargeError

MOST_ENTRIES = 150_000_000


def _fits(secrets: float, outputs: float) -> None:
    if secrets * outputs > MOST_ENTRIES:
        raise TooLargeError(
            f"the channel would have {secrets:.3g} secrets x {outputs:.3g} outputs "
            f"({8 * secrets * outputs / 2**30:.3g} GiB); use the closed form "
            "(`beta_star`, `capacity`, `delta`), which needs no matrix"
        )


@dataclass(frozen=True)
class Mechanism:
    """What every mechanism in closed form offers."""

    @property
    def secrets(self) -> int:
        """Number of secrets."""
        raise NotImplementedError

    @property
    def beta_star(self) -> float:
        """Bayes security."""
        raise NotImplementedError

    @property
    def pair(self) -> tuple[str, str]:
        """Two secrets that reach it (all pairs do in a symmetric mechanism)."""
        return "1", str(self.secrets)

    @property
    def capacity(self) -> float:
        """Multiplicative capacity, ``sum_o max_s C_so``."""
        raise NotImplementedError

    @property
    def local_epsilon(self) -> float:
        """Smallest epsilon of epsilon-LDP; ``inf`` if there is none."""
        raise NotImplementedError

    def delta(self, epsilon: float) -> float:
        """Give the smallest delta at ``epsilon`` (the LDP profile)."""
        raise NotImplementedError

    @property
    def guessing_error(self) -> float:
        """Error of guessing without the output, uniform prior."""
        return 1 - 1 / self.secrets

    @property
    def bayes_risk(self) -> float:
        """Error of the best attacker, uniform prior."""
        return max(0.0, 1 - self.capacity / self.secrets)

    def channel(self) -> Channel:
        """Give the channel, where the outputs are finitely many and fit.

        Raises
        ------
        InputError
            The outputs are continuous or infinitely many.
        TooLargeError
            The matrix would be too large; the message says how large.
        """
        raise InputError(
            f"{type(self).__name__} has continuous or infinitely many outputs, so no matrix; "
            "use its closed form, or the geometric mechanism for a discrete one"
        )


def _number(count: int) -> tuple[str, ...]:
    return tuple(str(i + 1) for i in range(count))


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    """k-ary randomized response: the true value with weight ``e^epsilon``, any other with 1.

    Source: Chatzikokolakis et al. 2023, Equation 7: ``beta* = n / (e^epsilon + n - 1)``.

    Examples
    --------
    >>> round(RandomizedResponse(1_000_000, 10).beta_star, 7)
    0.9784492
    """

    values: int
    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", integer("values", self.values, low=2))
        object.__setattr__(self, "epsilon", non_negative("epsilon", self.epsilon))

    @property
    def secrets(self) -> int:
        """Number of values."""
        return self.values

    @property
    def _other(self) -> float:
        """Probability of one given wrong value."""
        small = math.exp(-self.epsilon)
        return small / (1 + (self.values - 1) * small)

    @property
    def beta_star(self) -> float:
        """``n / (e^epsilon + n - 1)``."""
        return min(1.0, self.values * self._other)

    @property
    def pair(self) -> tuple[str, str]:
        """The first two values; all pairs are tied."""
        return "1", "2"

    @property
    def capacity(self) -> float:
        """``n e^epsilon / (e^epsilon + n - 1)``."""
        return self.values / (1 + (self.values - 1) * math.exp(-self.epsilon))

    @property
    def bayes_risk(self) -> float:
        """``(n - 1) / (e^epsilon + n - 1)`` for a uniform prior."""
        return (self.values - 1) * self._other

    @property
    def local_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon

    def delta(self, epsilon: float) -> float:
        """``max(0, e^epsilon0 - e^epsilon) / (e^epsilon0 + n - 1)``."""
        epsilon = non_negative("epsilon", epsilon)
        if epsilon >= self.epsilon:
            return 0.0
        gap = -math.expm1(epsilon - self.epsilon)
        return gap / (1 + (self.values - 1) * math.exp(-self.epsilon))

    def channel(self) -> Channel:
        """Give the ``n`` by ``n`` channel."""
        n = self.values
        _fits(n, n)
        matrix = np.full((n, n), self._other)
        np.fill_diagonal(
            matrix, self._other * math.exp(self.epsilon) if self.epsilon < 700 else 1.0
        )
        return channel(matrix, secrets=_number(n), outputs=_number(n))


class _Shift(Mechanism):
    """Noise added to evenly spaced numbers: secrets ``0, span/(points-1), ..., span``.

    No dataclass itself, so that each mechanism keeps its own order of fields.
    """

    span: float
    points: int

    def _check(self) -> None:
        object.__setattr__(self, "span", positive("span", self.span))
        object.__setattr__(self, "points", integer("points", self.points, low=2))

    @property
    def secrets(self) -> int:
        """Number of points."""
        return self.points

    def _overlap(self, distance: float) -> float:
        """Give the overlap of two secrets this far apart."""
        raise NotImplementedError

    @property
    def beta_star(self) -> float:
        """The overlap of the two ends."""
        return self._overlap(self.span)

    @property
    def capacity(self) -> float:
        """One plus the total variation between neighbours, summed.

        The upper envelope of shifted copies of a log-concave density changes hands once between
        neighbours, so each adds its distance to the one before.
        """
        gap = self.span / (self.points - 1)
        return 1 + (self.points - 1) * (1 - self._overlap(gap))

    @property
    def bayes_risk(self) -> float:
        """For a uniform prior."""
        if self.points == 2:
            return self.beta_star / 2
        gap = self.span / (self.points - 1)
        return (self.points - 1) * self._overlap(gap) / self.points


@dataclass(frozen=True)
class Laplace(_Shift):
    """Laplace noise of scale ``scale`` on secrets between 0 and ``span``.

    Source: Chatzikokolakis et al. 2023, Proposition 3: ``beta* = exp(-span / (2 scale))``.

    Examples
    --------
    >>> round(Laplace(span=1, scale=10).beta_star, 6)  # epsilon = 0.1
    0.951229
    """

    span: float = 1.0
    scale: float = 1.0
    points: int = 2

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "scale", positive("scale", self.scale))

    def _overlap(self, distance: float) -> float:
        return math.exp(-distance / (2 * self.scale))

    @property
    def local_epsilon(self) -> float:
        """``span / scale``."""
        return self.span / self.scale

    def delta(self, epsilon: float) -> float:
        """``1 - exp((epsilon - span / scale) / 2)``, at least 0."""
        epsilon = non_negative("epsilon", epsilon)
        return max(0.0, -math.expm1((epsilon - self.local_epsilon) / 2))


@dataclass(frozen=True)
class Gaussian(_Shift):
    """Gaussian noise of standard deviation ``sigma`` on secrets between 0 and ``span``.

    Source: Chatzikokolakis et al. 2023, Proposition 4, as ``beta* = erfc(a / sqrt 2)`` with
    ``a = span / (2 sigma)``: it keeps its accuracy where ``1 - (Phi(a) - Phi(-a))`` has lost it.
    """

    span: float = 1.0
    sigma: float = 1.0
    points: int = 2

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))

    def _overlap(self, distance: float) -> float:
        return math.erfc(distance / (2 * self.sigma * math.sqrt(2)))

    @property
    def local_epsilon(self) -> float:
        """Infinite: Gaussian noise is LDP for no epsilon without a delta."""
        return math.inf

    def delta(self, epsilon: float) -> float:
        """``Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)``, ``mu = span / sigma``."""
        epsilon = non_negative("epsilon", epsilon)
        mu = self.span / self.sigma
        first = float(special.log_ndtr(mu / 2 - epsilon / mu))
        second = epsilon + float(special.log_ndtr(-mu / 2 - epsilon / mu))
        return max(0.0, -math.exp(first) * math.expm1(second - first))

    @classmethod
    def classical(cls, epsilon: float, delta: float) -> Gaussian:
        """Give the mechanism with the classical calibration to (epsilon, delta)-DP, span 1.

        ``sigma = sqrt(2 ln(1.25 / delta)) / epsilon``, proved for epsilon below 1 only.

        Examples
        --------
        >>> round(Gaussian.classical(1, 1e-6).beta_star, 7)
        0.9248224
        """
        epsilon = positive("epsilon", epsilon)
        delta = between("delta", delta, 0, 1, open_low=True, open_high=True)
        return cls(1.0, math.sqrt(2 * math.log(1.25 / delta)) / epsilon)


@dataclass(frozen=True)
class Geometric(Mechanism):
    """Two-sided geometric noise on whole numbers ``0 .. values - 1``, clamped to that range.

    The noise is ``z`` with probability ``(1 - a) / (1 + a) a^|z|``, ``a = e^-rate``; clamping
    changes neither ``beta*`` nor the capacity of the ends.
    """

    values: int
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", integer("values", self.values, low=2))
        object.__setattr__(self, "rate", positive("rate", self.rate))

    @property
    def secrets(self) -> int:
        """Number of values."""
        return self.values

    def _overlap(self, distance: int) -> float:
        if distance % 2 == 0:
            return math.exp(-self.rate * distance / 2)
        half = (distance + 1) / 2
        return 2 * math.exp(-self.rate * half) / (1 + math.exp(-self.rate))

    @property
    def beta_star(self) -> float:
        """The overlap of the two ends."""
        return self._overlap(self.values - 1)

    @property
    def capacity(self) -> float:
        """One plus ``n - 1`` times the distance of neighbours."""
        return 1 + (self.values - 1) * (1 - self._overlap(1))

    @property
    def bayes_risk(self) -> float:
        """For a uniform prior."""
        return (self.values - 1) * self._overlap(1) / self.values

    @property
    def local_epsilon(self) -> float:
        """``(n - 1) rate``: the two ends."""
        return (self.values - 1) * self.rate

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
        """Give the ``n`` by ``n`` channel."""
        n = self.values
        _fits(n, n)
        distance = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
        tails = np.exp(-self.rate * distance) / (1 + math.exp(-self.rate))
        matrix = tails * -math.expm1(-self.rate)
        matrix[:, 0], matrix[:, -1] = tails[:, 0], tails[:, -1]
        return channel(matrix, secrets=_number(n), outputs=_number(n))


@dataclass(frozen=True)
class Subset(Mechanism):
    """k-subset mechanism: a set of ``size`` values, likelier if it holds the secret.

    Sets with the secret have ``e^epsilon`` times the probability of sets without.

    Source: Ye and Barg 2018; ``beta*`` by counting sets (Narcissus theory 6).
    """

    values: int
    size: int
    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", integer("values", self.values, low=2))
        object.__setattr__(self, "size", integer("size", self.size, low=1, high=self.values - 1))
        object.__setattr__(self, "epsilon", non_negative("epsilon", self.epsilon))

    @property
    def secrets(self) -> int:
        """Number of values."""
        return self.values

    @property
    def pair(self) -> tuple[str, str]:
        """The first two values; all pairs are tied."""
        return "1", "2"

    @property
    def _weights(self) -> tuple[float, float]:
        """Probabilities that the set holds the secret, and that it does not."""
        n, k = self.values, self.size
        out = (n - k) / k * math.exp(-self.epsilon)
        return 1 / (1 + out), out / (1 + out)

    @property
    def beta_star(self) -> float:
        """Overlap of two values, from the sets with both, one or none of them."""
        n, k = self.values, self.size
        holds, misses = self._weights
        both = holds * (k - 1) / (n - 1)
        none = misses * (n - 1 - k) / (n - 1)
        # A set with exactly one counts with the weight of a set that misses the secret.
        one = 2 * misses * k / (n - 1)
        return min(1.0, both + none + one)

    @property
    def capacity(self) -> float:
        """Every set at its likeliest: ``n / k`` times the chance to hold the secret."""
        return self.values / self.size * self._weights[0]

    @property
    def bayes_risk(self) -> float:
        """For a uniform prior: the attacker names one of the set."""
        holds, misses = self._weights
        return misses + holds * (self.size - 1) / self.size

    @property
    def local_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon

    def delta(self, epsilon: float) -> float:
        """Mass of sets with one value and not the other, times ``1 - e^(epsilon - epsilon0)``."""
        epsilon = non_negative("epsilon", epsilon)
        if epsilon >= self.epsilon:
            return 0.0
        n, k = self.values, self.size
        return self._weights[0] * (n - k) / (n - 1) * -math.expm1(epsilon - self.epsilon)

    def channel(self) -> Channel:
        """Give the channel, an output per set."""
        import itertools

        n, k = self.values, self.size
        count = math.comb(n, k)
        _fits(n, count)
        sets = np.array(list(itertools.combinations(range(n), k)))
        member = np.zeros((n, count), dtype=bool)
        member[sets.T, np.arange(count)] = True
        holds, misses = self._weights
        matrix = np.where(member, holds / math.comb(n - 1, k - 1), misses / math.comb(n - 1, k))
        names = ["{" + " ".join(str(i + 1) for i in s) + "}" for s in sets.tolist()]
        return channel(matrix, secrets=_number(n), outputs=names)


@dataclass(frozen=True)
class UnaryEncoding(Mechanism):
    """RAPPOR-style unary encoding: one bit per value, each kept or flipped on its own.

    A bit that is one is reported as one with probability ``p``, a zero with probability ``q``.
    ``optimized`` false: ``p = e^(epsilon/2) / (1 + e^(epsilon/2))``, ``q = 1 - p`` (basic RAPPOR);
    true: ``p = 1/2``, ``q = 1 / (1 + e^epsilon)`` (Wang et al. 2017).
    """

    values: int
    epsilon: float
    optimized: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", integer("values", self.values, low=2))
        object.__setattr__(self, "epsilon", non_negative("epsilon", self.epsilon))

    @property
    def secrets(self) -> int:
        """Number of values."""
        return self.values

    @property
    def pair(self) -> tuple[str, str]:
        """The first two values; all pairs are tied."""
        return "1", "2"

    @property
    def _rates(self) -> tuple[float, float, float, float]:
        """``p, 1 - p, q, 1 - q``, each computed on its own."""
        if self.optimized:
            return 0.5, 0.5, special.expit(-self.epsilon).item(), special.expit(self.epsilon).item()
        keep, flip = special.expit(self.epsilon / 2).item(), special.expit(-self.epsilon / 2).item()
        return keep, flip, flip, keep

    @property
    def beta_star(self) -> float:
        """``1 - p + q``: only the two bits of the pair differ."""
        _, not_p, q, _ = self._rates
        return min(1.0, not_p + q)

    @property
    def capacity(self) -> float:
        """``n`` times the chance that the attacker, guessing a reported one, is right."""
        return self.values * (1 - self.bayes_risk)

    @property
    def bayes_risk(self) -> float:
        """For a uniform prior: the attacker names one of the reported ones, or any value if none.

        With ``j`` of the other bits reported as ones (binomial), the secret's own bit wins with
        ``1 / (j + 1)``; without any one all values are alike.
        """
        p, not_p, q, not_q = self._rates
        n = self.values
        # E[1 / (1 + J)], J binomial(n - 1, q): (1 - (1 - q)^n) / (n q)
        share = -math.expm1(n * math.log1p(-q)) / (n * q) if 0 < q < 1 else (1 / n if q else 1.0)
        return 1 - (p * share + not_p * not_q ** (n - 1) / n)

    @property
    def local_epsilon(self) -> float:
        """``ln(p (1 - q) / ((1 - p) q))``, which is epsilon."""
        return self.epsilon

    def delta(self, epsilon: float) -> float:
        """Sum over the four values of the pair's two bits."""
        epsilon = non_negative("epsilon", epsilon)
        p, not_p, q, not_q = self._rates
        likely, unlikely = p * not_q, q * not_p
        # Reports 11 and 00 are equally likely under both secrets.
        return max(0.0, likely - math.exp(min(epsilon, 700)) * unlikely)

    def channel(self) -> Channel:
        """Give the channel, an output per string of bits."""
        n = self.values
        _fits(n, 2.0**n)
        p, not_p, q, not_q = self._rates
        bits = (np.arange(2**n)[:, None] >> np.arange(n - 1, -1, -1)) & 1
        zeros = np.where(bits == 1, q, not_q)
        rows: list[Matrix] = []
        for i in range(n):
            factors = zeros.copy()
            factors[:, i] = np.where(bits[:, i] == 1, p, not_p)
            rows.append(factors.prod(axis=1))
        names = [format(i, f"0{n}b") for i in range(2**n)]
        return channel(np.array(rows), secrets=_number(n), outputs=names)


@dataclass(frozen=True, eq=False)
class Exponential(Mechanism):
    """Exponential mechanism: output ``o`` with weight ``exp(epsilon u(s, o) / (2 sensitivity))``.

    Attributes
    ----------
    utility
        Shape (secrets, outputs), finite.
    epsilon
        Guarantee.
    sensitivity
        Largest change of the utility of an output between two secrets; None computes it over all
        pairs, so that the channel is epsilon-LDP.
    """

    utility: Any
    epsilon: float
    sensitivity: float | None = None

    def __post_init__(self) -> None:
        values = np.asarray(self.utility, dtype=np.float64)
        if values.ndim != 2 or values.shape[0] < 2 or not np.isfinite(values).all():
            raise InputError("`utility` must be finite, a row per secret (two at least)")
        _fits(*values.shape)
        object.__setattr__(self, "utility", values)
        object.__setattr__(self, "epsilon", non_negative("epsilon", self.epsilon))
        widest = float(np.ptp(values, axis=0).max())
        given = widest if self.sensitivity is None else positive("sensitivity", self.sensitivity)
        object.__setattr__(self, "sensitivity", given or 1.0)

    @classmethod
    def on_a_line(cls, values: int, epsilon: float) -> Exponential:
        """Give the mechanism on ``0 .. values - 1`` with utility minus the distance."""
        n = integer("values", values, low=2)
        _fits(n, n)
        return cls(-np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float), epsilon)

    @property
    def secrets(self) -> int:
        """Number of secrets."""
        return self.utility.shape[0]

    def channel(self) -> Channel:
        """Give the channel; its entries keep their relative accuracy however small."""
        assert self.sensitivity is not None
        logs = self.epsilon * self.utility / (2 * self.sensitivity)
        matrix = special.softmax(logs, axis=1)
        n, m = matrix.shape
        return channel(matrix, secrets=_number(n), outputs=_number(m))

    @property
    def beta_star(self) -> float:
        """From the channel."""
        return beta_star(self.channel()).value

    @property
    def pair(self) -> tuple[str, str]:
        """From the channel."""
        return beta_star(self.channel()).pair

    @property
    def capacity(self) -> float:
        """From the channel."""
        return capacity(self.channel())

    @property
    def local_epsilon(self) -> float:
        """From the channel; at most epsilon."""
        return local_dp_epsilon(self.channel())

    def delta(self, epsilon: float) -> float:
        """From the channel."""
        return local_dp_delta(self.channel(), epsilon)
