"""Curves of success, baseline, gain and bound against a size: whether they fall, and by which law.

The quantity at each size is known up to an interval, and all intervals hold at once: limits
of samples at a joint confidence, or an exact value with its rounding. Everything here follows from
these intervals, so it holds whenever they do: no law, no order and no independence is assumed.

Narcissus theory 5.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from narcissus.findings import weakest
from narcissus.profiles.write_out import ROUNDING
from narcissus.results import Grade
from narcissus.study.results.game import AttackerResult, ExactGame, GameResults, ProofResult

Law = Literal["2^(-a x)", "x^(-a)"]
LAWS: tuple[Law, ...] = ("2^(-a x)", "x^(-a)")
Direction = Literal["falls", "rises", "stays", "goes up and down", "is zero", "cannot be told"]

NEAR = 1.05
"""A curve of a law passes a value if it passes it within this factor."""
SAME = 1.1
"""A quantity stays where it is if no two of its values differ by more than this factor."""


@dataclass(frozen=True)
class Known:
    """A quantity at one size, with its limits."""

    size: float  # the value of the parameter
    value: float  # the quantity, exact or sampled
    low: float  # lower limit of the true quantity; of an exact value its rounding
    high: float  # upper limit
    exact: bool = False  # whether the value is exact


@dataclass(frozen=True)
class Exponent:
    """The exponent of one law, over the sizes at which the quantity is certainly above 0.

    Attributes
    ----------
    law
        The law; ``x`` is the size.
    value
        Of the least-squares line through the logarithms of the values.
    low, high
        Of exact values: the least and the largest exponent between two neighbouring sizes, and so
        between any two. Of samples: limits of the exponent of the least-squares line through the
        logarithms of the *true* values, whatever these are.
    fits
        Whether some curve of the law passes all intervals, each widened by the factor `NEAR`,
        including those that reach down to 0. Exact values, such as of a quantity that falls by many
        orders, also fit if the least and the largest exponent differ by at most that factor.
    within
        The exponents of those curves; None if there is no such curve.
    off
        Largest factor between a value and the least-squares line.
    sizes
        Number of sizes in the fit.
    first, last
        The least and the largest of them.
    """

    law: Law
    value: float
    low: float
    high: float
    fits: bool
    within: tuple[float, float] | None
    off: float
    sizes: int
    first: float
    last: float


def places(law: Law, sizes: Sequence[float]) -> NDArray[np.float64]:
    """Map sizes to the axis on which a law is a line, shape (sizes,)."""
    x = np.asarray(sizes, dtype=np.float64)
    return x if law == "2^(-a x)" else np.log2(x)


def direction(points: Sequence[Known]) -> Direction:
    """Find whether a quantity certainly falls, certainly rises, both, or stays."""
    pairs = [(a, b) for i, a in enumerate(points) for b in points[i + 1 :]]
    falls = any(a.low > b.high for a, b in pairs)
    rises = any(b.low > a.high for a, b in pairs)
    if points and all(p.exact and p.low <= 0 for p in points):
        return "is zero"
    lows, highs = [p.low for p in points], [p.high for p in points]
    if len(points) > 1 and min(lows) > 0 and max(highs) <= SAME * min(lows):
        return "stays"
    if falls or rises:
        return "goes up and down" if falls and rises else "falls" if falls else "rises"
    return "cannot be told"


def exponents(points: Sequence[Known]) -> list[Exponent]:
    """Fit both laws; the power law only where all sizes are above 0.

    Parameters
    ----------
    points
        In the order of their sizes, which differ.

    Returns
    -------
    list
        One for each law; none where fewer than two values are certainly above 0.
    """
    above = [p for p in points if p.low > 0]
    if len(above) < 2:
        return []
    return [_fitted(law, points, above) for law in LAWS if law == LAWS[0] or points[0].size > 0]


def _fitted(law: Law, points: Sequence[Known], above: Sequence[Known]) -> Exponent:
    x = places(law, [p.size for p in above])
    logs = np.log2([max(p.value, p.low) for p in above])
    centred = x - x.mean()
    weights = -centred / (centred @ centred)  # the exponent is minus the slope
    value = float(weights @ logs)
    line = logs.mean() - value * centred
    if all(p.exact for p in above):
        ends = np.log2([(p.low, p.high) for p in above])
        apart = np.diff(x)
        low = float(((ends[:-1, 0] - ends[1:, 1]) / apart).min())
        high = float(((ends[:-1, 1] - ends[1:, 0]) / apart).max())
    else:
        ends = weights[:, None] * np.log2([(p.low, p.high) for p in above])
        low, high = ends.min(axis=1).sum(), ends.max(axis=1).sum()
    within = feasible(law, points)
    is_even = all(p.exact for p in above) and len(above) == len(points) and 0 < high <= NEAR * low
    return Exponent(
        law,
        value,
        float(low),
        float(high),
        within is not None or is_even,
        within,
        float(2 ** np.abs(logs - line).max()),
        len(above),
        above[0].size,
        above[-1].size,
    )


def feasible(law: Law, points: Sequence[Known], factor: float = NEAR) -> tuple[float, float] | None:
    """Return the range of exponents of curves ``c`` times a law through all intervals, or None.

    ``factor``, at least 1, widens each interval on both sides.

    Notes
    -----
    With logarithms, curves are lines ``b - a x``. For one ``a`` the intervals that the sizes leave
    for ``b`` have a common point if each two have one, so the pairs of sizes decide.
    """
    room = math.log2(factor)
    x = places(law, [p.size for p in points])
    low = [math.log2(p.low) - room if p.low > 0 else -math.inf for p in points]
    high = [math.log2(p.high) + room if p.high > 0 else -math.inf for p in points]
    least, most = -math.inf, math.inf
    for i, j in product(range(len(points)), repeat=2):
        if math.isinf(low[i]):
            continue
        if math.isinf(high[j]):  # 0 for certain: no curve is there
            return None
        # low[i] + a x[i] <= high[j] + a x[j]
        step = float(x[j] - x[i])
        if step > 0:
            least = max(least, (low[i] - high[j]) / step)
        elif step < 0:
            most = min(most, (low[i] - high[j]) / step)
    return (least, most) if least <= most else None


def at_least(points: Sequence[Known], law: Law) -> tuple[float, float, float] | None:
    """Return two sizes and the exponent by which the quantity falls between them at the least.

    The pair is the one with the largest such exponent; None where no fall is certain. An upper
    limit is enough at the second size: it may be one of no success at all.
    """
    x = places(law, [p.size for p in points])
    found = [
        ((math.log2(a.low) - math.log2(b.high)) / float(x[j] - x[i]), a.size, b.size)
        for i, a in enumerate(points)
        for j, b in enumerate(points)
        if i < j and a.low > b.high > 0
    ]
    if not found:
        return None
    rate, first, last = max(found)
    return first, last, rate


Quantity = Literal["gain", "success", "baseline", "bound", "closed form"]
EVERYBODY = "any attacker"


@dataclass(frozen=True)
class SizeCurve:
    """One quantity over the sizes at which it is known.

    Attributes
    ----------
    whose
        An attack, `EVERYBODY` (the exact answer; success and baseline are of the attacker
        with the largest gain, where there is any), or a theorem.
    quantity
        "gain" is success less ``e^epsilon`` times the own baseline, with the epsilon of the
        statement; "bound" limits success or gain, "closed form" is success by a formula.
    points
        In the order of sizes.
    grade
        The weakest grade of its points.
    limits
        Of a bound, the quantity that it limits.
    """

    whose: str
    quantity: Quantity
    points: tuple[Known, ...]
    grade: Grade
    limits: str = ""

    @property
    def direction(self) -> Direction:
        """Certain direction of the curve."""
        return direction(self.points)

    @property
    def exponents(self) -> list[Exponent]:
        """Both laws, fitted."""
        return exponents(self.points)


def epsilon_of(results: GameResults) -> float:
    """Return the logarithm of the factor on the baseline in a gain."""
    if results.statement.name == "threshold":  # its epsilon is a success, and no factor
        return 0.0
    return results.statement.epsilon or 0.0


def curves_of(
    found: Sequence[tuple[float, GameResults]], *, between: bool = False
) -> list[SizeCurve]:
    """Collect all curves from sizes, in order, and the results of the study of each.

    ``between`` is whether the study covers every rate of an interval, with some rates written out.
    """
    made: dict[tuple[str, Quantity, str], list[tuple[Known, Grade]]] = {}
    for size, results in found:
        for whose, quantity, limits, known, grade in _of_one(size, results, between=between):
            made.setdefault((whose, quantity, limits), []).append((known, grade))
    return [
        SizeCurve(
            whose, quantity, tuple(k for k, _ in points), weakest(g for _, g in points), limits
        )
        for (whose, quantity, limits), points in made.items()
    ]


_Point = tuple[str, Quantity, str, Known, Grade]


def _of_one(size: float, results: GameResults, *, between: bool) -> Iterator[_Point]:
    if results.exact is not None:
        yield from (_of_all_rates if between else _exact)(size, results.exact)
    for one in results.attackers:
        if one.failed < one.success.trials:  # one that always raised says nothing
            yield from _sampled(size, one, math.exp(epsilon_of(results)))
    for proof in results.proofs:
        yield _bound(size, proof)


def _exact(size: float, exact: ExactGame) -> Iterator[_Point]:
    best, grade = exact.best_attacker, exact.grade
    gain = exact.delta[exact.epsilon.index(best.at_epsilon)]
    numbers: dict[Quantity, float] = {"gain": gain}
    if gain > ROUNDING:  # else the best attacker makes no attempt
        numbers |= {"success": best.success, "baseline": best.baseline}
    for quantity, value in numbers.items():
        low, high = max(0.0, value - ROUNDING), value + ROUNDING
        yield EVERYBODY, quantity, "", Known(size, value, low, high, exact=True), grade


def _of_all_rates(size: float, exact: ExactGame) -> Iterator[_Point]:
    """Yield the delta needed at the worst rate examined, and the one enough for every rate.

    Success and baseline are known at the examined rates only, and the worst rate may be another.
    """
    gain = exact.delta[exact.epsilon.index(exact.best_attacker.at_epsilon)]
    enough = 1.0 if exact.cover is None else exact.cover.at_most
    known = Known(size, gain, max(0.0, gain - ROUNDING), max(enough, gain) + ROUNDING)
    yield EVERYBODY, "gain", "", known, exact.grade


def _sampled(size: float, one: AttackerResult, factor: float) -> Iterator[_Point]:
    """Yield the sampled points of one attack; all limits hold at once, so the narrower ones do."""
    won, lost = one.success, one.baseline
    s = won.value, _or(won.low, 0.0), _or(won.high, 1.0)
    b = lost.value, _or(lost.low, 0.0), _or(lost.high, 1.0)
    low, high = s[1] - factor * b[2], s[2] - factor * b[1]
    if one.gap is not None:
        low, high = max(low, _or(one.gap.low, -math.inf)), min(high, _or(one.gap.high, math.inf))
    gain = s[0] - factor * b[0]
    yield one.name, "gain", "", Known(size, gain, min(low, gain), max(high, gain)), "sampled"
    yield one.name, "success", "", Known(size, *s), "sampled"
    yield one.name, "baseline", "", Known(size, *b), "sampled"


def _or(limit: float | None, otherwise: float) -> float:
    return otherwise if limit is None else limit


def _bound(size: float, proof: ProofResult) -> _Point:
    value = proof.value
    theorem = proof.theorem.split(" (")[0]  # without the promise, which the size may be part of
    limits = "gain" if proof.limits == "delta" else "success"
    return theorem, "bound", limits, Known(size, value, value, value, exact=True), proof.grade
