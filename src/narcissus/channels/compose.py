"""Composition: several observations of one secret, repeated use, and one channel after another.

The exact channel where it fits, else limits. The worst pair after many uses is sought in the order
of the Bhattacharyya coefficients ``B = sum sqrt(P Q)``, which uses multiply: the overlap is at
least ``B^2 / (1 + sqrt(1 - B^2))``, so that the first pair that this keeps above the best limit so
far ends the search. Pairs with the same laws are computed once.

*Shuffled reports.* n people report their value by k-ary randomised response (probability p for the
value itself and q for each other one), and the attacker, who knows the values of all others, sees
how often each value was reported. For values a and b of the one person, N_v the law of the others'
counts and one more for v, ``TV = (p - q) / 2  sum over counts |N_a - N_b|``. If the others have
other values (k >= 3), ``S ~ Bin(n - 1, 2q)`` of them report a or b, evenly; given S the two sides
are a binomial and its shift, which differ by twice the largest term:

    TV = (p - q) E[ C(S, floor(S/2)) 2^-S ].

*No others do worse.* Let the attacker know more: with probability kq each of the others reports any
value evenly, else the own one, and the attacker is told who did which. Then again Bin(n - 1, 2q)
reports of a or b hide the person, evenly. So this TV is the largest over all values of the others,
and for k = 2, where there are no other values, it is a limit; there the others' count is a sum of
two binomials, log-concave, and TV = (p - q) times its largest term.

Source: Chatzikokolakis et al. 2023, section IV (Theorems 3 and 4) and section V-E (capacity);
Narcissus theory 6.4, 6.17; Balle et al. 2019 (the privacy blanket).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from narcissus._arrays import Floats
from narcissus._outwards import lower, upper
from narcissus._validation import between, integer
from narcissus.channels.bayes_security import beta_star
from narcissus.channels.channel import AS_WRITTEN, Channel, ProvedResult, channel, same_secrets
from narcissus.channels.closed_forms import (
    Gaussian,
    KaryRandomizedResponse,
    Laplace,
    LocationFamily,
)
from narcissus.channels.measures import capacity
from narcissus.channels.uses import (
    LEAST,
    FiniteLogRatio,
    GaussianLogRatio,
    LaplaceLogRatio,
    LogRatio,
    Overlap,
    overlap_after,
)
from narcissus.errors import InputError, TooLargeError

if TYPE_CHECKING:
    from narcissus.channels.channel import ChannelLike

COARSE = 0.05  # Relative distance of the limits in the first look at a pair
MOST_PAIRS = 200_000
"""Pairs that are looked at; of the others the Bhattacharyya limit alone is known."""

Uses = Sequence[tuple[Channel, int]]


@dataclass(frozen=True)
class WorstAfter:
    """The least overlap of all pairs."""

    overlap: Overlap  # Its limits
    pair: tuple[int, int]  # A pair of secrets that reaches the upper one, by their positions


def worst_after(uses: Uses, tolerance: float = 1e-6) -> WorstAfter:
    """Find the least overlap of two secrets after many uses of channels.

    tolerance: Relative distance of the limits that is enough.

    Source: Narcissus theory 6.4.
    """

    def limited(pair: tuple[int, int], tolerance: float) -> Overlap:
        a, b = pair
        laws = [(FiniteLogRatio(c.dense[a], c.dense[b]), times) for c, times in uses]
        return overlap_after(laws, tolerance)

    logs = np.sum([times * _log_bhattacharyya(c.dense) for c, times in uses], axis=0)
    first, second = np.triu_indices(len(logs), 1)
    order = np.argsort(logs[first, second], kind="stable")
    first, second = first[order], second[order]
    known: dict[bytes, Overlap] = {}
    best = rest = 1.0  # the latter is what pairs that are not looked at have at least
    seen: list[tuple[bytes, tuple[int, int]]] = []
    for looked, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        square = math.exp(2 * float(logs[pair]))
        # 1 - sqrt(1 - B^2) in a form that keeps its digits
        lower_limit = square / (1 + math.sqrt(max(0.0, 1 - square)))
        if lower_limit >= best or best <= LEAST or looked == MOST_PAIRS:
            rest = lower_limit
            break
        key = _key(uses, *pair)
        if key not in known:
            known[key] = limited(pair, max(COARSE, tolerance))
            seen.append((key, pair))
        best = min(best, known[key].high)
    overlaps = [(limited(pair, tolerance), pair) for key, pair in seen if known[key].low <= best]
    low = min([rest, *(overlap.low for overlap, _ in overlaps), best])
    top, pair = min(((overlap.high, pair) for overlap, pair in overlaps), default=(1.0, (0, 1)))
    return WorstAfter(Overlap(min(low, top), top), pair)


def _log_bhattacharyya(rows: Floats) -> Floats:
    """Return ``ln sum sqrt(P Q)`` of all pairs, rounded down."""
    roots = np.sqrt(rows)
    with np.errstate(divide="ignore"):
        return np.log(np.minimum(roots @ roots.T, 1.0) * (1 - 1e-13))


def _key(uses: Uses, a: int, b: int) -> bytes:
    """Name what the overlap depends on: the two laws, in any order of outputs and of secrets."""

    def name(x: int, y: int) -> bytes:
        pairs = (np.stack([c.dense[x], c.dense[y]]) for c, _ in uses)
        return b"".join(pair[:, np.lexsort(pair)].tobytes() for pair in pairs)

    return min(name(a, b), name(b, a))


MOST_ENTRIES = 50_000_000  # Largest composition that is written out, in matrix entries (400 MB)
MOST_WRITTEN = 200_000
"""Largest composition that is written out where only its security is asked for."""
LEAST_NORMAL = 2.3e-308  # Numbers below it lose digits
MOST_USES = 1_000_000  # Most outputs about one secret


def _refuse_size(what: str, entries: float, most: int) -> None:
    if entries > most:
        raise TooLargeError(
            f"the exact {what} would have {entries:.3g} entries ({8 * entries / 2**30:.3g} GiB), "
            f"more than `most` = {most:g}; ask `parallel_security` or `repeated_security` for the "
            "theorem's bound instead"
        )


def parallel(*matrices: Any, most: int = MOST_ENTRIES) -> Channel:
    """Return the channel of an attacker who sees the outputs of all channels for the same secret.

    Source: Chatzikokolakis et al. 2023, section IV-A.
    """
    if not matrices:
        raise InputError("`parallel` needs at least one channel")
    channels = [channel(m) for m in matrices]
    n = channels[0].shape[0]
    _refuse_size("parallel composition", n * math.prod(float(c.shape[1]) for c in channels), most)
    first = channels[0]
    values, names = first.dense, first.outputs
    for other in channels[1:]:
        same_secrets("in parallel", first.secrets, other.secrets)
        values = (values[:, :, None] * other.dense[:, None, :]).reshape(n, -1)
        names = tuple(f"{a}|{b}" for a, b in itertools.product(names, other.outputs))
    return Channel(np.ascontiguousarray(values), first.secrets, names)


def repeat(matrix: ChannelLike, times: int, *, most: int = MOST_ENTRIES) -> Channel:
    """Return the channel of an attacker who sees ``times`` independent outputs of the same secret.

    Their order tells nothing, so outputs are the counts of each symbol: as informative as the
    sequence, and far fewer.
    """
    c = channel(matrix)
    times = integer("times", times, low=1, high=MOST_USES)
    n, m = c.shape
    if times == 1:
        return c
    _refuse_size("repeated use", n * float(special.comb(m + times - 1, times)), most)
    counts = np.array(list(_counts(m, times)), dtype=np.int64)
    # Multinomial coefficients and powers in logarithms; an output that a secret never gives and
    # that occurs makes the whole outcome impossible for it.
    weights = special.gammaln(times + 1) - special.gammaln(counts + 1).sum(axis=1)
    dense = c.dense
    logs = np.log(np.where(dense > 0, dense, 1.0))
    values = np.exp(logs @ counts.T + weights)
    values[((dense == 0).astype(float) @ counts.T) > 0] = 0.0
    names = tuple(
        "+".join(f"{k}*{c.outputs[i]}" for i, k in enumerate(row) if k) for row in counts.tolist()
    )
    return Channel(values, c.secrets, names)


def _counts(symbols: int, total: int) -> Any:
    for bars in itertools.combinations(range(total + symbols - 1), symbols - 1):
        edges = (-1, *bars, total + symbols - 1)
        yield [edges[i + 1] - edges[i] - 1 for i in range(symbols)]


def cascade(first: ChannelLike, second: ChannelLike) -> Channel:
    """Return the channel whose output is that of ``second``, fed with the output of ``first``.

    Source: Chatzikokolakis et al. 2023, section IV-B.
    """
    source, two = channel(first), channel(second)
    if source.shape[1] != two.shape[0]:
        raise InputError(
            f"the first channel has {source.shape[1]} outputs and the second takes {two.shape[0]}: "
            "in a cascade they must be the same"
        )
    if not (source.is_sparse and two.is_sparse):
        entries = float(source.shape[0]) * two.shape[1]
        if entries > MOST_ENTRIES:
            raise TooLargeError(
                f"the cascade would have {entries:.3g} entries ({8 * entries / 2**30:.3g} GiB); "
                "give sparse channels, or ask `cascade_security` for the theorem's bound"
            )
    values: Any = source.matrix @ two.matrix
    if source.is_sparse and two.is_sparse:
        values = sparse.csr_array(values)
    return Channel(values, source.secrets, two.outputs)


_SAME_SECRET = "all uses are about the same secret and independent given it"
_SHUFFLED = "each report is made by itself, and nothing but the shuffled reports is seen"


@dataclass(frozen=True)
class ComposedSecurity(ProvedResult):
    """Bayes security and capacity of a composition."""

    beta_star: float  # Exact, or a proved lower limit
    capacity: float  # Exact, or a proved upper limit
    exact: bool
    theorem: str = ""  # Where a limit comes from; "" for exact numbers
    # Exact, or a proved upper limit; 1 where only a theorem is known
    beta_star_at_most: float = 1.0
    assumptions: tuple[str, ...] = (AS_WRITTEN, _SAME_SECRET)  # What must hold of the uses

    @property
    def value(self) -> float:
        return self.beta_star

    @property
    def gap(self) -> float:
        """Relative distance of the limits of ``beta*``; 0 where it is exact."""
        if self.exact or self.beta_star_at_most == 0:
            return 0.0
        return 1 - self.beta_star / self.beta_star_at_most

    def __str__(self) -> str:
        assumed = [f"  assuming {assumption}" for assumption in self.assumptions]
        if self.exact:
            summary = f"EXACT: Bayes security {self.beta_star:.6g}, capacity {self.capacity:.6g}"
            return "\n".join([summary, *assumed])
        at_most = self.beta_star_at_most
        # what is rounding differs from one processor to the next
        gap = f"gap {self.gap:.1g}" if self.gap > 1e-9 else "gap below 1e-9"
        if at_most < LEAST_NORMAL:
            gap = "less than can be written with all its digits"
        above = "" if at_most == 1 else f" and at most {upper(at_most, 7)} ({gap})"
        proved = (
            f"PROVED: Bayes security at least {lower(self.beta_star, 7)}{above}, capacity at most "
            f"{upper(self.capacity)}\n  by {self.theorem}"
        )
        return "\n".join([proved, *assumed])


_PARALLEL = "the law of the log ratio, Narcissus theory 6.4 (capacity: Espinoza and Smith 2012)"
_CASCADE = "Chatzikokolakis et al. 2023, Theorem 4 (capacity: Espinoza and Smith 2012)"


def parallel_security(
    *matrices: Any, most: int = MOST_WRITTEN, tolerance: float = 1e-6
) -> ComposedSecurity:
    """Return ``beta*`` and capacity of channels in parallel: exact, or between limits that hold.

    See `mixed_security`.
    """
    return mixed_security([(m, 1) for m in matrices], most=most, tolerance=tolerance)


def repeated_security(
    matrix: ChannelLike, times: int, *, most: int = MOST_WRITTEN, tolerance: float = 1e-6
) -> ComposedSecurity:
    """Return ``beta*`` and capacity of repeated use: exact, or between limits that hold.

    See `mixed_security`.

    >>> from narcissus.channels import KaryRandomizedResponse
    >>> many = repeated_security(KaryRandomizedResponse(10, 1).channel(), 20)
    >>> round(many.beta_star, 7)
    0.2335758
    """
    return mixed_security([(matrix, times)], most=most, tolerance=tolerance)


def mixed_security(
    uses: Any, *, most: int = MOST_WRITTEN, tolerance: float = 1e-6
) -> ComposedSecurity:
    """Return ``beta*`` and capacity of several channels, each used several times, about one secret.

    The capacity of what is not written out is limited by the product of the capacities.

    uses: Channels over the same secrets, each with how often it is used; independent given the
        secret.
    most: Largest number of entries of a channel that is written out, which gives both exactly.
    tolerance: Beyond that, how near the limits of ``beta*`` are to lie, as a share; they hold
        anyway.

    Source: Narcissus theory 6.4, sharper than Chatzikokolakis et al. 2023, Theorem 3, which says
    ``beta* >= prod beta*``.
    """
    between("tolerance", tolerance, 0, 1, open_low=True)
    uses = list(uses)
    on_numbers = [isinstance(mechanism, LocationFamily) for mechanism, _ in uses]
    if uses and all(on_numbers):
        return _of_numbers(uses, tolerance)
    if any(on_numbers):
        raise InputError(
            "noise on numbers (Laplace, Gaussian) composes with its like only: give the other's "
            "channel over the same numbers as noise, or all as tables"
        )
    channel_uses = [(channel(m), integer("times", k, low=1, high=MOST_USES)) for m, k in uses]
    if not channel_uses:
        raise InputError("composition needs at least one channel")
    for other, _ in channel_uses[1:]:
        same_secrets("in parallel", channel_uses[0][0].secrets, other.secrets)
    try:
        whole = parallel(*(repeat(c, k, most=most) for c, k in channel_uses), most=most)
    except TooLargeError:
        pass
    else:
        value = beta_star(whole).value
        return ComposedSecurity(value, capacity(whole), True, beta_star_at_most=value)
    secrets = channel_uses[0][0].shape[0]
    log_capacity = sum(k * math.log(capacity(c)) for c, k in channel_uses)
    at_most = float(secrets) if log_capacity > math.log(secrets) else math.exp(log_capacity)
    overlap = worst_after(channel_uses, tolerance).overlap
    return ComposedSecurity(overlap.low, at_most, False, _PARALLEL, overlap.high)


def _of_numbers(uses: list[tuple[LocationFamily, int]], tolerance: float) -> ComposedSecurity:
    """Compose noise on the same numbers: the two ends are told apart best by each, and by all."""
    laws: list[tuple[LogRatio, int]] = []
    squares, points, log_capacity = 0.0, {form.secrets for form, _ in uses}, 0.0
    if len(points) > 1:
        raise InputError(f"noise on the same numbers has as many `points`, got {sorted(points)}")
    for form, times in uses:
        k = integer("times", times, low=1, high=MOST_USES)
        log_capacity += k * math.log(form.capacity)
        if isinstance(form, Gaussian):  # together as one with the root of the sum of squares
            squares += k * (form.span / form.sigma) ** 2
        elif isinstance(form, Laplace):
            laws.append((LaplaceLogRatio(form.span / form.scale), k))
        else:
            raise InputError(f"noise on numbers must be Laplace or Gaussian, got {form!r}")
    capacity_at_most = math.exp(min(log_capacity, math.log(points.pop())))
    if not laws:
        value = Gaussian(math.sqrt(squares), 1.0).beta_star
        return ComposedSecurity(value, capacity_at_most, False, _PARALLEL, value)
    if squares:
        laws.append((GaussianLogRatio(math.sqrt(squares)), 1))
    overlap = overlap_after(laws, tolerance)
    return ComposedSecurity(overlap.low, capacity_at_most, False, _PARALLEL, overlap.high)


def cascade_security(beta_stars: Any, capacities: Any) -> ComposedSecurity:
    """Limit a cascade of channels known by their ``beta*`` and capacities alone.

    Source: Chatzikokolakis et al. 2023, Theorem 4: ``beta*(C1 C2) >= max``; capacity ``<= min``.
    """
    return ComposedSecurity(max(beta_stars), min(capacities), False, _CASCADE)


@dataclass(frozen=True)
class AfterOutputs:
    """Bayes security after so many outputs in all."""

    outputs: int
    security: ComposedSecurity


def security_over_uses(
    uses: Sequence[tuple[Any, int]], *, points: int = 12, tolerance: float = 1e-3
) -> list[AfterOutputs]:
    """Return the Bayes security after the first outputs, up to all of them.

    uses: As in `mixed_security`; the outputs of one channel come after those of the one before.
    points: At how many numbers of outputs, at most, in equal factors; at least 2.
    tolerance: As in `mixed_security`; the limits hold anyway.

    >>> from narcissus.channels import KaryRandomizedResponse
    >>> found = security_over_uses([(KaryRandomizedResponse(10, 1).channel(), 20)], points=3)
    >>> [(one.outputs, round(one.security.beta_star, 4)) for one in found]
    [(1, 0.8534), (4, 0.6206), (20, 0.2336)]
    """
    channel_uses = [(mechanism, integer("times", times, low=1)) for mechanism, times in uses]
    if not channel_uses:
        raise InputError("composition needs at least one channel")
    ends = list(itertools.accumulate(times for _, times in channel_uses))
    sizes = np.geomspace(1, ends[-1], integer("points", points, low=2)).round().astype(int)

    def after(size: int) -> AfterOutputs:
        left = [
            (mechanism, min(k, size - end + k))
            for (mechanism, k), end in zip(channel_uses, ends, strict=True)
        ]
        first = [(mechanism, times) for mechanism, times in left if times > 0]
        return AfterOutputs(size, mixed_security(first, most=MOST_WRITTEN, tolerance=tolerance))

    return [after(size) for size in sorted(set(sizes.tolist()))]


MOST_PEOPLE = 10**9
MOST_SPLITS = 2_000
"""Most people for which every split of the others' values is tried, where there are two values."""
FEW = 300
"""Half the trials from which a fair binomial's largest term is that of its series, to 1e-17."""
_EPS = float(np.finfo(np.float64).eps)
_THEOREM = "the largest term of what hides one report, Narcissus theory 6.17 (worst others)"


