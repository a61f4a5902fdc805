"""People beside the table: in a line, a name, a column without a name, a part of a workbook."""

import gzip
import io
import json
import struct
import zipfile
import zlib
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from narcissus.study.given import split
from narcissus.synthetic.files import read_files
from narcissus.synthetic.full_files import read_whole
from narcissus.tables.formats import LEFT_OVER, LINES, NAMES, OTHER, TEXTS, UNDER_NULLS
from narcissus.tables.leftover import _begun
from narcissus.tables.metadata import _expansion_fields, read_metadata


def people(n=200, seed=1):
    g = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": g.integers(18, 90, n),
        "income": np.rint(g.lognormal(10, 0.7, n)).astype(int),
        "region": g.choice(["North", "South", "East"], n),
    })  # fmt: skip


REAL, MADE = people(), people(seed=2)
LISTED = "; ".join(f"{a} {i}" for a, i in zip(REAL["age"], REAL["income"], strict=True))
TELLING = {
    "ages and incomes": LISTED,
    "ages": "Ages: " + " ".join(map(str, REAL["age"])),
    "two incomes": f"Checked by hand: {REAL['income'][3]} and {REAL['income'][7]}",
}
HARMLESS = {
    "a title": "Synthetic people of the survey of 2019, 200 rows",
    "a source": "Source: Office of Statistics, table 12, 31 March 2020, version 3.1",
    "ranges": "Ages 18 to 89, 3 regions (North, South, East), 200 people",
}


def written(folder, name, frame, above="", below=""):
    text = f"{above}\n\n" * bool(above) + frame.to_csv(index=False) + f"\n{below}\n" * bool(below)
    (folder / name).write_text(text)
    return folder / name


def beside(folder, made, real=REAL):
    return read_whole(written(folder, "real.csv", real), made).beside


@pytest.mark.parametrize("text", TELLING)
@pytest.mark.parametrize("place", ["above", "below"])
def test_a_line_with_values_of_people_is_asked_about(text, place, tmp_path):
    line = f"Source: {TELLING[text]}" if place == "below" else TELLING[text].replace(",", ";")
    found = beside(tmp_path, written(tmp_path, "made.csv", MADE, **{place: line}))
    assert list(found) == [LINES]
    assert "of people of the data" in found[LINES]


@pytest.mark.parametrize("text", HARMLESS)
@pytest.mark.parametrize("place", ["above", "below"])
def test_titles_and_sources_are_not_asked_about(text, place, tmp_path):
    line = HARMLESS[text] if place == "above" else f"Note: {HARMLESS[text]}"
    assert beside(tmp_path, written(tmp_path, "made.csv", MADE, **{place: line})) == {}


@pytest.mark.parametrize("shared", [False, True])
def test_a_name_of_a_column_with_values_of_people_is_asked_about(shared, tmp_path):
    named = {"age": f"age ({TELLING['ages']})"}
    real = REAL.rename(columns=named) if shared else REAL
    made = written(tmp_path, "made.csv", MADE.rename(columns=named))
    assert NAMES in beside(tmp_path, made, real)
    plain = written(tmp_path, "plain.csv", MADE.rename(columns={"age": "age (18 to 89, 2019)"}))
    assert NAMES not in beside(tmp_path, plain)


def without_name(frame, **column):
    (name,) = column
    return frame.assign(**column).rename(columns={name: ""})


def test_a_column_without_a_name_is_examined(tmp_path):
    g = np.random.default_rng(4)
    case = g.permutation(90_000)[:200] + 10_000
    real, made = (written(tmp_path, f"{n}.csv", without_name(f, case=case).iloc[:, [0, 3, 1, 2]])
                  for n, f in (("real", REAL), ("made", MADE)))  # fmt: skip
    found = read_whole(real, made)
    assert "column 2" in found.names
    alone = read_whole(written(tmp_path, "real.csv", REAL), made)
    assert alone.strange == ("column 2",)
    assert read_whole(real, made, irrelevant=["column 2"]).strange == ()
    assert "column 2" not in read_whole(real, made, irrelevant=["column 2"]).names


