"""Whether a column of distinct values holds codes or names of labels, or measures of them.

Where each label is in one row, any column of distinct values corresponds to the labels one to
one: changes, ranks and sizes do so as codes do. So the values themselves must look like codes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, zip_longest
from math import comb, inf, lgamma, log

from narcissus.counts.marks import decimals, read_number

ODDS = 100.0
"""By which coincidence must be excluded before a column is said to tell counts."""
FEWEST_ORDERED = 4
"""Printed counts that numbers must follow in their order before they seem to be measures."""
FEWEST_HELD = 3
"""Printed counts of the same row of each label that values must hold before they seem to tell."""
MOST_RESIDUES = 12
"""Divisors that are tried: whether flags tell counts by what these leave."""
_CODE = re.compile(
    r"(.*[_ \-.])?(codes?|id|nr|no|key|kz|kennziffer|nuts\d?|iso\d?|lau\d?|fips|ags|ars|gss"
    r")([_ \-.]?\d*)|.*code",
    re.I,
)
_NAME = re.compile(
    r"(.*[_ \-.])?(label|labels|names?|bezeichnung|description|title|[a-z]{2})|.*name", re.I
)
_RANK = re.compile(r".*(rank|rang|place|position|platz|order|size|level|class|quantile).*", re.I)
_SHAPE = re.compile(r"[A-Za-z]{1,5}[-_.]?\d[\dA-Za-z.\-/]*")
_SIZES = {
    *("low", "lower", "lowest", "high", "higher", "highest", "top", "mid", "middle", "medium"),
    *("small", "smaller", "smallest", "large", "larger", "largest", "few", "fewer", "many", "more"),
    *("less", "least", "most", "none", "some", "rare", "frequent", "up", "down", "rise", "fall"),
    *("rising", "falling", "increase", "decrease", "stable", "average", "big", "tiny", "very"),
    *("hoch", "mittel", "niedrig", "gering", "klein", "wenige", "viele", "haut", "bas", "moyen"),
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
}


@dataclass(frozen=True)
class SecondLabels:
    """Values of a column that correspond one to one to the labels of a dimension.

    Attributes
    ----------
    column, of: names of the column and of the dimension.
    values: of the column, in order of rows, each once; that of the total is left out.
    counts: the largest printed count behind each value; None: none is printed.
    rows: printed counts behind each value, in order; None: it is hidden.
    total: the value of the total's row; empty: there is none.
    is_repeated: whether a label is in several rows, so that the correspondence is evidence.
    """

    column: str
    of: str
    values: Sequence[str]
    counts: Sequence[int | None]
    total: str
    is_repeated: bool
    rows: Sequence[Sequence[int | None]] = ()

    def are_codes(self) -> bool:
        """Return whether the values are codes or names, and no measures of the labels' people."""
        if self._tell_counts() or not self.values:
            return False
        if all(re.fullmatch(r"\d+", value) for value in self.values):
            return self._are_numbers()
        if any(re.search(r"\d", value) for value in self.values):
            return self._have_shape()
        return self._are_names()

    def may_be_labels(self) -> bool:
        """Return whether the values may be those that tell rows apart, and are no measures."""
        if self._tell_counts() or _RANK.search(self.column):
            return False
        if not any(re.search(r"\d", value) for value in self.values):
            return not self._are_sizes()
        is_number = all(re.fullmatch(r"\d+", value) for value in self.values)
        is_code = self._are_numbers() if is_number else self._have_shape()
        return self.is_repeated or is_code or self._are_ranges()

    def tell_counts(self) -> bool:
        """Return whether values hold the counts next to them, or follow these."""
        return self._tell_counts() or self._follow()

    def _follow(self) -> bool:
        numbers = [int(re.sub(r"\D", "", value)[:18] or 0) for value in self.values]
        return self._follow_counts(numbers) and not _are_serial(numbers)

    def _are_ranges(self) -> bool:
        """Return whether values are ranges, the one behind the other."""
        spans = [re.search(r"(\d+)\s*(?:-|\u2013|to)\s*(\d+)", value) for value in self.values]
        ends = [int(text) for span in spans if span for text in span.groups()]
        is_apart = all(a < b for a, b in zip(ends[1::2], ends[2::2], strict=False))
        return is_apart and ends == sorted(ends) and len(ends) >= 2 * len(spans) - 4 > 0

    def _are_sizes(self) -> bool:
        words = [set(re.findall(r"[^\W\d_]+", value.casefold())) for value in self.values]
        return not all(words) or any(some & _SIZES for some in words)

    def _tell_counts(self) -> bool:
        """Return whether values hold the largest counts next to them, or those of the same row."""
        return self._hold(self.counts) or any(
            len(counts) - counts.count(None) >= FEWEST_HELD and self._hold(counts)
            for counts in zip_longest(*self.rows)
        )

    def _hold(self, counts: Sequence[int | None]) -> bool:
        """Return whether most printed counts are in the values beside them, or within these."""
        printed = [
            (value, count)
            for value, count in zip(self.values, counts, strict=True)
            if count is not None
        ]
        spans = [(re.findall(r"\d{1,9}", value), count) for value, count in printed]
        same = [
            bool(texts) and min(map(int, texts)) <= count <= max(map(int, texts))
            for texts, count in spans
        ]
        return 2 * sum(same) > len(same)

    def _are_numbers(self) -> bool:
        lengths = {len(value) for value in self.values}
        if len(lengths) == 1 and any(re.match(r"0\d", value) for value in self.values):
            return True
        if _RANK.search(self.column) or _CODE.fullmatch(self.column) is None:
            return False
        numbers = [int(value) for value in self.values]
        if self.total.isdigit() and int(self.total) == sum(numbers):
            return False
        are_even = len(lengths) == 1 and lengths != {1} and not self._follow_counts(numbers)
        return are_even or _are_serial(numbers)

    def _follow_counts(self, numbers: Sequence[int]) -> bool:
        """Return whether numbers have the order of printed counts, or its reverse.

        That is of the largest counts; or of those of the same row of each label, where so many
        rows make a coincidence unlikely.
        """
        if len(order := _by_count(numbers, self.counts)) >= FEWEST_ORDERED and _is_sorted(order):
            return True
        positions = list(zip_longest(*self.rows))
        orders = [order for counts in positions if _is_sorted(order := _by_count(numbers, counts))]
        odds = (lgamma(len(order) + 1) - log(2 * len(positions)) for order in orders)
        return any(each >= log(ODDS) for each in odds)

    def _have_shape(self) -> bool:
        """Return whether values are letters and digits of one length, or of one beginning."""
        is_named = _NAME.fullmatch(self.column) is not None
        if not is_named and any(re.search(r"\s", value) for value in self.values):
            return False
        plain = [re.sub(r"\s+", "", value) if is_named else value for value in self.values]
        if not all(_SHAPE.fullmatch(value) or value.isupper() for value in plain):
            return False
        begins = {re.sub(r"[^A-Za-z].*", "", value) for value in self.values}
        if self._follow():
            return False
        is_even = len({len(value) for value in self.values}) == 1
        return is_even or (len(begins) == 1 and begins != {""})

    def _are_names(self) -> bool:
        if self._are_sizes() or _RANK.search(self.column):
            return False
        if self.is_repeated:
            return True
        is_upper = all(re.fullmatch(r"[A-Z]{2,3}", value) for value in self.values)
        stems = set(re.findall(r"[^\W\d_]{3,}", self.column.casefold()))
        is_kin = bool(stems & set(re.findall(r"[^\W\d_]{3,}", self.of.casefold())))
        named = _CODE.fullmatch(self.column) or _NAME.fullmatch(self.column)
        return is_upper or is_kin or named is not None


