"""A parameter of a study by its name, ``world.n`` or ``success.function.bits``, and its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from narcissus.errors import InputError
from narcissus.study.ranges import spread

SECTIONS = (
    "world",
    "mechanism",
    "attack",
    "success",
    "looser",
    "side-information",
    "statement",
    "privacy",
)
"""Sections of a study whose keys change what is asked, and not how it is answered."""
MOST = 1000
"""Most values of a parameter: each is a study by itself."""
LISTED = 12

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter and its values."""

    name: str  # ``SECTION.key``, with further keys or numbers for what is nested
    values: tuple[float, ...]  # at least one

    def __str__(self) -> str:
        first, last = self.values[0], self.values[-1]
        return f"{self.name} = {first:g}" + (f" to {last:g}" if last != first else "")


def read_parameter(text: str, option: str) -> Parameter:
    """Read ``SECTION.key=VALUES``.

    Parameters
    ----------
    text
        VALUES is ``FROM:TO:STEP`` (``x2`` is a factor) or a list with commas.
    option
        Its name in messages: ``--over``.

    Raises
    ------
    InputError
        It has another form, a value twice, or too many values.
    """
    name, given, values = text.partition("=")
    if not given or not name.strip() or not values.strip():
        raise InputError(
            f"`{option}` must be SECTION.key=VALUES, such as world.n=8:64:8, world.n=8:4096:x2 or "
            f"world.n=3,5,9; got {text!r}"
        )
    found = spread(values.strip(), f"{option} {name.strip()}")
    if len(found) > MOST:
        raise InputError(f"`{option} {name.strip()}` has {len(found):,} values, at most {MOST:,}")
    return Parameter(name.strip(), tuple(found))


def located(settings: Mapping[str, Any], name: str, option: str) -> Place:
    """Find a numeric parameter in a study with all defaults filled in.

    Of several attacks, or other parts in a list, one is named by its ``name`` or its number from 0;
    a single one needs no name. The `InputError` for an unknown parameter names the nearest;
    ``option`` is what messages call it.
    """
    given = {key: settings[key] for key in SECTIONS if settings.get(key)}
    place = _walked(given, name.split("."))
    if place is None:
        raise _unknown(settings, name, option)
    return place


def _walked(node: Any, words: Sequence[str]) -> Place | None:
    """Return the way from a node to the number that words name; None where there is none."""
    if not words:
        return () if _is_number(node) else None
    word, *rest = words
    if isinstance(node, list):
        named = [i for i, part in enumerate(node) if _names(part, word, i)]
        if len(named) == 1:
            further = _walked(node[named[0]], rest)
            return None if further is None else (named[0], *further)
        further = _walked(node[0], words) if len(node) == 1 else None
        return None if further is None else (0, *further)
    further = _walked(node[word], rest) if isinstance(node, dict) and word in node else None
    return None if further is None else (word, *further)


def _names(part: Any, word: str, number: int) -> bool:
    """Check whether a word names a part of a list, rather than a key of it."""
    return word == str(number) or (isinstance(part, dict) and part.get("name") == word)


def _is_number(value: Any) -> bool:
    """Check whether a value is a number, or a number left out."""
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def names_of(settings: Mapping[str, Any]) -> list[str]:
    """List the names of all parameters that are numbers, or could be."""
    given = {key: settings[key] for key in SECTIONS if settings.get(key)}
    return list(_leaves(given, ()))


def _leaves(node: Any, above: tuple[str, ...]) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _leaves(value, (*above, key))
    elif isinstance(node, list):
        parts = [part for part in node if isinstance(part, dict)]
        labels = [str(part.get("name")) for part in parts]
        for number, (part, label) in enumerate(zip(parts, labels, strict=True)):
            word = label if labels.count(label) == 1 else str(number)
            yield from _leaves(part, (*above, word) if len(parts) > 1 else above)
    elif _is_number(node):
        yield ".".join(above)


def _unknown(settings: Mapping[str, Any], name: str, option: str) -> InputError:
    known = names_of(settings)
    # what was meant may be the key alone, or lie in another section
    last = {word: n for n in reversed(known) if (word := n.rpartition(".")[2])}
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    near += [last[w] for w in get_close_matches(name.rpartition(".")[2], last, n=2, cutoff=0.6)]
    near = list(dict.fromkeys(near))[:3]
    said = f"`{option} {name}`: the study has no such number"
    if near:
        return InputError(f"{said}; did you mean {', '.join(f'`{one}`' for one in near)}?")
    shown = ", ".join(known[:LISTED]) + (", ..." if len(known) > LISTED else "")
    return InputError(f"{said}; it has {shown or 'none'}")


def with_value(
    given: Mapping[str, Any], settings: Mapping[str, Any], place: Place, value: float
) -> dict[str, Any]:
    """Return a study as given in its file, unchanged, with another value of a parameter.

    Parts that are not given are taken from ``settings``, the study with all defaults filled in.
    """
    found = _copied(given)
    node, filled = found, settings
    for key in place[:-1]:
        if isinstance(node, dict) and key not in node:
            node[key] = _copied(filled[key])  # pyright: ignore[reportArgumentType]
        node, filled = node[key], filled[key]  # pyright: ignore[reportArgumentType]
    node[place[-1]] = value  # pyright: ignore[reportArgumentType]
    return found


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value
