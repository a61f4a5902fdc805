"""Percentages and rates next to counts: their counts, and what they tell of hidden ones.

A percentage that is printed to some decimals is within half a unit of the last one. With the number
of people that it is of, it limits the count of its row; with the count, it limits that number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import ceil, floor, prod

from narcissus._visible import quoted, visible
from narcissus.counts.marks import LARGEST_COUNT, Meaning, Rules, decimals, read_number
from narcissus.counts.reading import Cell, CellShare
from narcissus.errors import InputError

OF_PRINTED = "of the printed numbers"
"""What percentages of rounded or perturbed numbers are of, in words."""
DERIVED = "derived"
"""Kind of a number that is not printed, and follows from percentages."""
SCALES = (100, 1, 1000, 10_000, 100_000, 1_000_000)
SWEEPS = 4
MOST_DIMENSIONS = 8
Key = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Share:
    """A printed percentage: its limits as a share of the whole, both included."""

    low: Fraction
    high: Fraction

    def of(self, whole: Meaning) -> tuple[int, int | None]:
        """Return the least and the most people with this share of a whole."""
        high = None if whole.high is None else floor(self.high * whole.high)
        return ceil(self.low * whole.low), high

    def behind(self, part: Meaning) -> tuple[int, int | None]:
        """Return the least and the most people of whom a part has this share."""
        low = ceil(part.low / self.high) if self.high > 0 else 0
        high = None if part.high is None or self.low <= 0 else floor(part.high / self.low)
        return low, high


@dataclass(frozen=True)
class PercentRead:
    """What the percentages of a column tell.

    Options
    -------
    cells: the table's cells, with their shares.
    narrowed: the same with narrower counts, and wholes that no cell prints, to see sums by.
    of: what the percentages are of, in words; empty: this was not recognized.
    why: why they are not used; empty: all that they tell is in the cells.
    margins: dimensions of whose labels together they may be percentages, where that is open.
    """

    cells: list[Cell]
    narrowed: list[Cell]
    of: str = ""
    why: str = ""
    margins: tuple[tuple[str, ...], ...] = ()

    @property
    def is_used(self) -> bool:
        """Whether all that the percentages tell is in the cells."""
        return not self.why


def read_shares(texts: Sequence[str], rules: Rules) -> list[tuple[Fraction, Fraction] | None]:
    """Read printed percentages: each with half a unit of its last decimal; None: it is a mark.

    All have as many decimals as the most exact one, unless marks of percent differ. Raises
    `InputError` for a text that is neither.
    """
    plain = [text.removesuffix("%").strip().replace(",", ".") for text in texts]
    numbers: list[Fraction | None] = []
    for text, printed in zip(plain, texts, strict=True):
        number = None if rules.suppressed(text) is not None else read_number(text)
        if number is None and rules.suppressed(text) is None:
            raise InputError(f"{quoted(printed)} is no percentage")
        if number is not None and number < 0:
            raise InputError(f"{quoted(printed)} is negative")
        numbers.append(number)
    places = max(
        (decimals(t) for t, n in zip(plain, numbers, strict=True) if n is not None), default=0
    )
    half = Fraction(1, 2 * 10**places)
    return [None if number is None else (number, half) for number in numbers]


def use_percents(
    cells: Sequence[Cell],
    shares: Sequence[tuple[Fraction, Fraction] | None],
    rules: Rules,
    *,
    is_named: bool,
    others: Sequence[str] = (),
    margin: Sequence[str] = (),
    groups: Mapping[str, Set[str]] | None = None,
) -> PercentRead:
    """Find what percentages are of, and give each cell its share.

    Options
    -------
    cells: of one table, a row each.
    shares: the percentage of each row and half a unit of its last decimal, from `read_shares`.
    is_named: whether the column's name says that it holds percentages, so that one row that agrees
        is enough.
    others: dimensions with people in none of the labels that are shown.
    margin: dimensions that are declared: percentages are of all their labels together.
    groups: of a dimension, labels that have others as their parts: only finest ones sum to a whole.

    Raises `InputError` where they are no percentages of the declared margin.
    """
    cells = list(cells)
    is_disturbed = rules.base > 1 or rules.key is not None
    if is_disturbed and _are_of_printed(cells, shares, groups):
        return PercentRead(cells, cells, OF_PRINTED)
    ways = [
        way
        for some in _margins(cells)
        if not margin or set(some) == set(margin)
        for scale in SCALES[:2]
        if (way := _PercentWay(cells, shares, frozenset(some), scale, others, groups)).agrees
    ]
    if not ways and margin:
        raise InputError(
            f"no counts agree with percentages of all {' and '.join(map(visible, margin))}: "
            "correct the dimension of --percent COLUMN=DIMENSION, or the numbers"
        )
    if not ways:
        return PercentRead(cells, cells, why="They are no percentages of these counts.")
    fewest = 1 if is_named else 2
    best = max(ways, key=lambda way: way.checks)
    rivals = [way for way in ways if way.checks == best.checks and way.scale == best.scale]
    margins = tuple(dict.fromkeys(tuple(sorted(way.margin)) for way in ways))
    if best.checks < fewest and not best.is_of_all and not margin:
        why = "Too few rows show of which counts they are percentages."
        return PercentRead(cells, cells, why=why, margins=margins)
    if len({way.wholes for way in rivals}) > 1:
        why = f"It is not settled whether they are percentages {best.words} or {rivals[1].words}."
        margins = tuple(dict.fromkeys(tuple(sorted(way.margin)) for way in rivals))
        return PercentRead(cells, best.narrowed(), best.words, why, margins)
    return PercentRead(best.shared(), best.narrowed(), best.words)


def use_rates(
    cells: Sequence[Cell],
    shares: Sequence[tuple[Fraction, Fraction] | None],
    wholes: Mapping[str, Sequence[str]],
    rules: Rules,
) -> tuple[PercentRead, str] | None:
    """Give cells their rates of another column's numbers; None: they are of none of these.

    Options
    -------
    wholes: the texts of other columns of numbers, by name.
    """
    for name, texts in wholes.items():
        numbers = [read_number(text, thousands_point=True) for text in texts]
        for scale in SCALES:
            narrowed: list[Cell] = []
            shared: list[Cell] = []
            checks = 0
            for cell, share, number in zip(cells, shares, numbers, strict=True):
                narrowed.append(cell)
                shared.append(cell)
                if share is None or number is None or number <= 0:
                    continue
                printed = CellShare(share[0] / scale, share[1] / scale, number=number)
                low, high = printed.ends
                smallest, largest = ceil(low * number), floor(high * number)
                shared[-1] = replace(cell, share=printed)
                if cell.count.kind == "exact":
                    if not smallest <= cell.count.low <= largest:
                        break
                    checks += cell.count.low > 0
                elif _may_be(cell.count, smallest, largest):
                    narrowed[-1] = _narrow(cell, smallest, largest)
                else:
                    break
            else:
                if checks >= 2 and rules.base == 1 and rules.key is None:
                    return PercentRead(shared, narrowed, f"of `{visible(name)}`"), name
    return None


def _margins(cells: Sequence[Cell]) -> Iterator[tuple[str, ...]]:
    """Yield the dimensions that a percentage's whole has in a margin, all of them first."""
    names = sorted({name for cell in cells for name in cell.labels})
    if len(names) > MOST_DIMENSIONS:
        names = names[:MOST_DIMENSIONS]
    for size in range(len(names), 0, -1):
        yield from combinations(names, size)


