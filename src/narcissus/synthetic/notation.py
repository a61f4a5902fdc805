"""How a file writes the values that the data have: rounded, cut, with fewer digits.

A number of the file is one of the data if the data's number, written as the file writes it, is the
same: rounded to so many places (half to even, half up, cut down or up), to so many significant
digits, or to 32 bits. A date may have lost its time, its day or its month. Which of these a column
shows follows from the digits that its values have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from narcissus.synthetic.days import week_of
from narcissus.synthetic.lines import Line, carried, line_of_a_part, places_of, shortest_line
from narcissus.tables.spelling import Value

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]
RULES = ("half to even", "half up", "cut")
"""Rules that numbers of a file may be rounded by; columns of one file mostly follow one."""
CLOSED = 0.99
"""Share of a column's cells that are written so where the column is."""
MOST_SIGNIFICANT = 9
"""Most significant digits that a column can have been rounded to."""
MOST_WAYS = 3
"""Most ways beside the one of the whole column that some of its cells are rounded in."""
MOST_LEVELS = 100
"""Most numbers of a column that each stand for several numbers of the data, at any distance."""
FINER = 3
"""Times as many numbers of the data as of such a column."""
_FEWEST = 3  # cells that are rounded in such a way
_TIMES = 3  # as many of them as of those with one digit more
_BEYOND = 0.002  # share of the cells beyond that of the data
_TIE = 1e-9
_ERRORS = 8  # rounding errors of a number that was scaled
_LARGEST_TIE = 0.01  # of larger numbers nothing tells the middle from its neighbours
_MIDDLE_DOWN = "half down"
_BY_CHANCE = 1e-6  # chance up to which rows of the data's law lie on a grid
_BLOCK = 8  # neighbouring numbers whose common step is sought
_LARGEST = 2.0**52
_FEWEST_MOVED = 10  # different numbers of a column that can have been moved
_MOST_FITTED = 10_000
_SLIGHT = 0.02  # what two files may differ by and be written alike
_MOVED = 0.9  # share of the rows that agree where a file was moved
_DEVIATIONS = 2  # by which cutting must be better than rounding
_PART = 0.25  # of what disagrees where it is taken as it is
_DATE = len("2020-12-31")
_WEEK = re.compile(r"\d{4}-w\d\d", re.IGNORECASE)
_MONTH, _YEAR = len("2020-12"), len("2020")


@dataclass(frozen=True)
class Written:
    """One way that cells of a column are written in."""

    words: str  # "rounded to 2 places"
    members: Flags  # of each value of the file, whether it is written so
    known: NDArray[np.object_]  # of each value of the data, what it is if it is written so
    own: NDArray[np.object_]  # of each value of the file, the same
    # as ``known``, by each rule of `RULES` that may have written it; None: no other reading
    by_rule: tuple[NDArray[np.object_] | None, ...] = ()


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


def ways_of_numbers(
    known: Numbers, own: Numbers, times: Counts, people: Counts | None = None
) -> list[Written]:
    """Return the ways that a file writes numbers in, which are coarser than the data's.

    known: Different numbers of the data, shape (known,).
    own: Different numbers of the file, shape (own,).
    times: Rows of the file with each of these.
    people: Rows of the data with each of ``known``; None: one of each.
    """
    total = int(times.sum())
    if not len(known) or not total:
        return []
    people = np.ones(len(known), np.int64) if people is None else people
    written, short = own, _short(own)
    if times[short].sum() >= CLOSED * total:  # what 32 bits add to a decimal is none of its digits
        own = np.where(short, _shortest(own), own)
    ours, theirs = digits(known.tolist()), digits(own.tolist())
    is_there, is_wide = np.isin(written, known), bool((written != own).any())
    ways = _of_column(known, own, times, people, (ours, theirs), is_there, is_wide=is_wide)
    alike = max(
        (_shared(way.known, people, way.own[way.members], times[way.members]) for way in ways),
        default=0.0,
    )
    if (way := moved(known, people, own, times, alike)) is not None:
        return [way]
    finest = int(ours[0].max())
    for first, last in _rounded_cells(ours[0], theirs[0], times, finest):
        members = (theirs[0] > first) & (theirs[0] <= last) & ~is_there
        members &= ~np.any([way.members for way in ways], axis=0) if ways else True
        if members.any():
            some = _rounded(known, own, last)
            ways.append(_best([(members, way) for way in some], people, times))
    return ways


