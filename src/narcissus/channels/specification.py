"""Mechanisms named in text, as on the command line: ``randomized-response:values=10,epsilon=1``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from inspect import Parameter, signature

from narcissus._validation import did_you_mean, one_of, positive, real
from narcissus.channels.closed_forms import (
    ClosedForm,
    Exponential,
    Gaussian,
    Geometric,
    KaryRandomizedResponse,
    Laplace,
    Subset,
    UnaryEncoding,
)
from narcissus.errors import InputError


def laplace(
    span: float = 1.0, scale: float | None = None, epsilon: float | None = None, points: int = 2
) -> Laplace:
    """Make Laplace noise from its scale, or from its epsilon for the whole span."""
    if scale is None and epsilon is not None:
        return Laplace(span, span / positive("epsilon", epsilon), points)
    if scale is None or epsilon is not None:
        raise InputError("laplace needs `scale` or `epsilon` (for the span), one of them")
    return Laplace(span, scale, points)


def gaussian(
    span: float = 1.0,
    sigma: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    points: int = 2,
) -> Gaussian:
    """Make Gaussian noise from its sigma, or by the classical calibration for the whole span."""
    if sigma is not None and epsilon is None and delta is None:
        return Gaussian(span, sigma, points)
    if sigma is None and epsilon is not None and delta is not None:
        return Gaussian(span, span * Gaussian.classical(epsilon, delta).sigma, points)
    raise InputError("gaussian needs `sigma`, or `epsilon` and `delta` (classical calibration)")


def subset(values: int, epsilon: float, size: int | None = None) -> Subset:
    """Make the subset mechanism; of the size best for frequencies (Ye and Barg 2018) if none."""
    if size is None:
        best = round(values / (math.exp(min(epsilon, 700)) + 1))
        size = max(1, min(int(values) - 1, best))
    return Subset(values, size, epsilon)


def unary(values: int, epsilon: float) -> UnaryEncoding:
    """Make basic RAPPOR."""
    return UnaryEncoding(values, epsilon)


def optimized_unary(values: int, epsilon: float) -> UnaryEncoding:
    """Make optimised unary encoding."""
    return UnaryEncoding(values, epsilon, optimized=True)


MECHANISMS: dict[str, Callable[..., ClosedForm]] = {
    "exponential": Exponential.on_a_line,
    "gaussian": gaussian,
    "geometric": Geometric,
    "laplace": laplace,
    "optimized-unary": optimized_unary,
    "randomized-response": KaryRandomizedResponse,
    "subset": subset,
    "unary": unary,
}
"""What makes each mechanism; its parameters are the keys that may be given."""

EXAMPLES = {
    "exponential": "exponential:values=10,epsilon=1 (utility: minus the distance)",
    "gaussian": "gaussian:sigma=2 or gaussian:epsilon=1,delta=1e-6",
    "geometric": "geometric:values=100,rate=0.1",
    "laplace": "laplace:span=1,scale=2 or laplace:epsilon=0.5",
    "optimized-unary": "optimized-unary:values=10,epsilon=1",
    "randomized-response": "randomized-response:values=10,epsilon=1",
    "subset": "subset:values=10,size=3,epsilon=1",
    "unary": "unary:values=10,epsilon=1 (basic RAPPOR)",
}


def mechanism(text: str) -> ClosedForm:
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
    KaryRandomizedResponse(values=10, epsilon=1.0)
    """
    name, _, rest = text.partition(":")
    name = name.strip()
    one_of("mechanism", name, MECHANISMS)
    make, example = MECHANISMS[name], EXAMPLES[name]
    try:
        return make(**_numbers(rest, signature(make).parameters))
    except InputError as error:
        raise InputError(f"mechanism {name}: {error}; for example {example}") from error


def _numbers(text: str, takes: Mapping[str, Parameter]) -> dict[str, float]:
    """Read ``KEY=VALUE,KEY=VALUE``, of parameters that there are."""
    numbers: dict[str, float] = {}
    for part in text.split(",") if text.strip() else []:
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals:
            raise InputError(f"{part!r} is not KEY=VALUE")
        if key not in takes:
            hint = did_you_mean(key, takes) or f"; it takes {', '.join(takes)}"
            raise InputError(f"unknown parameter `{key}`{hint}")
        if key in numbers:
            raise InputError(f"`{key}` is given twice")
        try:
            number = float(value)
        except ValueError as error:
            raise InputError(f"`{key}` must be a number, got {value!r}") from error
        numbers[key] = real(key, number)
    needed = [name for name, one in takes.items() if one.default is Parameter.empty]
    for name in needed:
        if name not in numbers:
            raise InputError(f"`{name}` is missing: give {', '.join(needed)}")
    return numbers
