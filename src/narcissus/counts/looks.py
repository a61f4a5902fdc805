"""How cells of a sheet look, and whether a look tells one of them from others like it.

Colours, fonts, borders, heights of rows and areas with a separate rule may differ by row (a
total), by column and by mark. A cell that looks otherwise next to that, as one red mark among black
ones, carries a bit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Look = tuple[Hashable, str, Hashable]
"""Font, fill, border and format; whether it is a text; areas with a separate rule."""
PLAIN: Look = ((), "", ())
BORDER = 2
"""The place of the border in the numbers of a style."""
FEWEST_STRIPED = 4
"""Rows of which every other one may have a colour."""
ROW = -1
"""The column of the look of a whole row."""
_SHOWN = 4
_ROW = re.compile(r"<(?:\w+:)?row\b([^>]*)>")
_COLUMN = re.compile(r"<(?:\w+:)?col\b([^>]*)>")
_AREA = re.compile(
    r"<(?:\w+:)?(conditionalFormatting|dataValidation|ignoredError|hyperlink|mergeCell|protectedRange)\b"
    r"[^>]*?\b(?:sqref|ref)=\"([^\"]*)\""
)
_SEEN = ("ht", "hidden", "outlineLevel", "collapsed", "thickTop", "thickBot", "s")
_CELL = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})(?::\$?([A-Z]{1,3})\$?(\d{1,7}))?")


@dataclass(frozen=True)
class SheetLooks:
    """How the cells of a sheet look.

    Options
    -------
    cells: by line of the sheet as text, a look for each column.
    rows: by line, the look of the row as a whole.
    hidden: places of columns that are hidden.
    """

    cells: Mapping[int, Sequence[Look]] = field(default_factory=dict[int, "Sequence[Look]"])
    rows: Mapping[int, Look] = field(default_factory=dict[int, Look])
    hidden: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Seen:
    """A row of a table, as it looks.

    Options
    -------
    line: of the file.
    kind: of its labels, such as those of a total; rows of one kind may have their own look.
    cells: by column, what it holds (a label, a number, a mark), and its look.
    """

    line: int
    kind: Hashable
    cells: Mapping[int, tuple[str, Look]]


def read_looks(rows: Sequence[Sequence[Any]], xml: str) -> SheetLooks:
    """Read how cells look.

    rows: of the library, with cells that hold nothing.
    xml: of the sheet.
    """
    attributes = {
        int(found[1]): tuple(re.findall(rf'\b({"|".join(_SEEN)})="([^"]*)"', one))
        for one in _ROW.findall(xml)
        if (found := re.search(r'\br="(\d+)"', one))
    }
    areas = [(kind, tuple(_ends(where))) for kind, where in _AREA.findall(xml)]
    hidden: set[int] = set()
    for one in _COLUMN.findall(xml):
        ends = re.search(r'\bmin="(\d{1,5})"', one), re.search(r'\bmax="(\d{1,5})"', one)
        if re.search(r'\bhidden="(?:1|true)"', one) and all(ends):
            first, last = (int(end[1]) for end in ends if end)
            hidden |= set(range(first - 1, min(last, 2**14)))
    cells: dict[int, list[Look]] = {}
    whole: dict[int, Look] = {}
    line = 0
    for number, row in enumerate(rows, 1):
        line += 1 + sum(
            len(re.findall(r"\r\n|\r|\n", cell.value.strip()))
            for cell in row
            if isinstance(cell.value, str)
        )
        around = [area for area in areas if any(top <= number <= end for top, end, *_ in area[1])]
        cells[line] = [
            (_style(cell), _type(cell.value), _areas_of(around, number, at))
            for at, cell in enumerate(row)
        ]
        whole[line] = (attributes.get(number, ()), "", ())
    return SheetLooks(cells, whole, frozenset(hidden))


def _style(cell: Any) -> Hashable:
    """Return font, fill, border, alignment and format of a cell, by their numbers."""
    return tuple(getattr(cell, "style_array", ())) or (0,) * 9


def _type(value: Any) -> str:
    """Return whether a cell holds a text or a number, and blanks around it."""
    if not isinstance(value, str):
        return "number" if isinstance(value, int | float) else ""
    plain = value.strip()
    return f"text{value.replace(plain, '|', 1)}" if plain else f"blank{value}"


def _ends(where: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield the first and last row, and the first and last column from 0, of each area."""
    for left, top, right, end in _CELL.findall(where):
        yield int(top), int(end or top), _place(left), _place(right or left)