def _of_column(
    known: Numbers,
    own: Numbers,
    times: Counts,
    people: Counts,
    shown: tuple[tuple[Counts, Counts], tuple[Counts, Counts]],
    is_there: Flags,
    *,
    is_wide: bool,
) -> list[Written]:
    """Return the way that a whole column is written in, if it is coarser than the data's.

    shown: Decimal places and significant digits of the data, and of the file.
    is_there: Of each number of the file, whether the data have it as it is.
    is_wide: Whether the file writes numbers of 32 bits with more digits than these have.
    """
    ours, theirs = shown
    total, here = int(times.sum()), int(times[is_there].sum())
    places, significant = (_most_of(part, times) for part in theirs)
    short = _short(own)

    def is_coarser(is_so: Flags) -> bool:
        return _is_coarser(float(people[is_so].sum() / people.sum()), total)

    ways: list[tuple[Flags, _Writing]] = []
    grid = _coarser_grid(known, own, times, people, places)
    if grid is not None:
        step, offset, members = grid
        ways += [(members, way) for way in _rounded(known, own, places, step, offset)]
    are_levels = _are_levels(own, known) and is_coarser(np.isin(known, own))
    if here < CLOSED * total or grid is not None:
        if places < ours[0].max() and is_coarser(ours[0] <= places):
            ways += [(theirs[0] <= places, way) for way in _rounded(known, own, places)]
        if significant <= MOST_SIGNIFICANT and is_coarser(ours[1] <= significant):
            ways += [(theirs[1] <= significant, way) for way in _shortened(known, own, significant)]
        is_shorter = is_wide or is_coarser(_short(known)) or is_coarser(_single(known))
        if times[short].sum() >= CLOSED * total and is_shorter and not is_there.all():
            with np.errstate(over="ignore"):
                single = known.astype(np.float32), own.astype(np.float32)
            ways.append((short, _Writing("rounded to 32 bits", *single)))
    if are_levels:
        every = np.ones(len(own), np.bool_)
        levels = [(every, way) for way in _in_levels(known, own)]
        before = max(_agreeing([(every, _Writing("", known, own)), *ways], people, times))
        if max(_agreeing(levels, people, times)) > before + _DEVIATIONS * math.sqrt(before):
            return [_best(levels, people, times)]
    hits = [_hits(way, members, times) for members, way in ways]
    if not hits or (grid is None and max(hits) <= here):
        return []
    return [_best(ways, people, times)]


def _coarser_grid(
    known: Numbers, own: Numbers, times: Counts, people: Counts, places: int
) -> tuple[int, int, Flags] | None:
    """Return step, offset and members of the widest grid that nearly all rows lie on.

    Both are in units of the last place. None if so many rows of the data's law might lie on it
    by chance.
    """
    scale = 10.0**places
    with np.errstate(over="ignore", invalid="ignore"):
        scaled, ours = own * scale, known * scale
    if places > MOST_SIGNIFICANT or np.abs(scaled).max() > _LARGEST:
        return None
    whole = np.rint(scaled).astype(np.int64)
    is_whole = np.abs(scaled - whole) <= _tie_of(scaled)
    total = int(times.sum())
    for step in _steps(np.unique(whole[is_whole])):
        rest = whole % step
        shares = np.bincount(np.unique(rest[is_whole], return_inverse=True)[1], times[is_whole])
        offset = int(np.unique(rest[is_whole])[shares.argmax()])
        if shares.max() < CLOSED * total:
            continue
        apart = np.abs((ours - offset) / step - np.rint((ours - offset) / step))
        share = float(people[apart <= _tie_of(ours)].sum() / people.sum())
        members = is_whole & (rest == offset)
        return (step, offset, members) if _is_coarser(share, total) else None
    return None


