"""Dates that one file writes as dates and another as numbers: days or seconds from some start."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from narcissus.tables.spelling import number_in

WITHIN = 0.9
"""Share of the values that lie among the dates of the other file where they are dates."""
STARTS = (
    (datetime(1899, 12, 30), 86_400.0),  # spreadsheets
    (datetime(1904, 1, 1), 86_400.0),  # spreadsheets of old computers
    (datetime(1960, 1, 1), 86_400.0),  # SAS and Stata
    (datetime(1970, 1, 1), 86_400.0),  # R and Python
    (datetime(1960, 1, 1), 1.0),  # SAS
    (datetime(1960, 1, 1), 1e-3),  # Stata
    (datetime(1582, 10, 14), 1.0),  # SPSS
    (datetime(1970, 1, 1), 1.0),  # Unix
    (datetime(1970, 1, 1), 1e-3),
)
"""Where the numbers of programs start that stand for dates, and the seconds of each step."""


def dates_of(values: Sequence[Any], known: Collection[str]) -> list[Any] | None:
    """Return the dates that values stand for, as text; None where few lie among known dates.

    Of several starts, the one by which most values are dates that are known.

    >>> dates_of([43831, 43862], ["2020-01-01", "2020-12-31"])
    ['2020-01-01', '2020-02-01']
    """
    first, last = min(known), max(known)
    ways: list[Callable[[Any], datetime | None]] = [_digits, _of_week, _of_year]
    ways += [_counted(start, seconds) for start, seconds in STARTS]
    threshold = max(1.0, WITHIN * sum(value is not None for value in values))
    best: list[str | None] | None = None
    score = -1, 0
    for way in ways:
        days = [None if value is None else way(value) for value in values]
        texts = [None if day is None else _written(day) for day in days]
        many = sum(text is not None and first <= text <= f"{last}~" for text in texts)
        hits = sum(text in known for text in texts)
        if many >= threshold and (hits, many) > score:
            best, score = texts, (hits, many)
    if best is None:
        return None
    return [value if text is None else text for value, text in zip(values, best, strict=True)]


def week_of(text: str) -> str:
    """Return the week of a date, as ISO 8601 writes it; the text itself of what is none.

    >>> week_of("2021-01-01")
    '2020-W53'
    """
    try:
        year, week, _ = date.fromisoformat(text[:10]).isocalendar()
    except ValueError:
        return text
    return f"{year}-W{week:02}"


def _written(day: datetime) -> str:
    return day.strftime("%Y-%m-%d" if day == datetime(day.year, day.month, day.day) else "%F %T")


def _counted(start: datetime, seconds: float) -> Callable[[Any], datetime | None]:
    def read(value: Any) -> datetime | None:
        number = number_in(value)
        if number is None or not math.isfinite(number):
            return None
        try:
            return start + timedelta(seconds=round(number * seconds))
        except OverflowError:
            return None

    return read


def _digits(value: Any) -> datetime | None:
    """Read 20200131."""
    return _parsed(f"{number_in(value)}", "%Y%m%d")


def _of_week(value: Any) -> datetime | None:
    """Read 2020-W05-3."""
    return _parsed(str(value).upper(), "%G-W%V-%u")


def _of_year(value: Any) -> datetime | None:
    """Read 2020-031, the day of a year."""
    return _parsed(str(value), "%Y-%j")


def _parsed(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None
