"""What many uses leave of two secrets' overlap, between two limits that hold.

After independent uses the overlap ``sum min(P, Q)`` of two secrets is ``rho E[phi(S)]``: ``rho``
the product of the uses' ``rho(s)``, ``S`` the sum of their log ratios under the tilted laws, and
``phi(x) = min(e^(s x), e^((s - 1) x))``. On a grid of step ``h`` each ratio is split between its
neighbours, keeping mass and mean; then ``S`` becomes ``S' = S + Z``, and

    E phi(S') e^(-K m^2 h^2 / 8)  <=  E phi(S)  <=  E phi(S') + D,        m = max(s, 1 - s),
    D = sqrt(V) / 2 (Pr[|S'| <= 2R] + eta) + K h^2 eta / (8 R),   R = h sqrt(K ln(2/eta) / 2),

``K`` the uses that are split, ``V`` the largest variance of ``Z`` given what is split.

*Proof.* Either piece of ``phi`` is an exponential, so ``E[phi(S + Z) | S] <= phi(S) E e^(tZ)`` with
``|t| <= m``, and Hoeffding's lemma gives the first. ``phi(x) + |x|/2`` is convex (the slope of
``phi`` falls by one at 0), so ``E phi(S) - E phi(S') <= E(|S + Z| - |S|) / 2``. Given ``S`` this is
at most ``E|Z| <= sqrt(V)``; where ``|S| > R`` it is at most what the tail of ``|Z|`` beyond ``R``
holds, ``eta`` at most by Hoeffding's inequality; and ``|S| <= R`` unless ``|S'| > 2R`` or
``|Z| > R``.

Where all ratios lie on a grid nothing is split, and the limits differ by rounding alone.

The transform rounds in proportion to the largest mass, so that where ``phi(S)`` is small throughout
(few uses, ratios far from 0) it says nothing. There the ways to get each output so often are summed
one by one if they are few, else the split laws are convolved term by term. And always, by Jensen's
inequality, ``exp(-m sqrt(E S^2)) <= E phi(S) <= 1``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy import fft, optimize, special

from narcissus.channels.log_ratio import SAME, FiniteLogRatio, Floats, OnGrid, Uses

ETA = 1e-14
FAINT = (1e-14, 1e-60, 1e-250)
"""Values of ``eta`` that are tried where masses keep their digits."""
WAYS = 200_000
"""Ways to get each output so often that are summed one by one."""
DIRECT = 20_000
"""Points up to which laws are convolved term by term, which keeps the digits of tiny values."""
FIRST, MOST = 2**10, 2**21
"""Points of the first grid that is tried, and of the last."""
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

    Parameters
    ----------
    uses
        Laws of the log ratio, and how often each is used.
    tolerance
        Relative distance of the limits that is enough; where the finest grid does not reach it,
        the limits still hold and lie further apart.

    Returns
    -------
    Overlap
        Both limits 0 where some use tells the two apart for certain.

    Notes
    -----
    Source: Narcissus theory 6.4.

    Examples
    --------
    >>> from narcissus.channels.log_ratio import LaplaceLogRatio
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
    shared = _shared_step(used)
    width = sum(times * (law.high - law.low) for law, times in used)
    if width == 0:  # each use that is left has one output that both secrets give
        value = float(_phi(np.array(sum(times * law.low for law, times in used)), s))
        return _scaled((value, value), log_rho, used)
    if shared is not None and width / shared <= DIRECT:
        return _scaled(_on_the_grid(used, s, shared), log_rho, used)
    best = _scaled((_by_jensen(used, s), 1.0), log_rho, used)
    points = FIRST
    while points <= MOST:
        best = best.and_also(_scaled(_bracket(used, s, width, points), log_rho, used))
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

    found = optimize.minimize_scalar(log_rho, bounds=(0.0, 1.0), method="bounded")
    return float(min((0.0, 0.5, 1.0, float(found.x)), key=log_rho))


def _shared_step(used: Uses) -> float | None:
    """Return the step of a single law whose ratios all lie on one."""
    steps = {law.step for law, _ in used}
    return steps.pop() if len(steps) == 1 else None


def _phi(x: Floats, s: float) -> Floats:
    return np.exp(np.minimum(s * x, (s - 1) * x))


def _on_the_grid(used: Uses, s: float, step: float) -> tuple[float, float]:
    """Get ``E phi(S)`` of laws that lie on a grid: non-negative terms, so all digits are kept."""
    x, mass = _convolved([(law.on_grid(step, s), times) for law, times in used], step)
    total = math.fsum(mass * _phi(x, s))
    slack = total * _EPS * 8 * (1 + math.log2(1 + sum(times for _, times in used))) * 4
    return total - slack, total + slack


def _convolved(laws: list[tuple[OnGrid, int]], step: float) -> tuple[Floats, Floats]:
    """Return the values and the masses of the sum, term by term."""
    first, mass = 0, np.ones(1)
    for one, times in laws:
        first += times * one.first
        mass = np.convolve(mass, _power(one.mass, times))
    return np.asarray((first + np.arange(mass.size)) * step, dtype=np.float64), mass


def _power(mass: Floats, times: int) -> Floats:
    """Convolve a law with itself so often."""
    result, power = np.ones(1), mass
    while times:
        if times & 1:
            result = np.convolve(result, power)
        times >>= 1
        if times:
            power = np.convolve(power, power)
    return result


def _by_jensen(used: Uses, s: float) -> float:
    """Get a lower limit of ``E phi(S)`` that is never nothing: splitting only adds to moments."""
    mean, variance = _moments(used, s)
    return math.exp(-max(s, 1 - s) * math.hypot(mean, math.sqrt(variance)))


def _ways(used: Uses) -> tuple[float, float] | None:
    """Sum the smaller chance of every way to get each output so often; None for too many."""
    if not all(isinstance(law, FiniteLogRatio) for law, _ in used):
        return None
    finite = cast("Sequence[tuple[FiniteLogRatio, int]]", used)
    if math.prod(math.comb(k + law.value.size - 1, k) for law, k in finite) > WAYS:
        return None
    logs = np.zeros((2, 1))
    for law, times in finite:
        left, own = np.array([times]), np.zeros((2, 1)) + special.gammaln(times + 1)
        for place, chance in enumerate(zip(law.log_first, law.log_second, strict=True)):
            is_last = place == law.value.size - 1
            counts = [left] if is_last else [np.arange(k + 1) for k in left]
            before = np.arange(left.size) if is_last else np.repeat(np.arange(left.size), left + 1)
            taken = np.concatenate(counts)
            own = own[:, before] + np.outer(chance, taken) - special.gammaln(taken + 1)
            left = left[before] - taken
        logs = (logs[:, :, None] + own[:, None, :]).reshape(2, -1)
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
    deviation = step * math.sqrt(sum(times * one.spread for one, times in laws))
    above = min(
        deviation / 2 * (float(mass[np.abs(x) <= 2 * radius].sum()) + eta)
        + uses * step**2 * eta / (8 * radius)
        for eta in FAINT
        for radius in [step * math.sqrt(uses * math.log(2 / eta) / 2)]
    )
    lost = LEAST * float(mass.size) ** 2 * uses  # products too small to be written
    return low - exact, total + above + exact + lost


def _bracket(used: Uses, s: float, width: float, points: int) -> tuple[float, float]:
    """Limit ``E phi(S)`` on a grid of so many points."""
    reach = _reach(used, s, width)
    step = 2 * reach / points
    laws = [(law.on_grid(step, s), times) for law, times in used]
    spectrum = np.ones(points // 2 + 1, dtype=np.complex128)
    for one, times in laws:
        line = np.bincount((np.arange(one.mass.size) + one.first) % points, one.mass, points)
        spectrum *= np.asarray(fft.rfft(line)) ** times
    mass = np.maximum(np.asarray(fft.irfft(spectrum, points)), 0.0)
    place = np.arange(points)
    x = np.where(place < points // 2, place, place - points) * step
    phi = _phi(x, s)
    total = float(mass @ phi)
    uses = sum(times for _, times in laws)
    split = sum(times for one, times in laws if one.spread > 0)
    wrong = _outside(laws, step, reach)
    wrong += 16 * _EPS * math.log2(points) * (uses + 1) * float(np.sqrt(phi @ phi))
    if split == 0:
        return total - wrong, total + wrong
    steepest = max(s, 1 - s)
    low = total * math.exp(-split * (steepest * step) ** 2 / 8)
    variance = step**2 * sum(times * one.spread for one, times in laws)
    radius = step * math.sqrt(split * math.log(2 / ETA) / 2)
    near = float(mass[np.abs(x) <= 2 * radius].sum()) + wrong
    above = math.sqrt(variance) / 2 * (min(near, 1.0) + ETA) + split * step**2 * ETA / (8 * radius)
    return low - wrong, total + above + wrong


def _reach(used: Uses, s: float, width: float) -> float:
    """Return half the width of a window that holds all but a little of the sum."""
    variance = _moments(used, s)[1]
    largest = max(max(abs(law.low), abs(law.high)) for law, _ in used)
    return min(width, 12 * math.sqrt(variance) + 4 * largest) + _coarse(used)


def _coarse(used: Uses) -> float:
    return max((law.high - law.low) / 64 for law, _ in used)


def _moments(used: Uses, s: float) -> tuple[float, float]:
    """Return mean and variance of the sum on a coarse grid, which adds to the variance alone."""
    coarse = _coarse(used)
    total, variance = 0.0, 0.0
    for law, times in used:
        one = law.on_grid(coarse, s)
        x = (one.first + np.arange(one.mass.size)) * coarse
        mean = float(one.mass @ x)
        total += times * mean
        variance += times * float(one.mass @ (x - mean) ** 2)
    return total, variance


def _outside(laws: list[tuple[OnGrid, int]], step: float, reach: float) -> float:
    """Limit the mass of the sum beyond the window, which the transform wraps (Chernoff)."""
    ends = [
        (times * one.first * step, times * (one.first + one.mass.size - 1) * step)
        for one, times in laws
    ]
    if sum(low for low, _ in ends) > -reach and sum(high for _, high in ends) < reach - step:
        return 0.0
    total, powers = 0.0, np.geomspace(1e-3, 64, 48) / reach
    for sign in (-1.0, 1.0):
        logs = -powers * (reach - step)
        for one, times in laws:
            logs += times * _log_moments(one, sign * step, powers)
        total += math.exp(min(0.0, float(logs.min())))
    return min(1.0, 2 * total)


def _log_moments(one: OnGrid, step: float, powers: Floats) -> Floats:
    """Return ``ln E e^(power x)`` of a law on a grid, shape (powers,)."""
    there = np.flatnonzero(one.mass)
    x, mass = (one.first + there) * step, one.mass[there]
    found: list[Floats] = []
    for part in np.array_split(powers, min(powers.size, 1 + powers.size * x.size // 2**20)):
        up = part[:, None] * x
        top = up.max(axis=1, keepdims=True)
        found.append(top[:, 0] + np.log(np.exp(up - top) @ mass))
    return np.concatenate(found)


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