def _are_levels(own: Numbers, known: Numbers) -> bool:
    """Check whether a column has so few numbers that each may stand for many of the data's."""
    return 1 < len(own) <= min(MOST_LEVELS, len(known) // FINER)


def _in_levels(known: Numbers, own: Numbers) -> Iterator[_Writing]:
    """Yield the ways to write the nearest number that the file has, the next below or above."""
    levels = np.unique(own)
    middles = (levels[1:] + levels[:-1]) / 2
    nearest, last = levels[np.searchsorted(middles, known)], len(levels) - 1
    below = levels[np.maximum(np.searchsorted(levels, known, "right") - 1, 0)]
    above = levels[np.minimum(np.searchsorted(levels, known), last)]
    yield _Writing(f"rounded to {len(levels)} numbers", nearest, own, RULES[1])
    yield _Writing(f"cut to {len(levels)} numbers", below, own, RULES[2])
    yield _Writing(f"cut to {len(levels)} numbers", above, own, RULES[2])


def _is_coarser(share: float, rows: int) -> bool:
    """Check whether chance explains that rows are all of a form that a share of the data has."""
    return rows * math.log(max(share, 1e-300)) < math.log(_BY_CHANCE)


def _steps(whole: Counts) -> list[int]:
    """Return steps that many sorted whole numbers may lie apart by, the widest first."""
    steps: set[int] = set()
    for start in range(0, len(whole), _BLOCK):
        some = np.diff(whole[start : start + _BLOCK + 1])
        if len(some):
            steps.add(int(np.gcd.reduce(some)))
    if len(whole) > 1:
        steps.add(int(np.gcd.reduce(np.diff(whole))))
    return sorted(steps, reverse=True)


def moved(
    known: Numbers, people: Counts, own: Numbers, times: Counts, alike: float = 0.0
) -> Written | None:
    """Return how a file moves or scales all numbers of the data, if it does.

    That is so where the values of both, in order, lie on one line, but for rounding, and as many
    rows have each: the whole data, or values like them, are written. Where a part of the data is,
    or other people are there as well, more numbers lie on one line than chance explains.

    alike: Share of the rows that have the data's values if the file only rounds.
    """
    if len(known) < _FEWEST_MOVED or len(own) < _FEWEST_MOVED:
        return None
    as_they_are = max(alike, _shared(known, people, own, times))
    if as_they_are > 1 - _SLIGHT:
        return None
    places = places_of(own, _most_of(digits(own.tolist())[0], times))
    many = int(min(people.sum(), times.sum(), _MOST_FITTED))
    at = (np.arange(many) + 0.5) / many
    here, there = _quantiles(known, people, at), _quantiles(own, times, at)
    if not here.std() or not there.std():
        return None
    scale = 10.0**places
    lines = [(1.0, float(np.mean(there - here)))]
    for ordered in (here, here[::-1]):
        slope, level = np.polyfit(ordered - here.mean(), there, 1)
        lines.append((float(slope), float(level - slope * here.mean())))
    ways = [_on_line(known, own, line, scale) for line in lines]
    shares = [_shared(way.known, people, way.own, times) for way in ways]
    share = max(shares)
    if share >= _MOVED and 1 - share < _PART * (1 - as_they_are):
        line = lines[shares.index(share)]
        return _carried_by(shortest_line(line, known, own, places), known, own, scale)
    line = line_of_a_part(known, own, places)
    if line is None:
        return None
    line = shortest_line(line, known, own, places)
    way = _on_line(known, own, line, scale)
    share = _shared(way.known, people, way.own, times)
    return _carried_by(line, known, own, scale) if share > _TIMES * as_they_are else None


def _on_line(known: Numbers, own: Numbers, line: tuple[float, float], scale: float) -> _Writing:
    """Return numbers of the data that a line carries to those of the file."""
    slope, level = line
    words = f"moved by {level:.4g}"
    if not math.isclose(slope, 1, rel_tol=1e-9):
        words = f"in other units (times {slope:.4g}, plus {level:.4g})"
    return _Writing(words, carried(slope * known + level, 1 / scale), np.rint(own * scale))


def _carried_by(line: Line, known: Numbers, own: Numbers, scale: float) -> Written:
    """Return how the file writes numbers that a line carries; the middle is rounded either way."""
    way, every = _on_line(known, own, line, scale), np.ones(len(own), np.bool_)
    scaled = (line[0] * known + line[1]) * scale
    tie = _TIE * np.maximum(1.0, np.abs(scaled))
    # a product has last digits of its own: it is rounded as it is, or the middle up, or down
    known_as = np.rint(scaled), np.ceil(scaled - 0.5 - tie), np.floor(scaled + 0.5 + tie)
    readings = [None if (r == known_as[0]).all() else _objects(r) for r in known_as[1:]]
    return Written(way.words, every, _objects(known_as[0]), _objects(way.own), tuple(readings))


def _quantiles(numbers: Numbers, times: Counts, at: Numbers) -> Numbers:
    order = np.argsort(numbers)
    place = np.searchsorted(np.cumsum(times[order]) / times.sum(), at)
    return numbers[order][np.minimum(place, len(order) - 1)]


def _shared(
    known: NDArray[np.generic], people: Counts, own: NDArray[np.generic], times: Counts
) -> float:
    """Return the share of rows that two files have in common, value by value."""
    values, place = np.unique(np.concatenate([known, own]), return_inverse=True)
    ours, theirs = (
        np.bincount(part, weight, len(values)) / max(1, weight.sum())
        for part, weight in zip(np.split(place.ravel(), [len(known)]), (people, times), strict=True)
    )
    return float(np.minimum(ours, theirs).sum())


@dataclass(frozen=True)
class _Writing:
    words: str
    known: NDArray[np.generic]
    own: NDArray[np.generic]
    rule: str = ""  # of `RULES`, where it is one of these
    step: tuple[float, float] | None = None  # that it is rounded to, and from where

    @property
    def is_rare(self) -> bool:
        """Whether hardly any program rounds so: the middle down."""
        return self.rule == _MIDDLE_DOWN


def _objects(values: NDArray[np.generic]) -> NDArray[np.object_]:
    return np.array(values.tolist(), dtype=object)


def _hits(way: _Writing, members: Flags, times: Counts) -> int:
    """Count the rows of the file with a number that the data have, written so."""
    return int(times[members & np.isin(way.own, way.known)].sum())


def _agreeing(ways: Sequence[tuple[Flags, _Writing]], people: Counts, times: Counts) -> list[float]:
    """Return for each way how many rows of the file have the values that people have by it."""
    return [
        _shared(way.known, people, way.own[members], times[members]) * float(times[members].sum())
        for members, way in ways
    ]


def _best(ways: Sequence[tuple[Flags, _Writing]], people: Counts, times: Counts) -> Written:
    """Return the way by which as many rows of the file have each value as of the data.

    Numbers are cut only where that is clear: where few rows are of people of the data, chance tells
    cutting from rounding.
    """
    shares = _agreeing(ways, people, times)
    threshold = max(shares) - _DEVIATIONS * math.sqrt(max(shares))
    rounded = [number for number, (_, way) in enumerate(ways) if not way.words.startswith("cut")]
    some = [number for number in rounded if shares[number] >= threshold] or range(len(ways))
    whole = CLOSED * times.sum()
    usual = [n for n in some if not ways[n][1].is_rare or shares[n] >= whole]
    some = usual or some
    members, way = ways[max(some, key=shares.__getitem__)]
    if not way.words.startswith("rounded"):
        return Written(way.words, members, _objects(way.known), _objects(way.own))
    alike = [
        n
        for n, (some_members, other) in enumerate(ways)
        if other.step == way.step and (some_members == members).all()
    ]
    readings: list[NDArray[np.generic] | None] = [None, None, None]
    for number in alike:
        rule, other = ways[number][1].rule, ways[number][1].known
        if rule in RULES[:2]:
            readings[RULES.index(rule)] = other
    likely = max(shares) - math.sqrt(max(shares))
    is_whole = times[members].sum() >= whole
    cuts = [n for n in alike if ways[n][1].rule == RULES[2] and is_whole and shares[n] >= likely]
    words = way.words
    if cuts:  # whichever of both is right: rows are read in both ways
        readings[2] = ways[max(cuts, key=shares.__getitem__)][1].known
        words = words.replace("rounded", "rounded or cut", 1)
    by_rule = [None if r is None or (r == way.known).all() else _objects(r) for r in readings]
    return Written(words, members, _objects(way.known), _objects(way.own), tuple(by_rule))


def _most_of(places: Counts, times: Counts) -> int:
    """Return the digits that nearly all rows have at most."""
    order = np.argsort(places, kind="stable")
    share = np.cumsum(times[order]) / times.sum()
    return int(places[order][np.searchsorted(share, CLOSED)])


def _short(numbers: Numbers) -> Flags:
    """Check which numbers are those of 32 bits, written with as many digits as each has.

    The shortest decimals and all digits are two of these; spreadsheets write 15 or 16.
    """
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32).astype(np.float64).tolist()
    many = digits(numbers.tolist())[1].clip(min=1).tolist()
    written = [float(f"{number:.{size}g}") for number, size in zip(single, many, strict=True)]
    return np.array(written, np.float64) == numbers