def test_an_index_of_names_is_examined_and_one_of_rows_is_none(tmp_path):
    def saved(name, frame, index):
        frame.set_index(pd.Index(index)).to_csv(tmp_path / name)
        return tmp_path / name

    people_of = [f"patient {n}" for n in np.random.default_rng(1).permutation(200)]
    both = [saved(n, f, people_of) for n, f in (("a.csv", REAL), ("b.csv", MADE))]
    assert "column 1" in read_whole(*both).names
    rows = [saved(n, f, range(200)) for n, f in (("c.csv", REAL), ("d.csv", MADE))]
    assert "column 1" not in read_whole(*rows).names
    moved = saved("e.csv", MADE, np.random.default_rng(2).permutation(200))
    assert "column 1" in read_whole(rows[0], moved).names


def book(folder, change=None):
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    for row in [list(MADE), *MADE.to_numpy().tolist()]:
        made.active.append(row)
    if change is not None:
        change(made, openpyxl)
    made.save(folder / "made.xlsx")
    return folder / "made.xlsx"


def add(folder, name, text):
    import zipfile

    with zipfile.ZipFile(book(folder), "a") as archive:
        archive.writestr(name, text)
    return folder / "made.xlsx"


def titled(made, _):
    made.properties.title = LISTED[:250]


def named(made, library):
    defined = library.workbook.defined_name.DefinedName("people", attr_text=f'"{LISTED[:200]}"')
    made.defined_names["people"] = defined


def footed(made, _):
    made.active.oddFooter.center.text = LISTED[:200]


def linked(made, _):
    made.active["A2"].hyperlink = f"https://example.org/?{LISTED[:300].replace('; ', '+')}"


def formatted(made, _):
    made.active["A2"].number_format = '"Anna Smith"'


def listed(made, library):
    rule = library.worksheet.datavalidation.DataValidation(
        type="list", formula1='"' + ",".join(map(str, REAL["income"][:30])) + '"'
    )
    rule.add("B2:B99")
    made.active.add_data_validation(rule)


def coloured(made, library):
    rule = library.formatting.rule.FormulaRule(
        formula=[f"OR(B2={REAL['income'][1]},B2={REAL['income'][5]})"]
    )
    made.active.conditional_formatting.add("B2:B99", rule)


def drawn(made, library):
    chart = library.chart.BarChart()
    chart.add_data(library.chart.Reference(made.active, min_col=2, min_row=1, max_row=6))
    made.active.add_chart(chart, "F2")


def own_text():
    """Return a number that one person of the data has alone."""
    return f"{REAL['income'][3]:g}"


def called(made, library):
    made.active.title = own_text()


def styled(made, library):
    made.active["B2"].style = library.styles.NamedStyle(own_text())


def lettered(made, library):
    made.active["B2"].font = library.styles.Font(name=own_text())


def tabled(made, library):
    made.active.add_table(
        library.worksheet.table.Table(displayName=f"T_{own_text()}", ref="A1:C201")
    )


@pytest.mark.parametrize(
    ("change", "part"),
    [(called, TEXTS), (styled, TEXTS), (lettered, TEXTS), (tabled, TEXTS), (titled, TEXTS),
     (named, TEXTS), (footed, TEXTS), (linked, TEXTS), (listed, TEXTS), (coloured, TEXTS),
     (formatted, OTHER), (drawn, OTHER)],
)  # fmt: skip
def test_what_else_a_sheet_tells_of_people_is_asked_about(change, part, tmp_path):
    assert part in beside(tmp_path, book(tmp_path, change))


@pytest.mark.parametrize(
    "name", ["customXml/item1.xml", "xl/externalLinks/externalLink1.xml", "xl/anything.bin"]
)
def test_a_part_that_is_not_understood_is_asked_about(name, tmp_path):
    assert list(beside(tmp_path, add(tmp_path, name, "<a/>"))) == [OTHER]


