"""Labels that are ranges of whole numbers, as offices write them: which of them hold which.

``18-64``, ``18 bis 64``, ``Y18T64``, ``[18,65)``, ``18+``, ``65 and over``, ``C00-C97``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise

from narcissus._visible import visible
from narcissus.errors import InputError

Range = tuple[int, int]
"""The least and the largest number, both included."""
CodedRange = tuple[str, Range]
"""The letters of a range's code, and its ends."""
ENDLESS = 10**9
"""Stands for the largest number of a range that has no end."""
_UNITS = re.compile(
    r"\b(years?|yrs?|yo|y\.o\.|jahren?|ans|anni|a\u00f1os|anos|jaar|\u00e5r|aar|vuotta|lat|let"
    r"|aged?|alter|old|im alter von)\b\.?"
)
_NUMBER = r"(\d{1,9})"
_TO = r"(?:-|to|bis|through|until|\u00e0|a|t|til|till|tot|do|:|\.{2,3}|\u2026)"
_AND = r"(?:and|or|&|und|oder|et|ou|y|o|e|och|eller|og|en|of|ja|tai|i|lub)"
_MORE = (
    r"(?:over|older|more|above|up|upwards?|mehr|\u00e4lter|aelter|dar\u00fcber|plus|m\u00e1s|mas"
    r"|mayores|pi\u00f9|oltre|\u00e4ldre|\u00f6ver|eldre|\u00e6ldre|mere|mer|ouder|meer|wi\u0119cej"
    r"|starsi|vanhemmat|enemm\u00e4n|viac|v\u00edce)"
)
_CLOSED = re.compile(rf"([a-z]{{0,3}}){_NUMBER}\s*{_TO}\s*([a-z]{{0,3}}){_NUMBER}")
_HALF_OPEN = re.compile(rf"([\[(\]]){_NUMBER}\s*[,;]\s*(?:{_NUMBER}|\+?inf|\u221e)([\])\[])")
_FROM = re.compile(
    rf"(?:{_NUMBER}\s*(?:\+|\.{{2,3}}|\u2026|-|{_AND}\s*{_MORE}|{_MORE})"
    rf"|(?:>=|\u2265|_?ge_?|from|ab|at least|d\u00e8s|desde)\s*{_NUMBER})"
)
_ABOVE = re.compile(rf"(?:>|_?gt_?|over|above|\u00fcber|plus de)\s*{_NUMBER}")
_BELOW = re.compile(rf"(?:<|_?lt_?|under|below|unter|less than|moins de|menos de)\s*{_NUMBER}")
_UP_TO = re.compile(rf"(?:<=|\u2264|_?le_?|up to|bis|jusqu'\u00e0|hasta)\s*{_NUMBER}")
_POINT = re.compile(r"([a-z]{0,3})(0|[1-9]\d{0,8}|(?<=[a-z])\d{1,9})")


@lru_cache(maxsize=2**16)
def read_range(label: str) -> tuple[str, Range] | None:
    """Read a label as a range: the letters of its code, and its ends; None: it is none."""
    text = re.sub(r"[\u2010-\u2015\u2212]", "-", label.casefold())
    text = re.sub(r"\s+", " ", _UNITS.sub(" ", text)).strip()
    text = re.sub(r"^y(?=\d|_?(ge|gt|le|lt))", "", text)  # Eurostat's ages
    coded_range: tuple[str, Range] | None = None
    if match := _CLOSED.fullmatch(text):
        if match[3] in ("", match[1]):
            coded_range = match[1], (int(match[2]), int(match[4]))
    elif match := _HALF_OPEN.fullmatch(text):
        low = int(match[2]) + (match[1] != "[")
        high = ENDLESS if match[3] is None else int(match[3]) - (match[4] != "]")
        coded_range = "", (low, high)
    elif match := _FROM.fullmatch(text):
        coded_range = "", (int(match[1] or match[2]), ENDLESS)
    elif match := _ABOVE.fullmatch(text):
        coded_range = "", (int(match[1]) + 1, ENDLESS)
    elif match := _BELOW.fullmatch(text):
        coded_range = "", (0, int(match[1]) - 1)
    elif match := _UP_TO.fullmatch(text):
        coded_range = "", (0, int(match[1]))
    elif match := _POINT.fullmatch(text):
        coded_range = match[1], (int(match[2]), int(match[2]))
    return (
        coded_range if coded_range is not None and coded_range[1][0] <= coded_range[1][1] else None
    )


