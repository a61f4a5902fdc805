"""What an attacker may read off the values of a column, as they stand in a file.

A case number may tell the secret by a letter, a digit, a part or a remainder: each of these becomes
a feature of its own, in which models then look for the secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from narcissus.tables.spelling import number_in
from narcissus.tables.tally import RawColumn

Features = list[NDArray[np.int64]]

MOST_VALUES = 200  # of a feature, the most common ones, that are told apart
GROUPS = 20  # of equal size, of a column of numbers
STARTS = (1, 2, 3)  # letters that a code may begin with
PLACES = 12  # letters and digits that are looked at, from the left and from the right
RUNS = 2  # numbers inside a code that are looked at
DIVISORS = range(2, 21)
WORDS = 40  # of texts, the most common ones, that are looked for
SHORTEST_WORD = 3
LONGEST_NUMBER = 18  # digits


def features_of(column: RawColumn, rows: NDArray[np.intp]) -> Features:
    """Return features of the values in some rows, each of shape (len(rows),), codes from 0.

    A feature that is the same in all rows, or the same as another, is left out.
    """
    present, codes = np.unique(np.asarray(column.codes)[rows], return_inverse=True)
    codes = np.ravel(codes)
    values = [column.distinct[place] for place in present.tolist()]
    texts = ["" if value is None else str(value).strip() for value in values]
    numbers = [None if value is None else number_in(value) for value in values]
    is_numeric = any(number is not None for number in numbers)
    lengths = np.minimum([len(text) for text in texts], MOST_VALUES)
    features: Features = [common(codes, len(texts)), lengths[codes]]
    features += [_grouped([text[:many] for text in texts], codes) for many in STARTS]
    features.append(_grouped([text[-1:] for text in texts], codes))
    if is_numeric:
        sizes = np.array([np.nan if n is None else float(n) for n in numbers])[codes]
        cuts = np.unique(np.nanquantile(sizes, np.linspace(0, 1, GROUPS + 1)[1:-1]))
        features.append(np.searchsorted(cuts, np.nan_to_num(sizes, nan=-np.inf)) + 1)
    words = [] if is_numeric else _words(texts, codes)
    features += words or _of_codes(texts, codes, is_numeric=is_numeric)
    return _different(features)


def common(codes: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """Give the most common values numbers from 1, the commonest first; all others are 0."""
    counts = np.bincount(codes, minlength=size)
    order = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    places = np.zeros(size, dtype=np.int64)
    places[order] = 1 + np.arange(len(order))
    places[counts < 2] = 0
    return places[codes]


def _of_codes(
    texts: Sequence[str], codes: NDArray[np.integer], *, is_numeric: bool
) -> Iterator[NDArray[np.int64]]:
    """Yield letters and digits at each place, parts, and remainders of the numbers."""
    longest = min(PLACES, max(map(len, texts)))
    places = list(range(longest))
    if len(set(map(len, texts))) > 1:  # codes of one length have the same places from the right
        places += [-1 - place for place in range(longest)]
    for place in places:
        yield _grouped([_letter(text, place) for text in texts], codes)
    parts = [re.findall(r"[^\W\d_]+|\d+", text) for text in texts]
    if not is_numeric:
        for place in range(min(PLACES, max(map(len, parts)))):
            yield _grouped([part[place] if place < len(part) else "" for part in parts], codes)
    for whole in _whole_numbers(texts, is_numeric=is_numeric):
        if len(set(whole)) < 3:
            continue
        numbers = np.array(whole, dtype=np.int64)
        for divisor in DIVISORS:
            yield np.where(numbers < 0, 0, 1 + numbers % divisor)[codes]


def _letter(text: str, place: int) -> str:
    return text[place] if -len(text) <= place < len(text) else ""


def _whole_numbers(texts: Sequence[str], *, is_numeric: bool) -> Iterator[list[int]]:
    """Yield whole numbers that values hold, -1 for none: all digits, days, parts of codes."""
    days = [_day(text) for text in texts]
    if 2 * sum(day >= 0 for day in days) >= len(texts):
        yield days
        return
    if is_numeric:
        yield [_whole("".join(re.findall(r"\d", text))) for text in texts]
        return
    runs = [re.findall(r"\d+", text) for text in texts]
    for place in range(RUNS):
        yield [_whole(run[place]) if place < len(run) else -1 for run in runs]


def _whole(digits: str) -> int:
    return int(digits[-LONGEST_NUMBER:]) if digits.isdecimal() else -1


def _day(text: str) -> int:
    try:
        return date.fromisoformat(text[:10]).toordinal()
    except ValueError:
        return -1


def _different(features: Features) -> Features:
    held: dict[bytes, NDArray[np.int64]] = {}
    for feature in features:
        if feature.min() < feature.max():
            held.setdefault(feature.astype(np.int64).tobytes(), feature.astype(np.int64))
    return list(held.values())


def _grouped(parts: Sequence[str], codes: NDArray[np.integer]) -> NDArray[np.int64]:
    _, place = np.unique(np.array(parts, dtype=str), return_inverse=True)
    place = np.ravel(place)
    return common(place[codes], int(place.max()) + 1)


def _words(texts: Sequence[str], codes: NDArray[np.integer]) -> Features:
    """Return which texts hold each of the most common words, where texts have several."""
    split = [set(text.casefold().split()) for text in texts]
    if np.mean([len(words) > 1 for words in split]) < 0.5:
        return []
    held: dict[str, list[int]] = {}
    for place, words in enumerate(split):
        for word in words:
            if len(word) >= SHORTEST_WORD:
                held.setdefault(word, []).append(place)
    chosen = sorted(held, key=lambda word: (-len(held[word]), word))[:WORDS]
    features: Features = []
    for word in chosen:
        has = np.zeros(len(texts), dtype=np.int64)
        has[held[word]] = 1
        features.append(has[codes])
    return features
