"""Limits of what many uses leave of two secrets' overlap, from the law of the log ratio of one.

For two secrets with the output laws P and Q let ``rho(s) = sum P^(1-s) Q^s`` over the common
outputs, and draw an output with the tilted law ``P^(1-s) Q^s / rho(s)``. After independent uses the
overlap ``sum min(P, Q)`` is ``rho E[phi(S)]``: ``rho`` the product of the uses' ``rho(s)``, ``S``
the sum of ``x = ln(P / Q)`` under the tilted laws, and ``phi(x) = min(e^(s x), e^((s - 1) x))``. On
a grid of step ``h`` each ratio is split between its neighbours, keeping mass and mean; then ``S``
becomes ``S' = S + Z``, and

    E phi(S') e^(-K m^2 h^2 / 8)  <=  E phi(S)  <=  E phi(S') + D,        m = max(s, 1 - s),
    D = sqrt(V) / 2 (Pr[|S'| <= 2R] + eta) + K h^2 eta / (8 R),   R = h sqrt(K ln(2/eta) / 2),

``K`` the uses that are split, ``V`` the largest variance of ``Z`` given what is split.

*Proof.* Either piece of ``phi`` is an exponential, so ``E[phi(S + Z) | S] <= phi(S) E e^(tZ)`` with
``|t| <= m``, and Hoeffding's lemma gives the first. ``phi(x) + |x|/2`` is convex (the slope of
``phi`` falls by one at 0), so ``E phi(S) - E phi(S') <= E(|S + Z| - |S|) / 2``. Given ``S`` this is
at most ``E|Z| <= sqrt(V)``; where ``|S| > R`` it is at most what the tail of ``|Z|`` beyond ``R``
holds, ``eta`` at most by Hoeffding's inequality; and ``|S| <= R`` unless ``|S'| > 2R`` or
``|Z| > R``.

Where all ratios lie on a grid nothing is split, and the limits differ by rounding alone. The
transform rounds in proportion to the largest mass, so that where ``phi(S)`` is small throughout
(few uses, ratios far from 0) it says nothing. There the ways to get each output so often are summed
one by one if they are few, else the split laws are convolved term by term. And always, by Jensen's
inequality, ``exp(-m sqrt(E S^2)) <= E phi(S) <= 1``.

*DP-SGD* from the attacker's side: a record that is replaced has gradients of the clipping norm in
each step, one way in one data set, the opposite way in the other. Each step then shows
``N(0, sigma^2)``, moved by 1 or by -1 if the record was drawn into the batch.
Source: Narcissus theory 6.4, 6.12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft, optimize, special

from narcissus._arrays import Floats
from narcissus._validation import between, integer, positive
from narcissus.results import Bound

BEYOND = 39.0
"""Standard deviations beyond which a normal law has less than the least positive number."""


MOST_PARTS = 12
"""A ratio is looked for on a grid of the smallest one, and of its halves to twelfths."""
SAME = 1e-14  # Relative distance below which a ratio lies on a grid


@dataclass(frozen=True, eq=False)
class OnGrid:
    """A tilted law, each value split between its two neighbours so that mass and mean stay."""

    first: int  # Multiple of the step at which it begins
    mass: Floats  # Masses from there on, shape (points,)
    # Largest variance that splitting one value adds, in squared steps: in [0, 1/4], 0 where
    # all values lie on the grid
    spread: float


class LogRatio:
    """The law of ``ln(P / Q)`` of one use."""

    low: float  # Smallest and largest value, or where what lies beyond is negligible
    high: float
    empty: bool = False  # Whether the two secrets have no output in common
    step: float | None = None  # A step on whose multiples all values lie, if there is one

    def log_rho(self, s: float) -> float:
        raise NotImplementedError

    def on_grid(self, step: float, s: float) -> OnGrid:
        """Return the tilted law on the multiples of a step."""
        raise NotImplementedError


class FiniteLogRatio(LogRatio):
    """Of two rows of a channel, whose common outputs are joined by their ratios."""

    def __init__(self, first: ArrayLike, second: ArrayLike) -> None:
        p, q = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        common = (p > 0) & (q > 0)
        p, q = p[common], q[common]
        ratio = np.log(p) - np.log(q)
        self.empty = ratio.size == 0
        if self.empty:
            return
        order = np.argsort(ratio, kind="stable")
        p, q, ratio = p[order], q[order], ratio[order]
        starts = np.flatnonzero(np.append(True, np.diff(ratio) > 0))
        self.value = ratio[starts]  # distinct, ascending
        self.log_first = np.log(np.add.reduceat(p, starts))
        self.log_second = np.log(np.add.reduceat(q, starts))
        self.low, self.high = float(self.value[0]), float(self.value[-1])
        self.step = _step_of(self.value)

    def log_rho(self, s: float) -> float:
        logs = (1 - s) * self.log_first + s * self.log_second
        top = float(logs.max())
        return top + math.log(math.fsum(np.exp(logs - top)))

    def on_grid(self, step: float, s: float) -> OnGrid:
        weight = np.exp((1 - s) * self.log_first + s * self.log_second - self.log_rho(s))
        place = self.value / step
        near = np.rint(place)
        place = np.where(np.abs(place - near) <= SAME * np.maximum(np.abs(near), 1.0), near, place)
        below = np.floor(place)
        part = place - below
        first = int(below[0])
        index = (below - first).astype(np.int64)
        points = int(index[-1]) + 2
        mass = np.bincount(index, weight * (1 - part), points).astype(np.float64)
        mass += np.bincount(index + 1, weight * part, points)
        return OnGrid(first, mass, float((part * (1 - part)).max()))


def _step_of(values: Floats) -> float | None:
    """Return a step on whose multiples all values lie, if a few parts of the smallest are one."""
    sizes = np.abs(values)
    some = sizes[sizes > 0]
    if some.size == 0:
        return 1.0
    for parts in range(1, MOST_PARTS + 1):
        base = float(some.min()) / parts
        multiples = some / base
        if (np.abs(multiples - np.rint(multiples)) <= SAME * multiples).all():
            return base
    return None


class LaplaceLogRatio(LogRatio):
    """Of Laplace noise on two numbers, a distance in scales of the noise apart."""

    def __init__(self, distance: float) -> None:
        self.high = positive("distance", distance)
        self.low = -self.high

    def _ends(self, s: float) -> tuple[float, float]:
        return 0.5 * math.exp(-(1 - s) * self.high), 0.5 * math.exp(-s * self.high)

    def log_rho(self, s: float) -> float:
        tilt = (0.5 - s) * self.high
        inner = math.sinh(tilt) / tilt if abs(tilt) > 1e-8 else 1.0 + tilt * tilt / 6
        between = 0.5 * self.high * math.exp(-self.high / 2) * inner
        return math.log(sum(self._ends(s)) + between)

    def on_grid(self, step: float, s: float) -> OnGrid:
        a, tilt = self.high, 0.5 - s
        first, mass = _split(lambda x: 0.25 * np.exp(x * tilt - a / 2), -a, a, step)
        for at, weight in zip((-a, a), self._ends(s), strict=True):
            place = at / step
            near = round(place)
            if abs(place - near) <= SAME * max(1, abs(near)):
                place = near
            below = math.floor(place)
            mass[below - first] += weight * (1 - (place - below))
            mass[below - first + 1] += weight * (place - below)
        return OnGrid(first, mass * math.exp(-self.log_rho(s)), 0.25)


class GaussianLogRatio(LogRatio):
    """Of Gaussian noise on two numbers, ``mu`` standard deviations apart."""

    def __init__(self, mu: float) -> None:
        self.mu = positive("mu", mu)
        self.high = self.mu * (BEYOND + self.mu / 2)
        self.low = -self.high

    def log_rho(self, s: float) -> float:
        return -s * (1 - s) * self.mu**2 / 2

    def on_grid(self, step: float, s: float) -> OnGrid:
        mean, mu = self.mu**2 * (0.5 - s), self.mu
        scale = 1 / (mu * math.sqrt(2 * math.pi))
        first, mass = _split(
            lambda x: scale * np.exp(-(((x - mean) / mu) ** 2) / 2),
            mean - BEYOND * mu,
            mean + BEYOND * mu,
            step,
            max(1, math.ceil(4 * step / mu)),
        )
        return OnGrid(first, mass, 0.25)


def _split(
    density: Callable[[Floats], Floats], low: float, high: float, step: float, parts: int = 1
) -> tuple[int, Floats]:
    """Integrate a density on an interval against the shares of the two ends of each cell of a grid.

    By 8 nodes in each of so many parts of a cell, which is exact to rounding where the density
    changes by a few powers of e within a part. Cells are cut where the interval ends.
    """
    first, last = math.floor(low / step), math.ceil(high / step)
    left = np.arange(first, last) * step
    nodes, weights = np.polynomial.legendre.leggauss(8)
    mass = np.zeros(last - first + 2)
    for part in range(parts):
        start = np.maximum(left + part / parts * step, low)
        end = np.minimum(left + (part + 1) / parts * step, high)
        width = np.maximum(end - start, 0.0)
        x = start[:, None] + width[:, None] * (nodes + 1) / 2
        inside = density(x) * weights * width[:, None] / 2
        share = (x - left[:, None]) / step
        mass[:-2] += (inside * (1 - share)).sum(axis=1)
        mass[1:-1] += (inside * share).sum(axis=1)
    return first, mass


Uses = Sequence[tuple[LogRatio, int]]
"""Laws of one use each, and how often; the uses are independent given the secret."""


ETA = 1e-14
FAINT = (1e-14, 1e-60, 1e-250)  # Values of ``eta`` that are tried where masses keep their digits
WAYS = 200_000  # Ways to get each output so often that are summed one by one
DIRECT = 20_000
"""Points up to which laws are convolved term by term, which keeps the digits of tiny values."""
FIRST, MOST = 2**10, 2**21  # Points of the first grid that is tried, and of the last
LEAST = 5e-324
"""The least positive number: what is smaller, and not nothing, is said to be at most this."""
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Overlap:
    """Limits of an overlap, rounding included."""

    # low, high: In [0, 1]
    low: float
    high: float

    @property
    def gap(self) -> float:
        """Relative distance of the limits; 0 where both are 0."""
        return 0.0 if self.high == 0 else (self.high - self.low) / self.high

    def and_also(self, other: Overlap) -> Overlap:
        """Return what both limit: the narrower limit on either side."""
        return Overlap(max(self.low, other.low), min(self.high, other.high))


def overlap_after(uses: Uses, tolerance: float = 1e-6) -> Overlap:
    """Limit the overlap of two secrets after many uses.

    tolerance: Relative distance of the limits that is enough; where the finest grid does not reach
        it, the limits still hold and lie further apart.

    Source: Narcissus theory 6.4.

    >>> found = overlap_after([(LaplaceLogRatio(1.0), 1)], 1e-5)
    >>> found.low <= math.exp(-0.5) <= found.high
    True
    """
    used = [(law, times) for law, times in uses if times]
    if any(law.empty for law, _ in used):
        return Overlap(0.0, 0.0)
    # ratios of 0 change nothing; outputs that one secret never gives may still lie beside them
    log_rest = sum(times * law.log_rho(0.5) for law, times in used if law.low == law.high == 0)
    used = [(law, times) for law, times in used if not law.low == law.high == 0]
    s = _tilt(used)
    log_rho = log_rest + sum(times * law.log_rho(s) for law, times in used)
    width = sum(times * (law.high - law.low) for law, times in used)
    if width == 0:  # each use that is left has one output that both secrets give
        value = float(_phi(np.array(sum(times * law.low for law, times in used)), s))
        return _scaled((value, value), log_rho, used)
    steps = {law.step for law, _ in used}
    shared = steps.pop() if len(steps) == 1 else None
    if shared is not None and width / shared <= DIRECT:
        return _scaled(_on_the_grid(used, s, shared), log_rho, used)
    mean, variance = _moments(used, s)
    # by Jensen's inequality never nothing: splitting only adds to moments
    lower_limit = math.exp(-max(s, 1 - s) * math.hypot(mean, math.sqrt(variance)))
    best = _scaled((lower_limit, 1.0), log_rho, used)
    largest = max(max(abs(law.low), abs(law.high)) for law, _ in used)
    reach = min(width, 12 * math.sqrt(variance) + 4 * largest) + _coarse(used)
    points = FIRST
    while points <= MOST:
        best = best.and_also(_scaled(_bracket(used, s, reach, points), log_rho, used))
        if best.gap <= tolerance or best.high <= LEAST:
            return best
        points *= 4
    if (ways := _ways(used)) is not None:
        return best.and_also(_scaled(ways, log_rest, used))
    return best.and_also(_scaled(_term_by_term(used, s, width), log_rho, used))


def _tilt(used: Uses) -> float:
    """Return the ``s`` in [0, 1] where ``rho`` is least; any other would do."""

    def log_rho(s: float) -> float:
        return sum(times * law.log_rho(s) for law, times in used)

    minimum = optimize.minimize_scalar(log_rho, bounds=(0.0, 1.0), method="bounded")
    return float(min((0.0, 0.5, 1.0, float(minimum.x)), key=log_rho))


def _phi(x: Floats, s: float) -> Floats:
    return np.exp(np.minimum(s * x, (s - 1) * x))


def _on_the_grid(used: Uses, s: float, step: float) -> tuple[float, float]:
    """Get ``E phi(S)`` of laws that lie on a grid: non-negative terms, so all digits are kept."""
    x, mass = _convolved([(law.on_grid(step, s), times) for law, times in used], step)
    total = math.fsum(mass * _phi(x, s))
    slack = total * _EPS * 8 * (1 + math.log2(1 + sum(times for _, times in used))) * 4
    return total - slack, total + slack


def _convolved(laws: list[tuple[OnGrid, int]], step: float) -> tuple[Floats, Floats]:
    first, mass = 0, np.ones(1)
    for grid_law, times in laws:
        first += times * grid_law.first
        mass = np.convolve(mass, _power(grid_law.mass, times))
    return np.asarray((first + np.arange(mass.size)) * step, dtype=np.float64), mass


def _power(mass: Floats, times: int) -> Floats:
    result, power = np.ones(1), mass
    while times:
        if times & 1:
            result = np.convolve(result, power)
        times >>= 1
        if times:
            power = np.convolve(power, power)
    return result


def _ways(used: Uses) -> tuple[float, float] | None:
    """Sum the smaller chance of every way to get each output so often; None for too many."""
    if not all(isinstance(law, FiniteLogRatio) for law, _ in used):
        return None
    finite = cast("Sequence[tuple[FiniteLogRatio, int]]", used)
    if math.prod(math.comb(k + law.value.size - 1, k) for law, k in finite) > WAYS:
        return None
    logs = np.zeros((2, 1))
    for law, times in finite:
        left, law_logs = np.array([times]), np.zeros((2, 1)) + special.gammaln(times + 1)
        for place, chance in enumerate(zip(law.log_first, law.log_second, strict=True)):
            is_last = place == law.value.size - 1
            counts = [left] if is_last else [np.arange(k + 1) for k in left]
            before = np.arange(left.size) if is_last else np.repeat(np.arange(left.size), left + 1)
            taken = np.concatenate(counts)
            law_logs = law_logs[:, before] + np.outer(chance, taken) - special.gammaln(taken + 1)
            left = left[before] - taken
        logs = (logs[:, :, None] + law_logs[:, None, :]).reshape(2, -1)
    total = math.fsum(np.exp(logs.min(axis=0)))
    size = abs(math.log(total or LEAST)) + sum(k * math.log(k + 1) for _, k in finite)
    wrong = total * _EPS * 16 * (64 + size)
    return total - wrong, total + wrong + LEAST * logs.size


def _term_by_term(used: Uses, s: float, width: float) -> tuple[float, float]:
    """Limit ``E phi(S)`` on a grid whose masses, sums of positive terms, keep their digits."""
    uses = sum(times for _, times in used)
    if 4 * uses > DIRECT:
        return 0.0, 1.0
    step = width / DIRECT
    laws = [(law.on_grid(step, s), times) for law, times in used]
    x, mass = _convolved(laws, step)
    total = math.fsum(mass * _phi(x, s))
    exact = total * _EPS * 4 * mass.size * (1 + math.log2(uses))
    low = total * math.exp(-uses * (max(s, 1 - s) * step) ** 2 / 8)
    deviation = step * math.sqrt(sum(times * grid_law.spread for grid_law, times in laws))
    above = min(
        deviation / 2 * (float(mass[np.abs(x) <= 2 * radius].sum()) + eta)
        + uses * step**2 * eta / (8 * radius)
        for eta in FAINT
        for radius in [step * math.sqrt(uses * math.log(2 / eta) / 2)]
    )
    lost = LEAST * float(mass.size) ** 2 * uses  # products too small to be written
    return low - exact, total + above + exact + lost


def _bracket(used: Uses, s: float, reach: float, points: int) -> tuple[float, float]:
    step = 2 * reach / points
    laws = [(law.on_grid(step, s), times) for law, times in used]
    spectrum = np.ones(points // 2 + 1, dtype=np.complex128)
    for grid_law, times in laws:
        line = np.bincount(
            (np.arange(grid_law.mass.size) + grid_law.first) % points, grid_law.mass, points
        )
        spectrum *= np.asarray(fft.rfft(line)) ** times
    mass = np.maximum(np.asarray(fft.irfft(spectrum, points)), 0.0)
    place = np.arange(points)
    x = np.where(place < points // 2, place, place - points) * step
    phi = _phi(x, s)
    total = float(mass @ phi)
    uses = sum(times for _, times in laws)
    split = sum(times for grid_law, times in laws if grid_law.spread > 0)
    wrong = _outside(laws, step, reach)
    wrong += 16 * _EPS * math.log2(points) * (uses + 1) * float(np.sqrt(phi @ phi))
    if split == 0:
        return total - wrong, total + wrong
    steepest = max(s, 1 - s)
    low = total * math.exp(-split * (steepest * step) ** 2 / 8)
    variance = step**2 * sum(times * grid_law.spread for grid_law, times in laws)
    radius = step * math.sqrt(split * math.log(2 / ETA) / 2)
    near = float(mass[np.abs(x) <= 2 * radius].sum()) + wrong
    above = math.sqrt(variance) / 2 * (min(near, 1.0) + ETA) + split * step**2 * ETA / (8 * radius)
    return low - wrong, total + above + wrong


def _coarse(used: Uses) -> float:
    return max((law.high - law.low) / 64 for law, _ in used)


def _moments(used: Uses, s: float) -> tuple[float, float]:
    """Return mean and variance of the sum on a coarse grid, which adds to the variance alone."""
    coarse = _coarse(used)
    total, variance = 0.0, 0.0
    for law, times in used:
        grid_law = law.on_grid(coarse, s)
        x = (grid_law.first + np.arange(grid_law.mass.size)) * coarse
        mean = float(grid_law.mass @ x)
        total += times * mean
        variance += times * float(grid_law.mass @ (x - mean) ** 2)
    return total, variance


def _outside(laws: list[tuple[OnGrid, int]], step: float, reach: float) -> float:
    """Limit the mass of the sum beyond the window, which the transform wraps (Chernoff)."""
    ends = [
        (times * grid_law.first * step, times * (grid_law.first + grid_law.mass.size - 1) * step)
        for grid_law, times in laws
    ]
    if sum(low for low, _ in ends) > -reach and sum(high for _, high in ends) < reach - step:
        return 0.0
    total, powers = 0.0, np.geomspace(1e-3, 64, 48) / reach
    for sign in (-1.0, 1.0):
        logs = -powers * (reach - step)
        for grid_law, times in laws:
            logs += times * _log_moments(grid_law, sign * step, powers)
        total += math.exp(min(0.0, float(logs.min())))
    return min(1.0, 2 * total)


def _log_moments(one: OnGrid, step: float, powers: Floats) -> Floats:
    """Return ``ln E e^(power x)`` of a law on a grid, shape (powers,)."""
    there = np.flatnonzero(one.mass)
    x, mass = (one.first + there) * step, one.mass[there]
    logs: list[Floats] = []
    for part in np.array_split(powers, min(powers.size, 1 + powers.size * x.size // 2**20)):
        up = part[:, None] * x
        top = up.max(axis=1, keepdims=True)
        logs.append(top[:, 0] + np.log(np.exp(up - top) @ mass))
    return np.concatenate(logs)


def _scaled(limits: tuple[float, float], log_rho: float, used: Uses) -> Overlap:
    """Multiply by ``rho``, and widen by what rounding may have done to ratios and to ``rho``."""
    sizes = (
        times * (4 + max(abs(law.low), abs(law.high)) + abs(law.log_rho(0.5)))
        for law, times in used
    )
    # ratios that lie on a grid but for `SAME` were put there
    moved = SAME * sum(times * max(abs(law.low), abs(law.high)) for law, times in used)
    rounding = 4 * _EPS * sum(sizes) + moved
    low, high = (math.exp(log_rho) * max(0.0, limit) for limit in limits)
    return Overlap(max(0.0, low * (1 - rounding)), min(1.0, max(high * (1 + rounding), LEAST)))


NEGLIGIBLE = 12.0
"""Standard deviations beyond which less lies, 1e-32, than the rounding that is allowed for."""
PIECE = 0.25  # Widest piece, in standard deviations, that is integrated by 8 nodes
CELLS = 2**15  # Cells of a grid that are integrated at once


class SampledGaussianLogRatio(LogRatio):
    """The law of ``ln(P / Q)``, ``P = (1 - q) N(0, sigma^2) + q N(1, sigma^2)``, ``Q`` with -1."""

    def __init__(self, noise: float, rate: float) -> None:
        self.noise = positive("noise", noise)  # ``sigma``, in clipping norms
        self.rate = between("rate", rate, 0, 1, open_low=True)  # ``q``
        self._end = 1 + NEGLIGIBLE * self.noise
        self.high = float(self._ratio(np.array([self._end]))[0])
        self.low = -self.high

    def _log_density(self, at: Floats, side: float) -> Floats:
        """Return ``ln P`` (side 1) or ``ln Q`` (side -1)."""
        scale = 2 * self.noise**2
        with np.errstate(divide="ignore"):
            rest = np.log1p(-np.float64(self.rate)) - at**2 / scale
        moved = math.log(self.rate) - (at - side) ** 2 / scale
        joined: Floats = np.logaddexp(rest, moved)
        return joined - math.log(self.noise) - math.log(2 * math.pi) / 2

    def _tilted(self, at: Floats, s: float) -> Floats:
        return (1 - s) * self._log_density(at, 1.0) + s * self._log_density(at, -1.0)

    def _ratio(self, at: Floats) -> Floats:
        return self._log_density(at, 1.0) - self._log_density(at, -1.0)

    def _place(self, ratio: Floats) -> Floats:
        """Return where the ratio is so large; it rises, and is odd.

        With ``u = e^(t / sigma^2)`` it is the root of a quadratic equation, in logarithms.
        """
        x = np.maximum(np.abs(ratio), 1e-300)
        log_c = math.log(self.rate) - 1 / (2 * self.noise**2)
        with np.errstate(divide="ignore"):
            log_b = np.log1p(-np.float64(self.rate)) + x + np.log(-np.expm1(-x))
        log_root = np.logaddexp(2 * log_b, math.log(4) + 2 * log_c + x) / 2
        log_u = np.logaddexp(log_b, log_root) - math.log(2) - log_c
        return np.sign(ratio) * np.maximum(self.noise**2 * log_u, 0.0)

    def log_rho(self, s: float) -> float:
        count = math.ceil(2 * self._end / (PIECE * self.noise))
        at, width = _nodes(np.linspace(-self._end, self._end, count + 1))
        return math.log(math.fsum((np.exp(self._tilted(at, s)) * width).ravel()))

    def on_grid(self, step: float, s: float) -> OnGrid:
        """Integrate over the outcome: pieces end where a cell of the grid does; none is wide."""
        first, last = math.floor(self.low / step), math.ceil(self.high / step)
        mass = np.zeros(last - first + 2)
        log_rho = self.log_rho(s)
        mesh = np.arange(-self._end, self._end, PIECE * self.noise)
        for start in range(first, last, CELLS):
            cells = np.arange(start, min(start + CELLS, last) + 1)
            places = self._place(np.asarray(cells * step, dtype=np.float64))
            edges = np.clip(places, -self._end, self._end)
            inside = mesh[(mesh > edges[0]) & (mesh < edges[-1])]
            cuts = np.union1d(edges, inside)
            if cuts.size < 2:
                continue
            at, width = _nodes(cuts)
            weight = np.exp(self._tilted(at, s) - log_rho) * width
            cell = np.searchsorted(edges, (cuts[:-1] + cuts[1:]) / 2, side="right") - 1
            below = cells[np.clip(cell, 0, cells.size - 2)]
            share = np.clip(self._ratio(at) / step - below[:, None], 0.0, 1.0)
            index = below - first
            mass += np.bincount(index, (weight * (1 - share)).sum(axis=1), mass.size)
            mass += np.bincount(index + 1, (weight * share).sum(axis=1), mass.size)
        return OnGrid(first, mass, 0.25)


def _nodes(cuts: Floats) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(8)
    width = np.diff(cuts)[:, None] / 2
    return cuts[:-1, None] + width * (nodes + 1), width * weights


def sampled_gaussian_overlap(
    noise: float, rate: float, steps: int, *, tolerance: float = 1e-3
) -> Overlap:
    """Limit ``beta*`` of the two data sets above, from both sides.

    noise: Standard deviation over the clipping norm, above 0.
    rate: Chance that a record is in a batch, in [0, 1].
    tolerance: Relative distance of the limits that is enough; they hold anyway.

    Source: Narcissus theory 6.12, by 6.4.

    >>> found = sampled_gaussian_overlap(1.0, 1.0, 1)  # two normal laws, 2 apart
    >>> found.low <= math.erfc(1 / math.sqrt(2)) <= found.high
    True
    """
    times = integer("steps", steps, low=1)
    if between("rate", rate, 0, 1) == 0:
        return Overlap(1.0, 1.0)
    return overlap_after([(SampledGaussianLogRatio(noise, rate), times)], tolerance)


def dp_sgd_reached(noise: float, rate: float, steps: int) -> Bound:
    """Limit the ``beta*`` of DP-SGD from above: some two data sets are told apart so well.

    No accountant can prove a larger ``beta*`` for a replaced record against an attacker who sees
    every step; the guarantee is the other direction (`from_guarantee`).

    noise, rate, steps: As in `sampled_gaussian_overlap` and `narcissus.guarantees.dp_sgd`.

    Source: Narcissus theory 6.12.
    """
    return Bound(
        sampled_gaussian_overlap(noise, rate, steps).high,
        "beta* of two data sets that differ in one record",
        "Narcissus theory 6.12",
        (
            "every step is released, and the record's gradients have the clipping norm, one way in "
            "one data set and the opposite way in the other",
        ),
    )
