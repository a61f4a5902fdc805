"""Times that values of a column may mean: dates with times as texts, and numbers that count time.

Dates are read in any order of day, month and year, with names of months in English or German.
Numbers may count days, hours, minutes, seconds or their parts from any midnight, as computers and
spreadsheets do: the time of the day, the minute and the day of the week follow without its date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats

DAY = 86_400.0
UNITS = (DAY, 3_600.0, 60.0, 1.0, 1e-3, 1e-6)  # seconds of what a number may count
LEAST_DAYS = 2  # that numbers span, if they count time
MONTHS = (
    ("jan",),
    ("feb",),
    ("mar", "mär", "mrz"),
    ("apr",),
    ("may", "mai"),
    ("jun",),
    ("jul",),
    ("aug",),
    ("sep",),
    ("oct", "okt"),
    ("nov",),
    ("dec", "dez"),
)
ORIGINS = (date(1970, 1, 1), date(1899, 12, 30), date(1960, 1, 1), date(1, 1, 1))
"""From which computers, spreadsheets and programs of statistics count days."""
YEARS = (1900, 2100)
_NAME = re.compile("|".join(name for names in MONTHS for name in names))
_SHORT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:[T ]?(\d\d)(\d\d)(\d\d)?)?")


def moments_of(texts: Sequence[str]) -> Floats:
    """Return days since the year 1, with the time of the day as a fraction; nan for no date.

    Nothing is a date where less than half of the texts are. The month comes before the day where
    more of the texts are dates like that.
    """
    none = np.full(len(texts), np.nan)
    split = [_numbers_in(text) for text in texts]
    read = [none]
    for order in ((2, 1, 0), (2, 0, 1)):
        read.append(np.array([_moment(parts, order) for parts in split], dtype=float).ravel())
    best = max(read, key=lambda days: int(np.isfinite(days).sum()))
    return best if 2 * np.isfinite(best).sum() >= max(1, len(texts)) else none


def clock_features(days: Floats) -> Iterator[NDArray[np.int64]]:
    """Yield what a calendar and a clock say of days since the year 1; 0 for no time."""
    yield from _cycles(days, DAY)
    yield from _calendar(days)


def clocks_of_numbers(numbers: Floats) -> Iterator[NDArray[np.int64]]:
    """Yield what clocks and calendars say of numbers, in each unit that they may count."""
    for unit in UNITS:
        days = numbers * (unit / DAY)
        if not np.nanmax(days) - np.nanmin(days) >= LEAST_DAYS:
            continue
        yield from _cycles(numbers, unit)
        for origin in ORIGINS[:-1]:
            moved = days + origin.toordinal()
            if all(
                YEARS[0] <= 1 + day / 365.25 <= YEARS[1] for day in np.nanquantile(moved, (0, 1))
            ):
                yield from _calendar(moved)


def _cycles(times: Floats, unit: float) -> Iterator[NDArray[np.int64]]:
    """Yield the hour, the minute, the weekday and the hour of the week, in cells from 1."""
    seconds = np.round(times * unit, 3)
    yield _cells(seconds % DAY // 3_600)
    yield _cells(seconds % 3_600 // 60)
    yield _cells(seconds % (7 * DAY) // DAY)
    yield _cells(seconds % (7 * DAY) // 3_600)


def _calendar(days: Floats) -> Iterator[NDArray[np.int64]]:
    whole = np.nan_to_num(np.floor(days), nan=1.0).astype(np.int64)
    known = np.isfinite(days)
    moments = (np.datetime64("0001-01-01") + (whole - 1)).astype("datetime64[D]")
    months = moments.astype("datetime64[M]")
    month = months.astype(np.int64) % 12
    year = moments.astype("datetime64[Y]").astype(np.int64) + 1970
    day = (moments - months).astype(np.int64)
    of_year = (moments - moments.astype("datetime64[Y]")).astype(np.int64)
    for part in (month, month // 3, day, of_year // 2, of_year // 7, year % 100, year % 4):
        yield np.where(known, 1 + part, 0)
    if known.any():
        yield np.where(known, (whole - whole[known].min()) // 7 % 199 + 1, 0)


def _cells(cells: Floats) -> NDArray[np.int64]:
    return np.nan_to_num(cells + 1).astype(np.int64)


def _numbers_in(text: str) -> list[int]:
    """Return the whole numbers of a text, a month's name as its number, afternoons 12 hours on."""
    lower = text.casefold()
    if match := _SHORT.fullmatch(lower):
        return [int(part) for part in match.groups() if part]
    lower = _NAME.sub(lambda name: f" {_month(name[0])} ", lower, count=1)
    numbers = [int(run) for run in re.findall(r"\d+", lower)[:6] if len(run) <= 4]
    half = re.search("[ap]m", lower)
    if half and len(numbers) > 3 and numbers[3] <= 12:
        numbers[3] = numbers[3] % 12 + 12 * (half[0] == "pm")
    return numbers


def _month(name: str) -> int:
    return next(number for number, names in enumerate(MONTHS, start=1) if name in names)


def _moment(numbers: Sequence[int], order: tuple[int, int, int]) -> float:
    """Return a day and its fraction, of numbers with year, month and day at these places."""
    if len(numbers) < 3:
        return np.nan
    year, month, day = numbers[:3] if numbers[0] > 31 else (numbers[place] for place in order)
    if year < 100:
        year += 2000 if year < 50 else 1900
    hour, minute, second = (*numbers[3:6], 0, 0, 0)[:3]
    try:
        moment = date(year, month, day)
    except ValueError:
        return np.nan
    if not YEARS[0] <= year <= YEARS[1] or hour > 24 or minute > 59 or second > 60:
        return np.nan
    return moment.toordinal() + timedelta(hours=hour, minutes=minute, seconds=second) / timedelta(1)
