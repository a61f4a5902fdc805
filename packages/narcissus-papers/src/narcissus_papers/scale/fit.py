"""Curves of success, baseline, gain and bound against a size: whether they fall, and by which law.

The quantity at each size is known up to an interval, and all intervals hold jointly: limits
of samples at a joint confidence, or an exact value with its rounding. Everything here follows from
these intervals, so it holds whenever they do: no law, no order and no independence is assumed.
Conclusions in words are limited to the values that were drawn.

Narcissus theory 5.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from narcissus._outwards import lower, upper
from narcissus.findings import weakest
from narcissus.kinds.game.judgement import JudgedGame
from narcissus.kinds.game.result import EVERYBODY, ExactAnswer, GameAttacker, value_of
from narcissus.profiles.write_out import ROUNDING
from narcissus.results import Grade

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
    """The exponent of one law, over the sizes at which the quantity is certainly above 0."""

    law: Law  # ``x`` is the size
    value: float  # of the least-squares line through the logarithms of the values
    # of exact values the least and the largest exponent between two neighbouring sizes, and so
    # between any two; of samples limits of the exponent of the least-squares line through the
    # logarithms of the *true* values, whatever these are
    low: float
    high: float
    # whether some curve of the law passes all intervals, each widened by the factor `NEAR`, or the
    # least and the largest exponent of exact values differ by at most that factor
    fits: bool
    within: tuple[float, float] | None  # the exponents of those curves; None if there is none
    off: float  # largest factor between a value and the least-squares line
    sizes: int  # number of sizes in the fit
    first: float  # the least of them
    last: float  # the largest


def places(law: Law, sizes: Sequence[float]) -> NDArray[np.float64]:
    """Map sizes to the axis on which a law is a line, shape (sizes,)."""
    x = np.asarray(sizes, dtype=np.float64)
    return x if law == "2^(-a x)" else np.log2(x)


def direction(points: Sequence[Known]) -> Direction:
    """Find whether a quantity certainly falls, certainly rises, both, or stays."""
    falls = any(a.low > b.high for a, b in combinations(points, 2))
    rises = any(b.low > a.high for a, b in combinations(points, 2))
    if points and all(p.exact and p.low <= 0 for p in points):
        return "is zero"
    lows, highs = [p.low for p in points], [p.high for p in points]
    if len(points) > 1 and min(lows) > 0 and max(highs) <= SAME * min(lows):
        return "stays"
    if falls or rises:
        return "goes up and down" if falls and rises else "falls" if falls else "rises"
    return "cannot be told"


def exponents(points: Sequence[Known]) -> list[Exponent]:
    """Fit both laws to points in the order of their sizes; the power law to sizes above 0 only.

    Empty where fewer than two values are certainly above 0.
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
    is_close = bool(0 < high <= NEAR * low)
    is_even = all(p.exact for p in above) and len(above) == len(points) and is_close
    fits, off = within is not None or is_even, float(2 ** np.abs(logs - line).max())
    first, last = above[0].size, above[-1].size
    return Exponent(law, value, float(low), float(high), fits, within, off, len(above), first, last)


def feasible(law: Law, points: Sequence[Known], factor: float = NEAR) -> tuple[float, float] | None:
    """Return the range of exponents of curves of a law through all widened intervals, or None.

    With logarithms, curves are lines ``b - a x``. For one ``a`` the intervals that the sizes leave
    for ``b`` have a common point if each two have one, so the pairs of sizes decide.
    """
    room = math.log2(factor)
    x = places(law, [p.size for p in points])
    low = [math.log2(p.low) - room if p.low > 0 else -math.inf for p in points]
    high = [math.log2(p.high) + room if p.high > 0 else -math.inf for p in points]
    lower_limit, upper_limit = -math.inf, math.inf
    for i, j in product(range(len(points)), repeat=2):
        if math.isinf(low[i]):
            continue
        if math.isinf(high[j]):  # 0 for certain: no curve is there
            return None
        # low[i] + a x[i] <= high[j] + a x[j]
        step = float(x[j] - x[i])
        if step > 0:
            lower_limit = max(lower_limit, (low[i] - high[j]) / step)
        elif step < 0:
            upper_limit = min(upper_limit, (low[i] - high[j]) / step)
    return (lower_limit, upper_limit) if lower_limit <= upper_limit else None


