"""Mechanisms on rows and bits: the two ends of the scale, parts, averages, counts and noise."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from narcissus._validation import between, integer, non_negative, one_of, positive
from narcissus.errors import InputError
from narcissus.mechanisms.base import ReleaseChannel, WithoutCoins, deterministic
from narcissus.worlds.base import Array, Batch, all_tuples, stacked
from narcissus.worlds.finite import asked

if TYPE_CHECKING:
    from narcissus.channels import Channel


@dataclass(frozen=True)
class OwnMechanism:
    """A mechanism given by ``function(data, rng) -> release``.

    A function that yields is one that is talked with: it yields a greeting (or None), then an
    answer to each question, which its ``yield`` gives.
    """

    function: Callable[[Any, np.random.Generator], Any]

    @property
    def interactive(self) -> bool:
        return inspect.isgeneratorfunction(self.function)

    def release(self, data: Batch, rng: np.random.Generator) -> Batch:
        """Call the function once a trial."""
        return stacked([asked("mechanism", self.function, entry, rng) for entry in data])

    def answers(self, data: Any, rng: np.random.Generator) -> Generator[Any, Any, None]:
        return self.function(data, rng)


@dataclass(frozen=True)
class Identity:
    """Release the data set itself."""

    def release(self, data: Batch, rng: np.random.Generator) -> Batch:
        return data

    def channel(self, data: Batch) -> ReleaseChannel:
        return deterministic(data)


@dataclass(frozen=True)
class Constant(WithoutCoins):
    """Release nothing: the same for every data set (``M_bot`` of Kaplan et al. 2025)."""

    exchangeable = True

    def release(self, data: Batch, rng: np.random.Generator) -> Array:
        """Return zeros, shape (trials, 1)."""
        return np.zeros((len(data), 1), dtype=np.uint8)

    def privacy(self, data: Batch) -> tuple[float, float]:
        """Return (epsilon, delta): nothing is released."""
        return 0.0, 0.0


@dataclass(frozen=True)
class Subsample:
    """Release ``rows`` rows of the data set, drawn without repetition, in random order.

    rows: Released rows.
    """

    rows: int

    def __post_init__(self) -> None:
        integer("rows", self.rows, low=1)

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the rows, shape (trials, rows, ...)."""
        n = data.shape[1]
        integer("rows", self.rows, high=n)
        order = np.argsort(rng.random((len(data), n)), axis=1)[:, : self.rows]
        return data[np.arange(len(data))[:, None], order]

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the mechanism out: each ordered choice of rows is equally likely."""
        integer("rows", self.rows, high=data.shape[1])
        choices = np.asarray(list(permutations(range(data.shape[1]), self.rows)))
        releases = data[:, choices].reshape(-1, self.rows, *data.shape[2:])
        rows = np.repeat(np.arange(len(data)), len(choices))
        return ReleaseChannel.of(releases, rows, np.full(len(rows), 1 / len(choices)), len(data))

    def outcomes(self, n: int) -> int:
        """Return how many releases a data set of ``n`` rows can have at most."""
        return math.perm(n, self.rows)


@dataclass(frozen=True)
class ExactAverage(WithoutCoins):
    """Release the mean of the rows, exactly; of a vector of bits, its mean."""

    exchangeable = True

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the means, shape (trials, d) for data of shape (trials, n, d)."""
        # Sums of bytes in one pass; converting the data first would cost eight times the memory.
        kind = np.uint16 if data.dtype == np.uint8 and data.shape[1] <= 257 else np.int64
        sums = data.sum(axis=1, dtype=np.float64 if data.dtype.kind == "f" else kind)
        return sums / data.shape[1]