def ordinary(made, library):
    made.properties.title = "Synthetic people, 2019"
    made.properties.creator = "Office of Statistics"
    sheet = made.active
    sheet.freeze_panes, sheet.auto_filter.ref = "B2", "A1:C201"
    sheet.oddFooter.center.text = "Page &P of &N, version 3"
    sheet.column_dimensions["A"].width = 12
    sheet["A2"].number_format, sheet["B2"].number_format = '0.0" kg"', "#,##0 [$EUR]"
    sheet["A1"].font = library.styles.Font(bold=True)
    sheet["E1"].hyperlink = "https://example.org/about"
    rule = library.worksheet.datavalidation.DataValidation(
        type="list", formula1='"North,South,East"'
    )
    rule.add("C2:C99")
    sheet.add_data_validation(rule)
    scale = library.formatting.rule.ColorScaleRule(
        start_type="min", start_color="FFFFFF", end_type="max", end_color="FF0000"
    )
    sheet.conditional_formatting.add("A2:A99", scale)
    sheet.add_table(library.worksheet.table.Table(displayName="People", ref="A1:C201"))
    made.defined_names["all"] = library.workbook.defined_name.DefinedName(
        "all", attr_text="Sheet!$A$1:$C$201"
    )


@pytest.mark.parametrize("change", [None, ordinary])
def test_an_ordinary_workbook_is_not_asked_about(change, tmp_path):
    assert beside(tmp_path, book(tmp_path, change)) == {}


TOLD_NUMBERS = [f"{income:g}" for income in REAL["income"][:12]]


def stata(path, **how):
    MADE.to_stata(path, write_index=False, **how)


def labelled_variables(path):
    stata(path, variable_labels={"age": f"as {TOLD_NUMBERS[0]}"}, version=118)


def labelled_values(path):
    labels = {1000 + at: f"Person {number}" for at, number in enumerate(TOLD_NUMBERS)}
    stata(path, value_labels={"age": labels}, version=118)


def noted(path, **how):
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_sav(MADE, path, **how)


def with_attributes(path):
    frame = MADE.copy()
    frame.attrs = {"source": TOLD_NUMBERS}
    frame.to_parquet(path)


def with_key(path, library="parquet"):
    arrow = pytest.importorskip("pyarrow")
    table = arrow.Table.from_pandas(MADE)
    table = table.replace_schema_metadata({**table.schema.metadata, "from": LISTED})
    if library == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, path)


def in_gzip(path):
    with path.open("wb") as raw, gzip.GzipFile(f"{TOLD_NUMBERS[0]}.csv", "wb", fileobj=raw) as file:
        file.write(MADE.to_csv(index=False).encode())


def in_zip(path, comment=True):
    with zipfile.ZipFile(path, "w") as archive:
        name = "made.csv" if comment else f"{TOLD_NUMBERS[0]}.csv"
        archive.writestr(name, MADE.to_csv(index=False))
        archive.comment = LISTED.encode() if comment else b""


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("made.dta", labelled_variables),
        ("made.dta", labelled_values),
        ("made.sav", lambda path: noted(path, note=TOLD_NUMBERS[:5])),
        ("made.sav", lambda path: noted(path, file_label=" ".join(TOLD_NUMBERS[:3]))),
        ("made.sav", lambda path: noted(path, column_labels=[TOLD_NUMBERS[0], "", ""])),
        ("made.parquet", with_attributes),
        ("made.parquet", with_key),
        ("made.feather", lambda path: with_key(path, "feather")),
        ("made.csv.gz", in_gzip),
        ("made.csv.zip", in_zip),
        ("made.csv.zip", lambda path: in_zip(path, comment=False)),
    ],
)
def test_what_other_files_tell_of_people_beside_their_table_is_asked_about(name, write, tmp_path):
    write(tmp_path / name)
    assert list(beside(tmp_path, tmp_path / name)) == [TEXTS]


