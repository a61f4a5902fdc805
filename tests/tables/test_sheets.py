"""Sheets by the cells that they hold: no rectangle is laid out before its size is known."""

import csv
import io
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError, TooLargeError
from narcissus.tables import formats, packages

SHEET_PART = "xl/worksheets/sheet1.xml"


@pytest.fixture
def altered(tmp_path):
    """Give a function that writes an Excel file of 50 rows, with a part of it changed."""
    book = openpyxl.Workbook()
    book.active.append(["age", "sex"])
    for row in range(50):
        book.active.append([20 + row % 30, "mf"[row % 2]])
    book.save(tmp_path / "good.xlsx")

    def write(old, new, part=SHEET_PART):
        path = tmp_path / "t.xlsx"
        with (
            zipfile.ZipFile(tmp_path / "good.xlsx") as good,
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made,
        ):
            for name in good.namelist():
                content = good.read(name).decode()
                assert name != part or old in content
                made.writestr(name, content.replace(old, new, 1) if name == part else content)
        return path

    return write


def steps(call):
    """Count the function calls and lines of our and openpyxl's code, whatever the processor."""
    count = 0

    def trace(*_):
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except (InputError, TooLargeError):
        pass
    finally:
        sys.settrace(before)
    return count


FAR = {
    "columns": lambda n: "".join(
        f'<row r="{i}"><c r="XFD{i}"><v>1</v></c></row>' for i in range(60, n)
    ),
    "rows": lambda n: f'<row r="{n * 1000}"><c r="A{n * 1000}"><v>1</v></c></row>',
}


@pytest.mark.parametrize("far", FAR)
def test_the_work_for_a_sheet_is_that_of_its_cells(altered, far):
    """A hundred rows or a million, of one cell each, are no work for the cells between."""
    honest = altered(
        "</sheetData>",
        "".join(f'<row r="{i}"><c r="A{i}"><v>1</v></c></row>' for i in range(60, 160))
        + "</sheetData>",
    )
    few = steps(lambda: formats.sheet_as_text(honest, [], 2**30))
    path = altered("</sheetData>", FAR[far](160) + "</sheetData>")
    assert steps(lambda: formats.sheet_as_text(path, [], 2**30)) < 2 * few
    assert steps(lambda: formats.parts_beside(path)) < 2 * few + 20_000


AFTER = {
    "merged": ("<mergeCells>", '<mergeCell ref="A{0}:Z{0}"/>', "</mergeCells>"),
    "validations": (
        '<dataValidations><dataValidation type="whole" sqref="',
        "A{0}:XFD{0} ",
        '"/></dataValidations>',
    ),
    "nested": ("", "<extLst>", "</extLst>" * 2000),
}


@pytest.mark.parametrize("after", AFTER)
def test_what_follows_the_cells_is_no_work(altered, after):
    start, each, end = AFTER[after]
    honest = altered("</sheetData>", "</sheetData>")
    few = steps(lambda: formats.sheet_as_text(honest, [], 2**30))
    text = formats.sheet_as_text(honest, [], 2**30).getvalue()
    content = start + "".join(each.format(i) for i in range(100, 2100)) + end
    path = altered("</sheetData>", f"</sheetData>{content}")
    assert steps(lambda: formats.sheet_as_text(path, [], 2**30)) < few + 5_000
    assert formats.sheet_as_text(path, [], 2**30).getvalue() == text


def test_a_part_of_several_sheets_is_refused(altered):
    space = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    again = f'<sheet xmlns:r="{space}" name="again" sheetId="7" r:id="rId1"/></sheets>'
    path = altered("</sheets>", again, "xl/workbook.xml")
    for read in (
        lambda: formats.sheet_as_text(path, [], 2**30),
        lambda: formats.parts_beside(path),
    ):
        with pytest.raises(InputError, match="sheets `Sheet` and `again` are the same part"):
            read()


def test_a_sheet_whose_part_is_not_there_is_refused(altered):
    path = altered("/xl/worksheets/sheet1.xml", "../../../etc/passwd", "xl/_rels/workbook.xml.rels")
    with pytest.raises(InputError, match="`Sheet` names a part that is not in the file"):
        formats.sheet_as_text(path, [], 2**30)