def at_least(points: Sequence[Known], law: Law) -> tuple[float, float, float] | None:
    """Return the two sizes with the largest certain exponent of fall between them, and it."""
    x = places(law, [p.size for p in points])
    candidates = [
        ((math.log2(a.low) - math.log2(b.high)) / float(x[j] - x[i]), a.size, b.size)
        for i, a in enumerate(points)
        for j, b in enumerate(points)
        if i < j and a.low > b.high > 0
    ]
    if not candidates:
        return None
    rate, first, last = max(candidates)
    return first, last, rate


Quantity = Literal["gain", "success", "baseline", "bound", "closed form"]


@dataclass(frozen=True)
class SizeCurve:
    """One quantity over the sizes at which it is known."""

    # an attack, a theorem, or `EVERYBODY`: the exact answer, with success and baseline of the
    # attacker with the largest gain, where there is any
    whose: str
    # "gain" is success less ``e^epsilon`` times the own baseline; "bound" limits success or gain,
    # "closed form" is success by a formula
    quantity: Quantity
    points: tuple[Known, ...]  # in the order of sizes
    grade: Grade  # the weakest of its points
    limits: str = ""  # of a bound, the quantity that it limits

    @property
    def direction(self) -> Direction:
        return direction(self.points)

    @property
    def exponents(self) -> list[Exponent]:
        return exponents(self.points)


def epsilon_of(found: JudgedGame) -> float:
    """Return the logarithm of the factor on the baseline in a gain."""
    statement = found.result.statement
    if statement.name == "threshold":  # its epsilon is a success, and no factor
        return 0.0
    return statement.epsilon or 0.0


def curves_of(
    found: Sequence[tuple[float, JudgedGame]], *, between: bool = False
) -> list[SizeCurve]:
    """Collect all curves from sizes, in order, and what the study of each found.

    ``between`` is whether the study covers every rate of an interval, with some rates written out.
    """
    made: dict[tuple[str, Quantity, str], list[tuple[Known, Grade]]] = {}
    for size, judgement in found:
        for whose, quantity, limits, known, grade in _of_one(size, judgement, between=between):
            made.setdefault((whose, quantity, limits), []).append((known, grade))
    return [
        SizeCurve(whose, quantity, known, weakest(grades), limits)
        for (whose, quantity, limits), points in made.items()
        for known, grades in [zip(*points, strict=True)]
    ]


_Point = tuple[str, Quantity, str, Known, Grade]


def _of_one(size: float, found: JudgedGame, *, between: bool) -> Iterator[_Point]:
    if found.exact is not None:
        yield from _exact(size, found.exact, between=between)
    for attacker in found.attackers:
        if not attacker.is_useless:  # one that always raised says nothing
            yield from _sampled(size, attacker, math.exp(epsilon_of(found)))
    for bound in found.bounds:
        # without the promise, which the size may be part of
        theorem, value = bound.theorem.split(" (")[0], bound.value
        limits = "gain" if bound.limits == "delta" else "success"
        known = Known(size, value, value, value, exact=True)
        yield theorem, "bound", limits, known, bound.limit.grade


def _exact(size: float, exact: ExactAnswer, *, between: bool) -> Iterator[_Point]:
    """Yield what the best attacker gains, and how; between rates, up to what is enough for all.

    Success and baseline are known at the examined rates only, and the worst rate may be another.
    """
    grade = exact.needed.grade
    gain = next(point.delta for point in exact.profile if point.epsilon == exact.epsilon)
    numbers: dict[Quantity, float] = {"gain": gain}
    if between:
        known = Known(size, gain, max(0.0, gain - ROUNDING), max(exact.enough, gain) + ROUNDING)
        yield EVERYBODY, "gain", "", known, grade
        return
    if gain > ROUNDING:  # else the best attacker makes no attempt
        numbers |= {"success": exact.success, "baseline": exact.baseline}
    for quantity, value in numbers.items():
        low, high = max(0.0, value - ROUNDING), value + ROUNDING
        yield EVERYBODY, quantity, "", Known(size, value, low, high, exact=True), grade


