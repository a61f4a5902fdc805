"""Pages of studies tell each number once in a table; layouts are words, tables are of one maker."""

import re
from collections import Counter
from pathlib import Path

import pytest

import narcissus
from narcissus.report import page_of, render_html
from narcissus.report.format import percent
from narcissus.report.page import Facts, Figure, Grid, Items, Pictures, Text
from narcissus.report.text import page_text
from narcissus.study.kinds import KINDS, OF_PAPERS, study_kind
from narcissus.study.reading import read_record

KEPT = Path(__file__).parents[1] / "study" / "kept"
RECORDS = [
    path for path in sorted(KEPT.glob("*.json")) if path.stem not in OF_PAPERS.keys() - KINDS.keys()
]
SOURCES = Path(narcissus.__file__).parent
LONGEST = 250
"""Lines of a layout: words and their order."""
LOOKED_AT: list[int] = []
each_record = pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)


def test_layouts_are_short_and_make_no_table_themselves():
    places = [*SOURCES.glob("kinds/**/*.py"), *SOURCES.glob("audits/*.py")]
    makers = [
        path.relative_to(SOURCES).as_posix()
        for path in places
        if re.search(r"(?<![A-Za-z_])Grid\(", path.read_text(encoding="utf-8"))
    ]
    assert makers == ["kinds/layout.py"]
    for path in SOURCES.glob("**/layout.py"):
        lines = path.read_text(encoding="utf-8").count("\n")
        assert lines <= LONGEST, (path, lines)


def blocks_of(page):
    return list(page.blocks)


def tables_of(page):
    """Return the tables of a page, those behind pictures among them."""
    for block in blocks_of(page):
        table = block.table if isinstance(block, Figure | Pictures) else block
        if isinstance(table, Grid):
            yield table


def prose_of(page):
    """Return what a page says outside of its tables."""
    lines = []
    for block in blocks_of(page):
        if isinstance(block, Text):
            lines += block.paragraphs
        elif isinstance(block, Items):
            lines += block.items
        elif isinstance(block, Facts):
            lines += [text for _, text in block.rows]
    return lines


def printed(cell):
    """Return the texts that a cell may be drawn as."""
    if isinstance(cell, float):
        return {str(cell), percent(cell), percent(cell, "up")}
    return {str(cell)}


@each_record
def test_the_verdict_in_full_repeats_no_number_of_the_result(path):
    record = read_record(path)
    page = page_of(record, internal=True)
    assert page.first is not None
    assert page.verdict.headline == ""
    assert not page.verdict.numbers
    text = page_text(page)
    assert "Evidence for the release" not in text
    assert "Evidence against it" not in text


@each_record
def test_each_number_of_the_result_is_once_in_a_table(path):
    record = read_record(path)
    case = study_kind(record.kind).judged(record)
    cells = [
        (table.caption, cell)
        for table in tables_of(page_of(record, internal=True))
        for row in table.rows
        for cell in row
    ]
    values = Counter(row.quantity.value for row in case.findings.rows)
    looked_at = 0
    for row in case.findings.rows:
        value = row.quantity.value
        # a share with digits enough to be recognized, and of this row alone
        if value is None or not 0 < value < 1 or values[value] > 1 or len(f"{value:.6g}") < 6:
            continue
        places = [caption for caption, cell in cells if cell == value]
        assert len(places) <= 1, (row.name, row.of, value, places)
        looked_at += 1
    LOOKED_AT.append(looked_at)


def test_enough_numbers_were_sought_in_tables():
    assert sum(LOOKED_AT) > 20


@each_record
def test_what_prose_prints_of_a_row_is_in_a_table_too(path):
    record = read_record(path)
    case = study_kind(record.kind).judged(record)
    page = page_of(record, internal=True)
    in_tables = "\n".join(
        " ".join(printed(cell)) for table in tables_of(page) for row in table.rows for cell in row
    )
    prose = "\n".join(prose_of(page))
    for row in case.findings.rows:
        value = row.quantity.value
        if value is None or not 0 < value < 1:
            continue
        for text in {percent(value), percent(value, "up")}:
            if re.search(rf"(?<![\d.]){re.escape(text)}", prose) and len(text) > 4:
                assert text in in_tables, (row.name, row.of, text)


@each_record
def test_every_row_that_decides_is_in_a_table(path):
    """What a criterion compares, the guess beside it and the bounds on it: each has a cell."""
    record = read_record(path)
    case = study_kind(record.kind).judged(record)
    cells = [
        text
        for table in tables_of(page_of(record, internal=True))
        for row in table.rows
        for cell in row
        for text in printed(cell)
    ]
    for row in case.findings.rows:
        value = row.quantity.value
        if not row.of or value is None or row.role not in ("attack", "bound", "guess"):
            continue
        shown = printed(value) if value <= 1 else {f"{value:,.0f}"}
        place = row.role, row.of, row.name, value
        assert any(text in cell for text in shown for cell in cells), place


@each_record
def test_the_first_screen_says_the_number_that_decided_once(path):
    first = page_of(read_record(path), internal=True).first
    if first.decided_by is None or len(first.decided_by.shown) < 3:
        return  # a 0 or a 1 is said of other things too
    texts = [first.answer, *(text for text, _ in first.sentences), first.hardest]
    says = [text for text in texts if first.decided_by.shown in text]
    assert len(says) <= 1, says


def test_no_part_of_a_page_is_empty(every_record):
    """Of a table that is met, what the verdict rests on opened to nothing."""
    shown = 0
    for name, record in every_record.items():
        text = render_html(record)
        part = text.partition("<summary>What the verdict rests on</summary>")[2]
        part = part.partition("</details>")[0].partition("</h2>")[2]
        if part:
            shown += 1
            assert re.sub(r"<[^>]*>", "", part).strip(), name
        assert all(section.blocks for section in page_of(record).sections), name
    assert 0 < shown < len(every_record)