def test_the_comment_of_a_workbook_is_asked_about(tmp_path):
    pytest.importorskip("openpyxl")
    MADE.to_excel(tmp_path / "made.xlsx", index=False)
    with zipfile.ZipFile(tmp_path / "made.xlsx", "a") as archive:
        archive.comment = LISTED.encode()[:2000]
    assert list(beside(tmp_path, tmp_path / "made.xlsx")) == [TEXTS]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("made.dta", lambda path: stata(path, variable_labels={"age": "Age in 2019"}, version=118)),
        ("made.dta", lambda path: stata(path, data_label="Synthetic people, 2019")),
        ("made.sav", lambda path: noted(path, note="Made in 2019", file_label="200 people")),
        (
            "made.sav",
            lambda path: noted(
                path, variable_value_labels={"age": {at: f"{at} years" for at in range(18, 90)}}
            ),
        ),
        ("made.parquet", MADE.to_parquet),
        ("made.feather", MADE.to_feather),
        ("made.csv.gz", lambda path: MADE.to_csv(path, index=False)),
        ("made.csv.zip", lambda path: MADE.to_csv(path, index=False)),
    ],
)
def test_what_files_usually_say_beside_their_table_is_not_asked_about(name, write, tmp_path):
    write(tmp_path / name)
    assert beside(tmp_path, tmp_path / name) == {}


def parquet_with(key):
    def write(path):
        arrow = pytest.importorskip("pyarrow")
        blob = zlib.compress(REAL.to_csv().encode())
        table = arrow.Table.from_pandas(MADE, preserve_index=False)
        table = table.replace_schema_metadata({**table.schema.metadata, key: blob})
        pytest.importorskip("pyarrow.parquet").write_table(table, path)

    return write


def gzip_with_extra_field(path):
    blob = zlib.compress(REAL.to_csv().encode())[:60_000]
    part = b"RB" + struct.pack("<H", len(blob)) + blob
    raw = gzip.compress(MADE.to_csv(index=False).encode())
    flags = bytes([raw[3] | 4])
    size = struct.pack("<H", len(part))
    path.write_bytes(raw[:3] + flags + raw[4:10] + size + part + raw[10:])


@pytest.mark.parametrize(
    ("name", "write", "part"),
    [
        ("made.parquet", parquet_with(b"backup"), "metadata backup of the file"),
        ("made.parquet", parquet_with(b"a, `b`"), "metadata a b of the file"),
        ("made.csv.gz", gzip_with_extra_field, "extra fields of the gzip header"),
    ],
)
def test_what_no_reader_gives_waits_for_its_declaration(name, write, part, tmp_path):
    """A backup of all people of the data stood there, and the file was judged without a word."""
    write(tmp_path / name)
    found = read_whole(REAL, tmp_path / name)
    assert list(found.beside) == [f"unread {part}"]
    assert len(found.unseen) == 1
    settled = read_whole(REAL, tmp_path / name, irrelevant=[f"unread {part}"])
    assert settled.beside == {}
    assert settled.unseen == found.unseen
    read_files(REAL, tmp_path / name, drop=[f"unread {part}"])


@pytest.mark.parametrize("version", [114, 117, 118])
@pytest.mark.one_in(2)
def test_characteristics_of_a_stata_file_are_read(version, tmp_path):
    path = tmp_path / "made.dta"
    stata(path, version=version)
    assert read_whole(REAL, path).unseen == ()
    assert beside(tmp_path, path) == {}
    if version != 114:
        return
    data = path.read_bytes()
    text = TELLING["two incomes"].encode()
    at = 109 + 2 + data[4] * (150 + 49)
    path.write_bytes(data[:at] + b"\1" + struct.pack("<i", len(text)) + text + data[at:])
    assert "texts beside the table" in beside(tmp_path, path)


def test_an_older_stata_file_is_asked_about():
    assert _expansion_fields(b"l\2" + bytes(400)) is None
    assert _expansion_fields(b"r\2\1\0\xff\0" + bytes(200)) is None


