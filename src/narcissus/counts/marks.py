"""What a printed cell means: a number, a mark of suppression, a rounded or perturbed number."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np

from narcissus._files import open_text, parsing
from narcissus._validation import did_you_mean
from narcissus._visible import quoted
from narcissus.errors import InputError

LARGEST_COUNT = 10**9  # bounds are computed exactly, in 64 bits
MOST_UNITS = 2 * 10**11
SUPPRESSED = {
    *("x", "c", "s", "d", "..", "...", ".", ":", "*", "**", "", "#", "suppressed", "[c]", "[x]"),
    *("(x)", "(c)", "(s)", "(d)", "[s]", "[d]"),
}
"""Marks that offices print for a value that is not shown, in lower case."""
TOTALS = {
    *("*", "total", "totals", "tot", "tot.", "all", "_t", "overall", "both", "both sexes"),
    *("insgesamt", "gesamt", "ensemble", "totale", "totaal", "alle", "todos", "alle personen"),
    *("zusammen", "summe", "sum", "persons", "all persons", "ambos sexos", "les deux sexes"),
    *("total general", "i alt", "i alt.", "totalt", "yhteens\u00e4", "og\u00f3\u0142em", "razem"),
    *("celkem", "\u00f6sszesen", "beide geschlechter", "grand total", "sum total", "t"),
    *("\u0432\u0441\u0435\u0433\u043e", "\u03c3\u03cd\u03bd\u03bf\u03bb\u03bf", "\u5408\u8a08"),
    *("\u7dcf\u6570", "samtals", "ukupno", "toplam", "\u0627\u0644\u0645\u062c\u0645\u0648\u0639"),
    *("kokku", "i\u0161 viso", "kop\u0101", "totale generale", "zus.", "tots", "tutti", "kaikki"),
    *("everyone", "everybody", "samtliga", "op\u0107enito", "spolu", "skupaj"),
}
_TOTAL = re.compile(
    r"(grand )?total( .*)?|all (ages|persons|people|sexes|groups|areas|regions|industries|sectors"
    r"|occupations|districts|counties|countries|municipalities|categories|diagnoses|causes"
    r"|nationalities|households|employees|residents|patients|students|hospitals|schools)"
    r"|(ins|zu)?gesamt|ensemble d(es|u) .*|alle altersgruppen|conjunto"
)
_FLAGGED = re.compile(r":\s?[a-z]{1,3}")  # Eurostat: not available, with a flag
_FOOTNOTE = re.compile(r"[\u00b9\u00b2\u00b3\u2070-\u2079\u2020\u2021*]+$")
_NOTED = re.compile(
    r"\s*(\[(note )?\d{1,2}\]|\((\d{1,2}|[a-z])\)|\[[a-z]\]|(?<=\d)[a-z]|"
    r"(?<=\d)\s?([a-fnp-vz]|[bdeprsu]{2}))$",
    re.I,
)
_SPACES = re.compile(r"(?<=\d)[\s\u00a0\u2009\u202f'\u2019](?=\d{3}(\D|$))")
_COMMAS = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")
_POINTS = re.compile(r"-?\d{1,3}(\.\d{3})+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_AT_LEAST = re.compile(
    r"(?:>=|\u2265)\s*(?P<least>\d{1,9})|>\s*(?P<above>\d{1,9})|(?P<plus>\d{1,9})\s*\+"
)
_FEWER = re.compile(
    r"(?:unter|below|under|less than|fewer than|weniger als|moins de|menos de)\s+(?=\d)", re.I
)


@dataclass(frozen=True)
class Meaning:
    """What a printed cell tells of the true one: from ``low`` to ``high`` (None: no limit).

    Counts of people, or totals in units of `Rules.unit`.
    """

    low: int
    high: int | None
    kind: str  # "exact", "suppressed", "rounded", "perturbed" or "range"
    chance: Callable[[int], float] | None = field(default=None, compare=False, repr=False)
    """Of being printed so, for each true count; None: it is the same for all."""
    key: CellKey | None = field(default=None, compare=False, repr=False)
    """By which the count was perturbed; cells of the same people have the same number."""
    number: int = field(default=-1, compare=False, repr=False)  # that a key printed

    @property
    def has_gaps(self) -> bool:
        """Whether some numbers between the least and the most are never printed so."""
        if self.chance is None or self.high is None:
            return False
        if self.kind == "rounded":  # what is not marked is not 1, nor up to the threshold
            return self.low == 0 < self.high and not self.chance(1)
        return not all(map(self.chance, range(self.low, self.high + 1)))

    def without(self, below: int) -> Meaning:
        """Return what a rounded number tells where 1 to ``below`` - 1 people have a mark.

        The true count is 0, or ``below`` or more; where that leaves 0 alone, it is a printed 0.
        Where nothing is left, the number itself shows that small counts are printed: it stays.
        """
        high = self.high
        if self.kind != "rounded" or high is None or below < 2 or self.low >= below:
            return self
        if self.low > 0:
            return replace(self, low=below) if below <= high else self
        if high < below:
            return Meaning(0, 0, "exact")
        chance = partial(_unmarked, below, self.chance)
        return replace(self, chance=chance)


def _between(low: int, high: int) -> Meaning:
    """Return what a mark of a few numbers means; a mark of one number prints it."""
    return Meaning(low, high, "suppressed" if low < high else "exact")


@dataclass(frozen=True)
class CellKey:
    """A table of the cell-key method: what each true count may be printed as."""

    printed: Mapping[int, tuple[int, int]]  # of small printed counts: least and most true one
    shifts: tuple[int, int]  # least and most that is added to a large count
    last: int  # true counts from here on are large
    chances: Mapping[int, Mapping[int, float]] = field(default_factory=dict[int, Any])

    def meaning(self, count: int) -> tuple[int, int] | None:
        """Return the least and the most true count behind a printed one; None: it is never so."""
        ranges = [self.printed[count]] if count in self.printed else []
        low, high = max(self.last, count - self.shifts[1]), count - self.shifts[0]
        if low <= high:
            ranges.append((low, high))
        return (min(f[0] for f in ranges), max(f[1] for f in ranges)) if ranges else None

    def chance(self, printed: int, true: int) -> float:
        """Return the chance that a true count is printed so."""
        row = self.chances[min(true, self.last)]
        return row.get(printed - max(0, true - self.last), 0.0) / sum(row.values())

    def interval(self, true: int, printed: int) -> tuple[float, float]:
        """Return from which key on, and below which, a true count is printed so."""
        values, ends = self._rows[min(true, self.last)]
        at = int(np.flatnonzero(values == printed - max(0, true - self.last))[0])
        return float(ends[at - 1] / ends[-1]) if at else 0.0, float(ends[at] / ends[-1])

    def exact_interval(self, true: int, printed: int) -> tuple[Fraction, Fraction]:
        """Return `interval` in exact numbers, of probabilities as they are written."""
        row = self.chances[min(true, self.last)]
        order = [(value, Fraction(str(chance))) for value, chance in sorted(row.items())]
        total = sum(chance for _, chance in order)
        shift = printed - max(0, true - self.last)
        low = sum((chance for value, chance in order if value < shift), Fraction(0))
        return low / total, (low + Fraction(str(row[shift]))) / total

    @cached_property
    def _rows(self) -> list[tuple[Any, Any]]:
        rows = [
            [(j, p) for j, p in sorted(self.chances[i].items()) if p > 0]
            for i in range(self.last + 1)
        ]
        return [(np.array([j for j, _ in row]), np.cumsum([p for _, p in row])) for row in rows]

    def perturbed(self, counts: Any, keys: Any) -> Any:
        """Return what counts are printed as, by their cells' keys from 0 to 1, below it."""
        true = np.minimum(counts, self.last)
        printed = counts - true
        for i, (values, ends) in enumerate(self._rows):
            at = np.flatnonzero(true == i)
            printed[at] += values[np.searchsorted(ends[:-1], keys[at] * ends[-1], side="right")]
        return printed


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How tables were made and printed.

    Options
    -------
    below: a cell with a mark of suppression holds fewer than so many people; None says nothing.
    no_zeros: zeros are printed, so a suppressed cell is not empty.
    no_marks: no count is marked; small counts are printed as others are.
    marks: further marks, as they are printed, each with the number that its cells are below, or
        None.
    base: published counts are rounded to multiples of it; of totals in units, 0 for none.
    random: rounding goes to one of the two multiples nearest, by chance, not to the nearest.
    key: the table of the cell-key method.
    totals: further words for a margin.
    parts: labels that are none, whatever they are named.
    decimals: of means, medians and totals; None: the most that a file prints.
    unit: cells are totals of contributions of 0 or more, whose limits are multiples of it; None:
        they are counts of people.
    """

    below: int | None = None
    no_zeros: bool = False
    no_marks: bool = False
    marks: Mapping[str, int | None] = field(default_factory=dict[str, "int | None"])
    base: int = 1
    random: bool = False
    key: CellKey | None = None
    totals: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    decimals: int | None = None
    unit: Fraction | None = None

    def __post_init__(self) -> None:
        if self.unit is not None:
            self._require_totals()
            return
        for name, value, lower_limit in (("below", self.below, 1), ("base", self.base, 1)):
            if value is not None and not lower_limit <= value <= LARGEST_COUNT:
                raise InputError(f"`{name}` must be from {lower_limit} to 1e9, got {value}")
        if self.key is not None and self.base > 1:
            raise InputError("counts are rounded or perturbed by a cell key, not both")
        if wrong := next(
            (
                m
                for m, upper_limit in self.marks.items()
                if upper_limit is not None and upper_limit < 1
            ),
            0,
        ):
            raise InputError(f"the mark `{wrong}` must be below 1 or more")

    def _require_totals(self) -> None:
        """Refuse what is said of counts where cells are totals."""
        limits = [self.below, *self.marks.values()]
        if self.no_zeros or self.key is not None or any(limit is not None for limit in limits):
            raise InputError(
                "`--below`, `--no-zeros`, `--cell-key` and marks below a number are about counts "
                "of people; with `--magnitude`, a mark tells nothing of a total: leave them out"
            )

    def is_total(self, label: str) -> bool:
        """Check whether a label stands for a margin."""
        low = label.casefold()
        parts, totals = self._folded
        if low in parts:
            return False
        return low in TOTALS or low in totals or _TOTAL.fullmatch(low) is not None

    @cached_property
    def _folded(self) -> tuple[set[str], set[str]]:
        """Declared parts and totals, in lower case."""
        parts, totals = ({word.casefold() for word in some} for some in (self.parts, self.totals))
        return parts, totals

    def suppressed(self, text: str) -> Meaning | None:
        """Return what a mark means; None: the text is no mark."""
        plain = text.strip()
        low = plain.casefold()
        if plain in self.marks:
            below = self.marks[plain]
        elif low in SUPPRESSED or _FLAGGED.fullmatch(low):
            below = self.below
        else:
            return None
        if below is None:
            return Meaning(int(self.no_zeros), None, "suppressed")
        return _between(min(int(self.no_zeros), below - 1), below - 1)

    def is_value(self, text: str) -> bool:
        """Check whether a text looks like a printed count or total, or a mark of suppression."""
        text = _FEWER.sub("<", text.strip())
        is_number = self.suppressed(text) is not None or read_number(text) is not None
        return (
            is_number
            or re.match(r"(<=?|\u2264)\s*\d|\d+\s*(?:[-\u2013]|(?:to|bis)\s+\d)|[\d. ]+,\d+$", text)
            is not None
        )

    def count(self, text: str, place: str) -> Meaning:
        """Return what a printed cell means; ``place`` names it in errors."""
        if (mark := self.suppressed(text)) is not None:
            return mark
        if self.unit is not None:
            return self._sum(text, place, self.unit)
        lower_limit = int(self.no_zeros)
        plain = _FEWER.sub("<", text.strip()).replace("\u2264", "<=")
        below = re.fullmatch(r"<(=?)\s*(\d{1,9})", plain)
        if below and (upper_limit := int(below[2]) - (not below[1])) >= lower_limit:
            return _between(lower_limit, upper_limit)
        if least := _AT_LEAST.fullmatch(plain):
            low = int(least["least"] or least["plus"] or int(least["above"] or 0) + 1)
            return Meaning(max(low, lower_limit), None, "range")
        if span := re.fullmatch(r"(\d+)\s*(?:-|\u2013|to|bis)\s*(\d+)", text.strip()):
            low, high = int(span[1]), int(span[2])
            if low > high:
                raise InputError(f"{place}: the range {quoted(text)} ends below its begin")
            return Meaning(low, high, "range" if low < high else "exact")
        number = read_number(re.sub(r"(?<=\d),0{1,2}$", "", plain), thousands_point=True)
        if number is None:
            raise _no_number(text, place, "below:5 (fewer than 5), or =any")
        if number < 0 or number.denominator != 1:
            fault = "is negative" if number < 0 else "is no whole number"
            raise InputError(
                f"{place}: {quoted(text)} {fault}: counts are whole numbers from 0. If the column "
                "holds other numbers, such as changes or means, name it: --irrelevant COLUMN where "
                "they tell nothing of these counts, --percent COLUMN for percentages and rates"
            )
        if number > LARGEST_COUNT:
            raise InputError(f"{place}: {quoted(text)} is too large: counts up to 1e9 are read")
        return self.behind(int(number), place)

    def _sum(self, text: str, place: str, unit: Fraction) -> Meaning:
        """Return what a printed total means, or a range of two."""
        span = re.fullmatch(r"(?:<\s*|(.*\d)\s*(?:\u2013|-|to)\s*)(\d.*)", text.strip())
        ends = [text] if span is None else [span[1] or "0", span[2]]
        units = [self._units(end, place, unit) for end in ends]
        if span is not None and units[0] <= units[1]:
            return Meaning(units[0], units[1], "range" if span[1] else "suppressed")
        if span is not None:
            raise InputError(f"{place}: the range {quoted(text)} ends below its begin")
        if not self.base:
            return Meaning(units[0], units[0], "exact")
        if units[0] % self.base:
            raise InputError(
                f"{place}: {quoted(text)} is no multiple of {float(self.base * unit):g}, to which "
                "totals are rounded"
            )
        reach = self.base // (1 if self.random else 2)
        return Meaning(max(0, units[0] - reach), units[0] + reach, "rounded")

    def _units(self, text: str, place: str, unit: Fraction) -> int:
        places, plain = self.decimals or 0, text.strip()
        comma = re.fullmatch(r"(\d{1,3}(?:[. \u00a0\u2009\u202f]\d{3})+|\d+),(\d+)", plain)
        is_decimal = comma and places and len(comma[2]) <= places
        if comma and (is_decimal or not _COMMAS.fullmatch(plain)):
            if len(comma[2]) == 3 and re.fullmatch(r"[1-9]\d{0,2}", comma[1]):
                raise InputError(
                    f"{place}: {quoted(text)} is a number with thousands apart or with three "
                    "decimals; write it with a point, or without a mark"
                )
            plain = re.sub(r"\D", "", comma[1]) + "." + comma[2]
        number = read_number(plain, thousands_point=not places)
        if number is None:
            raise _no_number(text, place, "any")
        if number < 0:
            raise InputError(f"{place}: {quoted(text)} is negative: contributions are 0 or more")
        if (number * 10**places).denominator != 1:
            raise InputError(
                f"{place}: {quoted(text)} has more than {places} decimal(s); declare how many "
                "totals have: --decimals"
            )
        if number / unit > MOST_UNITS:
            raise InputError(
                f"{place}: {quoted(text)} is too large: totals are read up to "
                f"{MOST_UNITS // 2:.0e} units of the last decimal; print them in "
                "thousands or millions"
            )
        return int(number / unit)

    def behind(self, count: int, place: str) -> Meaning:
        """Return what a printed count means; `InputError` where none is printed so."""
        if self.key is not None:
            limits = self.key.meaning(count)
            if limits is None:
                raise InputError(f"{place}: the cell-key table never prints {quoted(str(count))}")
            if limits[0] == limits[1]:
                return Meaning(*limits, "exact", key=self.key, number=count)
            chance = partial(self.key.chance, count)
            return Meaning(*limits, "perturbed", chance, key=self.key, number=count)
        if self.base == 1:
            return Meaning(count, count, "exact")
        if count % self.base:
            raise InputError(
                f"{place}: {quoted(str(count))} is no multiple of {self.base}, to "
                "which counts are rounded; a total that is printed exactly has to be named, "
                "--total LABEL, and one of another file copied into the rounded table, as a row "
                "of its totals"
            )
        # a half may have gone either way
        reach = self.base - 1 if self.random else self.base // 2
        chance = partial(_rounded, self.base, count) if self.random else None
        return Meaning(max(0, count - reach), count + reach, "rounded", chance)


def _rounded(base: int, printed: int, true: int) -> float:
    """Return the chance that a true count is rounded so, without bias."""
    return max(0.0, 1 - abs(printed - true) / base)


def _unmarked(below: int, chance: Callable[[int], float] | None, true: int) -> float:
    """Return the chance of a rounded number where counts from 1 to ``below`` - 1 have a mark."""
    if 0 < true < below:
        return 0.0
    return 1.0 if chance is None else chance(true)


def _no_number(text: str, place: str, meaning: str) -> InputError:
    if re.search(r"\d", text):
        return InputError(
            f"{place}: {quoted(text)} is not read as a number: write it plainly, such as 1204, "
            "<5 or 1-4"
        )
    if text.strip() in {"-", "\u2013", "\u2014"} and meaning != "any":
        meaning = "below:1 (a dash for none), below:5 or =any"
    hint = did_you_mean(text, SUPPRESSED - {""})
    mark = text.strip() if repr(text) == quoted(text) else ""
    return InputError(
        f"{place}: {quoted(text)} is neither a number nor a known mark of suppression{hint}; "
        f"declare it: --mark {mark or 'MARK'}={meaning}"
    )


@lru_cache(maxsize=2**16)
def read_number(text: str, *, thousands_point: bool = False) -> Fraction | None:
    """Read a printed number exactly: thousands apart, footnote marks left out; None: it is none."""
    plain = _FOOTNOTE.sub("", text.strip()).strip().replace("\u2212", "-")
    if not re.match(r"-?\d", plain) or len(plain) > 40:
        return None
    plain = _SPACES.sub("", _NOTED.sub("", plain))
    if _COMMAS.fullmatch(plain):
        plain = plain.replace(",", "")
    elif thousands_point and _POINTS.fullmatch(plain):
        plain = plain.replace(".", "")
    return Fraction(plain) if _NUMBER.fullmatch(plain) else None


def decimals(text: str) -> int:
    """Count the decimals of a printed number."""
    match = re.search(r"\.(\d+)", text)
    return len(match[1]) if match else 0


@lru_cache(maxsize=2**16)
def label_of(text: str) -> str:
    """Return a label without footnote marks, blanks made one."""
    plain = " ".join(text.split())
    if plain.strip("*") == "":
        return plain
    return re.sub(r"\s*\[(note )?\d{1,2}\]$", "", _FOOTNOTE.sub("", plain), flags=re.I).strip()


def read_cell_key(path: Path | str) -> CellKey:
    """Read a table of the cell-key method, as the R package ptable writes it.

    Columns ``i`` (true count), ``j`` (printed) and ``p`` (probability), others are not read; the
    largest ``i`` stands for all larger ones. Columns may have no names, as `write.table` with
    ``col.names = FALSE`` writes them (``i j p v ...``); row names and a decimal comma of p are
    understood. Source: Enderle and Giessing 2018, package ptable. Raises `InputError` with file
    and line.
    """
    path, moves = Path(path), dict[int, dict[int, float]]()
    with parsing(path, "a table of the cell-key method"), open_text(path) as file:
        lines = file.read(2**24).splitlines()
    mark = next((m for m in ";,\t" if lines and m in lines[0]), " ")
    rows = [
        (number, [cell.strip().strip('"') for cell in cells])
        for number, cells in enumerate(csv.reader(lines, delimiter=mark), 1)
        if any(cells)
    ]
    names = [cell.casefold() for cell in rows[0][1]] if rows else []
    where = [0, 1, 2]
    if {"i", "j", "p"} <= set(names):
        unnamed = any(len(cells) == len(names) + 1 for _, cells in rows[1:2])  # R's row names
        where, rows = [names.index(name) + unnamed for name in "ijp"], rows[1:]
    for number, cells in rows:
        try:
            i, j = (float(cells[column]) for column in where[:2])
            p = float(cells[where[2]].replace(",", "."))
        except (ValueError, IndexError):
            i = j = p = -1.0
        if not (
            i.is_integer()
            and j.is_integer()
            and 0 <= min(i, j) <= max(i, j) <= 10_000
            and 0 <= p <= 1
        ):
            raise InputError(
                f"{path}: line {number} must hold counts i and j, up to 10,000, and p from 0 to 1"
            )
        moves.setdefault(int(i), {})[int(j)] = p
    return cell_key(moves, str(path))


def cell_key(moves: Mapping[int, Mapping[int, float]], name: str = "`moves`") -> CellKey:
    """Return a table of the cell-key method: for each true count, chances of what is printed."""
    if not moves or set(moves) != set(range(max(moves) + 1)):
        raise InputError(f"{name} must have rows for every true count i from 0 on")
    wrong = [i for i, row in moves.items() if abs(sum(row.values()) - 1) > 1e-3]
    if wrong:
        raise InputError(f"{name}: the probabilities of i = {wrong[0]} do not sum to 1")
    last = max(moves)
    shifts = [j - last for j, p in moves[last].items() if p > 0]
    printed: dict[int, tuple[int, int]] = {}
    for i in range(last):
        for j in (j for j, p in moves[i].items() if p > 0):
            low, high = printed.get(j, (i, i))
            printed[j] = min(low, i), max(high, i)
    return CellKey(printed, (min(shifts), max(shifts)), last, moves)


def around(value: Fraction, places: int, times: int) -> tuple[int, int]:
    """Return the least and the most whole number that ``times`` a rounded value may be."""
    half = Fraction(1, 2 * 10**places)
    return ceil(times * (value - half)), floor(times * (value + half))
