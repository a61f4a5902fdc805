"""What an attacker may read off the values of a column, as they are in a file.

A case number may tell the secret by a letter, a digit, a part, a remainder or a sum of digits, and
a time by its hour, weekday or month: each of these becomes a separate feature, in which models
then look for the secret. No list of such functions is ever complete.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus.kinds.table.moments import clock_features, clocks_of_numbers, moments_of
from narcissus.tables.spelling import number_in
from narcissus.tables.tally import RawColumn

Codes = NDArray[np.int64]
Features = list[Codes]

MOST_VALUES = 200  # of a feature, the most common ones, that are told apart
GROUPS = 20  # of equal size, of a column of numbers
STARTS = (1, 2, 3)  # letters that a code may begin with
PLACES = 12  # letters and digits that are looked at, from the left and from the right
RUNS = 2  # numbers inside a code that are looked at
DIVISORS = (*range(2, 32), 36, 37, 64, 97, 100, 128, 199)
CHECKS = (2, 9, 10, 11)  # remainders of sums of digits
TRIED = "letters, digits, remainders, sums, ratios, words and their order, dates and times"
"""What of a value is examined, as a report names it."""
WORDS = 40  # of texts, the most common ones, that are looked for
PAIRS_OF_WORDS = 40  # that follow each other, the most common ones
IN_ORDER = 10  # common words, of which any two may stand in this or that order
SHORTEST_WORD = 3
MOST_WORDS = 1_000_000  # of a text: the place of a word that it does not hold
LONGEST_NUMBER = 18  # digits


def features_of(column: RawColumn, rows: NDArray[np.intp]) -> Features:
    """Return features of the values in some rows, each of shape (len(rows),), codes from 0.

    A feature that is the same in all rows, or the same as another, is left out.
    """
    values, codes = _present(column, rows)
    texts, numbers = _texts(values), _numbers(values)
    is_numeric = bool(np.isfinite(numbers).any())
    days = moments_of(texts)
    lengths = np.minimum([len(text) for text in texts], MOST_VALUES)
    features: Features = [common(codes, len(texts)), lengths[codes]]
    features += [_grouped([text[:many] for text in texts], codes) for many in STARTS]
    features.append(_grouped([text[-1:] for text in texts], codes))
    if is_numeric:
        sizes = numbers[codes]
        cuts = np.unique(np.nanquantile(sizes, np.linspace(0, 1, GROUPS + 1)[1:-1]))
        features.append(np.searchsorted(cuts, np.nan_to_num(sizes, nan=-np.inf)) + 1)
        features += (feature[codes] for feature in clocks_of_numbers(numbers))
    is_dated = bool(np.isfinite(days).any())
    if is_dated:
        features += (feature[codes] for feature in clock_features(days))
    words = [] if is_numeric or is_dated else _words(texts, codes)
    features += words or _of_codes(texts, codes, days, is_numeric=is_numeric)
    return _different(features)


def last_digits(column: RawColumn, rows: NDArray[np.intp]) -> Features:
    """Return the digit or letter at each place from the right in some rows, as its code.

    Of numbers, places are counted from the point to the left.
    """
    values, codes = _present(column, rows)
    texts, numbers = _texts(values), _numbers(values)
    if np.isfinite(numbers).mean() > 0.5:
        texts = ["" if np.isnan(n) else f"{abs(n):.0f}" for n in np.floor(numbers)]
    places = range(min(PLACES, max(map(len, texts))))
    of_place = ([_letter(text, -1 - place) for text in texts] for place in places)
    return [np.array([ord(letter) if letter else 0 for letter in each])[codes] for each in of_place]


def numbers_of(column: RawColumn, rows: NDArray[np.intp]) -> Floats:
    """Return the numbers that values mean in some rows, days for dates; nan for no number."""
    values, codes = _present(column, rows)
    days = moments_of(_texts(values))
    numbers = _numbers(values)
    return (days if np.isfinite(days).sum() > np.isfinite(numbers).sum() else numbers)[codes]


def _present(column: RawColumn, rows: NDArray[np.intp]) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the different values in some rows, and which of them each row has."""
    present, codes = np.unique(np.asarray(column.codes)[rows], return_inverse=True)
    return [column.distinct[place] for place in present.tolist()], np.ravel(codes)


def _texts(values: Sequence[Any]) -> list[str]:
    return ["" if value is None else str(value).strip() for value in values]


def _numbers(values: Sequence[Any]) -> Floats:
    """Return the numbers that values mean, by the decimal mark that makes most of them numbers."""
    read = [[None if v is None else number_in(v, mark) for v in values] for mark in (".", ",")]
    best = max(read, key=lambda numbers: sum(n is not None for n in numbers))
    numbers = np.array([np.nan if n is None else float(n) for n in best])
    return np.where(np.isfinite(numbers), numbers, np.nan)