def read_ranges(tables: Iterable[Iterable[str]]) -> dict[str, CodedRange]:
    """Return the ranges among the labels of some tables, with the letters of their codes.

    In a table in which a range ends where another one begins, and none one further, no range holds
    its last number. Raises `InputError` for a label of which that is open: another table alone has
    a range that begins at its end.
    """
    each = [_coded(labels) for labels in tables]
    coded_ranges: dict[str, CodedRange] = {}
    for ranges in each:
        halves = {
            code for code in {code for code, _ in ranges.values()} if _are_half_open(ranges, code)
        }
        for label, (code, (low, high)) in ranges.items():
            is_half = code in halves and low < high < ENDLESS
            span = code, (low, high - is_half)
            if coded_ranges.setdefault(label, span) != span:
                raise InputError(f"whether `{visible(label)}` holds {high} differs by the table")
    for ranges in each:
        for label, (code, (low, high)) in ranges.items():
            begins, others = _begins(ranges.values(), code), _begins(coded_ranges.values(), code)
            is_open = low < high < ENDLESS and not begins & {high, high + 1} and high in others
            if is_open and not _is_settled(ranges, code):
                raise InputError(
                    f"whether {high} is in `{visible(label)}` is open, since a range of another "
                    f"table begins there: write the ends of ranges apart, such as {high - 1} and "
                    f"{high}"
                )
    return coded_ranges


def _coded(labels: Iterable[str]) -> dict[str, CodedRange]:
    each = ((label, read_range(label)) for label in labels)
    return {label: read for label, read in each if read is not None}


def _begins(ranges: Iterable[CodedRange], code: str) -> set[int]:
    return {low for letters, (low, high) in ranges if letters == code and low < high}


def _ends(ranges: Mapping[str, CodedRange], code: str) -> set[int]:
    spans = (span for letters, span in ranges.values() if letters == code)
    return {high for low, high in spans if low < high < ENDLESS}


def _are_half_open(ranges: Mapping[str, CodedRange], code: str) -> bool:
    """Return whether ranges of a table end where others begin, and none where another ended."""
    begins, ends = _begins(ranges.values(), code), _ends(ranges, code)
    return bool(begins & ends) and not begins & {end + 1 for end in ends}


def _is_settled(ranges: Mapping[str, CodedRange], code: str) -> bool:
    """Return whether a table shows how its ranges end."""
    begins, ends = _begins(ranges.values(), code), _ends(ranges, code)
    return bool(begins & (ends | {end + 1 for end in ends}))


def overlapping_ranges(ranges: Mapping[str, CodedRange]) -> dict[str, CodedRange]:
    """Return the ranges of which some overlap, so that they count people twice."""
    chosen: dict[str, CodedRange] = {}
    for code in dict.fromkeys(code for code, _ in ranges.values()):
        some = {label: span for label, (letters, span) in ranges.items() if letters == code}
        spans = sorted(some.values())
        if any(low <= high for (_, high), (low, _) in pairwise(spans)):
            chosen |= {label: (code, span) for label, span in some.items()}
    return chosen


def cut_ranges(ranges: Mapping[str, CodedRange]) -> dict[str, list[str]]:
    """Return the pieces into which the ends of ranges cut them, and the labels that hold each.

    A piece that is a label itself has its name; the others are named by their ends.
    """
    pieces: dict[str, list[str]] = {}
    for code in dict.fromkeys(code for code, _ in ranges.values()):
        spans = {label: span for label, (letters, span) in ranges.items() if letters == code}
        ends = spans.values()
        cuts = sorted({low for low, _ in ends} | {high + 1 for _, high in ends})
        for low, high in ((low, after - 1) for low, after in pairwise(cuts)):
            holders = [label for label, (a, b) in spans.items() if a <= low and high <= b]
            name = next((label for label in holders if spans[label] == (low, high)), None)
            if holders:
                pieces[name or _name_range(code.upper(), low, high)] = holders
    return pieces


def _name_range(code: str, low: int, high: int) -> str:
    if high >= ENDLESS:
        return f"{code}{low}+"
    return f"{code}{low}" if low == high else f"{code}{low}-{code}{high}"