def _single(numbers: Numbers) -> Flags:
    """Check which numbers are those of 32 bits."""
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32).astype(np.float64) == numbers


def _shortest(numbers: Numbers) -> Numbers:
    """Return the shortest decimals of the numbers in 32 bits."""
    with np.errstate(over="ignore"):
        return np.array([float(str(number)) for number in numbers.astype(np.float32)])


def _rounded(
    known: Numbers, own: Numbers, places: int, step: int = 1, offset: int = 0
) -> Iterator[_Writing]:
    """Yield the ways to round to so many steps of the last of these decimal places.

    Negative places are tens, hundreds.
    """
    scale = 10.0**places
    words = _words(step / scale, offset / scale)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = (known * scale - offset) / step
        here = np.rint((own * scale - offset) / step)
        tie = _tie_of(scaled)
        cut = words.replace("rounded", "cut")
        rounds: list[tuple[str, str, Callable[[], Numbers]]] = [
            (words, RULES[0], lambda: _half_to_even(scaled, tie)),
            (words, RULES[1], lambda: np.floor(scaled + 0.5 + tie)),
            (words, _MIDDLE_DOWN, lambda: np.ceil(scaled - 0.5 - tie)),
            (cut, RULES[2], lambda: np.floor(scaled + tie)),
            (cut, RULES[2], lambda: np.ceil(scaled - tie)),
        ]
        for title, rule, way in rounds:
            yield _Writing(title, way(), here, rule, (step / scale, offset / scale))