def common(codes: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """Give the most common values numbers from 1, the commonest first; all others are 0."""
    counts = np.bincount(codes, minlength=size)
    order = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    places = np.zeros(size, dtype=np.int64)
    places[order] = 1 + np.arange(len(order))
    places[counts < 2] = 0
    return places[codes]


def _of_codes(
    texts: Sequence[str], codes: NDArray[np.integer], days: Floats, *, is_numeric: bool
) -> Iterator[NDArray[np.int64]]:
    """Yield letters and digits at each place, parts, remainders, and sums of digits."""
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
    yield from (feature[codes] for feature in _sums_of_digits(texts))
    for whole in _whole_numbers(texts, days, is_numeric=is_numeric):
        if len(set(whole)) < 3:
            continue
        numbers = np.array(whole, dtype=np.int64)
        for divisor in DIVISORS:
            yield np.where(numbers < 0, 0, 1 + numbers % divisor)[codes]


def _letter(text: str, place: int) -> str:
    return text[place] if -len(text) <= place < len(text) else ""


def _sums_of_digits(texts: Sequence[str]) -> Iterator[NDArray[np.int64]]:
    """Yield sums of all digits of a value, as check digits weigh them, and their remainders."""
    digits = [[int(digit) for digit in reversed(re.findall("[0-9]", text))] for text in texts]
    if max(map(len, digits)) < 2:
        return
    weighted = (
        [sum(each) for each in digits],
        [sum(each[::2]) - sum(each[1::2]) for each in digits],
        [sum(each[::2]) + 3 * sum(each[1::2]) for each in digits],  # as of articles in trade
        [sum(each[::2]) + sum(sum(divmod(2 * n, 10)) for n in each[1::2]) for each in digits],
        [sum(place * n for place, n in enumerate(each, start=1)) for each in digits],  # of books
    )
    for sums in map(np.array, weighted):
        yield np.minimum(sums - sums.min(), MOST_VALUES)
        for divisor in CHECKS:
            yield sums % divisor


def _whole_numbers(texts: Sequence[str], days: Floats, *, is_numeric: bool) -> Iterator[list[int]]:
    """Yield whole numbers that values hold, -1 for none: all digits, days, parts of codes."""
    if np.isfinite(days).any():
        yield np.floor(np.nan_to_num(days, nan=-1.0)).astype(int).tolist()
    if is_numeric:
        yield [_whole("".join(re.findall(r"\d", text))) for text in texts]
        return
    runs = [re.findall(r"\d+", text) for text in texts]
    for place in range(RUNS):
        yield [_whole(run[place]) if place < len(run) else -1 for run in runs]


def _whole(digits: str) -> int:
    return int(digits[-LONGEST_NUMBER:]) if digits.isdecimal() else -1


def _different(features: Features) -> Features:
    distinct_features: dict[bytes, NDArray[np.int64]] = {}
    for feature in features:
        if feature.min() < feature.max():
            distinct_features.setdefault(
                feature.astype(np.int64).tobytes(), feature.astype(np.int64)
            )
    return list(distinct_features.values())


def _grouped(parts: Sequence[str], codes: NDArray[np.integer]) -> NDArray[np.int64]:
    _, place = np.unique(np.array(parts, dtype=str), return_inverse=True)
    place = np.ravel(place)
    return common(place[codes], int(place.max()) + 1)


def _words(texts: Sequence[str], codes: NDArray[np.integer]) -> Features:
    """Return which texts hold each of the most common words, where texts have several."""
    split = [set(text.casefold().split()) for text in texts]
    if np.mean([len(words) > 1 for words in split]) < 0.5:
        return []
    places: dict[str, list[int]] = {}
    for place, words in enumerate(split):
        for word in words:
            if len(word) >= SHORTEST_WORD:
                places.setdefault(word, []).append(place)
    chosen = sorted(places, key=lambda word: (-len(places[word]), word))[:WORDS]
    features: Features = []
    for word in chosen:
        has = np.zeros(len(texts), dtype=np.int64)
        has[places[word]] = 1
        features.append(has[codes])
    return [*features, *_orders_of_words(texts, codes)]


def _orders_of_words(texts: Sequence[str], codes: NDArray[np.integer]) -> Iterator[Codes]:
    """Yield first and last words, words that follow each other, and which of two comes first."""
    split = [re.findall(r"\w+", text.casefold()) for text in texts]
    for end in (0, -1):
        yield _grouped([words[end] if words else "" for words in split], codes)
    follow = [set(pairwise(words)) for words in split]
    for pair in _commonest(follow, PAIRS_OF_WORDS):
        yield np.array([pair in pairs for pairs in follow], dtype=np.int64)[codes]
    first = [{word: place for place, word in reversed(list(enumerate(words)))} for words in split]
    for term, other in combinations(_commonest(first, IN_ORDER), 2):
        yield np.array(
            [words.get(term, MOST_WORDS) < words.get(other, MOST_WORDS) for words in first],
            dtype=np.int64,
        )[codes]


def _commonest(held: Sequence[Iterable[Any]], most: int) -> list[Any]:
    """Return the things that most texts hold."""
    counts = Counter(thing for things in held for thing in things)
    return sorted(counts, key=lambda thing: (-counts[thing], thing))[:most]