def _sampled(size: float, one: GameAttacker, factor: float) -> Iterator[_Point]:
    """Yield the sampled points of one attack; all limits hold jointly, so the narrower ones do."""
    s, b = [
        (value_of(rate), _or(rate.low, 0.0), _or(rate.high, 1.0))
        for rate in (one.success, one.fresh)
    ]
    low, high = s[1] - factor * b[2], s[2] - factor * b[1]
    if one.gap is not None:
        low, high = max(low, _or(one.gap.low, -math.inf)), min(high, _or(one.gap.high, math.inf))
    gain = s[0] - factor * b[0]
    yield one.name, "gain", "", Known(size, gain, min(low, gain), max(high, gain)), "sampled"
    yield one.name, "success", "", Known(size, *s), "sampled"
    yield one.name, "baseline", "", Known(size, *b), "sampled"


def _or(limit: float | None, otherwise: float) -> float:
    return otherwise if limit is None else limit


FEW = 3
"""Fewer values cannot tell one law from another."""
SHARP = 1e-6
"""Exponents that lie closer than this are one number."""
_MORE = "more trials tell more"

ASSUMED = (
    "Exponents of exact values are the least and the largest between two neighbouring sizes. Those "
    "of samples, and of what every rate of an interval needs, are limits of a least-squares "
    "exponent: of the line through the logarithms of the true values. They follow from limits that "
    "hold for all values at the same time, and assume no law.",
    f"That a law fits is an approximation. One of its curves passes every value within a factor of "
    f"{NEAR:g}, or the limits of a sampled one widened by it. Or the exponents of exact values "
    "differ by at most that. Where it does not fit, all curves of the law are farther from the "
    "true values, as surely as the limits hold.",
)
"""How the fits are to be read."""


@dataclass(frozen=True)
class CurveWords:
    """The conclusion about one curve."""

    curve: SizeCurve
    words: str  # a clause: "falls like 2^-n (exponent 0.998 to 1.002)"
    grade: Grade  # "approximate" where a law is named
    is_told: bool  # whether there is a conclusion at all


def told(curve: SizeCurve) -> CurveWords:
    """Describe where a curve goes, and by which law."""
    way, points = curve.direction, curve.points
    has_law = False
    if way == "falls":
        words, has_law = _falls(points)
    elif way == "goes up and down":
        words, has_law = _from_its_top(curve)
    elif way == "rises":
        first, last = _of(points[0], curve.grade), _of(points[-1], curve.grade)
        words = f"does not fall: it rises from {first} to {last}"
    elif way == "stays":
        low = min(p.value if p.exact else p.low for p in points)
        high = max(p.value if p.exact else p.high for p in points)
        words = f"does not fall: it stays between {lower(low, 4)} and {upper(high, 4)}"
    elif way == "is zero":
        words = f"is zero, or below {ROUNDING:g}, where rounding is lost"
    else:
        words = _untold(points)
    grade = weakest([curve.grade, "approximate"]) if has_law else curve.grade
    return CurveWords(curve, words, grade, way != "cannot be told")


def _of(point: Known, grade: Grade) -> str:
    if point.exact:
        return f"{point.value:.4g}"
    return f"{point.value:.3g} ({'sampled' if grade == 'sampled' else 'or more'})"


def _untold(points: Sequence[Known]) -> str:
    if len(points) < 2:
        return "cannot be told from one value"
    top = max(p.high for p in points)
    if all(p.low <= 0 for p in points):
        return f"cannot be told: nowhere certainly above 0, at most {upper(top, 3)}; {_MORE}"
    return f"cannot be told: the limits allow that it stays; {_MORE}"