def indexed(frame, kind):
    if kind == "text":
        return frame.set_index(pd.Index([f"Person {at:g}" for at in frame["income"]]))
    if kind == "named":
        return frame.set_index(pd.Index([f"P{at:g}" for at in frame["income"]], name="who"))
    if kind == "of two":
        return frame.set_index(
            [pd.Index(frame["income"] * 7), pd.Index(frame["age"], name="years")]
        )
    if kind == "named as a column":
        return frame.set_index(pd.Index(frame["income"] * 7, name="age"))
    return frame.set_index(pd.RangeIndex(5, 5 + len(frame), name="who"))


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
@pytest.mark.parametrize("kind", ["text", "named", "of two", "named as a column", "range"])
def test_an_index_of_pandas_is_a_column_as_any_other(kind, suffix, tmp_path):
    path = tmp_path / f"made.{suffix}"
    arrow = pytest.importorskip("pyarrow")
    table = arrow.Table.from_pandas(indexed(MADE, kind))
    if suffix == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, path)
    found = read_whole(written(tmp_path, "real.csv", REAL), path)
    assert found.names == ("age", "income", "region")
    assert bool(found.strange) == (kind != "range")
    assert read_whole(REAL, path, irrelevant=list(found.strange)).strange == ()
    assert any("its index" in line for line in read_files(REAL, path).reading) == (kind != "range")
    read_files(REAL, path, drop=list(found.strange))
    named = written(tmp_path, "named.csv", REAL.assign(who=[f"P{i:g}" for i in REAL["income"]]))
    both = read_whole(named, path)
    assert ("who" in both.names) == (kind == "named")


def test_an_index_that_both_files_have_is_compared(tmp_path):
    for name, frame in {"real": REAL, "made": MADE}.items():
        indexed(frame, "text").to_parquet(tmp_path / f"{name}.parquet")
    found = read_whole(tmp_path / "real.parquet", tmp_path / "made.parquet")
    assert found.aside == ["__index_level_0__"]
    read_files(tmp_path / "real.parquet", tmp_path / "made.parquet")


NAMED = REAL.assign(case=[f"CH-{412_000 + 37 * at}" for at in range(len(REAL))])


def levelled(frame=MADE):
    used = sorted(set(frame["region"]))
    return frame.assign(region=pd.Categorical(frame["region"], [*used, *NAMED["case"]]))


def arrow_stream(frame, path):
    arrow = pytest.importorskip("pyarrow")
    table = arrow.Table.from_pandas(frame)
    with arrow.OSFile(str(path), "wb") as file, arrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("name", ["made.parquet", "made.feather", "made.arrow", ""])
def test_levels_that_no_row_has_are_texts_beside_the_table(name, tmp_path):
    """Case numbers of all people stood in the dictionary of a column, and nothing was asked."""
    frames = {"used": MADE.assign(region=pd.Categorical(MADE["region"])), "all": levelled()}
    for which, frame in frames.items():
        path = tmp_path / name
        if name.endswith("parquet"):
            frame.to_parquet(path)
        elif name.endswith("feather"):
            frame.to_feather(path)
        elif name:
            arrow_stream(frame, path)
        found = read_whole(NAMED, path if name else frame)
        assert list(found.beside) == [TEXTS] * (which == "all")
    assert read_whole(NAMED, path if name else frame, irrelevant=[TEXTS]).beside == {}


def test_what_else_a_data_frame_keeps_is_asked_about():
    kept = pd.MultiIndex.from_product([NAMED["case"], [1, 2]], names=["case", "time"])
    frame = MADE.assign(at=0).set_axis(kept[:1].repeat(len(MADE)))
    frame.index = frame.index.set_levels(kept.levels[0], level=0)
    assert list(read_whole(NAMED, frame).beside) == [TEXTS]
    noted = MADE.copy()
    noted.attrs = {"of": list(NAMED["case"])}
    assert list(read_whole(NAMED, noted).beside) == [TEXTS]


def suppressed():
    """Return a frame whose cells were set to null after they had values of people."""
    frame = MADE.copy()
    frame["income"] = REAL["income"].astype("Int64")
    frame.loc[::3, "income"] = pd.NA
    return frame


def with_unused_numbers(path, column, **how):
    """Write a column of numbers whose rows all have the first entry of its dictionary."""
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    kind = arrow.array(column).type
    schema = arrow.schema([arrow.field("more", kind, nullable=False)])
    table = arrow.table({"more": column}, schema=schema)
    parquet.write_table(table, path, write_statistics=False, compression="none", **how)
    with parquet.ParquetFile(path) as file:
        chunk = file.metadata.row_group(0).column(0)
        start, end = (
            chunk.data_page_offset,
            chunk.dictionary_page_offset + chunk.total_compressed_size,
        )
    data = bytearray(path.read_bytes())
    head = _begun(io.BytesIO(data), start)[1] + 2  # the width of an index, and of how many
    data[start + head : end] = bytes(end - start - head)
    path.write_bytes(data)