def _tie_of(scaled: Numbers) -> Numbers:
    """Return how far rounding errors carry numbers, a few in units of their last bit."""
    return np.clip(_ERRORS * np.spacing(np.abs(scaled)), _TIE, _LARGEST_TIE)


def _half_to_even(scaled: Numbers, tie: Numbers) -> Numbers:
    """Round to whole numbers; the middle, or what is the middle but for a last digit, to even."""
    is_middle = np.abs(scaled - np.floor(scaled) - 0.5) <= tie
    return np.where(is_middle, 2 * np.rint((np.floor(scaled) + 0.5) / 2), np.rint(scaled))


def _words(step: float, offset: float) -> str:
    """Describe a rounding: by its decimal places, or by its step."""
    places = -round(math.log10(step))
    if offset or not math.isclose(step * 10.0**places, 1.0, rel_tol=1e-9):
        start = f", from {offset:,.9g}" if offset else ""
        return f"rounded to steps of {step:,.9g}{start}"
    words = f"rounded to {places} decimal places" if places > 0 else "rounded to whole numbers"
    return words if places >= 0 else f"rounded to {10**-places:,}"


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
        finer_rows = int(times[theirs == place + 1].sum())
        share, usual = times[theirs <= place].sum() / total, (ours <= place).mean()
        is_more = share > _BEYOND + _TIMES * usual
        if here >= max(_FEWEST, _TIMES * finer_rows) and is_more and many < MOST_WAYS:
            yield before, place
            before, many = place, many + 1


