"""Texts next to a table, in which values of the data's people may be: titles, notes, names.

A title has a few numbers, and a year. Asked about are texts with two values that one person of the
data has alone, or with as many of the data's numbers as no title has. A name has none of these.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping

import numpy as np

from narcissus.synthetic.files import Raw, folded
from narcissus.tables.spelling import number_in

MOST_OWN = 1
"""Most values of single people in a text that is not asked about."""
MOST_NUMBERS = 7
"""Most different numbers of the data in it."""
_NUMBER = re.compile(r"(?<![\w.,])[-+]?\d+(?:[.,]\d+)*(?!\w)")
_YEAR = re.compile(r"(19|20)\d\d")
_FEWEST = 3  # letters or digits of a value by which one person is known
_WORDS = 4  # most words of a text that is looked up
_LONGEST = 2**22


class KnownValues:
    """Values of the data: those of one person alone, and all numbers."""

    def __init__(self, raw: Raw) -> None:
        self.own: set[str | float] = set()
        self.numbers: set[float] = set()
        for column in raw.values():
            times = np.bincount(column.codes, minlength=len(column.distinct))
            many: dict[str | float, int] = {}
            for value, count in zip(column.distinct, times.tolist(), strict=True):
                if value is not None and count:
                    number = number_in(value)
                    key = folded(str(value)) if number is None else float(number)
                    many[key] = many.get(key, 0) + count
            numbers = [key for key in many if isinstance(key, float)]
            ends = {min(numbers), max(numbers)} if numbers else set[float]()
            self.numbers |= set(numbers) - ends
            alone = {key for key, count in many.items() if count == 1}
            self.own |= {key for key in alone - ends if len(_digits(key)) >= _FEWEST}

    def told_by(self, text: str, most_own: int = MOST_OWN) -> int:
        """Count the values of people that a text tells; 0 where these may be those of a title."""
        text = text[:_LONGEST]
        matches: set[str | float] = set()
        numbers: set[float] = set()
        for numeral in (part for token in _NUMBER.findall(text) for part in _parts(token)):
            each = {number_in(numeral, mark) for mark in (".", ",")} - {None}
            if not _YEAR.fullmatch(numeral):
                values = {float(value) for value in each if value is not None}
                numbers |= values & self.numbers
                matches |= values & self.own
        words = re.findall(r"[^\W_][\w'.@-]*", folded(text))
        for size in range(1, _WORDS + 1):
            phrases = (" ".join(words[at : at + size]) for at in range(len(words) - size + 1))
            matches |= self.own.intersection(phrases)
        if len(matches) > most_own or len(numbers) > MOST_NUMBERS:
            return len(matches | numbers)
        return 0


def _parts(token: str) -> list[str]:
    """Return a number, and the numbers of a list without blanks that it may be."""
    parts = token.split(",")
    is_one = len(parts) == 1 or (len(parts) == 2 and len(parts[1]) == 3)
    return [token] if is_one else [token, *parts]


def _digits(value: str | float) -> str:
    return re.sub(r"[^\w]", "", value if isinstance(value, str) else f"{value:g}")


def tell_people(
    known: KnownValues, texts: Iterable[tuple[str, str]], names: Container[str] = ()
) -> Mapping[str, int]:
    """Return how many values of people the texts of each kind tell together, where they do.

    names: Kinds of texts that have no value of a single person.
    """
    kinds: dict[str, list[str]] = {}
    for kind, text in texts:
        kinds.setdefault(kind, []).append(text)
    counts = {
        kind: known.told_by(" ; ".join(dict.fromkeys(each)), 0 if kind in names else MOST_OWN)
        for kind, each in kinds.items()
    }
    return {kind: many for kind, many in counts.items() if many}