@dataclass(frozen=True)
class NoisyAverage:
    """Release the mean of rows in [0, 1], plus Laplace noise on each attribute.

    epsilon: Privacy of one attribute: the noise has scale ``1 / (epsilon n)``. The whole release is
        ``(epsilon d, 0)``-differentially private (Kaplan et al. 2025, Theorem 4.7).
    """

    epsilon: float

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the noisy means, shape (trials, d)."""
        mean = ExactAverage().release(data, rng)
        return mean + rng.laplace(scale=1 / (self.epsilon * data.shape[1]), size=mean.shape)

    def privacy(self, data: Array) -> tuple[float, float] | None:
        """Return (epsilon, delta) of the release, replace-one; None for data beyond [0, 1]."""
        if data.min() < 0 or data.max() > 1:
            return None
        return self.epsilon * _entries(data), 0.0


def _entries(data: Array) -> int:
    """Count the entries of one record."""
    return int(np.prod(data.shape[2:])) if data.ndim > 2 else 1


@dataclass(frozen=True)
class CountingQuery(WithoutCoins):
    """Release the exact share of ones; nothing (NaN) if it is below ``tau`` or above ``1 - tau``.

    tau: The cut, in [0, 1/2]; 0 always answers.

    Source: Cohen et al. 2025 (the later version of 003), Appendix A.
    """

    tau: float = 0.0
    exchangeable = True

    def __post_init__(self) -> None:
        between("tau", self.tau, 0, 0.5)

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the shares, shape (trials,)."""
        n = data.shape[1]
        if data.size != len(data) * n:
            raise InputError("the mechanism `counting-query` counts records of one value each")
        ones = data.reshape(len(data), n).sum(axis=1, dtype=np.int64)
        # Compared as counts, so that 3/10 is not below a cut of 0.3 by rounding.
        low = self.tau * n - 1e-9
        return np.where((ones >= low) & (n - ones >= low), ones / n, np.nan)


def published_cut(epsilon: float, delta: float, n: int) -> tuple[float, float]:
    """Return ``gamma`` and ``tau`` of the paper's counting query.

    With them it is (epsilon, delta)-Narcissus-resilient for every prior of independent and alike
    records. `narcissus.smallest` finds far smaller cuts that suffice.

    epsilon, delta: Target; ``epsilon > 0``, ``0 < delta < 1``.
    n: Records.

    InputError: The paper's conditions ``gamma >= 6`` and ``tau <= 1/4`` do not hold.

    Source: Cohen et al. 2025 (the later version of 003), Appendix A.

    >>> gamma, tau = published_cut(1, 0.01, 2100)
    >>> round(gamma, 5), round(tau, 6)
    (8.36533, 0.247389)
    """
    positive("epsilon", epsilon)
    between("delta", delta, 0, 1, open_low=True, open_high=True)
    integer("n", n, low=1)
    factor = (1 - delta) * math.exp(epsilon)
    if factor <= 1:
        raise InputError(f"`epsilon` and `delta` need (1 - delta) e^epsilon > 1, got {factor:g}")
    gamma = (6 * factor - 2) / (factor - 1)
    tau = (gamma**2 + 2 * gamma) * math.log(4 / delta) / n
    if gamma < 6:
        raise InputError(f"the paper's theorem needs gamma >= 6, got {gamma:g}")
    if tau > 0.25:
        raise InputError(
            f"the paper's theorem needs tau <= 1/4, got {tau:g}: `n` must be at least "
            f"{math.ceil(4 * tau * n)}"
        )
    return gamma, tau


@dataclass(frozen=True)
class KAnonymity(WithoutCoins):
    """Sort the rows, cut them into groups of ``k`` and publish the range of each attribute.

    Every published record is shared by at least ``k`` people, as the rule asks. In many
    dimensions the ranges still cover so little that a predicate inside one of them singles a
    person out (Cohen and Nissim 2020; `narcissus.attacks.BucketHashing`).

    k: Rows of a group; the last group takes what is left over as well.
    """

    k: int

    def __post_init__(self) -> None:
        integer("k", self.k, low=2)

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the ranges, shape (trials, groups, d, 2): lowest and highest of each attribute."""
        if data.ndim != 3:
            raise InputError(f"k-anonymity needs rows of attributes, got shape {data.shape[1:]}")
        trials, n, d = data.shape
        groups = n // self.k
        if not groups:
            raise InputError(f"`k` must be at most the number of rows, {n}, got {self.k}")
        ranges = np.empty((trials, groups, d, 2), dtype=data.dtype)
        starts = np.arange(groups) * self.k
        for trial, rows in enumerate(data):
            ordered = rows[np.lexsort(rows.T[::-1])]
            ranges[trial, :, :, 0] = np.minimum.reduceat(ordered, starts, axis=0)
            ranges[trial, :, :, 1] = np.maximum.reduceat(ordered, starts, axis=0)
        return ranges


@dataclass(frozen=True)
class Parity(WithoutCoins):
    """Release the exclusive or of each pair of neighbouring bits of each row.

    Kaplan et al. 2025, Example 1.3: half of all bits is released, membership is plain to see, and
    still each single bit of the data stays a fair coin.
    """

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the parities, shape (trials, n, d / 2) for data of shape (trials, n, d)."""
        if data.ndim != 3 or data.shape[2] % 2:
            raise InputError(
                "the parity release needs rows of an even number of bits, got shape "
                f"{data.shape[1:]}"
            )
        return data[:, :, 0::2] ^ data[:, :, 1::2]


