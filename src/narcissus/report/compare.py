"""Two records side by side: what changed, row by row."""

from __future__ import annotations

from collections.abc import Iterator

from narcissus.errors import InputError
from narcissus.findings import weakest
from narcissus.report.about import shown
from narcissus.report.envelope import flat
from narcissus.report.first_screen import FirstScreen, first_screen
from narcissus.report.format import MISSING, grade_word, number
from narcissus.report.page import Cell, Grid, Page, Section, Text, Verdict
from narcissus.rows import StudyRow
from narcissus.study.record import Record

_Key = tuple[str, ...]


def compared(one: Record, other: Record) -> Page:
    """Return what differs between two records of one kind: answers, settings, rows.

    InputError: they are of different kinds.
    """
    if one.kind != other.kind:
        raise InputError(
            f"the records are of different kinds, {one.kind!r} and {other.kind!r}; compare two of "
            "one kind"
        )
    first, second = (_screen(record) for record in (one, other))
    answers, settings = list(_answers(first, second)), list(_settings(one, other))
    rows = list(_rows(one, other))
    summary = f"{len(settings):,} settings and {len(rows):,} rows differ."
    columns = ("", f"A: {first.subtitle}", f"B: {second.subtitle}")
    sections = [
        Section("The first screens", [Grid("A and B", columns, answers)]),
        Section("Settings of the study", [_grid("Settings that differ", "Setting", settings)]),
        Section("Rows", [_grid("Rows that differ", "Row", rows)]),
    ]
    sure = weakest([one.grade, other.grade])
    title = f"A: {one.title}; B: {other.title}" if one.title != other.title else one.title
    return Page(f"Compared: {title}", "", Verdict("compared", summary, rests_on=sure), sections)


def _screen(record: Record) -> FirstScreen:
    layout, case = shown(record)
    return first_screen(record, case, layout.glance(case))


def _grid(caption: str, name: str, rows: list[tuple[str, Cell, Cell]]) -> Grid | Text:
    if not rows:
        return Text([f"{caption}: none."])
    return Grid(caption, (name, "A", "B"), rows)


def _answers(one: FirstScreen, other: FirstScreen) -> Iterator[tuple[str, Cell, Cell]]:
    yield "Answer", f"{one.word}: {one.answer}", f"{other.word}: {other.answer}"
    yield "Grade", grade_word(one.grade), grade_word(other.grade)
    yield from (
        ("Without, of 100", one.without, other.without),
        ("With, of 100", one.with_it, other.with_it),
        ("At most, of 100", one.most, other.most),
    )


def _settings(one: Record, other: Record) -> Iterator[tuple[str, Cell, Cell]]:
    a, b = dict(flat(one.study)), dict(flat(other.study))
    for key in dict.fromkeys([*a, *b]):
        if a.get(key) != b.get(key):
            yield key, a.get(key, MISSING), b.get(key, MISSING)


def _key(row: StudyRow) -> _Key:
    """Name a row by all that its numbers do not decide; a bound also by its level."""
    place = (f"{key} {value}" for key, value in sorted(row.at.items()) if value != "")
    level = row.quantity.confidence
    is_bound = row.role == "bound"
    at = f"at level {level:g}" if is_bound and level else ""
    by = str(getattr(row.about, "name", "")) * is_bound
    return tuple(filter(None, (row.role, row.of, row.name, by, at, *place)))


def _rows(one: Record, other: Record) -> Iterator[tuple[str, Cell, Cell]]:
    """Yield rows whose numbers or grades differ, and those that only one record holds."""
    a, b = (_numbered(record) for record in (one, other))
    for key in dict.fromkeys([*a, *b]):
        texts = [_said(rows.get(key)) for rows in (a, b)]
        if texts[0] != texts[1]:
            yield ", ".join(dict.fromkeys(key)), texts[0], texts[1]


def _numbered(record: Record) -> dict[_Key, StudyRow]:
    """Return rows by their names; of equal names each one after the first has a number."""
    keyed_rows: dict[_Key, StudyRow] = {}
    for row in record.rows:
        key = named = _key(row)
        count = 1
        while key in keyed_rows:
            count += 1
            key = (*named, f"no. {count}")
        keyed_rows[key] = row
    return keyed_rows


def _said(row: StudyRow | None) -> str:
    """Write the numbers of a row in six figures, with limits and grade."""
    if row is None:
        return MISSING
    quantity = row.quantity
    ends = [MISSING if end is None else f"{end:.6g}" for end in (quantity.low, quantity.high)]
    between = "" if quantity.low is quantity.high is None else f" ({ends[0]} to {ends[1]})"
    value = MISSING if quantity.value is None else f"{quantity.value:.6g}"
    trials = "" if quantity.trials is None else f", {number(quantity.trials)} trials"
    baseline = "" if row.baseline is None else f", baseline {row.baseline:.6g}"
    return f"{value}{between}, {grade_word(quantity.grade)}{baseline}{trials}"
