"""Checks of arguments, with messages that name the argument and its range."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from difflib import get_close_matches
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus.errors import InputError

_Name = TypeVar("_Name", bound=Hashable)


def real(name: str, value: Any) -> float:
    """Return ``value`` as a float; refuse NaN, booleans and non-numbers."""
    if isinstance(value, bool | np.bool_ | str) or value is None:
        raise InputError(f"`{name}` must be a number, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"`{name}` must be a number, got {value!r}") from error
    except OverflowError as error:
        raise InputError(f"`{name}` must be below 1e308 in size, got a larger number") from error
    if math.isnan(number):
        raise InputError(f"`{name}` must be a number, got NaN")
    return number


def between(
    name: str,
    value: Any,
    low: float,
    high: float,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return ``value`` as a float within the interval; each end may be excluded."""
    number = real(name, value)
    below = number < low or (open_low and number == low)
    above = number > high or (open_high and number == high)
    if below or above:
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        raise InputError(f"`{name}` must be in {left}{low:g}, {high:g}{right}, got {value!r}")
    return number


def probability(name: str, value: Any) -> float:
    """Return ``value`` as a float in [0, 1]."""
    return between(name, value, 0.0, 1.0)


def fraction(name: str, value: Any) -> float:
    """Return ``value`` as a float in (0, 1): a confidence, or the probability of an error."""
    return between(name, value, 0.0, 1.0, open_low=True, open_high=True)


def positive(name: str, value: Any, *, allow_infinite: bool = False) -> float:
    """Return ``value`` as a float above 0, finite by default."""
    number = real(name, value)
    if number <= 0 or (math.isinf(number) and not allow_infinite):
        finite = "" if allow_infinite else " and finite"
        raise InputError(f"`{name}` must be above 0{finite}, got {value!r}")
    return number


MOST_SECONDS = 10**8
"""Longest time that may be asked for, some three years: systems wait for no longer one."""


def duration(name: str, value: Any) -> float:
    """Return ``value`` as a time in seconds, above 0 and at most `MOST_SECONDS`."""
    seconds = positive(name, value)
    if seconds > MOST_SECONDS:
        raise InputError(f"`{name}` must be at most {MOST_SECONDS:,} seconds, got {value!r}")
    return seconds


def non_negative(name: str, value: Any, *, allow_infinite: bool = False) -> float:
    """Return ``value`` as a float of at least 0, finite by default."""
    number = real(name, value)
    if number < 0 or (math.isinf(number) and not allow_infinite):
        finite = "" if allow_infinite else " and finite"
        raise InputError(f"`{name}` must be at least 0{finite}, got {value!r}")
    return number


def refuse_text(name: str, values: object) -> None:
    """Refuse a text where several are needed: it would be read as its letters."""
    if isinstance(values, str | bytes):
        raise InputError(f"`{name}` must be a list of texts, got a text: write [text]")


def integer(name: str, value: Any, *, low: int | None = None, high: int | None = None) -> int:
    """Return ``value`` as an int within the limits; a float must be whole."""
    number = real(name, value)
    if not math.isfinite(number) or number != math.floor(number):
        raise InputError(f"`{name}` must be a whole number, got {value!r}")
    whole = int(value)
    if (low is not None and whole < low) or (high is not None and whole > high):
        limits = [f"at least {low}"] if low is not None else []
        limits += [f"at most {high}"] if high is not None else []
        raise InputError(f"`{name}` must be {' and '.join(limits)}, got {value!r}")
    return whole


def refuse_lossy(name: str, values: Any) -> None:
    """Refuse an array of which a conversion to floats drops something: a mask, imaginary parts."""
    if np.ma.is_masked(values):
        raise InputError(f"`{name}` has masked entries; fill them in, or leave them out")
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        raise InputError(f"`{name}` must be real numbers, got complex ones; take `.real`")


def probabilities(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return ``values`` as a float array of any shape, with every entry in [0, 1]."""
    refuse_lossy(name, values)
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"`{name}` must be numbers, got {values!r}") from error
    bad = ~((array >= 0) & (array <= 1))
    if bad.any():
        where = np.argwhere(bad)[0]
        place = f" at position {', '.join(map(str, where))}" if array.ndim else ""
        raise InputError(
            f"`{name}` must be probabilities in [0, 1], got {float(array[tuple(where)])!r}{place}"
        )
    return array


def unit_vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return ``values`` as a non-empty vector of numbers in [0, 1]."""
    array = probabilities(name, values)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"`{name}` must be a non-empty vector, got shape {array.shape}")
    return array


def same_trials(**values: NDArray[np.float64]) -> None:
    """Refuse two vectors, given by name, of different numbers of trials."""
    (name, first), (other, two) = values.items()
    if first.shape != two.shape:
        raise InputError(
            f"`{name}` and `{other}` must be of the same trials, "
            f"got {first.size} and {two.size} values"
        )


def distribution(name: str, values: ArrayLike, *, tolerance: float = 1e-9) -> NDArray[np.float64]:
    """Return ``values`` as a probability vector.

    Nothing is renormalised: a sum off by more than ``tolerance`` is a mistake, and refused.
    """
    array = unit_vector(name, values)
    total = math.fsum(array)
    if abs(total - 1) > tolerance:
        raise InputError(
            f"`{name}` must sum to 1 within {tolerance:g}, got {total!r}; "
            "normalise it yourself if that is what you mean"
        )
    return array


def one_of(name: str, value: str, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``choices``; otherwise name the nearest."""
    known = list(choices)
    if value in known:
        return value
    all_ = ", ".join(known) or "(there is none)"
    raise InputError(f"`{name}` must be one of {all_}; got {value!r}{did_you_mean(value, known)}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return '; did you mean `x`?' for the known word nearest to ``word``, or ''."""
    names = [text for k in known if (text := str(k)) != str(word)]
    same = [name for name in names if name.casefold() == str(word).casefold()]
    near = same or get_close_matches(str(word), names, n=1, cutoff=0.5)
    return f"; did you mean `{near[0]}`?" if near else ""


def repeated(names: Iterable[_Name]) -> list[_Name]:
    """Return the names that come more than once, each once, in time that grows with their number.

    >>> repeated(["a", "b", "a"])
    ['a']
    """
    return [name for name, times in Counter(names).items() if times > 1]


def some_of(names: Iterable[object], most: int = 20) -> str:
    """Return the first names with commas between, and how many more there are."""
    listed = [str(name) for name in names]
    rest = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + rest


def arity(function: Callable[..., Any], most: int) -> int:
    """Return the number of positional arguments of a user's function, from 1 to ``most``."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        return most
    return max(1, min(most, sum(p.kind in kinds for p in parameters)))


def kept(array: Any) -> Any:
    """Return what an object keeps of an array that was checked: a copy that nobody can write to.

    An array that nobody can write to is kept as it is. Of a sparse one it is a copy.
    """
    if not isinstance(array, np.ndarray):
        return array.copy()
    values = cast("np.ndarray[Any, Any]", array)
    if not values.flags.writeable and values.base is None:
        return values
    values = values.copy()
    values.setflags(write=False)
    return values
