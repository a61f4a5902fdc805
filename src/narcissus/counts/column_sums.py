"""Columns of numbers of which one is the sum of others in each row, whatever they are named.

A word such as *no*, *rate* or *n* names a role in one file and a label in another. Numbers decide:
columns whose sum another one prints count parts of its people. So do columns whose marks hide
counts, and those with sums in the row of a total: codes have neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from narcissus.counts.columns import is_code_name, is_percent_name
from narcissus.counts.marks import Meaning, Rules, label_of
from narcissus.errors import InputError

ODDS = 100.0
"""By which coincidence must be excluded before numbers show a sum that nothing names."""
ODDS_OF_NAMED = 20.0
"""The same of a column that is named as a total, and all others next to it."""
MOST_PARTS = 10
"""Columns of which all subsets are tried as parts; of more, those that are side by side."""
MOST_ROWS = 64
"""Rows by which subsets are chosen; those that are left are tried on all rows."""

_STATISTIC = re.compile(r"(mean|average|median)\b", re.I)

_DIGITS = re.compile(r"[0-9]{1,9}")
BEYOND = 1e15
"""What stands for a number without a limit; no sum of counts is as large."""

_NEGATIONS = {"no", "n", "nein", "non", "nei", "nej", "nee"}
_ASSENTS = {"yes", "y", "ja", "j", "oui", "o", "si", "s\u00ed", "s\u00ec", "s"}

Limits = NDArray[np.float64]
Column = Sequence[Meaning]


@dataclass(frozen=True)
class ColumnSum:
    """A column, and others that sum to it in each row, by place."""

    whole: int
    parts: tuple[int, ...]

    @property
    def places(self) -> set[int]:
        """All columns of the sum."""
        return {self.whole, *self.parts}


def read_counts(texts: Sequence[str], rules: Rules) -> list[Meaning] | None:
    """Read the cells of a column as counts; None: one of them is none, or none has a number."""
    is_plain = rules.base == 1 and rules.key is None and rules.unit is None
    counts: list[Meaning] = []
    for text in texts:
        if is_plain and _DIGITS.fullmatch(text):
            counts.append(Meaning(int(text), int(text), "exact"))
            continue
        if not rules.is_value(text):
            return None
        try:
            counts.append(rules.count(text, ""))
        except InputError:
            return None
    return counts if any(not _is_hidden(count) for count in counts) else None


def list_sums(
    columns: Mapping[int, Column], wholes: Iterable[int], involved: Iterable[int] = ()
) -> list[ColumnSum]:
    """List columns that are sums of two or more others in each row, beyond coincidence.

    Parameters
    ----------
    columns: what the cells of each tell, by place.
    wholes: places of those that may be sums.
    involved: places of which a sum must have one; empty: any.
    """
    some = set(involved)
    tried: list[tuple[float, ColumnSum]] = []
    trials = 0
    for whole in wholes:
        others = [at for at in columns if at != whole]
        subsets = _list_subsets(others, whole)
        trials += len(subsets)
        for parts in _fitting(columns, whole, subsets):
            column_sum = ColumnSum(whole, parts)
            if not some or column_sum.places & some:
                tried.append((_weigh(columns, column_sum), column_sum))
    return [column_sum for weight, column_sum in tried if weight >= log(ODDS * max(1, trials))]


def find_named_sum(columns: Mapping[int, Column], wholes: Iterable[int]) -> ColumnSum | None:
    """Return the sum of all columns next to one that is named as a total; None: there is none."""
    for whole in wholes:
        parts = tuple(at for at in columns if at != whole)
        column_sum = ColumnSum(whole, parts)
        fits = len(parts) > 1 and bool(_fitting(columns, whole, [parts]))
        if fits and _weigh(columns, column_sum) >= log(ODDS_OF_NAMED):
            return column_sum
    return None


def _list_subsets(others: Sequence[int], whole: int) -> list[tuple[int, ...]]:
    """List the sets of columns that are tried as the parts of another one."""
    if len(others) <= MOST_PARTS:
        return [
            tuple(at for k, at in enumerate(others) if bits >> k & 1)
            for bits in range(1, 2 ** len(others))
            if bits.bit_count() > 1
        ]
    before = [at for at in others if at < whole]
    behind = [at for at in others if at > whole]
    runs = [tuple(before[start:]) for start in range(len(before) - 1)]
    runs += [tuple(behind[:stop]) for stop in range(2, len(behind) + 1)]
    return list(dict.fromkeys([*runs, tuple(others)]))


def _fitting(
    columns: Mapping[int, Column], whole: int, subsets: Sequence[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """Return the sets of columns that may sum to another one in each row."""
    names = list(columns)
    index = {at: k for k, at in enumerate(names)}
    low, high = (np.stack([_ends(columns[at], is_high=k) for at in names]) for k in (False, True))
    at_whole = index[whole]
    known = (high < BEYOND).sum(axis=0)
    first = np.argsort(-known, kind="stable")[:MOST_ROWS]
    left = list(subsets)
    for chosen in (first, np.arange(len(known))):
        has = np.zeros((len(left), len(names)))
        for k, parts in enumerate(left):
            has[k, [index[at] for at in parts]] = 1
        fits = (has @ low[:, chosen] <= high[at_whole, chosen]).all(axis=1)
        fits &= (has @ high[:, chosen] >= low[at_whole, chosen]).all(axis=1)
        left = [parts for parts, is_fit in zip(left, fits.tolist(), strict=True) if is_fit]
    return left


def _ends(column: Column, *, is_high: bool) -> Limits:
    if is_high:
        return np.array([BEYOND if count.high is None else count.high for count in column], float)
    return np.array([count.low for count in column], float)


def _weigh(columns: Mapping[int, Column], column_sum: ColumnSum) -> float:
    """Return the logarithm of how rarely numbers would sum to others by coincidence."""
    weight = 0.0
    for row in zip(*(columns[at] for at in (column_sum.whole, *column_sum.parts)), strict=True):
        whole = row[0].high
        widths = [inf if count.high is None else count.high - count.low for count in row]
        if whole is not None and sum(widths) < inf:
            weight += log(max(1.0, (1 + whole) / (1 + sum(widths))))
    return weight


def _is_hidden(count: Meaning) -> bool:
    return count.high is None or count.kind == "suppressed"


def weigh_sums_down(counts: Column, labels: Sequence[Mapping[str, str]]) -> float:
    """Return the log of how rarely rows of totals print the sums of others by coincidence.

    Minus infinity where a total is not the sum of its rows, or no row is a total.

    Parameters
    ----------
    labels: of each row's people; a margin has none.
    """
    places = {frozenset(row_labels.items()): k for k, row_labels in enumerate(labels)}
    parts: dict[tuple[frozenset[tuple[str, str]], str], list[int]] = {}
    for k, row_labels in enumerate(labels):
        for pair in row_labels.items():
            rest = frozenset(row_labels.items()) - {pair}
            if rest in places:
                parts.setdefault((rest, pair[0]), []).append(k)
    weight = 0.0 if parts else -inf
    for (rest, _), rows in parts.items():
        some = {at: [counts[k]] for at, k in enumerate((places[rest], *rows))}
        column_sum = ColumnSum(0, tuple(range(1, len(some))))
        if len(rows) < 2 or not _fitting(some, 0, [column_sum.parts]):
            return -inf
        weight += _weigh(some, column_sum)
    return weight


def has_sums_down(counts: Column, labels: Sequence[Mapping[str, str]]) -> bool:
    """Return whether rows of totals print the sums of others, beyond coincidence."""
    return weigh_sums_down(counts, labels) >= log(ODDS_OF_NAMED)


def may_be_part(
    counts: Column, people: Sequence[Meaning], labels: Sequence[Mapping[str, str]]
) -> bool:
    """Return whether a column may count some of the people of another one.

    It is nowhere above their counts, and has sums where rows of totals have them; a mark that hides
    its numbers stands for such a sum.
    """
    pairs = zip(counts, people, strict=True)
    if any(whole.high is not None and count.low > whole.high for count, whole in pairs):
        return False
    weight = weigh_sums_down(counts, labels)
    return weight >= (0.0 if any(map(_is_hidden, counts)) else log(ODDS_OF_NAMED))


@dataclass(frozen=True)
class ColumnsOfCounts:
    """Columns that hold counts whatever their names are.

    Options
    -------
    places: all of them.
    parts: those that others are the sum of; they are no totals.
    is_wide: whether they make a table wide.
    """

    places: frozenset[int] = frozenset()
    parts: frozenset[int] = frozenset()
    is_wide: bool = False


def find_counts(
    header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], rules: Rules
) -> ColumnsOfCounts:
    """Find columns whose numbers show that they hold counts, whatever their names are.

    Those of a sum in each row are labels of a wide table, and so are those to the right of a corner
    that names rows and columns, where there are several.
    """
    columns = {
        at: counts
        for at in range(1, len(header))
        if (counts := read_counts([cells[at] for _, cells in rows], rules)) is not None
    }
    hidden = frozenset(
        at
        for at in range(1, len(header))
        if all(rules.suppressed(cells[at]) for _, cells in rows)
        and any(cells[at] for _, cells in rows)
    )
    named = [at for at in columns if rules.is_total(header[at])]
    column_sum = find_named_sum(columns, named)
    sums = [column_sum] if column_sum else list_sums(columns, columns)
    summed = frozenset[int]().union(*(each.places for each in sums))
    labels = [
        {
            header[at]: label
            for at in range(len(header))
            if at not in columns
            and at not in hidden
            and not rules.is_total(label := label_of(cells[at]))
        }
        for _, cells in rows
    ]
    plain = frozenset(
        at
        for at, counts in columns.items()
        if has_sums_down(counts, labels)
        or (is_code_name(header[at]) and not may_be_code(header, rows, at, rules))
    )
    plain |= {at for at in hidden if is_code_name(header[at])}
    corner = next((at for at, name in enumerate(header) if "\\" in name), len(header))
    across = frozenset(
        at
        for at in columns
        if at > corner and (at in summed | plain or not _is_other(header, rows, at, rules))
    )
    parts = summed - {each.whole for each in sums}
    return ColumnsOfCounts(summed | plain, parts, bool(summed) or len(across) > 1)


def _is_other(
    header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], at: int, rules: Rules
) -> bool:
    """Return whether a column may hold codes, percentages, means or medians, by its name."""
    name = header[at]
    is_code = is_code_name(name) and may_be_code(header, rows, at, rules)
    return is_code or is_percent_name(name) or _STATISTIC.match(name) is not None


def _is_label(header: Sequence[str], at: int) -> bool:
    """Return whether a name is that of a label: behind a corner, or *no* next to *yes*."""
    is_behind = any("\\" in name for name in header[:at])
    others = {re.sub(r"\W", "", name.casefold()) for name in header}
    name = re.sub(r"\W", "", header[at].casefold())
    return is_behind or (name in _NEGATIONS and bool(others & _ASSENTS))


def may_be_code(
    header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], at: int, rules: Rules
) -> bool:
    """Return whether a column of numbers may hold codes of rows: they differ, and have one form.

    A code is never hidden, and that of a row of totals is no sum. Where a corner or another word
    says that a name is a label, codes count rows or begin with zeros.
    """
    parts = [cells[at] for _, cells in rows if not rules.is_total(label_of(cells[0]))]
    totals = [cells[at] for _, cells in rows if rules.is_total(label_of(cells[0]))]
    texts = [text for text in parts if text]
    if len(set(texts)) < len(parts) or any(rules.suppressed(text) for text in texts):
        return False
    if not all(re.fullmatch(r"\d+", text) for text in texts):
        return True
    numbers = [int(text) for text in texts]
    if any(total.isdigit() and int(total) == sum(numbers) for total in totals):
        return False
    if len({*map(len, texts)}) == 1 and len(texts[0]) > 1:
        is_led = any(text[0] == "0" for text in texts)
        return is_led or not _is_label(header, at)
    return all(b - a == 1 for a, b in pairwise(numbers)) or sorted(numbers) == list(
        range(1, len(numbers) + 1)
    )