@pytest.mark.parametrize("kind", ["int64", "int32", "float64", "datetime64[us]"])
def test_numbers_that_no_row_has_are_texts_beside_the_table(kind, tmp_path):
    """The dictionary of a column of numbers held all numbers of people, and nothing was asked."""
    real = REAL.assign(case=10**6 + 37 * np.arange(len(REAL)))
    if kind.startswith("date"):
        real["case"] = pd.date_range("1950-01-01", periods=len(REAL), freq="53D").astype(kind)
    cases = real["case"].astype(kind).to_numpy()
    path = tmp_path / "made.parquet"
    with_unused_numbers(path, cases)
    assert len(set(pd.read_parquet(path)["more"])) == 1
    labels = read_metadata(path).value_labels
    assert len(labels) == len(REAL) - 1
    assert list(read_whole(real, path).beside) == [TEXTS]


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip", "lz4"])
def test_dictionaries_whose_entries_all_have_rows_are_not_asked_about(compression, tmp_path):
    frame = MADE.assign(
        day=pd.date_range("2020-01-01", periods=200), part=MADE["income"] / 7, kept=True,
        small=pd.array(MADE["age"], "int8"), some=pd.array([None, *range(199)], "Int64"),
        lot=[Decimal(at) / 8 for at in range(200)],
    )  # fmt: skip
    frame.loc[3, "part"] = np.nan
    path = tmp_path / "made.parquet"
    frame.to_parquet(path, compression=compression, row_group_size=50)
    assert read_metadata(path).value_labels == ()


@pytest.mark.parametrize("compression", ["lz4", "uncompressed"])
def test_values_under_nulls_wait_for_their_declaration(compression, tmp_path):
    path = tmp_path / "made.feather"
    suppressed().to_feather(path, compression=compression)
    found = read_whole(REAL, path).beside
    assert list(found) == [UNDER_NULLS]
    assert "values of people" in found[UNDER_NULLS]
    assert read_whole(REAL, path, irrelevant=[UNDER_NULLS]).beside == {}
    read_files(REAL, path, drop=[UNDER_NULLS, "income"])