def _from_its_top(curve: SizeCurve) -> tuple[str, bool]:
    """Describe where it is largest, and how it continues from there."""
    points = curve.points
    place = max(range(len(points)), key=lambda i: points[i].value)
    rest, top = points[place:], points[place]
    words = f"goes up and down, with its largest value, {_of(top, curve.grade)}, at {top.size:g}"
    if place and direction(rest) == "falls":
        further, has_law = _falls(rest)
        return f"{words}; from there it {further}", has_law
    return words, False


def _falls(points: Sequence[Known]) -> tuple[str, bool]:
    """Describe how it falls; also return whether a law is named."""
    fits = exponents(points)
    if not fits:
        certain = at_least(points, LAWS[0])
        if certain is None:
            return "falls below 0", False
        first, last, rate = certain
        return f"falls, from {first:g} to {last:g} at least like {_law(LAWS[0], rate)}", False
    good = [fit for fit in fits if fit.fits]
    if len(points) < FEW:
        return f"falls; {FEW} values or more tell by which law ({_each(fits)})", False
    if len(good) == 1:
        return f"falls like {_by_law(good[0], points)}", True
    if good:
        return f"falls, and these values cannot tell by which law ({_each(good)})", False
    later = _later(points)
    words = f"falls, {later or f'like neither law ({_each(fits)})'}"
    return words, bool(later)


def _later(points: Sequence[Known]) -> str:
    """Name the value from which one law fits, if one does; the limits hold for any choice of it."""
    for start in range(1, len(points) - FEW + 1):
        tail = points[start:]
        good = [fit for fit in exponents(tail) if fit.fits]
        if len(good) == 1 and direction(tail) == "falls":
            return f"from {tail[0].size:g} on like {_by_law(good[0], tail)}"
    return ""


def _by_law(one: Exponent, points: Sequence[Known]) -> str:
    """Name a law with its exponent, and the first value of its fit, if not from all values."""
    where = "" if one.sizes == len(points) else f", told from {one.first:g} to {one.last:g}"
    return f"{_law(one.law, one.value)} ({_range(one)}{where})"


def _each(fits: Sequence[Exponent]) -> str:
    return "; ".join(f"{_law(fit.law, None)}: {_range(fit)}" for fit in fits)


def _law(law: str, value: float | None) -> str:
    a = "a" if value is None else f"{value:.3g}"
    if law == "2^(-a x)":
        return "2^-n" if a == "1" else f"2^(-{a} n)"
    return "1/n" if a == "1" else f"n^(-{a})"


def _range(one: Exponent) -> str:
    if one.high - one.low < SHARP:
        return f"exponent {one.value:.6g}"
    return f"exponent {lower(one.low, 3)} to {upper(one.high, 3)}"


def headline(curves: Sequence[SizeCurve]) -> SizeCurve | None:
    """Choose the curve of the verdict: the gain of every attacker, else the largest one played.

    The exact answer counts where it is known at three values, or no attack is known at more.
    """
    gains = [curve for curve in curves if curve.quantity == "gain"]
    exact = [c for c in gains if c.whose == EVERYBODY]
    played = [c for c in gains if c.whose != EVERYBODY]
    point_count = max((len(c.points) for c in played), default=0)
    if exact and (len(exact[0].points) >= FEW or len(exact[0].points) >= point_count):
        return exact[0]
    return max(played, key=lambda c: max(p.value for p in c.points), default=None)


def named(curve: SizeCurve) -> str:
    """Name a curve: "the largest gain of any attacker"."""
    if curve.quantity == "bound":
        return f"the bound on {curve.limits} by {curve.whose}"
    if curve.quantity == "closed form":
        return f"the {curve.limits} of {curve.whose} by its closed form"
    if curve.whose != EVERYBODY:
        return f"the {curve.quantity} of {curve.whose}"
    if curve.quantity == "gain":
        return f"the largest gain of {EVERYBODY}"
    return f"the {curve.quantity} of the attacker who gains most"


def sentence(found: CurveWords, parameter: str) -> str:
    """Write the conclusion as a sentence, with the values that it covers."""
    points = found.curve.points
    span = f"{points[0].size:g}"
    if len(points) > 1:
        span += f" to {points[-1].size:g}"
    return f"For {parameter} = {span}, {named(found.curve)} {found.words}."