def _by_count(numbers: Sequence[int], counts: Sequence[int | None]) -> list[int]:
    """Return numbers in the order of the printed counts next to them."""
    pairs = zip(numbers, counts, strict=True)
    return [number for _, number in sorted((n, k) for k, n in pairs if n is not None)]


def _is_sorted(order: list[int]) -> bool:
    return sorted(order) in (order, order[::-1])


def _are_serial(numbers: Sequence[int]) -> bool:
    """Return whether numbers are those of rows in order."""
    return list(numbers) == list(range(numbers[0], numbers[0] + len(numbers)))


def are_ordered_by_counts(groups: Mapping[str, str], counts: Mapping[str, int | None]) -> bool:
    """Return whether groups may be classes of size, by the printed counts of their labels.

    They may not where the counts of each group lie among those of another one.

    Parameters
    ----------
    groups: the group of each label.
    counts: the largest printed count of each label; None: none is printed.
    """
    ends: dict[str, tuple[int, int]] = {}
    for label, group in groups.items():
        count = counts.get(label)
        if count is not None:
            low, high = ends.get(group, (count, count))
            ends[group] = min(low, count), max(high, count)
    if set(ends) != set(groups.values()):
        return True
    return any(
        all(
            high < other_low or other_high < low
            for other, (other_low, other_high) in ends.items()
            if other != group
        )
        for group, (low, high) in ends.items()
    )