def _narrow(cell: Cell, low: int, high: int | None) -> Cell:
    """Limit a cell's count further. Raises `InputError` where nothing is left."""
    count = cell.count
    smallest = max(count.low, low)
    largest = count.high if high is None else high if count.high is None else min(count.high, high)
    if largest is not None and smallest > largest:
        raise InputError(
            f"{cell}: the percentage of this row is that of {low} to {high} people, and its count "
            "is another one: correct one of them"
        )
    if (smallest, largest) == (count.low, count.high):
        return cell
    return replace(cell, count=replace(count, low=smallest, high=largest))


def _may_be(count: Meaning, low: int, high: int) -> bool:
    """Return whether a count may be from ``low`` to ``high``."""
    return max(count.low, low) <= (high if count.high is None else min(count.high, high))


class _PercentWay:
    """Percentages taken as those of a margin of some dimensions, at a scale."""

    def __init__(
        self,
        cells: Sequence[Cell],
        shares: Sequence[tuple[Fraction, Fraction] | None],
        margin: frozenset[str],
        scale: int,
        others: Sequence[str] = (),
        groups: Mapping[str, Set[str]] | None = None,
    ) -> None:
        self.cells, self.margin, self.scale = list(cells), margin, scale
        self._groups = groups or {}
        self._printed = list(shares)
        self._is_open = bool(margin & set(others))  # people with none of the labels are in it
        self.shares = [
            None
            if share is None
            else Share(max(Fraction(0), share[0] - share[1]) / scale, (share[0] + share[1]) / scale)
            for share in shares
        ]
        self._at = {frozenset(cell.labels.items()): at for at, cell in enumerate(cells)}
        self.keys = [self._whole(cell) for cell in cells]
        self._known: dict[Key, Meaning] = {
            key: cells[self._at[key]].count for key in self.keys if key in self._at
        }
        self.checks = 0
        self.agrees = self._learn() and self._is_possible()

    def _whole(self, cell: Cell) -> Key:
        pairs = cell.labels.items()
        return frozenset((name, label) for name, label in pairs if name not in self.margin)

    @property
    def words(self) -> str:
        others = {name for cell in self.cells for name in cell.labels} - self.margin
        margin = " and ".join(f"`{visible(name)}`" for name in sorted(self.margin))
        inside = f" within {', '.join(f'`{visible(n)}`' for n in sorted(others))}" if others else ""
        return f"of all {margin}{inside}"

    @property
    def wholes(self) -> tuple[tuple[int, int | None], ...]:
        """The least and the most people whom each row's percentage is of."""
        some = [key for key, share in zip(self.keys, self.shares, strict=True) if share]
        known = [self._known.get(key, Meaning(0, None, DERIVED)) for key in some]
        return tuple((whole.low, whole.high) for whole in known)

    @property
    def is_of_all(self) -> bool:
        """Whether percentages are printed of totals alone, which are all of themselves."""
        rows = zip(self.cells, self.shares, self.keys, strict=True)
        return all(
            share is None or (key == frozenset(cell.labels.items()) and cell.count.kind == "exact")
            for cell, share, key in rows
        )

    def _learn(self) -> bool:
        """Limit the wholes by rows whose count is printed; return whether all rows agree."""
        rows = list(zip(self.cells, self.shares, self.keys, strict=True))
        for cell, share, key in rows:
            if share is None or cell.count.high is None:
                continue
            whole = self._known.get(key, Meaning(0, LARGEST_COUNT, DERIVED))
            is_margin = key == frozenset(cell.labels.items())
            low, high = share.behind(cell.count)
            smallest = max(whole.low, low)
            ends = [end for end in (whole.high, high) if end is not None]
            largest = min(ends) if ends else None
            if largest is not None and smallest > largest:
                return False
            is_exact = cell.count.kind == "exact"
            self.checks += is_exact and not is_margin and _is_check(cell.count.low, whole)
            self._known[key] = replace(whole, low=smallest, high=largest)
        return self._sums_agree(rows)

    def _is_possible(self) -> bool:
        """Return whether each hidden count may have its percentage."""
        try:
            self.narrowed()
        except InputError:
            return False
        return True

    def _sums_agree(self, rows: Sequence[tuple[Cell, Share | None, Key]]) -> bool:
        """Return whether the percentages of no whole exceed all of it."""
        if not self._is_open and not self._may_be_whole(rows):
            return False
        if len(self.margin) != 1 or self._is_open:
            return True
        self.checks += sum(map(self._is_sum, self._known))
        sums: dict[Key, list[Share]] = {}
        for cell, share, key in rows:
            is_margin = key == frozenset(cell.labels.items())
            if share is not None and not is_margin and self._is_finest(cell):
                sums.setdefault(key, []).append(share)
        lows = {key: sum(share.low for share in shares) for key, shares in sums.items()}
        highs = {key: sum(share.high for share in shares) for key, shares in sums.items()}
        self.checks += any(lows[key] <= 1 <= highs[key] and len(sums[key]) > 1 for key in sums)
        return all(low <= 1 for low in lows.values())

    def _is_sum(self, key: Key) -> bool:
        """Check whether a whole that no cell prints is the sum of its printed labels."""
        whole, (name,) = self._known[key], self.margin
        finest = [cell for cell in self.cells if name in cell.labels and self._is_finest(cell)]
        parts = [
            cell.count for cell in finest if self._whole(cell) == key and cell.count.kind == "exact"
        ]
        labels = {cell.labels[name] for cell in finest}
        if key in self._at or len(parts) < len(labels) or whole.high is None:
            return False
        is_near = 2 * (whole.high - whole.low) < whole.high
        return is_near and whole.low <= sum(part.low for part in parts) <= whole.high

    def _may_be_whole(self, rows: Sequence[tuple[Cell, Share | None, Key]]) -> bool:
        """Return whether percentages of all labels reach all of their whole.

        Rates of populations do not: those of two years together are far below it. Of a printed
        total, rows may be left out.
        """
        finest = [cell for cell in self.cells if self._is_finest(cell)]
        shown = {name: {cell.labels.get(name) for cell in finest} for name in self.margin}
        many = prod(len(labels - {None}) for labels in shown.values())
        highs: dict[Key, list[Fraction]] = {}
        counts: dict[Key, list[int | None]] = {}
        for cell, share, key in rows:
            if not self.margin <= set(cell.labels) or not self._is_finest(cell):
                continue
            counts.setdefault(key, []).append(cell.count.high)
            if share is not None and not self._is_printed(key):
                highs.setdefault(key, []).append(share.high)
        for key, some in counts.items():
            known = [count for count in some if count is not None]
            if len(known) == many and key in self._known and sum(known) < self._known[key].low:
                return False  # all parts together are fewer people than the whole
        return all(len(some) < many or sum(some) >= 1 for some in highs.values())

    def _is_printed(self, key: Key) -> bool:
        return key in self._at and self.cells[self._at[key]].count.kind == "exact"

    def _is_finest(self, cell: Cell) -> bool:
        """Check that no label of the margin has others as its parts."""
        return not any(cell.labels.get(name) in self._groups.get(name, ()) for name in self.margin)

    def sum_printed(self, numbers: Mapping[Key, Fraction | None]) -> dict[Key, Fraction | None]:
        """Return the sum of printed numbers of each whole; None: one of its parts is hidden."""
        sums: dict[Key, Fraction | None] = {}
        for cell, key in zip(self.cells, self.keys, strict=True):
            if not self.margin <= set(cell.labels) or not self._is_finest(cell):
                continue
            number, known = numbers[frozenset(cell.labels.items())], sums.get(key, Fraction(0))
            sums[key] = None if number is None or known is None else known + number
        return sums

    def shared(self) -> list[Cell]:
        """Return the cells with their shares of a whole that is larger than themselves."""
        return [
            cell
            if share is None or key == frozenset(cell.labels.items())
            else replace(
                cell,
                share=CellShare(share[0] / self.scale, share[1] / self.scale, dict(key)),
            )
            for cell, share, key in zip(self.cells, self._printed, self.keys, strict=True)
        ]

    def narrowed(self) -> list[Cell]:
        """Return the cells that percentages narrow, and wholes that no cell prints."""
        cells, known = list(self.cells), dict(self._known)
        for _ in range(SWEEPS):
            for at, (share, key) in enumerate(zip(self.shares, self.keys, strict=True)):
                if share is None or key not in known:
                    continue
                whole = known[key]
                if cells[at].count.kind != "exact":
                    cells[at] = _narrow(cells[at], *share.of(whole))
                low, high = share.behind(cells[at].count)
                lower_limit = max(whole.low, low)
                ends = [end for end in (whole.high, high) if end is not None]
                known[key] = replace(whole, low=lower_limit, high=min(ends) if ends else None)
                if ends and lower_limit > min(ends):
                    raise InputError(f"{cells[at]}: no number of people has this percentage")
        for key, whole in known.items():
            if key in self._at:
                place = self._at[key]
                cells[place] = _narrow(cells[place], whole.low, whole.high)
            elif whole.high is not None and whole.high < LARGEST_COUNT:
                example = next(c for c, k in zip(cells, self.keys, strict=True) if k == key)
                count = Meaning(whole.low, whole.high, DERIVED)
                cells.append(
                    replace(example, labels=dict(key), count=count, printed="", statistics={})
                )
        return cells


