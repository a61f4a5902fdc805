"""Mechanisms named in text, as on the command line: ``randomized-response:values=10,epsilon=1``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature

from narcissus._validation import did_you_mean, one_of, real
from narcissus.channels.calibrated import (
    exponential,
    gaussian,
    laplace,
    optimized_unary,
    subset,
    unary,
)
from narcissus.channels.closed_forms import ClosedForm, Geometric, KaryRandomizedResponse
from narcissus.errors import InputError

MECHANISMS: dict[str, Callable[..., ClosedForm]] = {
    "exponential": exponential,
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
