"""Rows of numbers among titles and notes: a second table in one file, which nobody reads."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from narcissus._visible import visible
from narcissus.counts.marks import SUPPRESSED, read_number
from narcissus.rows import Unaccounted

Rows = list[tuple[int, list[str]]]
_YEAR = re.compile(r"(19|20)\d\d")


def find_rows(lines: Sequence[tuple[int, str]], delimiter: str, width: int) -> list[int]:
    """Return which lines have numbers in separate cells, as rows of a table do.

    A year alone is that of a title or of a source, unless the line next to it is a row.

    Parameters
    ----------
    lines: titles and notes, each with its number.
    width: how many columns the table has that is read.
    """
    row_numbers: list[int] = []
    maybe: dict[int, tuple[int, ...]] = {}  # how many cells, and which of them are numbers
    for number, line in lines:
        cells = next(csv.reader([line], delimiter=delimiter), [])
        behind = [cell.strip() for cell in cells[1:] if cell.strip()]
        numbers = [at for at, cell in enumerate(cells) if at and _is_number(cell)]
        all_values = bool(behind) and all(map(_is_value, behind))
        if not numbers and not (all_values and len(behind) > 1):
            continue
        is_year = len(numbers) == 1 and _YEAR.fullmatch(cells[numbers[0]].strip()) is not None
        if not is_year and (all_values or len(cells) == width):
            row_numbers.append(number)
        else:
            maybe[number] = (len(cells), *numbers)
    for number, shape in maybe.items():
        beside = {number - 1, number + 1}
        if beside & {*row_numbers} or any(maybe.get(other) == shape for other in beside):
            row_numbers.append(number)
    return sorted(row_numbers)


def _is_number(cell: str) -> bool:
    return read_number(_plain(cell)) is not None


def _plain(cell: str) -> str:
    return cell.strip().removesuffix("%").strip().replace(",", ".").lstrip("<>\u2264\u2265~ ")


def _is_value(cell: str) -> bool:
    """Return whether a cell is a number or a mark of suppression."""
    return _is_number(cell) or cell.casefold() in SUPPRESSED - {""}


def fill_down(rows: Rows) -> tuple[Rows, list[int]]:
    """Return rows whose blank first cells have the label above, and the places of these columns.

    As merged cells leave them. They are filled where columns behind have the same labels in each
    block, and no row comes twice: else a blank cell may be for all people.
    """
    width = min((len(cells) for _, cells in rows), default=0)
    blank = [any(not cells[at] for _, cells in rows) for at in range(width)]
    end = next((at for at in range(width) if not blank[at]), width)
    if not 0 < end < width - 1 or not all(rows[0][1][:end]):
        return rows, []
    filled: Rows = []
    above = [""] * end
    for line, cells in rows:
        first = next((at for at in range(end) if cells[at]), end)
        if not all(cells[first:end]):
            return rows, []  # a blank cell behind a label of this row
        above = [*above[:first], *cells[first:end]]
        filled.append((line, [*above, *cells[end:]]))
    is_clear = any(_repeats(filled, end, behind) for behind in range(end + 1, width))
    return (filled, list(range(end))) if is_clear else (rows, [])


def _repeats(rows: Rows, end: int, behind: int) -> bool:
    """Check that columns up to ``behind`` have the same labels in each block, each of them once."""
    blocks: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for _, cells in rows:
        blocks.setdefault(tuple(cells[:end]), []).append(tuple(cells[end:behind]))
    sets = {frozenset(labels) for labels in blocks.values()}
    is_single = all(len(labels) == len(set(labels)) for labels in blocks.values())
    return len(sets) == 1 and is_single and len(blocks) > 1


def ask_for_rows(file: str, lines: Sequence[int]) -> Iterator[Unaccounted]:
    """Yield the question what rows of numbers are that are among titles and notes."""
    if lines:
        shown = ", ".join(map(str, lines[:4])) + ", ..." * (len(lines) > 4)
        yield Unaccounted(
            subject=f"{'lines' if len(lines) > 1 else 'line'} {shown} of {visible(file)}",
            reason="They are rows of numbers outside of the table that was read.",
            declaration="each table in a separate file",
        )
