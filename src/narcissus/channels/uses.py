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
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import fft, optimize

from narcissus.channels.log_ratio import SAME, Floats, OnGrid, Uses

ETA = 1e-14
DIRECT = 20_000
"""Points up to which laws are convolved term by term, which keeps the digits of tiny values."""
FIRST, MOST = 2**10, 2**21
"""Points of the first grid that is tried, and of the last."""
LEAST = 5e-324
"""The least positive number: what is smaller, and not nothing, is said to be at most this."""
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Overlap:
    """Limits of an overlap, rounding included.

    Attributes
    ----------
    low, high
        In [0, 1].
    """

    low: float
    high: float

    @property
    def gap(self) -> float:
        """Relative distance of the limits; 0 where both are 0."""
        return 0.0 if self.high == 0 else (self.high - self.low) / self.high


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
    if not used:
        return _scaled((1.0, 1.0), log_rest, used)
    s = _tilt(used)
    log_rho = log_rest + sum(times * law.log_rho(s) for law, times in used)
    shared = _shared_step(used)
    width = sum(times * (law.high - law.low) for law, times in used)
    if shared is not None and width / shared <= DIRECT:
        return _scaled(_on_the_grid(used, s, shared), log_rho, used)
    best = Overlap(0.0, 1.0)
    points = FIRST
    while points <= MOST:
        found = _scaled(_bracket(used, s, width, points), log_rho, used)
        best = Overlap(max(best.low, found.low), min(best.high, found.high))
        if best.gap <= tolerance:
            break
        points *= 4
    return best


def _tilt(used: Uses) -> float:
    """Give the ``s`` in [0, 1] where ``rho`` is least; any other would do."""

    def log_rho(s: float) -> float:
        return sum(times * law.log_rho(s) for law, times in used)

    found = optimize.minimize_scalar(log_rho, bounds=(0.0, 1.0), method="bounded")
    return float(min((0.0, 0.5, 1.0, float(found.x)), key=log_rho))


def _shared_step(used: Uses) -> float | None:
    """Give the step of a single law whose ratios all lie on one."""
    steps = {law.step for law, _ in used}
    return steps.pop() if len(steps) == 1 else None


def _phi(x: Floats, s: float) -> Floats:
    return np.exp(np.minimum(s * x, (s - 1) * x))


def _on_the_grid(used: Uses, s: float, step: float) -> tuple[float, float]:
    """Give ``E phi(S)`` of laws that lie on a grid: non-negative terms, so all digits are kept."""
    first, mass = 0, np.ones(1)
    for law, times in used:
        one = law.on_grid(step, s)
        first += times * one.first
        mass = np.convolve(mass, _power(one.mass, times))
    x = np.asarray((first + np.arange(mass.size)) * step, dtype=np.float64)
    total = math.fsum(mass * _phi(x, s))
    slack = total * _EPS * 8 * (1 + math.log2(1 + sum(times for _, times in used))) * 4
    return total - slack, total + slack


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
    """Give half the width of a window that holds all but a little of the sum."""
    coarse = max((law.high - law.low) / 64 for law, _ in used)
    laws = [(law.on_grid(coarse, s), times) for law, times in used]
    variance = 0.0
    for one, times in laws:
        x = (one.first + np.arange(one.mass.size)) * coarse
        mean = float(one.mass @ x)
        variance += times * float(one.mass @ (x - mean) ** 2)
    largest = max(max(abs(law.low), abs(law.high)) for law, _ in used)
    return min(width, 12 * math.sqrt(variance) + 4 * largest) + coarse


def _outside(laws: list[tuple[OnGrid, int]], step: float, reach: float) -> float:
    """Limit the mass of the sum beyond the window, which the transform wraps (Chernoff)."""
    ends = [
        (times * one.first * step, times * (one.first + one.mass.size - 1) * step)
        for one, times in laws
    ]
    if sum(low for low, _ in ends) > -reach and sum(high for _, high in ends) < reach - step:
        return 0.0
    total = 0.0
    for sign in (-1.0, 1.0):
        best = 0.0
        for power in np.geomspace(1e-3, 64, 48) / reach:
            log = -power * (reach - step)
            for one, times in laws:
                x = sign * (one.first + np.arange(one.mass.size)) * step
                top = float((power * x).max())
                log += times * (top + math.log(float(one.mass @ np.exp(power * x - top))))
            best = min(best, log)
        total += math.exp(best)
    return min(1.0, 2 * total)


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
