"""Files of other programs mean what their programs mean, and bad ones end in one error."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from datetime import date
from pathlib import Path

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.feather
import pyreadstat
import pytest

import narcissus
from narcissus.errors import InputError, TooLargeError
from narcissus.tables import formats, read_table
from narcissus.tables.parts import names_with_index, open_source, sketch_table

from .conftest import decoded

FRAME = pd.DataFrame(
    {
        "age": [31, 42, 9, 31, 50],
        "pay": [2.5, np.nan, 0.1, 1e6, 2.5],
        "town": ["Köln", "Ulm", "Ulm", "Köln", "Bonn"],
        "sex": [1.0, 2.0, 1.0, 2.0, 9.0],
    }
)
LABELS = {"sex": {1.0: "woman", 2.0: "man", 9.0: "refused"}}
ROWS = [
    ("31", "2.5", "Köln", "woman"),
    ("42", "(missing)", "Ulm", "man"),
    ("9", "0.1", "Ulm", "woman"),
    ("31", "1000000", "Köln", "man"),
    ("50", "2.5", "Bonn", "refused"),
]
PLAIN = [(*row[:3], code) for row, code in zip(ROWS, "12129", strict=True)]


def sheet(path, rows, *, hidden=False):
    book = openpyxl.Workbook()
    if hidden:
        book.active.sheet_state = "hidden"
    target = book.create_sheet("people")
    for row in rows:
        target.append(row)
    book.save(path)


def excel(path):
    cells = FRAME.astype(object).where(FRAME.notna(), None)
    sheet(path, [FRAME.columns.tolist(), *cells.to_numpy().tolist()])


def json_lines(path):
    lines = ({k: v for k, v in row.items() if v == v} for row in FRAME.to_dict("records"))
    path.write_text("\n\n".join(map(json.dumps, lines)))


def arrow_stream(path):
    table = pa.Table.from_pandas(FRAME)
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)


WRITERS = {
    "t.dta": (lambda p: pyreadstat.write_dta(FRAME, p, variable_value_labels=LABELS), ROWS),
    "t.sav": (lambda p: pyreadstat.write_sav(FRAME, p, variable_value_labels=LABELS), ROWS),
    "t.zsav": (lambda p: pyreadstat.write_sav(FRAME, p, compress=True), PLAIN),
    "t.por": (lambda p: pyreadstat.write_por(FRAME.replace("Köln", "Koln"), p), None),
    "t.xpt": (lambda p: pyreadstat.write_xport(FRAME, p), PLAIN),
    "t.xlsx": (excel, PLAIN),
    "t.feather": (FRAME.to_feather, PLAIN),
    "t.arrow": (arrow_stream, PLAIN),
    "t.jsonl": (json_lines, PLAIN),
    "t.json": (FRAME.to_json, PLAIN),
    "records.json": (lambda p: FRAME.to_json(p, orient="records", indent=1), PLAIN),
    "split.json": (lambda p: FRAME.to_json(p, orient="split"), PLAIN),
    "lines.json": (lambda p: FRAME.to_json(p, orient="records", lines=True), PLAIN),
    "packed.json.gz": (FRAME.to_json, PLAIN),
}


@pytest.mark.parametrize("name", WRITERS)
def test_each_format_holds_the_same_people(tmp_path, name):
    write, rows = WRITERS[name]
    write(tmp_path / name)
    table = read_table(tmp_path / name, missing="category")
    expected = [(*r[:2], r[2].replace("ö", "o"), r[3]) for r in PLAIN] if rows is None else rows
    assert decoded(table) == expected
    assert [name.lower() for name in table.names] == list(FRAME)
    assert read_table(tmp_path / name, missing="category", count_above=0).rows == 5
    assert sketch_table(tmp_path / name).rows == 5
    if rows is ROWS:
        assert table.remarks == ("Labels of the file read in place of codes: sex",)


def open_files():
    """Files that this process has open; none where the system does not say."""
    places = set()
    for descriptor in Path("/proc/self/fd").glob("*"):
        with contextlib.suppress(OSError):  # the one that lists them
            places.add(descriptor.readlink())
    return places


@pytest.mark.parametrize("name", [*WRITERS, "t.sas7bdat"])
def test_damaged_files_end_in_one_error(tmp_path, name):
    """Cut anywhere, with a byte changed, or of another kind: an error, or a table."""
    path = tmp_path / name
    whole = b"no such thing"
    if name in WRITERS:
        WRITERS[name][0](path)
        whole = path.read_bytes()
    rng = np.random.default_rng(1)
    cut = [whole[: int(n)] for n in rng.integers(1, len(whole), 12)]
    changed = [bytearray(whole) for _ in range(25)]
    for data in changed:
        data[rng.integers(len(data))] ^= int(rng.integers(1, 256))
    refused = 0
    for data in (b"", b"\0" * 200, b"age,sex\n1,2\n", whole[: len(whole) // 2], *cut, *changed):
        path.write_bytes(data)
        try:
            open_source(path, None, (), 100)
        except InputError as error:
            refused += 1
            if path in open_files():  # while somebody has the error, and what it holds
                pytest.fail(f"left open: {error}")
    assert refused >= 4


def test_codes_declared_missing_and_labels_that_repeat(tmp_path):
    frame = pd.DataFrame({"q": [1.0, 2.0, 3.0, 99.0], "r": [1.0, 2.0, 2.0, 8.0]})
    pyreadstat.write_sav(
        frame,
        tmp_path / "t.sav",
        variable_value_labels={"q": {99.0: "refused", 1.0: "low"}, "r": {1.0: "yes", 2.0: "yes"}},
        missing_ranges={"q": [99]},
    )
    table = read_table(tmp_path / "t.sav", missing="category")
    assert [r[0] for r in decoded(table)] == ["low", "2", "3", "(missing)"]
    assert [r[1] for r in decoded(table)] == ["yes (1.0)", "yes (2.0)", "yes (2.0)", "8"]


def test_a_sheet_with_a_title_notes_and_formats(tmp_path):
    path = tmp_path / "t.xlsx"
    rows = [
        ["Pay by age, 2019"],
        [],
        ["day", "ok", "pay", None],
        [date(2020, 3, 31), True, 2, None],
        [date(2020, 4, 1), False, 2.5, None],
        [date(2020, 4, 1), None, 2, None],
        [date(2020, 4, 1), "a\nb", 2, None],
        [],
        ["Source: a survey"],
    ]
    sheet(path, rows, hidden=True)
    table = read_table(path, missing="category")
    assert decoded(table)[2] == ("2020-04-01", "(missing)", "2")
    assert table.remarks == (
        "1 blank row of the sheet left out",
        "1 hidden sheet of the file not read",
        "Line 1 above the header left out",
        "Line 10 below the last row left out",
    )
    book = openpyxl.load_workbook(path)
    book.create_sheet("more").append([1])
    book.save(path)
    remarks = read_table(path, missing="category").remarks
    assert any(one.startswith("Sheet `people` read, of 2: save another") for one in remarks)
    openpyxl.Workbook().save(path)
    with pytest.raises(InputError, match=r"t\.xlsx is empty"):
        read_table(path)


@pytest.mark.parametrize(
    "entity", ["SYSTEM 'file:///etc/hostname'", '"' + "&a;" * 10 + '"'], ids=["a file", "a bomb"]
)
def test_a_sheet_reads_no_other_file_and_expands_no_bomb(tmp_path, entity):
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.append(["there", 1])
    book.save(tmp_path / "good.xlsx")
    known = '<!ENTITY a "lol">' + "".join(
        f'<!ENTITY a{i} "{"&a%s;" % (i - 1 or "") * 10}">' for i in range(1, 10)
    )
    head = f"<!DOCTYPE worksheet [{known}<!ENTITY x {entity}>]><worksheet"
    with zipfile.ZipFile(tmp_path / "good.xlsx") as good:
        parts = {name: good.read(name) for name in good.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"].decode().replace("<worksheet", head, 1)
    parts["xl/worksheets/sheet1.xml"] = sheet.replace(
        "there<", "&x;&a9;<" if "SYSTEM" not in entity else "&x;<"
    ).encode()
    with zipfile.ZipFile(tmp_path / "trap.xlsx", "w") as trap:
        for name, content in parts.items():
            trap.writestr(name, content)
    with pytest.raises(InputError, match="is not a readable Excel file"):
        read_table(tmp_path / "trap.xlsx")


def test_a_sheet_whose_size_is_wrong_is_read_whole(tmp_path):
    path = tmp_path / "t.xlsx"
    excel(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data.replace(b'ref="A1:D6"', b'ref="A1:B2"'))
    assert decoded(read_table(path, missing="category")) == PLAIN


def test_excel_files_that_are_traps(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 600)
    with pytest.raises(InputError, match="protected by a password, or an"):
        read_table(path)
    excel(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    part = "xl/worksheets/sheet2.xml"
    for old, new, says in [
        (b'<row r="3"', b'<row r="999999999999"', "too many cells"),
        (b"</sheetData>", b"</sheetData>" + b" " * (2**28 + 2**20), "unpacks to"),
    ]:
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, data in parts.items():
                archive.writestr(name, data.replace(old, new) if name == part else data)
        path.write_bytes(made.getvalue())
        with pytest.raises(TooLargeError, match=says):
            read_table(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1}\n{"a": \n', r"line 2 of .* is not JSON"),
        ('{"a": 1}\n[1]\n', "line 2 of .* must be an object"),
        ('{"a": 1}\n{"a": [1]}\n', "column `a` holds values that are neither numbers nor text"),
        ("[" * 100_000, "line 1 of .* nested too deeply"),
        ("\n", "is empty"),
    ],
)
def test_json_lines_that_cannot_be_read(tmp_path, text, says):
    (tmp_path / "t.ndjson").write_text(text)
    with pytest.raises(InputError, match=says):
        read_table(tmp_path / "t.ndjson")


def test_tables_too_large_for_their_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "MOST_CELLS", 19)
    for name in ("t.sav", "t.feather", "t.jsonl"):
        WRITERS[name][0](tmp_path / name)
        with pytest.raises(TooLargeError, match="20 cells; at most 19"):
            read_table(tmp_path / name)


def frames():
    arrow = pa.Table.from_pandas(FRAME)
    yield arrow
    yield polars.from_arrow(arrow)
    yield duckdb.sql("select * from arrow")
    yield FRAME.to_dict("list")
    yield arrow.to_reader()


def test_data_frames_of_any_library():
    for frame in frames():
        assert decoded(read_table(frame, missing="category")) == PLAIN
    big = polars.DataFrame({"n": [2**60 + 1, None, 2**60 + 1], "b": [True, None, False]})
    assert read_table(big, missing="category").labels[0][0] == str(2**60 + 1)
    with pytest.raises(InputError, match="lists of one length"):
        read_table({"a": [1], "b": [1, 2]})
    with pytest.raises(InputError, match="column `a` holds lists"):
        read_table(pa.table({"a": [[1], [2]]}))


def test_audits_of_other_frames_and_names_that_are_numbers():
    draw = np.random.default_rng(1).integers(0, 3, (200, 3))
    frame = pd.DataFrame(draw)
    said = {"k": 2, "epsilon": 1.0, "targets": 10, "trials": 2, "workers": 1, "rng": 1}
    found = narcissus.audit(frame, unknown=2, **said)
    other = pl = polars.DataFrame({str(j): draw[:, j] for j in range(3)})
    assert narcissus.audit(other, unknown="2", **said).to_frame().equals(found.to_frame())
    named = narcissus.audit(draw_of(pl), unknown=["2"], bins={1: {"above": 0}}, **said)
    assert named.status == found.status
    real, synthetic, control = (polars.DataFrame(part) for part in np.split(draw[:198], 3))
    names = {f"column_{j}": str(j) for j in range(3)}
    files = [part.rename(names) for part in (real, synthetic, control)]
    audit = narcissus.audit_synthetic(*files[:2], control=files[2], unknown=2, rng=1)
    assert audit.status in ("not shown", "exceeded")


def draw_of(frame):
    """Return a dictionary of columns whose names are numbers."""
    return {int(name): frame[name].to_list() for name in frame.columns}


@pytest.mark.parametrize("suffix", ["sav", "zsav"])
def test_damage_that_ends_the_library_is_refused(tmp_path, narcissus, suffix):
    """One byte of a file of SPSS, found by chance: its reader ends by a signal, with no error."""
    path = tmp_path / f"people.{suffix}"
    pyreadstat.write_sav(FRAME, path, variable_value_labels=LABELS, compress=suffix == "zsav")
    assert read_table(path, missing="category").rows == 5
    content = bytearray(path.read_bytes())
    content[182] = 64
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a readable file of SPSS"):
        read_table(path)
    code, out, err = narcissus("measure", path, "--known", "age", "--secret", "sex")
    assert (code, out) == (2, "")
    assert "not a readable file of SPSS" in err


def test_names_and_numbers_of_json_that_no_table_holds_are_refused(tmp_path):
    """Half of a letter, and a number beyond what a float holds, as in a text table."""
    path = tmp_path / "people.jsonl"
    path.write_text('{"a\\ud800": 1, "b": 2}\n')
    with pytest.raises(InputError, match="surrogates not allowed"):
        read_table(path)
    for sign in ("", "-"):
        digits = f"{sign}1{'0' * 400}"
        path.write_text(f'{{"a": {digits}, "b": 2}}\n{{"a": 3, "b": 1}}\n')
        (tmp_path / "people.csv").write_text(f"a,b\n{digits},2\n3,1\n")
        for name in (path, tmp_path / "people.csv"):
            with pytest.raises(InputError, match="`a` holds infinite values"):
                read_table(name)


FORGED = [
    "[1, 2]", "{}", "[]", '{"a": 3}', "[{}", '{"columns": 3, "index": [], "data": []}', "7",
    '{"columns": ["a", "a"], "index": [0], "data": [[1, 2]]}', '[{"a": [1]}, {"a": {}}]',
    '{"columns": ["a", "b"], "index": [0], "data": [[1]]}', "[" * 200 + "]" * 200,
    '{"columns": [["a"], "b"], "index": [0], "data": [[1, 2]]}', '[{"a": 1, "a": 2}]',
    '{"columns": ["a"], "index": [0, 1], "data": [[1]]}',
]  # fmt: skip


@pytest.mark.parametrize("text", FORGED)
def test_json_that_is_no_table_is_refused(tmp_path, text):
    path = tmp_path / "people.json"
    path.write_text(text)
    with pytest.raises((InputError, TooLargeError)):
        read_table(path)


def test_names_of_rows_in_json_are_examined(tmp_path):
    """Where rows have names, these may be people: they are a column, as an index of Parquet is."""
    path = tmp_path / "people.json"
    FRAME.set_index(pd.Index(list("vwxyz"))).to_json(path)
    assert names_with_index(path) == [*FRAME.columns, "__index_level_0__"]


@pytest.mark.parametrize("suffix", [".jsonl", ".feather"])
def test_too_many_columns_are_refused_before_they_are_made(tmp_path, suffix, monkeypatch):
    """Each is an object of its own in a data frame: 85,000 of them took 37 seconds."""
    columns = {f"c{number}": [number] for number in range(formats.MOST_COLUMNS + 1)}
    path = tmp_path / f"wide{suffix}"
    if suffix == ".jsonl":
        path.write_text(json.dumps({name: cells[0] for name, cells in columns.items()}) + "\n")
    else:
        pyarrow.feather.write_feather(pa.table(columns), path)
    monkeypatch.setattr(pd, "DataFrame", lambda *_, **__: pytest.fail("made"))
    with pytest.raises(TooLargeError, match="10,001 columns; at most 10,000 are read"):
        formats.read_frame(path, [])


def test_many_labels_of_codes_are_read_in_one_pass():
    """Time for each pair of so many labels would be an hour."""
    codes = range(200_000)
    read = formats._labels({code: f" label {code // 2 if code < 4 else code} " for code in codes})
    assert [read(code) for code in (0, 1, 2, 4)] == [
        "label 0 (0)",
        "label 0 (1)",
        "label 1 (2)",
        "label 4",
    ]


def test_a_sheet_that_is_too_large_as_csv_is_told_by_its_reach(tmp_path):
    path = tmp_path / "t.xlsx"
    book = openpyxl.Workbook()
    for row in (1, 2):
        book.active.cell(row, 1, 1)
    book.active.cell(2, 16384, 1)
    book.active.cell(40000, 1, 1)
    book.save(path)
    with pytest.raises(TooLargeError, match=r"40,000 rows reach to column 16,384.*delete empty"):
        read_table(path)