def _is_check(count: int, whole: Meaning) -> bool:
    """Return whether a percentage of this whole could have been another one."""
    if whole.high is None or count == 0 or count == whole.low == whole.high:
        return False
    return 2 * (whole.high - whole.low) < whole.high < LARGEST_COUNT


def _are_of_printed(
    cells: list[Cell],
    shares: Sequence[tuple[Fraction, Fraction] | None],
    groups: Mapping[str, Set[str]] | None = None,
) -> bool:
    """Check whether percentages are of rounded or perturbed numbers: they tell no more than these.

    That holds where each is next to a printed number, and is that number's percentage. A whole that
    is not printed is the sum of the numbers of its finest labels.
    """
    numbers = {frozenset(cell.labels.items()): read_number(cell.printed) for cell in cells}
    for margin in _margins(cells):
        way = _PercentWay(cells, shares, frozenset(margin), 100, (), groups)
        printed = {**way.sum_printed(numbers), **numbers}
        for scale in SCALES[:2]:
            checks = 0
            for cell, share, key in zip(cells, shares, way.keys, strict=True):
                if share is None:
                    continue
                part, whole = read_number(cell.printed), printed.get(key)
                if part is None or not whole or abs(part * scale / whole - share[0]) > share[1]:
                    break
                checks += part not in (0, whole)
            else:
                if checks:
                    return True
    return False