def find_count_signs(texts: Sequence[str], counts: Sequence[int | None]) -> str:
    """Return in which way values tell the counts next to them; empty: coincidence may explain all.

    Parameters
    ----------
    texts: a value of each row.
    counts: its printed count; None: it is hidden.
    """
    rows = [(text, count) for text, count in zip(texts, counts, strict=True) if count is not None]
    numbers = [(_number(text), text, count) for text, count in rows]
    known = [(number, text, count) for number, text, count in numbers if number is not None]
    if len(known) == len(rows) and _weigh_ratio(known) >= log(ODDS):
        return "they are proportional to the printed counts"
    if _weigh_ranges(rows) >= log(ODDS):
        return "they are classes of size that hold the printed counts"
    if _weigh_ranks(texts, rows) >= log(ODDS):
        return "they are ranks of the printed counts"
    return ""


def find_flag_signs(flags: Sequence[str], counts: Sequence[int | None]) -> str:
    """Return in which way flags tell the counts next to them; empty: coincidence may explain all.

    Parameters
    ----------
    flags: of each row.
    counts: its printed count; None: it is hidden.
    """
    rows = sorted((n, flag) for flag, n in zip(flags, counts, strict=True) if n is not None)
    sizes = Counter(flag for _, flag in rows)
    orders, many = _log_orders(sizes.values(), len(rows)), len(sizes)
    for divisor in range(2, MOST_RESIDUES + 1):
        pairs = {(count % divisor, flag) for count, flag in rows}
        ways = len({residue for residue, _ in pairs})
        if ways == len(pairs) and orders - ways * log(max(many, 1)) >= log(ODDS * MOST_RESIDUES):
            return f"they follow from the remainders of printed counts divided by {divisor}"
    changes = sum(a != b for (_, a), (_, b) in pairwise(rows))
    if many > 1 and orders - _log_runs(len(rows), many, changes) >= log(ODDS):
        return "they change with the size of the printed counts"
    return ""


def _log_runs(rows: int, flags: int, changes: int) -> float:
    """Return the log of an upper bound on the orders of flags with at most so many changes."""
    ways = sum(comb(rows - 1, k) * (flags - 1) ** k for k in range(changes + 1))
    return log(flags * ways)


def _number(text: str) -> Fraction | None:
    return read_number(text.removesuffix("%").strip(), thousands_point=True)


def _weigh_ratio(rows: Sequence[tuple[Fraction, str, int]]) -> float:
    """Return the logarithm of the odds that one ratio fits all rows by coincidence."""
    some = [(value, text, count) for value, text, count in rows if count > 0 or value != 0]
    if len(some) < 2 or any(count <= 0 or value <= 0 for value, _, count in some):
        return -inf
    half = Fraction(1, 2 * 10 ** max(decimals(text.replace(",", ".")) for _, text, _ in some))
    low = max((value - half) / count for value, _, count in some)
    high = min((value + half) / count for value, _, count in some)
    if low > high or len({count for *_, count in some}) < 2:
        return -inf
    largest = max(value for value, _, _ in some)
    return (len(some) - 1) * log(max(1.0, float(largest / (2 * half))))


def _weigh_ranges(rows: Sequence[tuple[str, int]]) -> float:
    """Return the logarithm of the odds that ranges hold the counts next to them by coincidence."""
    for text, count in rows:
        ends = [int(end) for end in re.findall(r"\d{1,9}", text)]
        if len(ends) != 2 or not ends[0] <= count <= ends[1]:
            return -inf
    return _log_orders(Counter(text for text, _ in rows).values(), len(rows))


def _weigh_ranks(texts: Sequence[str], rows: Sequence[tuple[str, int]]) -> float:
    """Return the logarithm of the odds that numbers from 1 on follow the counts by coincidence."""
    numbers = sorted(int(text) for text in texts if re.fullmatch(r"\d{1,6}", text))
    if not numbers or numbers[0] != 1 or numbers[-1] > len(texts):
        return -inf
    order = [(int(text), count) for text, count in rows if re.fullmatch(r"\d{1,6}", text)]
    for way in (sorted(order), sorted(order, key=lambda pair: -pair[0])):
        if all(a[1] >= b[1] for a, b in pairwise(way)):
            return _log_orders(Counter(count for _, count in order).values(), len(order)) - log(2)
    return -inf


def _log_orders(sizes: Iterable[int], many: int) -> float:
    """Return the logarithm of in how many orders things of some sorts can be."""
    return lgamma(many + 1) - sum(lgamma(size + 1) for size in sizes)
