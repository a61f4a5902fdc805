"""How a file writes the values that the data have: rounded, cut, with fewer digits.

A number of the file is one of the data if the data's number, written as the file writes it, is the
same: rounded to so many places (half to even, half up, cut down or up), to so many significant
digits, or to 32 bits. A date may have lost its time, its day or its month. Which of these a column
shows follows from the digits that its values have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from narcissus.tables.spelling import Value

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]
CLOSED = 0.99
"""Share of a column's cells that are written so where the column is."""
MOST_SIGNIFICANT = 9
"""Most significant digits that a column can have been rounded to."""
MOST_WAYS = 3
"""Most ways beside the one of the whole column that some of its cells are rounded in."""
_FEWEST = 3  # cells that are rounded in such a way
_TIMES = 3  # as many of them as of those with one digit more
_BEYOND = 0.002  # share of the cells beyond that of the data
_TIE = 1e-9
_DATE = len("2020-12-31")
_MONTH, _YEAR = len("2020-12"), len("2020")


@dataclass(frozen=True)
class Written:
    """One way that cells of a column are written in."""

    words: str  # "rounded to 2 places"
    members: Flags  # of each value of the file, whether it is written so
    known: NDArray[np.object_]  # of each value of the data, what it is if it is written so
    own: NDArray[np.object_]  # of each value of the file, the same


def digits(numbers: Sequence[float]) -> tuple[Counts, Counts]:
    """Return the decimal places and the significant digits of numbers, each of shape (numbers,).

    >>> [part.tolist() for part in digits([1200.0, 0.25, 7.0])]
    [[-2, 2, 0], [2, 2, 1]]
    """
    places, significant = np.zeros((2, len(numbers)), np.int64)
    for at, number in enumerate(numbers):
        if not math.isfinite(number) or number == 0:
            continue
        _, shown, exponent = Decimal(repr(float(number))).normalize().as_tuple()
        assert isinstance(exponent, int)
        places[at], significant[at] = -exponent, len(shown)
    return places, significant


def ways_of_numbers(known: Numbers, own: Numbers, times: Counts) -> list[Written]:
    """Return the ways that a file writes numbers in, which are coarser than the data's.

    known: Different numbers of the data, shape (known,).
    own: Different numbers of the file, shape (own,).
    times: Rows of the file with each of these.
    """
    total = int(times.sum())
    if not len(known) or not total:
        return []
    written, short = own, _short(own)
    if times[short].sum() >= CLOSED * total:  # what 32 bits add to a decimal is none of its digits
        own = np.where(short, _shortest(own), own)
    ours, theirs = digits(known.tolist()), digits(own.tolist())
    found: list[Written] = []
    is_there = np.isin(written, known)
    if times[is_there].sum() < CLOSED * total:
        here = int(times[is_there].sum())
        found += _of_column(known, own, times, ours, theirs, here)
    finest = int(ours[0].max())
    for first, last in _rounded_cells(ours[0], theirs[0], times, finest):
        members = (theirs[0] > first) & (theirs[0] <= last) & ~is_there
        members &= ~np.any([one.members for one in found], axis=0) if found else True
        if members.any():
            found.append(_best(list(_rounded(known, own, last)), members, times))
    return found


def _of_column(
    known: Numbers,
    own: Numbers,
    times: Counts,
    ours: tuple[Counts, Counts],
    theirs: tuple[Counts, Counts],
    here: int,
) -> Iterator[Written]:
    """Yield the way that a whole column is written in, if it is coarser than the data's.

    here: Rows of the file with a number that the data have as it is.
    """
    total = times.sum()
    most = [_most_of(part, times) for part in theirs]
    short = _short(own)
    ways: list[tuple[Flags, _Writing]] = []
    if most[0] < ours[0].max():
        members = theirs[0] <= most[0]
        ways += [(members, way) for way in _rounded(known, own, most[0])]
    if most[1] < ours[1].max() and most[1] <= MOST_SIGNIFICANT:
        members = theirs[1] <= most[1]
        ways += [(members, way) for way in _shortened(known, own, most[1])]
    if times[short].sum() >= CLOSED * total:
        with np.errstate(over="ignore"):
            single = known.astype(np.float32), own.astype(np.float32)
        ways.append((short, _Writing("rounded to 32 bits", *single)))
    hits = [_hits(way, members, times) for members, way in ways]
    if hits and max(hits) > here:
        members, way = ways[hits.index(max(hits))]
        yield Written(way.words, members, _objects(way.known), _objects(way.own))