@dataclass(frozen=True)
class XorHalf(WithoutCoins):
    """Release ``y`` or ``x xor y`` of a data set ``(x, y)`` of two halves.

    Cohen et al. 2024, Example C.1: neither says anything about ``x``, both together say all.

    part: ``"second"`` for ``y``, ``"xor"`` for ``x xor y``.
    """

    part: Literal["second", "xor"]

    def __post_init__(self) -> None:
        one_of("part", self.part, ("second", "xor"))

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return one half, shape (trials, n / 2) for data of shape (trials, n)."""
        if data.ndim != 2 or data.shape[1] % 2:
            raise InputError(f"xor halves need an even number of bits, got shape {data.shape[1:]}")
        half = data.shape[1] // 2
        second = data[:, half:]
        return second if self.part == "second" else data[:, :half] ^ second


@dataclass(frozen=True)
class RandomizedResponse:
    """Keep each record with probability ``e^eps / (e^eps + k - 1)``, else give another value.

    epsilon: Privacy of one record; the whole release is (epsilon, 0)-differentially private.
    values: Number ``k`` of values ``0 .. k - 1`` of a record.
    """

    epsilon: float
    values: int = 2

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)
        integer("values", self.values, low=2)

    @property
    def keep(self) -> float:
        """Probability that a record is released as it is."""
        return 1 / (1 + (self.values - 1) * math.exp(-self.epsilon))

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the noisy records, shape of ``data``."""
        self._check(data)
        lie = rng.random(data.shape) >= self.keep
        step = rng.integers(1, self.values, data.shape) if self.values > 2 else 1
        return np.where(lie, (data + step) % self.values, data).astype(data.dtype)

    def _check(self, data: Array) -> None:
        if data.dtype.kind == "f" or data.min() < 0 or data.max() >= self.values:
            raise InputError(
                f"randomized response on {self.values} values needs records 0 .. "
                f"{self.values - 1}, got {data.min()} to {data.max()} of type {data.dtype}"
            )

    def channel(self, data: Array) -> ReleaseChannel:
        self._check(data)
        flat = data.reshape(len(data), -1)
        outputs = all_tuples(self.values, flat.shape[1]).astype(data.dtype)
        lie = (1 - self.keep) / (self.values - 1)
        wrong = (flat[:, None, :] != outputs[None]).sum(axis=2)
        chance = self.keep ** (flat.shape[1] - wrong) * lie**wrong
        return ReleaseChannel(outputs.reshape(-1, *data.shape[1:]), sparse.csr_array(chance))

    def outcomes(self, n: int) -> int:
        """Return how many releases a data set of ``n`` records can have."""
        return self.values**n

    def privacy(self, data: Array) -> tuple[float, float]:
        """Return (epsilon, delta) of the whole release, replace-one."""
        return self.epsilon * _entries(data), 0.0


@dataclass(frozen=True, eq=False)
class ThroughChannel:
    """Release the number of an output of a channel, for a data set that is one secret's number.

    matrix: The channel, made by `narcissus.channels.channel`.
    """

    matrix: Channel

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return numbers of outputs, shape (trials,), for secrets, (trials,) or (trials, 1)."""
        secrets = data.reshape(len(data))
        outputs = np.empty(len(data), dtype=np.intp)
        for secret in np.unique(secrets):
            who = secrets == secret
            # Rows sum to one within the channel's tolerance; the sampler wants it exactly.
            cumulative = np.cumsum(self.matrix.row(int(secret)))
            coins = rng.random(int(who.sum()))
            outputs[who] = np.searchsorted(cumulative / cumulative[-1], coins, "right")
        return np.minimum(outputs, self.matrix.shape[1] - 1)

    def channel(self, data: Array) -> ReleaseChannel:
        rows = sparse.csr_array(self.matrix.matrix)
        return ReleaseChannel(np.arange(self.matrix.shape[1]), rows[data.reshape(len(data))])

    def privacy(self, data: Array) -> tuple[float, float]:
        """Return (epsilon, delta): the channel's own local epsilon, and 0."""
        from narcissus.channels import local_dp_epsilon

        return local_dp_epsilon(self.matrix), 0.0


def through_channel(matrix: Sequence[Sequence[float]]) -> ThroughChannel:
    """Release an output of a channel for a secret, by the row of the secret.

    matrix: Chances of the outputs: a row for each secret, which sums to 1.

    >>> through_channel([[0.9, 0.1], [0.2, 0.8]]).matrix.shape
    (2, 2)
    """
    from narcissus.channels import channel

    return ThroughChannel(channel(matrix))
