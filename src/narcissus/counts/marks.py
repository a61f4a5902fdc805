"""What a printed cell means: a number, a mark of suppression, a rounded or perturbed number."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from pathlib import Path

from narcissus._files import open_text, parsing
from narcissus._validation import did_you_mean
from narcissus.errors import InputError

LARGEST_COUNT = 10**9  # bounds are computed exactly, in 64 bits
SUPPRESSED = {
    *("x", "c", "s", "d", "..", "...", ".", ":", "*", "**", "", "#", "suppressed", "[c]", "[x]"),
    *("(x)", "(c)", "(s)", "(d)", "[s]", "[d]"),
}  # fmt: skip
"""Marks that offices print for a value that is not shown, in lower case."""
TOTALS = {
    *("*", "total", "totals", "tot", "tot.", "all", "_t", "overall", "both", "both sexes"),
    *("insgesamt", "gesamt", "ensemble", "totale", "totaal", "alle", "todos", "alle personen"),
}  # fmt: skip
_TOTAL = re.compile(r"(grand )?total( .*)?|all (ages|persons|people|sexes|groups|areas|regions)")
_FOOTNOTE = re.compile(r"[\u00b9\u00b2\u00b3\u2070-\u2079\u2020\u2021*]+$")
_NOTED = re.compile(
    r"\s*(\[(note )?\d{1,2}\]|\((\d{1,2}|[a-z])\)|\[[a-z]\]|(?<=\d)\s?[rep]|(?<=\d)[a-z])$", re.I
)
_SPACES = re.compile(r"(?<=\d)[\s\u00a0\u2009\u202f'\u2019](?=\d{3}(\D|$))")
_COMMAS = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")
_POINTS = re.compile(r"-?\d{1,3}(\.\d{3})+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True)
class Meaning:
    """What a printed count tells of the true one: from ``low`` to ``high`` (None: no limit)."""

    low: int
    high: int | None
    kind: str  # "exact", "suppressed", "rounded", "perturbed" or "range"


@dataclass(frozen=True)
class CellKey:
    """A table of the cell-key method: what each true count may be printed as."""

    printed: Mapping[int, tuple[int, int]]  # of small printed counts: least and most true one
    shifts: tuple[int, int]  # least and most that is added to a large count
    last: int  # true counts from here on are large

    def meaning(self, count: int) -> tuple[int, int] | None:
        """Return the least and the most true count behind a printed one; None: it is never so."""
        found = [self.printed[count]] if count in self.printed else []
        low, high = max(self.last, count - self.shifts[1]), count - self.shifts[0]
        if low <= high:
            found.append((low, high))
        return (min(f[0] for f in found), max(f[1] for f in found)) if found else None


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How tables were made and printed.

    Options
    -------
    below: a cell with a mark of suppression holds fewer than so many people; None says nothing.
    no_zeros: zeros are printed, so a suppressed cell is not empty.
    marks: further marks, each with the number that its cells are below, or None.
    base: published counts are rounded to multiples of it.
    random: rounding goes to one of the two multiples nearest, by chance, not to the nearest.
    key: the table of the cell-key method.
    totals: further words for a margin.
    decimals: of means, medians and totals; None: the most that a file prints.
    """

    below: int | None = None
    no_zeros: bool = False
    marks: Mapping[str, int | None] = field(default_factory=dict[str, "int | None"])
    base: int = 1
    random: bool = False
    key: CellKey | None = None
    totals: tuple[str, ...] = ()
    decimals: int | None = None

    def __post_init__(self) -> None:
        for name, value, least in (("below", self.below, 1), ("base", self.base, 1)):
            if value is not None and not least <= value <= LARGEST_COUNT:
                raise InputError(f"`{name}` must be from {least} to 1e9, got {value}")
        if self.key is not None and self.base > 1:
            raise InputError("counts are rounded or perturbed by a cell key, not both")
        if wrong := next((m for m, most in self.marks.items() if most is not None and most < 1), 0):
            raise InputError(f"the mark `{wrong}` must be below 1 or more")

    def is_total(self, label: str) -> bool:
        """Check whether a label stands for a margin."""
        low = label.casefold()
        more = {word.casefold() for word in self.totals}
        return low in TOTALS or low in more or _TOTAL.fullmatch(low) is not None

    def suppressed(self, text: str) -> Meaning | None:
        """Return what a mark means; None: the text is no mark."""
        low = text.strip().casefold()
        given = {mark.casefold(): below for mark, below in self.marks.items()}
        if low in given:
            below = given[low]
        elif low in SUPPRESSED:
            below = self.below
        else:
            return None
        return Meaning(int(self.no_zeros), None if below is None else below - 1, "suppressed")

    def count(self, text: str, place: str) -> Meaning:
        """Return what a printed count means; ``place`` names it in errors."""
        if (mark := self.suppressed(text)) is not None:
            return mark
        if (below := re.fullmatch(r"<\s*(\d+)", text.strip())) and int(below[1]) > 0:
            return Meaning(int(self.no_zeros), int(below[1]) - 1, "suppressed")
        if span := re.fullmatch(r"(\d+)\s*(?:-|\u2013|to)\s*(\d+)", text.strip()):
            low, high = int(span[1]), int(span[2])
            if low > high:
                raise InputError(f"{place}: the range {text!r} ends below its begin")
            return Meaning(low, high, "range")
        number = read_number(text, thousands_point=True)
        if number is None:
            hint = did_you_mean(text, SUPPRESSED - {""})
            raise InputError(
                f"{place}: {text!r} is neither a number nor a known mark of suppression{hint}; "
                f"declare it: --mark {text.strip() or 'MARK'}=below:5 (fewer than 5), or =any"
            )
        if number < 0 or number.denominator != 1:
            what = "is negative" if number < 0 else "is no whole number"
            raise InputError(f"{place}: {text!r} {what}: counts are whole numbers from 0")
        if number > LARGEST_COUNT:
            raise InputError(f"{place}: {text!r} is too large: counts up to 1e9 are read")
        return self._behind(int(number), place)

    def _behind(self, count: int, place: str) -> Meaning:
        if self.key is not None:
            found = self.key.meaning(count)
            if found is None:
                raise InputError(f"{place}: the cell-key table never prints {count}")
            return Meaning(*found, "exact" if found[0] == found[1] else "perturbed")
        if self.base == 1:
            return Meaning(count, count, "exact")
        if count % self.base:
            raise InputError(
                f"{place}: {count} is no multiple of {self.base}, to which counts are rounded"
            )
        # a half may have gone either way
        reach = self.base - 1 if self.random else self.base // 2
        return Meaning(max(0, count - reach), count + reach, "rounded")


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
    found = re.search(r"\.(\d+)", text)
    return len(found[1]) if found else 0


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
    ``col.names = FALSE`` writes them (``i j p v ...``). Source: Enderle and Giessing 2018, package
    ptable. Raises `InputError` with file and line.
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
        where, rows = [names.index(name) for name in "ijp"], rows[1:]
    for number, cells in rows:
        try:
            i, j, p = (float(cells[column]) for column in where)
        except (ValueError, IndexError):
            i = j = p = -1.0
        if not (i.is_integer() and j.is_integer() and 0 <= min(i, j) <= max(i, j) <= 10_000
                and 0 <= p <= 1):  # fmt: skip
            raise InputError(
                f"{path}: line {number} must hold counts i and j, up to 10,000, and p from 0 to 1"
            )
        moves.setdefault(int(i), {})[int(j)] = p
    if not moves or set(moves) != set(range(max(moves) + 1)):
        raise InputError(f"{path} must have rows for every true count i from 0 on")
    wrong = [i for i, row in moves.items() if abs(sum(row.values()) - 1) > 1e-3]
    if wrong:
        raise InputError(f"{path}: the probabilities of i = {wrong[0]} do not sum to 1")
    last = max(moves)
    shifts = [j - last for j, p in moves[last].items() if p > 0]
    printed: dict[int, tuple[int, int]] = {}
    for i in range(last):
        for j in (j for j, p in moves[i].items() if p > 0):
            low, high = printed.get(j, (i, i))
            printed[j] = min(low, i), max(high, i)
    return CellKey(printed, (min(shifts), max(shifts)), last)


def around(value: Fraction, places: int, times: int) -> tuple[int, int]:
    """Return the least and the most whole number that ``times`` a rounded value may be."""
    half = Fraction(1, 2 * 10**places)
    return ceil(times * (value - half)), floor(times * (value + half))
