"""Numbers from which printed counts can be computed: sums, changes, roots, and pairs of columns.

A column that keeps such a relation in all rows whose count is printed tells the hidden counts too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, log, sqrt

from narcissus.counts.marks import decimals, read_number

ODDS = 100.0
"""By which coincidence must be excluded before a column is said to tell counts."""
FEWEST = 3
"""Rows that must keep a relation with a free factor."""
SLACK = 1e-9


@dataclass(frozen=True)
class _Printed:
    """A printed number, and half a unit of its last decimal."""

    value: float
    half: float


def find_relation(texts: Sequence[str], counts: Sequence[int | None]) -> str:
    """Return by which arithmetic values follow from the counts of rows; empty: by none.

    Parameters
    ----------
    texts: a value of each row, in order.
    counts: its printed count; None: it is hidden.
    """
    numbers = _read(texts)
    rows = [(a, n) for a, n in zip(numbers, counts, strict=True) if a is not None and n]
    if len({n for _, n in rows}) < 2 or len(rows) < 2:
        return ""
    for step in (1, 2, 3):
        if _keeps_changes(numbers, counts, step):
            return "they are changes of the counts from row to row"
    for forth in (True, False):
        if _keeps_sums(numbers, counts, forth=forth):
            return "they are running sums of the counts"
    if _is_one_factor([(a.value, a.half, sqrt(n)) for a, n in rows]):
        return "they are proportional to the roots of the counts"
    if _is_one_factor([(a.value, a.half, 1 / n) for a, n in rows]):
        return "they are proportional to one divided by the counts"
    return ""


def find_pair(one: Sequence[str], other: Sequence[str], counts: Sequence[int | None]) -> str:
    """Return by which arithmetic counts follow from two columns; empty: by none."""
    rows = [
        (a, b, n)
        for a, b, n in zip(_read(one), _read(other), counts, strict=True)
        if a is not None and b is not None and n is not None
    ]
    if len({n for *_, n in rows}) < 2:
        return ""
    ways = (
        ("their sum", [(a.value + b.value, a.half + b.half, n) for a, b, n in rows]),
        ("their difference", [(a.value - b.value, a.half + b.half, n) for a, b, n in rows]),
        ("their difference", [(b.value - a.value, a.half + b.half, n) for a, b, n in rows]),
    )
    for name, some in ways:
        exact = all(abs(value - n) <= half + SLACK and half <= 1 for value, half, n in some)
        if exact and sum(log(n + 1) for *_, n in some) >= log(ODDS):
            return f"the counts are {name}"
    some = [row for row in rows if min(row[0].value, row[1].value, row[2]) > 0]
    if len(some) == len(rows) >= FEWEST:
        widths = [a.half / a.value + b.half / b.value for a, b, _ in some]
        forms = (
            ("quotient", [a.value / b.value for a, b, _ in some]),
            ("quotient", [b.value / a.value for a, b, _ in some]),
            ("product", [a.value * b.value for a, b, _ in some]),
        )
        for name, values in forms:
            each = [
                (v, v * w, float(n)) for v, w, (*_, n) in zip(values, widths, some, strict=True)
            ]
            if _is_one_factor(each) and len({round(v, 6) for v in values}) > 1:
                return f"the counts are proportional to their {name}"
    return ""


def _read(texts: Sequence[str]) -> list[_Printed | None]:
    """Return numbers as they are printed; half a unit is that of the most decimals."""
    plain = [text.replace("\u2212", "-").strip().rstrip("% ").lstrip("+") for text in texts]
    plain = [re.sub(r"^(-?\d+),(\d{1,2})$", r"\1.\2", text) for text in plain]
    numbers = [read_number(text) for text in plain]
    places = max(
        (decimals(text) for text, n in zip(plain, numbers, strict=True) if n is not None), default=0
    )
    half = 0.5 / 10**places
    return [None if number is None else _Printed(float(number), half) for number in numbers]


def _is_one_factor(rows: Sequence[tuple[float, float, float]]) -> bool:
    """Return whether values are a factor times others, and no coincidence.

    Parameters
    ----------
    rows: a value, half a unit of its last decimal, and what it may be a multiple of.
    """
    if len(rows) < FEWEST or any(value <= 0 or base <= 0 for value, _, base in rows):
        return False
    low = max((value - half) / base for value, half, base in rows)
    high = min((value + half) / base for value, half, base in rows)
    if low > high * (1 + SLACK):
        return False
    spread = max(value for value, *_ in rows) - min(value for value, *_ in rows)
    weight = sum(log(max(1.0, spread / (2 * half + SLACK))) for _, half, _ in rows[1:])
    return weight >= log(ODDS)


def _keeps(pairs: Iterator[tuple[float, float, float]]) -> bool:
    """Return whether values are those that are expected, and no coincidence."""
    weight, many = 0.0, 0
    for value, half, expected in pairs:
        if abs(value - expected) > half + SLACK:
            return False
        weight += log(1 + abs(expected) / max(1.0, 2 * half))
        many += 1
    return many >= 2 and weight >= log(ODDS)


def _keeps_changes(
    numbers: Sequence[_Printed | None], counts: Sequence[int | None], step: int
) -> bool:
    """Return whether values are the changes of counts since the row so many before, or in %."""

    def changes(*, in_percent: bool) -> Iterator[tuple[float, float, float]]:
        for value, now, before in zip(numbers[step:], counts[step:], counts, strict=False):
            if value is None or now is None or before is None:
                continue
            if not in_percent:
                yield value.value, min(value.half, 0.1), float(now - before)
            elif before:
                yield value.value, value.half, 100 * (now - before) / before

    return _keeps(changes(in_percent=False)) or _keeps(changes(in_percent=True))


def _keeps_sums(
    numbers: Sequence[_Printed | None], counts: Sequence[int | None], *, forth: bool
) -> bool:
    """Return whether values, from row to row, grow by the counts, or by shares of them."""
    rows = list(zip(numbers, counts, strict=True))
    rows = rows if forth else rows[::-1]
    grown: list[tuple[float, float, float]] = []
    last = -inf
    for (before, _), (value, count) in pairwise(rows):
        if before is None or value is None or count is None:
            continue
        if value.value < before.value or value.value < last:
            return False
        last = value.value
        grown.append((value.value - before.value, 2 * value.half, float(count)))
    (first, count), begin = rows[0], list[tuple[float, float, float]]()
    if first is not None and count is not None:
        begin = [(first.value, first.half, float(count))]
    for some in (grown, [*begin, *grown]):
        is_uneven = len({count for *_, count in some}) > 1
        if _keeps((step, min(half, 0.1), count) for step, half, count in some):
            return True
        if is_uneven and _is_one_factor(some):
            return True
    return False


def are_means(
    texts: Sequence[str],
    counts: Sequence[int | None],
    labels: Sequence[Mapping[str, str]],
) -> bool:
    """Return whether a value of a sum is the mean of its parts, weighted by their counts.

    Parameters
    ----------
    labels: of each row's people; a margin has none.
    """
    numbers = _read(texts)
    at = {frozenset(row_labels.items()): k for k, row_labels in enumerate(labels)}
    parts: dict[tuple[frozenset[tuple[str, str]], str], list[int]] = {}
    for k, row_labels in enumerate(labels):
        for pair in row_labels.items():
            parts.setdefault((frozenset(row_labels.items()) - {pair}, pair[0]), []).append(k)
    weight = 0.0
    for (whole, _), places in parts.items():
        if whole not in at or len(places) < 2:
            continue
        total = numbers[at[whole]]
        each = [(numbers[k], counts[k]) for k in places]
        known = [(value, n) for value, n in each if value is not None and n is not None]
        people = sum(n for _, n in known)
        if total is None or len(known) < len(each) or not people:
            continue
        mean = sum(value.value * n for value, n in known) / people
        if abs(mean - total.value) > 2 * total.half + SLACK:
            return False
        spread = max(value.value for value, _ in known) - min(value.value for value, _ in known)
        weight += log(max(1.0, spread / (4 * total.half)))
    return weight >= log(ODDS)
