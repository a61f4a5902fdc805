"""What a column's values say of its meaning, whatever the language of its name.

Weights of a survey, codes of diagnoses, free texts and households are recognized by how values are
spelled, by their sizes and by where equal ones are.
"""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from narcissus._arrays import Floats
from narcissus.tables.spelling import number_in
from narcissus.tables.tally import RawColumn

Meaning = Literal["", "weight", "diagnosis", "free text", "group"]

ICD = re.compile(r"[A-TV-Z]\d\d(?:\.?\d{1,2})?[A-Z!+*-]?", re.IGNORECASE)
MOSTLY = 0.8
FEWEST_VALUES = 5
"""Different values from which on their spelling says something."""
NEAR_ONE = 0.01
"""How far the mean of weights may be from 1."""
FINE_DIGITS = 3
"""Digits after the point, of most values, that weights of a population have and amounts do not."""
WIDEST = 100.0
"""Largest weight over the smallest."""
WORDS, LONG_TEXTS = 3.0, 0.2
"""Words of a free text on average; different texts for each person from which on it is one."""
LEAST_GROUP, MOST_GROUP = 1.1, 8.0
"""People with the same value, on average, of a column of households."""


def meaning_of(column: RawColumn) -> Meaning:
    """Say what a column holds by its first rows; empty where its values do not tell."""
    values = [value for value in column.distinct if value is not None]
    if len(values) < FEWEST_VALUES:
        return ""
    numbers = [_number(value) for value in values]
    if all(number is not None for number in numbers):
        if _are_weights(column):
            return "weight"
        whole = all((number or 0.0).is_integer() for number in numbers)
        return "group" if whole and _stand_together(column) else ""
    texts = [str(value).strip() for value in values]
    if np.mean([ICD.fullmatch(text) is not None for text in texts]) >= MOSTLY:
        return "diagnosis"
    people = int((~column.gaps).sum())
    many_words = float(np.mean([len(text.split()) for text in texts])) >= WORDS
    # a language without blanks: long texts
    is_long = float(np.mean([len(text) for text in texts if not text.isascii()] or [0])) >= 10
    if (many_words or is_long) and len(texts) >= LONG_TEXTS * people:
        return "free text"
    return "group" if _stand_together(column) else ""


def _number(value: object) -> float | None:
    """Read a number, with a decimal comma too."""
    number = number_in(value)
    if number is None and isinstance(value, str) and value.count(",") == 1:
        number = number_in(value.replace(",", "."))
    return None if number is None else float(number)


def _are_weights(column: RawColumn) -> bool:
    """Whether all numbers are above 0, within a factor, and have the mean or digits of weights."""
    each = [None if value is None else _number(value) for value in column.distinct]
    sizes = np.array([np.nan if n is None else n for n in each])[column.codes]
    sizes = sizes[~np.isnan(sizes)]
    if not sizes.size or sizes.min() <= 0 or sizes.max() > WIDEST * sizes.min():
        return False
    fine = np.mean(
        [_digits(value) >= FINE_DIGITS for value in column.distinct if value is not None]
    )
    if fine < MOSTLY:
        return False
    varies = bool(sizes.std() > NEAR_ONE * sizes.mean())
    is_one = abs(float(sizes.mean()) - 1) <= NEAR_ONE
    return varies and (is_one or _sums_to_whole(sizes))


def _sums_to_whole(sizes: Floats) -> bool:
    """Whether weights sum to a number of people: a whole one, though none of them is whole."""
    total = float(sizes.sum())
    per_row = total / len(sizes)
    rounding = 1e-3 * np.sqrt(len(sizes))
    is_whole = bool(abs(total - round(total)) <= min(0.02, rounding))
    return per_row >= 2 and is_whole and bool((sizes % 1 > 0).all())


def _digits(value: object) -> int:
    text = value if isinstance(value, str) else repr(value)
    return len(re.split(r"[.,]", text.strip())[-1]) if re.search(r"[.,]\d+$", text.strip()) else 0


def _stand_together(column: RawColumn) -> bool:
    """Whether equal values are in rows next to each other, in small groups as of a household."""
    codes = column.codes[~column.gaps]
    if not len(codes):
        return False
    runs = 1 + int((np.diff(codes) != 0).sum())
    groups = len(np.unique(codes))
    mean = len(codes) / groups
    return runs == groups and LEAST_GROUP <= mean <= MOST_GROUP