WRONG = {
    "a text that is not there": '<c r="A60" t="s"><v>99</v></c>',
    "a number of 5,000 digits": f'<c r="A60"><v>{"9" * 5000}</v></c>',
    "a column beyond the last": '<c r="XFE60"><v>1</v></c>',
    "no column": '<c r="ZZZZ60"><v>1</v></c>',
    "a negative row": '<c r="A-5"><v>1</v></c>',
    "no truth value": '<c r="A60" t="b"><v>x</v></c>',
    "no date": '<c r="A60" t="d"><v>x</v></c>',
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_cell_that_excel_does_not_write_is_told_by_its_row(altered, wrong):
    path = altered("</sheetData>", f'<row r="60">{WRONG[wrong]}</row></sheetData>')
    with pytest.raises(
        InputError, match=r"sheet `Sheet`(, row 60, has an address or a value| has a cell beyond)"
    ) as told:
        formats.sheet_as_text(path, [], 2**30)
    assert not re.search(r"index|sys\.|ZZZ", str(told.value).replace(str(path), ""))


@pytest.mark.parametrize("row", ["51", "3"])
def test_rows_out_of_order_are_refused(altered, row):
    """They would be left out without a word."""
    path = altered("</sheetData>", f'<row r="{row}"><c r="A{row}"><v>1</v></c></row></sheetData>')
    with pytest.raises(InputError, match=f"row {row} of its sheet `Sheet` comes twice"):
        formats.sheet_as_text(path, [], 2**30)


@given(
    st.dictionaries(
        st.tuples(st.integers(1, 30), st.integers(1, 12)),
        st.sampled_from(["x", " ", "a,b", 'a"b', "a\nb", 3, 2.5, True, None]),
        max_size=40,
    )
)
def test_a_sheet_is_the_csv_of_all_its_rectangle(cells):
    """As it is laid out with every empty cell."""
    book = openpyxl.Workbook()
    for (row, column), value in cells.items():
        book.active.cell(row, column, value)
    file = io.BytesIO()
    book.save(file)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "t.xlsx")
        path.write_bytes(file.getvalue())
        texts = [
            [formats._cell_text(c) for c in row] for row in book.active.iter_rows(values_only=True)
        ]
        if not any(map(any, texts)):
            with pytest.raises(InputError, match="is empty"):
                formats.sheet_as_text(path, [], 2**30)
            return
        rows = list(
            csv.reader(io.StringIO(formats.sheet_as_text(path, [], 2**30).getvalue().decode()))
        )
    trimmed = [[*row] for row in texts]
    for row in (*trimmed, *rows):
        while row and not row[-1]:
            row.pop()
    while trimmed and not trimmed[-1]:
        trimmed.pop()
    while rows and not rows[-1]:
        rows.pop()
    assert rows == trimmed


def test_a_sheet_that_is_nearly_empty_is_not_laid_out(altered):
    cells = '<row r="9000"><c r="GRP9000"><v>1</v></c></row></sheetData>'
    path = altered("</sheetData>", cells)
    with pytest.raises(
        TooLargeError, match=r"103 filled cells of sheet `Sheet` lie in a rectangle"
    ):
        formats.sheet_as_text(path, [], 2**30)


@pytest.mark.parametrize("text", ["[" * 3000, ";" * 3000, '"' * 3000])
def test_a_long_number_format_is_not_looked_through(altered, text):
    code = text.replace('"', "&quot;")
    formatted = f'<numFmts count="1"><numFmt numFmtId="200" formatCode="{code}"/></numFmts><fonts'
    path = altered("<fonts", formatted, "xl/styles.xml")
    assert "number formats that print other texts" in packages.list_contents(path).strange


@pytest.mark.parametrize("piece", ["<sheetData ", "<!--", "<si>", "<si ", "<f ", "<Relationship "])
def test_pieces_that_never_end_are_found_in_one_look(piece):
    """Where each of 200,000 would be looked for to the end, this takes hours."""
    text = piece * 200_000
    for name in (
        SHEET_PART,
        "xl/sharedStrings.xml",
        "xl/_rels/workbook.xml.rels",
        "docProps/app.xml",
    ):
        list(packages._strange_in(name, text))
        list(packages._texts_in(name, text))
    list(packages._items(text))
    list(packages._names_in(text))
