"""Values of a file that are coarser than those of the data: intervals, prefixes, suppressed cells.

An interval is written "30-39", "30 to 39", "[30, 40)", "[30, 40[", "<30", ">=30", "30+", "under
30" or "30 and over". "*" stands for everything, "130**" for what begins with 130, "{a, b}" for a
or b; so does a code that begins others, such as "24" of "24-01004".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus._visible import cell
from narcissus.errors import InputError
from narcissus.tables.bins import number_label
from narcissus.tables.spelling import Value, leave_out, number_in

MOST_VALUES = 5_000
"""Most values of a column that has coarse ones."""
_LONGEST = 60  # letters of an interval
_N = r"([+-]?[\d.,'’ ]*\d)"
_BETWEEN = re.compile(rf"([\[\](])?\s*{_N}\s*(-|–|—|\.\.+|to|,|;)\s*{_N}\s*([\[\])])?", re.I)
_BELOW = re.compile(rf"(<=?|≤|under|below|less than|up to)\s*{_N}", re.I)
_ABOVE = re.compile(rf"(>=?|≥|over|above|more than|from)\s*{_N}", re.I)
_TOP = re.compile(rf"{_N}\s*(\+|plus|(?:and|or) (?:over|more|older|above))", re.I)
_BOTTOM = re.compile(rf"{_N}\s*(?:and|or) (?:under|less|younger|below)", re.I)
Interval = tuple[float, float, bool, bool]  # the ends, and whether each belongs to it


def interval_of(text: str) -> Interval | None:
    """Return the interval that a text stands for; None if it is none.

    >>> interval_of("30-39"), interval_of("[30, 40)"), interval_of("90+")
    ((30, 39, True, True), (30, 40, True, False), (90, inf, True, True))
    """
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    if match := _BETWEEN.fullmatch(text):
        left, low, mark, high, right = match.groups()
        ends = number_in(low.strip()), number_in(high.strip())
        if None in ends or bool(left) != bool(right) or (mark in ",;" and not left):
            return None
        first, last = ends
        assert first is not None
        assert last is not None
        return (first, last, left in (None, "["), right in (None, "]")) if first <= last else None
    for pattern, group in ((_BELOW, 2), (_BOTTOM, 1), (_ABOVE, 2), (_TOP, 1)):
        match = pattern.fullmatch(text)
        end = number_in(match[group].strip()) if match else None
        if match and end is not None:
            is_in = pattern in (_TOP, _BOTTOM) or match[1].lower() in (
                "<=",
                "≤",
                ">=",
                "≥",
                "up to",
                "from",
            )
            if pattern in (_BELOW, _BOTTOM):
                return -np.inf, end, True, is_in
            return end, np.inf, is_in, True
    return None


@dataclass(frozen=True)
class Coarse:
    """The values of a column, and which finer ones each stands for."""

    values: list[Value | None]  # sorted; None is a missing one
    covers: NDArray[np.bool_]  # shape (values, values): whether the first is true of the second
    # of each value of the file; those of one level are true of nothing in common; else -1
    levels: NDArray[np.int64]
    blocks: list[str]  # of each value: the least part of the column that no coarse value divides
    found: list[Value | None]  # the coarse ones


def coarse_of(
    column: str, known: Sequence[Value | None], own: Sequence[Value | None], kind: str
) -> Coarse | None:
    """Find which values of a file stand for several of those that the data have.

    known: the values of the data and the control, None if some are missing.
    own: the values that the file has.
    kind: what the column's values are: "numbers", "texts", ...
    """
    fine = [value for value in known if value is not None]
    there = set(known)
    strange = [value for value in own if value not in there]
    meant: dict[Value | None, NDArray[np.bool_]] = {}
    many = len(known) + len(strange)
    for value, places in _meant(strange, fine, kind):
        if not places.any() or (value is None and many > MOST_VALUES):
            continue
        meant[value] = places
        if many > MOST_VALUES:
            raise InputError(
                f"column `{column}` has {many:,} values, and coarse ones among them in the "
                f"synthetic file, such as {cell(value)}: at most {MOST_VALUES:,} are matched: "
                f"write it in groups in all files, or {leave_out(column)}"
            )
    if not meant:
        return None
    values: list[Value | None] = sorted({*known, *strange}, key=_order)
    place = {value: number for number, value in enumerate(values)}
    covers = np.eye(len(values), dtype=np.bool_)
    at = np.array([place[value] for value in fine], np.int64)
    for value, places in meant.items():
        covers[place[value], at[places]] = True
        covers[place[value], place[value]] = True
    # values of the data are of level 0 in the file too
    levels = np.full(len(values), -1)
    plain = [place[value] for value in own if value not in meant]
    levels[plain] = 0
    taken = [np.isin(np.arange(len(values)), plain)]
    coarse = sorted((place[value] for value in meant), key=lambda i: (covers[i].sum(), i))
    for number in coarse:
        level = next((k for k, used in enumerate(taken) if not (used & covers[number]).any()), None)
        if level is None:
            level = len(taken)
            taken.append(np.zeros(len(values), np.bool_))
        levels[number] = level
        taken[level] |= covers[number]
    return Coarse(values, covers, levels, _blocks(values, covers, coarse, at), list(meant))


def _order(value: Value | None) -> tuple[int, float, str]:
    if value is None:
        return 2, 0.0, ""
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")


def _meant(  # noqa: C901 (a line for each way to write it)
    strange: Sequence[Value | None], fine: Sequence[Value], kind: str
) -> Iterator[tuple[Value | None, NDArray[np.bool_]]]:
    """Yield each strange value that is coarse, and the fine ones that it stands for."""
    texts = [number_label(value) if not isinstance(value, str) else value for value in fine]
    spans = [_span(value) for value in fine]
    low, high = (np.array([span[end] for span in spans]) for end in (0, 1))
    every = np.ones(len(fine), np.bool_)
    order = sorted(texts)

    def begins(text: str) -> NDArray[np.bool_]:
        """Check which values begin with a text; quickly where none does."""
        at = bisect_left(order, text)
        if at == len(order) or not order[at].startswith(text):
            return ~every
        return np.array([label.startswith(text) for label in texts])

    rest: list[str] = []  # of no form: codes, perhaps, that begin those of the data
    intervals = _settled({v: interval_of(v) for v in strange if isinstance(v, str)})
    for value in strange:
        if value is None or (isinstance(value, str) and set(value) == {"*"}):
            yield value, every
        elif not isinstance(value, str):
            continue
        elif (interval := intervals.get(value)) is not None:
            first, last, has_first, has_last = interval
            above = (low > first) | ((low == first) & has_first)
            yield value, above & ((high < last) | ((high == last) & has_last))
        elif value.startswith("{") and value.endswith("}"):
            parts = {part.strip() for part in re.split("[,;]", value[1:-1])}
            yield value, np.array([text in parts for text in texts])
        elif value.endswith("*"):
            yield value, begins(value.rstrip("*"))
        else:
            rest.append(value)
    if kind != "numbers" and _are_codes(rest, order):
        yield from ((value, begins(value)) for value in rest)
    if kind == "numbers" and _are_shorter(strange, fine):
        yield from ((value, begins(str(value))) for value in strange if isinstance(value, int))


def _are_codes(strange: Sequence[str], order: Sequence[str]) -> bool:
    """Check whether all these texts begin texts with digits, which are never as short."""
    if not order or {len(text) for text in strange} & {len(text) for text in order}:
        return False
    longer = [order[min(bisect_left(order, text), len(order) - 1)] for text in strange]
    return all(
        code.startswith(text) and any(c.isdigit() for c in code)
        for code, text in zip(longer, strange, strict=True)
    )


def _are_shorter(strange: Sequence[Value | None], fine: Sequence[Value]) -> bool:
    """Check whether whole numbers may begin those of the data: all alike in length on each side."""
    if any(isinstance(value, float) for value in (*strange, *fine)):
        return False
    long = {len(str(value)) for value in fine if isinstance(value, int)}
    short = {len(str(value)) for value in strange if isinstance(value, int)}
    return len(long) == len(short) == 1 and min(short) < min(long)


def _span(value: Value) -> tuple[float, float]:
    """Return the numbers that a value of the data stands for, from where to where."""
    if not isinstance(value, str):
        return float(value), float(value)
    interval = interval_of(value)
    return (np.nan, np.nan) if interval is None else (interval[0], interval[1])


def _settled(found: Mapping[str, Interval | None]) -> dict[str, Interval]:
    """Decide where closed intervals end that meet: 20-30 before 30-40, and 20-29 before 30-39."""
    known = {text: span for text, span in found.items() if span is not None}
    starts = {span[0] for span in known.values()}
    steps = any(span[1] + 1 in starts for span in known.values())
    settled: dict[str, Interval] = {}
    for text, (low, high, has_low, has_high) in known.items():
        if low < high < np.inf and has_high and "]" not in text and low > -np.inf:
            if high in starts:
                settled[text] = low, high, has_low, False
                continue
            if steps and float(high).is_integer():
                settled[text] = low, high + 1, has_low, False
                continue
        settled[text] = low, high, has_low, has_high
    return settled


def _blocks(
    values: Sequence[Value | None],
    covers: NDArray[np.bool_],
    coarse: Sequence[int],
    fine: NDArray[np.int64],
) -> list[str]:
    """Name the part of the column that each value is in: values that overlap are one part.

    What stands for all values is a separate part. Where all are one part, each value is its own.
    """
    texts = ["*" if v is None else v if isinstance(v, str) else number_label(v) for v in values]
    part = np.arange(len(values))
    for number in coarse:
        if not covers[number, fine].all():
            inside = np.isin(part, part[covers[number]])
            part[inside] = part[number]
    if len(np.unique(part[fine])) == 1:
        return texts
    names: dict[int, str] = {}
    for number in coarse:  # rising: the largest of a part comes last
        inside = part == part[number]
        is_whole = (covers[number] | ~inside | ~np.isin(np.arange(len(values)), fine)).all()
        names[int(part[number])] = texts[number] if is_whole else f"{texts[number]} and the like"
    return [names.get(int(index), text) for index, text in zip(part, texts, strict=True)]