@pytest.mark.parametrize("text", [False, True])
def test_texts_and_dates_under_nulls_are_seen(text, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    values = arrow.array(list(NAMED["case"]) if text else list(range(10**6, 10**6 + 200)))
    values = values if text else values.cast("timestamp[s]")
    bits = np.packbits(np.arange(200) % 3 > 0, bitorder="little").tobytes()
    buffers = [arrow.py_buffer(bits), *values.buffers()[1:]]
    column = arrow.Array.from_buffers(values.type, 200, buffers)
    table = arrow.Table.from_pandas(MADE).append_column("more", column)
    pytest.importorskip("pyarrow.feather").write_feather(table, tmp_path / "made.feather")
    assert UNDER_NULLS in read_whole(NAMED, tmp_path / "made.feather").beside


def test_ordinary_nulls_are_not_asked_about(tmp_path):
    polars = pytest.importorskip("polars")
    some = [None, *range(199)]
    frame = MADE.assign(
        whole=pd.array(some, "Int64"), part=pd.array(some, float), text=[str(s) for s in some],
        day=pd.to_datetime(some, unit="D"), kept=pd.array([None, *[True] * 199], "boolean"),
    )  # fmt: skip
    frame.loc[4, "region"] = None
    frame["group"] = pd.Categorical(frame["region"])
    frame.to_feather(tmp_path / "made.feather")
    polars.from_pandas(frame).write_ipc(tmp_path / "made.arrow")
    for name in ("made.feather", "made.arrow"):
        assert beside(tmp_path, tmp_path / name) == {}


def suppressed_as(library):
    """Return the same table as an object of a library, people of every third row suppressed."""
    arrow = pytest.importorskip("pyarrow")
    frame = suppressed()
    if library == "pandas":
        return frame
    if library == "an index of pandas":
        return frame.set_index("income")
    if library == "numpy":
        columns = {name: MADE[name].to_numpy() for name in MADE}
        return columns | {"income": np.ma.array(REAL["income"], mask=frame["income"].isna())}
    table = arrow.Table.from_pandas(frame, preserve_index=False)
    if library == "polars":
        return pytest.importorskip("polars").from_arrow(table)
    if library == "pandas with Arrow":
        return table.to_pandas(types_mapper=pd.ArrowDtype)
    return table


LIBRARIES = ["pandas", "an index of pandas", "numpy", "polars", "pandas with Arrow", "Arrow"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_values_under_missing_cells_of_a_frame_are_asked_about(library):
    """A frame of suppressed values, which it still held, was not looked at beside its cells."""
    study = {"kind": "synthetic", "data": {"real": REAL, "synthetic": suppressed_as(library)}}
    held = split(study)[1]["python:data.synthetic"]
    for published in (study["data"]["synthetic"], held):
        found = read_whole(REAL, published).beside
        assert list(found) == [UNDER_NULLS]
        assert "values of people" in found[UNDER_NULLS]
        assert read_whole(REAL, published, irrelevant=[UNDER_NULLS]).beside == {}


@pytest.mark.parametrize("library", ["pandas", "numpy", "Arrow", "polars", "pandas with Arrow"])
def test_a_frame_without_hidden_values_is_not_asked_about(library):
    arrow = pytest.importorskip("pyarrow")
    frame = MADE.assign(whole=pd.array([None, *range(199)], "Int64"))
    frame.loc[4, "region"] = None
    table = arrow.Table.from_pandas(frame, preserve_index=False)
    some = {
        "pandas": frame,
        "numpy": {name: np.ma.array(MADE[name], mask=False) for name in MADE},
        "Arrow": table,
        "polars": pytest.importorskip("polars").from_pandas(frame),
        "pandas with Arrow": table.to_pandas(types_mapper=pd.ArrowDtype),
    }
    assert read_whole(REAL, some[library]).beside == {}


def test_levels_and_notes_of_a_table_of_arrow_are_asked_about():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.Table.from_pandas(levelled(), preserve_index=False)
    noted = arrow.Table.from_pandas(MADE, preserve_index=False).replace_schema_metadata(
        {"of": json.dumps(list(NAMED["case"]))}
    )
    kept = table.to_pandas(types_mapper=pd.ArrowDtype)
    for published in (table, noted, kept):
        assert list(read_whole(NAMED, published).beside) == [TEXTS]


@pytest.mark.parametrize("kind", [list, tuple, set, np.array, pd.Series, pd.Index, pd.DataFrame])
def test_notes_of_a_frame_are_read_whatever_holds_them(kind):
    noted = MADE.copy()
    noted.attrs = {"of": kind(list(NAMED["case"]))}
    assert list(read_whole(NAMED, noted).beside) == [TEXTS]


def test_unused_names_of_columns_and_names_of_levels_are_asked_about():
    columns = MADE.set_axis(
        pd.CategoricalIndex(MADE.columns, [*MADE.columns, *NAMED["case"]]), axis=1
    )
    named = MADE.rename_axis(columns=" ".join(NAMED["case"][:3]))
    for published in (columns, named):
        assert list(read_whole(NAMED, published).beside) == [TEXTS]


def test_bytes_that_no_reader_reads_wait_for_their_declaration(tmp_path):
    path = tmp_path / "made.csv.zip"
    MADE.to_csv(path, index=False)
    path.write_bytes(REAL.to_csv().encode() + path.read_bytes())
    found = read_whole(REAL, path).beside
    assert found == {
        LEFT_OVER: f"the file has {len(REAL.to_csv()):,} bytes that no reader of its table reads"
    }
    assert read_whole(REAL, path, irrelevant=[LEFT_OVER]).beside == {}
    read_files(REAL, path, drop=[LEFT_OVER])
