"""The conclusion of a sweep in words, limited to the values that were drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from narcissus._outwards import lower, upper
from narcissus.findings import weakest
from narcissus.profiles.write_out import ROUNDING
from narcissus.results import Grade
from narcissus.scale.fit import (
    EVERYBODY,
    LAWS,
    NEAR,
    Exponent,
    Known,
    SizeCurve,
    at_least,
    direction,
    exponents,
)

FEW = 3
"""Fewer values cannot tell one law from another."""
SHARP = 1e-6
"""Exponents that lie closer than this are one number."""
_MORE = "more trials tell more"
TOLD = ("falls", "rises", "stays", "goes up and down", "is zero")

ASSUMED = (
    "Exponents of exact values are the least and the largest between two neighbouring sizes. Those "
    "of samples, and of what every rate of an interval needs, are limits of the exponent of the "
    "least-squares line through the logarithms of the true values, from limits that hold for all "
    "values at once: no law is assumed for them.",
    f"That a law fits is an approximation: one of its curves passes every value within a factor of "
    f"{NEAR:g}, or the limits of a sampled one widened by it, or the exponents of exact values "
    "differ by no more than that. Where it does not fit, no curve of the law is that near to the "
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
        least = min(p.value if p.exact else p.low for p in points)
        most = max(p.value if p.exact else p.high for p in points)
        words = f"does not fall: it stays between {lower(least, 4)} and {upper(most, 4)}"
    elif way == "is zero":
        words = f"is zero, or below {ROUNDING:g}, where rounding is lost"
    else:
        words = _untold(points)
    grade = weakest([curve.grade, "approximate"]) if has_law else curve.grade
    return CurveWords(curve, words, grade, way in TOLD)


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
    good = [one for one in fits if one.fits]
    if len(points) < FEW:
        return f"falls; {FEW} values or more tell by which law ({_each(fits)})", False
    if len(good) == 1:
        return f"falls like {_by_law(good[0], points)}", True
    if good:
        return f"falls, and these values cannot tell by which law ({_each(good)})", False
    later = _later(points)
    return (
        (f"falls, {later}", True) if later else (f"falls, like neither law ({_each(fits)})", False)
    )


def _later(points: Sequence[Known]) -> str:
    """Name the value from which one law fits, if one does; the limits hold for any choice of it."""
    for start in range(1, len(points) - FEW + 1):
        tail = points[start:]
        good = [one for one in exponents(tail) if one.fits]
        if len(good) == 1 and direction(tail) == "falls":
            return f"from {tail[0].size:g} on like {_by_law(good[0], tail)}"
    return ""


def _by_law(one: Exponent, points: Sequence[Known]) -> str:
    """Name a law with its exponent, and the first value of its fit, if not from all values."""
    where = "" if one.sizes == len(points) else f", told from {one.first:g} to {one.last:g}"
    return f"{_law(one.law, one.value)} ({_range(one)}{where})"


def _each(fits: Sequence[Exponent]) -> str:
    return "; ".join(f"{_law(one.law, None)}: {_range(one)}" for one in fits)


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
    most = max((len(c.points) for c in played), default=0)
    if exact and (len(exact[0].points) >= FEW or len(exact[0].points) >= most):
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