def ways_of_dates(known: Sequence[Value], own: Sequence[Value]) -> list[Written]:
    """Return how a file cuts dates: without the time, the day or the month, or to the week."""
    there = set(known)
    strange = [value for value in own if value not in there]
    lengths = {len(str(value)) for value in strange}
    if strange and all(_WEEK.fullmatch(str(value)) for value in strange):
        weeks = np.array([week_of(str(value)) for value in known], dtype=object)
        texts = np.array([str(value).upper() for value in own], dtype=object)
        return [
            Written(
                "the week alone", np.isin(texts, [str(v).upper() for v in strange]), weeks, texts
            )
        ]
    words = {_DATE: "without the time", _MONTH: "without the day", _YEAR: "the year alone"}
    if len(lengths) != 1 or (length := lengths.pop()) not in words:
        return []
    if all(len(str(value)) <= length for value in known):
        return []
    cut = [np.array([str(v)[:length] for v in values], dtype=object) for values in (known, own)]
    return [Written(words[length], np.isin(np.array(own, dtype=object), strange), cut[0], cut[1])]


def ways_of(
    kind: str,
    known: Sequence[Value],
    own: Mapping[Value | None, int],
    people: Mapping[Value | None, int],
) -> list[Written]:
    """Return the ways that the file writes this column in, coarser than the data.

    own, people: Rows of the file and of the data with each value.
    """
    theirs = {value: times for value, times in own.items() if value is not None}
    counts = np.array([people.get(value, 0) for value in known], np.int64)
    if kind == "dates":
        return ways_of_dates(known, list(theirs)) or _moved_days(known, counts, theirs)
    if kind != "numbers":
        return []
    is_number = np.array([not isinstance(v, str) for v in known], np.bool_)
    numbers = np.array([v for v in known if not isinstance(v, str)], np.float64)
    there = {v: n for v, n in theirs.items() if not isinstance(v, str)}
    times = np.array(list(there.values()), np.int64)
    return ways_of_numbers(numbers, np.array(list(there), np.float64), times, counts[is_number])


def _moved_days(known: Sequence[Value], people: Counts, own: Mapping[Value, int]) -> list[Written]:
    """Return by how many days the file moves all dates, if it does."""
    ours, theirs = (np.array([day_of(str(v)) for v in values]) for values in (known, own))
    if not (np.isfinite(ours).all() and np.isfinite(theirs).all()):
        return []
    way = moved(ours, people, theirs, np.array(list(own.values()), np.int64))
    return [] if way is None else [replace(way, words=f"{way.words} days")]


def day_of(text: str) -> float:
    """Return the day of a date, counted from 1970; nan of what is none."""
    try:
        return float(np.datetime64(text[:_DATE]).astype(np.int64))
    except ValueError:
        return float("nan")


def as_known(way: Written, known: Sequence[Value], own: Sequence[Value]) -> dict[Value, Value]:
    """Return, for each value of a file, the value of the data that it stands for."""
    keys = way.known.astype(np.float64)
    order = np.argsort(keys, kind="stable")
    meanings: dict[Value, Value] = {}
    for value, key in zip(own, way.own.astype(np.float64), strict=True):
        at = int(np.searchsorted(keys[order], key))
        near = order[max(0, at - 1) : at + 1]
        meanings[value] = known[int(near[np.abs(keys[near] - key).argmin()])]
    return meanings