def shuffled_security(report: KaryRandomizedResponse, people: int) -> ComposedSecurity:
    """Return the Bayes security of a value that is reported among shuffled reports.

    report: The randomised response by which each reports.
    people: Who report, at least 1, at most 1e9; the attacker knows the values of all but one.

    It is for the values of the others that hide least. Both limits agree except for rounding for
    three values or more, and for two values and up to 2,000 people. The capacity is limited by that
    of the report alone.

    Source: Narcissus theory 6.17.

    >>> from narcissus.channels import KaryRandomizedResponse
    >>> round(shuffled_security(KaryRandomizedResponse(10, 1.0), 1000).beta_star, 6)
    0.99105
    """
    k, eps = report.values, report.epsilon
    others = integer("people", people, low=1, high=MOST_PEOPLE) - 1
    q = math.exp(-eps) / (1 + (k - 1) * math.exp(-eps))
    alone, apart = report.beta_star, -math.expm1(-eps) / (1 + (k - 1) * math.exp(-eps))
    law = Binomial.of(others, 2 * q)
    hidden = 1 - middle_term(law.first + np.arange(law.mass.size))
    lower_limit = alone + apart * float(law.mass @ hidden)  # alone is 1 - apart
    rounding = _EPS * (32 + 8 * law.mass.size)
    low, high = lower_limit * (1 - rounding), lower_limit * (1 + rounding)
    if k == 2:
        is_small = others < MOST_SPLITS  # where the other half of all splits are mirror images
        splits = range(others // 2 + 1) if is_small else (0, others // 2)
        upper_limit = alone + apart * (1 - max(_largest_term(m, others - m, q) for m in splits))
        rounding = _EPS * (32 + 8 * min(others, 4 * law.mass.size))  # of a difference from 1
        low, high = max(low, upper_limit - rounding if is_small else 0.0), upper_limit + rounding
    high = min(1.0, high)
    seen = (AS_WRITTEN, _SHUFFLED)
    return ComposedSecurity(low, report.capacity, False, _THEOREM, high, seen)


@dataclass(frozen=True, eq=False)
class Binomial:
    """The masses of a binomial law that matter: the others are below 1e-34 together."""

    first: int  # Number at which they begin
    # From there on, shape (count,); each right to 8 units in the last place times the count
    mass: Floats

    @classmethod
    def of(cls, trials: int, chance: float) -> Binomial:
        """Return the law; by ratios of neighbours, which lose no digits however many trials."""
        if chance >= 1:
            return cls(trials, np.ones(1))
        variance = trials * chance * (1 - chance)
        reach = math.ceil(27 + math.sqrt(711 + 160 * variance))  # Bernstein: 2 e^-80 beyond
        low = max(0, math.floor(trials * chance) - reach)
        high = min(trials, math.ceil(trials * chance) + reach)
        top = min(max(math.floor((trials + 1) * chance), low), high)
        up, down = np.arange(top, high) + 0.0, np.arange(top, low, -1) + 0.0
        odds = chance / (1 - chance)
        rising = np.cumprod((trials - up) / (up + 1) * odds)
        falling = np.cumprod(down / (trials - down + 1) / odds)
        mass = np.concatenate([falling[::-1], [1.0], rising])
        return cls(low, mass / mass.sum())


def middle_term(hiding: NDArray[np.integer[Any]]) -> Floats:
    """Return the largest term of Bin(s, 1/2), ``C(s, floor(s/2)) 2^-s``, for each s."""
    half = (hiding + 1) // 2  # an odd s has the largest term of s + 1
    table = np.concatenate([[1.0], np.cumprod(1 - 0.5 / np.arange(1, FEW))])
    n = np.maximum(half, FEW) + 0.25
    far = (1 - 1 / (64 * n**2) + 21 / (8192 * n**4)) / np.sqrt(math.pi * n)
    return np.where(half < FEW, table[np.minimum(half, FEW - 1)], far)


def _largest_term(kept: int, flipped: int, q: float) -> float:
    """Return the largest term of the sum of Bin(kept, 1 - q) and Bin(flipped, q).

    A sum of independent trials is log-concave, its mode within 1 of the mean (Darroch 1964).
    """
    left, right = Binomial.of(kept, 1 - q), Binomial.of(flipped, q)
    middle = math.floor(kept * (1 - q) + flipped * q)
    best = 0.0
    for total in (middle, middle + 1):
        # right.mass at total - i, for each i of left
        start = total - left.first - right.first
        other = start - np.arange(left.mass.size)
        there = (other >= 0) & (other < right.mass.size)
        best = max(best, float(left.mass[there] @ right.mass[other[there]]))
    return best