@dataclass(frozen=True)
class _Writing:
    words: str
    known: NDArray[np.generic]
    own: NDArray[np.generic]


def _objects(values: NDArray[np.generic]) -> NDArray[np.object_]:
    return np.array(values.tolist(), dtype=object)


def _hits(way: _Writing, members: Flags, times: Counts) -> int:
    """Count the rows of the file with a number that the data have, written so."""
    return int(times[members & np.isin(way.own, way.known)].sum())


def _best(ways: Sequence[_Writing], members: Flags, times: Counts) -> Written:
    way = max(ways, key=lambda way: _hits(way, members, times))
    return Written(way.words, members, _objects(way.known), _objects(way.own))


def _most_of(places: Counts, times: Counts) -> int:
    """Return the digits that nearly all rows have at most."""
    order = np.argsort(places, kind="stable")
    share = np.cumsum(times[order]) / times.sum()
    return int(places[order][np.searchsorted(share, CLOSED)])


def _short(numbers: Numbers) -> Flags:
    """Check which numbers are those of 32 bits, or their shortest decimals."""
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32)
    return (single.astype(np.float64) == numbers) | (_shortest(numbers) == numbers)


def _shortest(numbers: Numbers) -> Numbers:
    """Return the shortest decimals of the numbers in 32 bits."""
    with np.errstate(over="ignore"):
        return np.array([float(str(number)) for number in numbers.astype(np.float32)])


def _rounded(known: Numbers, own: Numbers, places: int) -> Iterator[_Writing]:
    """Yield the ways to round to decimal places; negative ones are tens, hundreds."""
    words = f"rounded to {places} decimal places" if places > 0 else "rounded to whole numbers"
    words = words if places >= 0 else f"rounded to {10**-places:,}"
    scale = 10.0**places
    with np.errstate(over="ignore", invalid="ignore"):
        scaled, here = known * scale, np.rint(own * scale)
        tie = _TIE * np.maximum(1.0, np.abs(scaled))
        rounds: list[Callable[[], Numbers]] = [
            lambda: np.rint(scaled),
            lambda: np.floor(scaled + 0.5 + tie),
            lambda: np.ceil(scaled - 0.5 - tie),
            lambda: np.floor(scaled + tie),
            lambda: np.ceil(scaled - tie),
        ]
        for number, way in enumerate(rounds):
            yield _Writing(words if number < 3 else words.replace("rounded", "cut"), way(), here)


def _shortened(known: Numbers, own: Numbers, significant: int) -> Iterator[_Writing]:
    """Yield the ways to keep so many significant digits."""
    words = f"rounded to {significant} significant digits"
    yield _Writing(
        words,
        np.array([float(f"{number:.{significant}g}") for number in known]),
        np.array([float(f"{number:.{significant}g}") for number in own]),
    )


def _rounded_cells(
    ours: Counts, theirs: Counts, times: Counts, finest: int
) -> Iterator[tuple[int, int]]:
    """Yield pairs of decimal places: cells between them are rounded to the second.

    In a column of many digits few cells have few: one in ten has a digit less. Where more have so
    few than have one more, these are rounded.
    """
    low, high = int(theirs.min()), min(int(theirs.max()), finest - 1)
    before, total, many = low - 1, times.sum(), 0
    for place in range(low, high + 1):
        here = int(times[theirs == place].sum())
        more = int(times[theirs == place + 1].sum())
        share, usual = times[theirs <= place].sum() / total, (ours <= place).mean()
        is_more = share > _BEYOND + _TIMES * usual
        if here >= max(_FEWEST, _TIMES * more) and is_more and many < MOST_WAYS:
            yield before, place
            before, many = place, many + 1


def ways_of_dates(known: Sequence[Value], own: Sequence[Value]) -> list[Written]:
    """Return how a file cuts dates: without the time, the day or the month."""
    strange = [value for value in own if value not in set(known)]
    lengths = {len(str(value)) for value in strange}
    words = {_DATE: "without the time", _MONTH: "without the day", _YEAR: "the year alone"}
    if len(lengths) != 1 or (length := lengths.pop()) not in words:
        return []
    if all(len(str(value)) <= length for value in known):
        return []
    cut = [np.array([str(v)[:length] for v in values], dtype=object) for values in (known, own)]
    return [Written(words[length], np.isin(np.array(own, dtype=object), strange), *cut)]
