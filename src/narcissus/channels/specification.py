"""Mechanisms named in text, as on the command line: ``randomized-response:values=10,epsilon=1``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from narcissus._validation import did_you_mean, integer, one_of, real
from narcissus.channels.closed_forms import (
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    Mechanism,
    RandomizedResponse,
    Subset,
    UnaryEncoding,
)
from narcissus.errors import InputError

Numbers = Mapping[str, Any]


def _laplace(p: Numbers) -> Laplace:
    span = p.get("span", 1.0)
    if ("scale" in p) == ("epsilon" in p):
        raise InputError("laplace needs `scale` or `epsilon` (for the span), one of them")
    if "epsilon" in p and p["epsilon"] <= 0:
        raise InputError(f"`epsilon` must be above 0, got {p['epsilon']:g}")
    scale = p["scale"] if "scale" in p else span / p["epsilon"]
    return Laplace(span, scale, p.get("points", 2))


def _gaussian(p: Numbers) -> Gaussian:
    span = p.get("span", 1.0)
    points = p.get("points", 2)
    if "sigma" in p and not {"epsilon", "delta"} & set(p):
        return Gaussian(span, p["sigma"], points)
    if "epsilon" in p and "delta" in p and "sigma" not in p:
        sigma = Gaussian.classical(p["epsilon"], p["delta"]).sigma
        return Gaussian(span, span * sigma, points)
    raise InputError("gaussian needs `sigma`, or `epsilon` and `delta` (classical calibration)")


def _subset(p: Numbers) -> Subset:
    given, epsilon = _need(p, "values", "epsilon")
    values = integer("values", given, low=2)
    # The size that is best for estimating frequencies (Ye and Barg 2018).
    best = max(1, min(values - 1, round(values / (math.exp(min(epsilon, 700)) + 1))))
    return Subset(values, p.get("size", best), epsilon)


def _need(p: Numbers, *names: str) -> tuple[Any, ...]:
    for name in names:
        if name not in p:
            raise InputError(f"`{name}` is missing: give {', '.join(names)}")
    return tuple(p[name] for name in names)


def _of(kind: Callable[..., Mechanism], *names: str) -> Callable[[Numbers], Mechanism]:
    return lambda p: kind(*_need(p, *names))


MECHANISMS: dict[str, tuple[Callable[[Numbers], Mechanism], tuple[str, ...], str]] = {
    "exponential": (
        _of(Exponential.on_a_line, "values", "epsilon"),
        ("values", "epsilon"),
        "exponential:values=10,epsilon=1 (utility: minus the distance)",
    ),
    "gaussian": (
        _gaussian,
        ("span", "sigma", "epsilon", "delta", "points"),
        "gaussian:sigma=2 or gaussian:epsilon=1,delta=1e-6",
    ),
    "geometric": (
        _of(Geometric, "values", "rate"),
        ("values", "rate"),
        "geometric:values=100,rate=0.1",
    ),
    "laplace": (
        _laplace,
        ("span", "scale", "epsilon", "points"),
        "laplace:span=1,scale=2 or laplace:epsilon=0.5",
    ),
    "randomized-response": (
        _of(RandomizedResponse, "values", "epsilon"),
        ("values", "epsilon"),
        "randomized-response:values=10,epsilon=1",
    ),
    "subset": (_subset, ("values", "size", "epsilon"), "subset:values=10,size=3,epsilon=1"),
    "unary": (
        _of(UnaryEncoding, "values", "epsilon"),
        ("values", "epsilon"),
        "unary:values=10,epsilon=1 (basic RAPPOR)",
    ),
    "optimized-unary": (
        lambda p: UnaryEncoding(*_need(p, "values", "epsilon"), optimized=True),
        ("values", "epsilon"),
        "optimized-unary:values=10,epsilon=1",
    ),
}


def mechanism(text: str) -> Mechanism:
    """Make a mechanism in closed form from its name and parameters.

    Parameters
    ----------
    text
        ``NAME:KEY=VALUE,KEY=VALUE``, names as in `MECHANISMS`.

    Raises
    ------
    InputError
        Unknown name or key (with the nearest known one), a value that is no number, a key twice.

    Examples
    --------
    >>> mechanism("randomized-response:values=10,epsilon=1")
    RandomizedResponse(values=10, epsilon=1.0)
    """
    name, _, rest = text.partition(":")
    name = name.strip()
    one_of("mechanism", name, MECHANISMS)
    make, known, example = MECHANISMS[name]
    numbers: dict[str, float] = {}
    for part in rest.split(",") if rest.strip() else []:
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals:
            raise InputError(f"mechanism {name}: {part!r} is not KEY=VALUE; for example {example}")
        if key not in known:
            hint = did_you_mean(key, known) or f"; it takes {', '.join(known)}"
            raise InputError(f"mechanism {name}: unknown parameter `{key}`{hint}")
        if key in numbers:
            raise InputError(f"mechanism {name}: `{key}` is given twice")
        try:
            number = float(value)
        except ValueError as error:
            raise InputError(
                f"mechanism {name}: `{key}` must be a number, got {value!r}"
            ) from error
        numbers[key] = real(key, number)
    try:
        return make(numbers)
    except InputError as error:
        raise InputError(f"mechanism {name}: {error}; for example {example}") from error