def _place(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1


def _areas_of(areas: Sequence[tuple[str, Any]], row: int, column: int) -> tuple[Hashable, ...]:
    return tuple(
        area
        for area in areas
        if any(a <= row <= b and left <= column <= right for a, b, left, right in area[1])
    )


def list_looks(rows: Sequence[Seen]) -> Iterator[str]:
    """Yield cells that look otherwise than those of their column that hold the same.

    A look may differ by column, by kind of rows, by every other row, by mark (in all columns or in
    none), and in whole rows at the edge of a block.
    """
    most = (1, 2) if len(rows) >= FEWEST_STRIPED else (1,)
    ways = ((stripes, edges) for stripes in most for edges in (False, True))
    found = min((_odd(rows, *way) for way in ways), key=len)
    lines = sorted(found)
    if lines:
        more = f" and {len(lines) - _SHOWN:,} more" * (len(lines) > _SHOWN)
        shown = ", ".join(map(str, lines[:_SHOWN]))
        yield f"colours, fonts or forms of cells in line{'s' * (len(lines) > 1)} {shown}{more}"


Kind = tuple[Hashable, int, str]
"""Of a row: of its labels, its stripe, and whether it is the first or last of a block."""
Key = tuple[int, str, Kind]
"""Column, what a cell holds, and the kind of its row."""


def _odd(rows: Sequence[Seen], stripes: int, edges: bool) -> set[int]:
    """Return the lines that have a cell whose look is not explained.

    stripes: how many looks rows have in turn.
    edges: whether the first and the last row of a block may look otherwise.
    """
    looks: dict[Key, Counter[Look]] = {}
    ends = _edges(rows) if edges else [""] * len(rows)
    kinds: list[Kind] = [(row.kind, at % stripes, ends[at]) for at, row in enumerate(rows)]
    for row, kind in zip(rows, kinds, strict=True):
        for at, (holds, look) in row.cells.items():
            looks.setdefault((at, holds, kind), Counter())[look] += 1
    usual = {key: max(some, key=some.__getitem__) for key, some in looks.items()}
    if not kinds:
        return set()
    base = max(Counter(kinds).items(), key=lambda one: one[1])[0]
    strange = _strange_keys(usual, base)
    return {
        row.line
        for row, kind in zip(rows, kinds, strict=True)
        for at, (holds, look) in row.cells.items()
        if usual[at, holds, kind] != look or (at, holds, kind) in strange
    }


def _strange_keys(usual: Mapping[Key, Look], base: Kind) -> set[Key]:
    """Return which cells of a column share a look that those of other columns do not explain.

    A kind of rows changes the look of all its cells, or of none; a mark changes that of numbers in
    all columns alike, or in none.

    base: the kind of most rows.
    """
    kinds = {kind for _, _, kind in usual} - {base}
    found = set[Key]().union(*(_strange_of_kind(usual, base, kind) for kind in kinds))
    for mark in {holds for _, holds, _ in usual} - {"label", "number", "row"}:
        some = [key for key in usual if key[1] == mark and not _is_settled(usual, base, key)]
        found |= _strange_marks(usual, some)
    return found


def _changes(usual: Mapping[Key, Look], base: Kind, kind: Kind) -> dict[Key, bool]:
    """Return which cells of a kind of rows look otherwise than those of most rows."""
    return {
        key: usual[key] != other
        for key in usual
        if key[2] == kind and key[0] != ROW
        if (other := usual.get((*key[:2], base))) is not None
    }


def _is_settled(usual: Mapping[Key, Look], base: Kind, key: Key) -> bool:
    """Return whether cells next to a mark show how its kind of rows changes a look."""
    changed = {} if key[2] == base else _changes(usual, base, key[2])
    return len(changed) > 1 and key in changed


def _strange_of_kind(usual: Mapping[Key, Look], base: Kind, kind: Kind) -> set[Key]:
    changed = _changes(usual, base, kind)
    found = set[Key]()
    if len(set(changed.values())) == 2:
        found |= {key for key, is_changed in changed.items() if is_changed}
    whole = (ROW, "row", kind)
    if kind[0] == base[0] and usual[whole] != usual[ROW, "row", base]:
        found.add(whole)  # the height of a row is that of all
    like = [(*kind[:2], ""), (kind[0], base[1], ""), base]
    for key in changed if kind[2] else ():  # an edge is a border
        beside = [usual[one] for k in like if k != kind and (one := (*key[:2], k)) in usual]
        if beside and _but_border(usual[key]) != _but_border(beside[0]):
            found.add(key)
    return found


def _strange_marks(usual: Mapping[Key, Look], some: Sequence[Key]) -> set[Key]:
    """Return cells of one mark whose look is not that of the same mark next to like numbers."""
    found: set[Key] = set()
    beside = {key: usual.get((key[0], "number", key[2])) for key in some}
    by: dict[Hashable, list[Key]] = {}
    looks: dict[Hashable, dict[Look, list[Key]]] = {}
    for key, number in beside.items():
        if number is not None:
            by.setdefault(_change(number, usual[key]), []).append(key)
        looks.setdefault(number, {}).setdefault(usual[key], []).append(key)
    known = {usual[key] for key, number in beside.items() if number is not None}
    for look, keys in looks.pop(None, {}).items():
        found |= set(keys) if known and look not in known else set()
    for groups in (list(by.values()), *(list(one.values()) for one in looks.values())):
        for group in sorted(groups, key=len)[: len(groups) - 1]:
            found |= set(group)
    if not known and len({usual[key] for key in some}) > 1:
        found |= set(some)
    return found


def _but_border(look: Look) -> Look:
    style = look[0]
    if isinstance(style, tuple) and len(style) > BORDER:
        style = (*style[:BORDER], *style[BORDER + 1 :])
    return style, *look[1:]


def _change(one: Look, other: Look) -> tuple[int, ...]:
    """Return in what two looks differ, but for a text next to a number."""
    return tuple(at for at in (0, 2) if one[at] != other[at])


def _edges(rows: Sequence[Seen]) -> list[str]:
    """Return which rows are the first or the last one of a kind, and which are neither."""
    found: list[str] = []
    for at, row in enumerate(rows):
        is_first = at == 0 or rows[at - 1].kind != row.kind
        is_last = at == len(rows) - 1 or rows[at + 1].kind != row.kind
        found.append("first" * is_first + "last" * is_last)
    return found
