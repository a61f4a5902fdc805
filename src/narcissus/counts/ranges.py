"""Labels that are ranges of whole numbers, as offices write them: which of them hold which.

``18-64``, ``18 bis 64``, ``Y18T64``, ``[18,65)``, ``18+``, ``65 and over``, ``C00-C97``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

Range = tuple[int, int]
"""The least and the largest number, both included."""
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
    found: tuple[str, Range] | None = None
    if match := _CLOSED.fullmatch(text):
        if match[3] in ("", match[1]):
            found = match[1], (int(match[2]), int(match[4]))
    elif match := _HALF_OPEN.fullmatch(text):
        low = int(match[2]) + (match[1] != "[")
        high = ENDLESS if match[3] is None else int(match[3]) - (match[4] != "]")
        found = "", (low, high)
    elif match := _FROM.fullmatch(text):
        found = "", (int(match[1] or match[2]), ENDLESS)
    elif match := _ABOVE.fullmatch(text):
        found = "", (int(match[1]) + 1, ENDLESS)
    elif match := _BELOW.fullmatch(text):
        found = "", (0, int(match[1]) - 1)
    elif match := _UP_TO.fullmatch(text):
        found = "", (0, int(match[1]))
    elif match := _POINT.fullmatch(text):
        found = match[1], (int(match[2]), int(match[2]))
    return found if found is not None and found[1][0] <= found[1][1] else None


def read_ranges(labels: Iterable[str]) -> dict[str, dict[str, Range]]:
    """Return the ranges among labels, by the letters of their codes.

    Where a range ends at the number at which another one begins, none holds its last number.
    """
    found: dict[str, dict[str, Range]] = {}
    for label in labels:
        if (read := read_range(label)) is not None:
            found.setdefault(read[0], {})[label] = read[1]
    for code, ranges in found.items():
        wide = [span for span in ranges.values() if span[0] < span[1] < ENDLESS]
        begins = {low for low, high in ranges.values() if low < high}
        if any(high in begins for _, high in wide):
            found[code] = {
                label: (low, high - (low < high < ENDLESS)) for label, (low, high) in ranges.items()
            }
    return found


def overlapping_ranges(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the ranges among labels of which some overlap, so that they count people twice."""
    chosen: list[str] = []
    for ranges in read_ranges(labels).values():
        spans = sorted(ranges.values())
        if any(low <= high for (_, high), (low, _) in pairwise(spans)):
            chosen += ranges
    return tuple(chosen)


def cut_ranges(labels: Iterable[str]) -> dict[str, list[str]]:
    """Return the pieces into which the ends of ranges cut them, and the labels that hold each.

    A piece that is a label itself has its name; the others are named by their ends.
    """
    pieces: dict[str, list[str]] = {}
    for code, ranges in read_ranges(labels).items():
        ends = ranges.values()
        cuts = sorted({low for low, _ in ends} | {high + 1 for _, high in ends})
        for low, high in ((low, after - 1) for low, after in pairwise(cuts)):
            holders = [label for label, (a, b) in ranges.items() if a <= low and high <= b]
            name = next((label for label in holders if ranges[label] == (low, high)), None)
            if holders:
                pieces[name or _name_range(code.upper(), low, high)] = holders
    return pieces


def _name_range(code: str, low: int, high: int) -> str:
    if high >= ENDLESS:
        return f"{code}{low}+"
    return f"{code}{low}" if low == high else f"{code}{low}-{code}{high}"
