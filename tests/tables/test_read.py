"""Reading tables: what comes out, and one clear message for each thing that cannot be used."""

from __future__ import annotations

import gzip
from contextlib import suppress
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.tables import Bins, Table, read_table

GOOD = "age,sex,town\n31,f,Ulm\n42,m,Bonn\n9,f,Bonn\n31,m,Ulm\n"


@pytest.fixture
def write(tmp_path):
    """Give a function that writes a file and gives its path."""

    def write(content, name="people.csv"):
        path = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def decoded(table):
    return [
        tuple(table.labels[j][code] for j, code in enumerate(row)) for row in table.codes.tolist()
    ]


PEOPLE = [("31", "f", "Ulm"), ("42", "m", "Bonn"), ("9", "f", "Bonn"), ("31", "m", "Ulm")]


def test_a_small_file(write):
    table = read_table(write(GOOD))
    assert table.names == ("age", "sex", "town")
    assert table.labels == (("9", "31", "42"), ("f", "m"), ("Bonn", "Ulm"))
    assert table.ordered == (True, False, False)
    assert table.sizes == (3, 2, 2)
    assert (table.rows, table.columns) == (4, 3)
    assert table.codes.dtype == np.int32
    assert decoded(table) == PEOPLE
    assert table.values[0].tolist() == [9, 31, 42]
    assert table.values[1:] == (None, None)
    with pytest.raises(ValueError, match="read-only"):
        table.codes[0, 0] = 1


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("people.csv.gz", lambda text: text),
        ("people.tsv", lambda text: text.replace(",", "\t")),
        ("people.tsv.gz", lambda text: text.replace(",", "\t")),
        ("people.txt", lambda text: text.replace(",", ";")),
        ("people.csv", lambda text: "\ufeff" + text),
        ("people.csv", lambda text: text.replace("\n", "\r\n")),
        ("people.csv", lambda text: "\n" + text.replace("\n", "\n\n")),
        ("people.csv", lambda text: text.replace(",", " , ")),
        ("people.csv", lambda text: text.replace("Bonn", '"Bonn"').rstrip("\n")),
    ],
)
def test_other_forms_of_the_same_file(write, name, change):
    table = read_table(write(change(GOOD), name))
    assert decoded(table) == PEOPLE
    assert table.digest == read_table(write(GOOD, "plain.csv")).digest


def test_parquet_and_data_frame(write, tmp_path):
    frame = pd.read_csv(write(GOOD))
    frame.to_parquet(tmp_path / "people.parquet")
    expected = read_table(tmp_path / "people.csv").digest
    assert read_table(tmp_path / "people.parquet").digest == expected
    assert read_table(frame).digest == expected
    chosen = read_table(tmp_path / "people.parquet", columns=["town", "age"])
    assert chosen.names == ("town", "age")
    frame["sex"] = frame["sex"].astype("category")
    frame["grown"] = frame["age"] > 18
    table = read_table(frame)
    assert table.labels[1] == ("f", "m")
    assert table.labels[3] == ("False", "True")
    assert table.ordered[3] is False


def test_decimal_numbers_are_numbers():
    frame = pd.DataFrame({"x": [Decimal("1.50"), Decimal(2), Decimal("1.5")]})
    assert read_table(frame).labels == (("1.5", "2"),)


def test_numbers_in_several_spellings_are_one_value(write):
    table = read_table(write("x,y\n1,a\n01,b\n1.0,a\n2.50,b\n-3e0,a\n"))
    assert table.labels[0] == ("-3", "1", "2.5")
    assert table.codes[:, 0].tolist() == [1, 1, 1, 2, 0]


def test_columns_choose_and_order(write):
    path = write(GOOD)
    assert read_table(path, columns=["town", "age"]).names == ("town", "age")
    assert read_table(path, drop=["town"]).names == ("age", "sex")
    assert decoded(read_table(path, columns=["town", "age"]))[1] == ("Bonn", "42")


def test_digest_changes_with_every_part(write):
    table = read_table(write(GOOD))
    seen = {table.digest}
    for content in (GOOD.replace("age", "Age"), GOOD.replace("Ulm", "Koln"), GOOD + "9,f,Ulm\n"):
        seen.add(read_table(write(content)).digest)
    assert len(seen) == 4
    assert table.select(table.names).digest == table.digest
    assert len(table.digest) == 64


def test_select_and_index(write):
    table = read_table(write(GOOD))
    part = table.select(["town", "age"])
    assert part.names == ("town", "age")
    assert part.values[1].tolist() == [9, 31, 42]
    assert decoded(part)[0] == ("Ulm", "31")
    assert table.index("sex") == 1
    with pytest.raises(InputError, match=r"no column `twon`; did you mean `town`\?"):
        table.index("twon")


def test_fair():
    table = read_table("statsmodels:fair", bins={"affairs": Bins(above=0)})
    assert (table.rows, table.columns) == (6366, 9)
    assert table.labels[table.index("affairs")] == ("at most 0", "above 0")
    assert table.labels[table.index("yrs_married")][0] == "0.5"
    # 2,053 of 6,366 women had an affair (Fair 1978, the Redbook survey).
    assert int((table.codes[:, -1] == 1).sum()) == 2053


def test_acs(example_data):
    path = example_data("acs_employment_ny2018_20k.csv.gz")
    table = read_table(path, drop=["ESR"], bins={"AGEP": Bins(width=10)})
    assert (table.rows, table.columns) == (20_000, 16)
    ages = pd.read_csv(path)["AGEP"]
    assert table.labels[-1][0] == "10 to 19"
    assert (table.codes[:, -1] == ages // 10 - 1).all()
    assert table.values[-1].tolist() == list(range(8))


MISSING = "age,sex\n31,f\n,m\n9,\n31,NA\n12,m\n"


def test_missing_values_are_refused_with_their_places(write):
    with pytest.raises(
        InputError, match=r"1 in `age` \(row 2\); 2 in `sex` \(row 3, 4\)"
    ) as caught:
        read_table(write(MISSING))
    assert "missing = 'drop'" in str(caught.value)


def test_missing_values_elsewhere_do_not_matter(write):
    assert read_table(write(MISSING), columns=["age"], missing="drop").rows == 4
    with pytest.raises(InputError, match="in `age`") as caught:
        read_table(write(MISSING), columns=["age"])
    assert "sex" not in str(caught.value)


def test_rows_with_missing_values_dropped(write):
    assert decoded(read_table(write(MISSING), missing="drop")) == [("31", "f"), ("12", "m")]


def test_missing_values_as_a_category(write):
    table = read_table(write(MISSING), missing="category")
    assert table.labels == (("9", "12", "31", "(missing)"), ("f", "m", "(missing)"))
    assert table.ordered == (False, False)
    assert decoded(table)[1] == ("(missing)", "m")


def test_missing_values_in_a_data_frame():
    frame = pd.DataFrame({"a": [1.0, np.nan, 2.0], "b": ["x", None, "y"]})
    with pytest.raises(InputError, match=r"1 in `a` \(row 2\); 1 in `b` \(row 2\)"):
        read_table(frame)
    assert read_table(frame, missing="category").labels[0] == ("1", "2", "(missing)")


MANY = "id,x,s\n" + "".join(f"p{i},{i},{i % 2}\n" for i in range(300))


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("", {}, r"people\.csv is empty"),
        ("\n\n", {}, r"people\.csv is empty"),
        ("a,b\n", {}, "holds a header and no rows"),
        ("a,b,a\n1,2,3\n", {}, "several columns are called `a`"),
        ("a,,c\n1,2,3\n", {}, "column 2 has no name"),
        ("a,b\n1,2\n1,2,3\n", {}, "line 3 has 3 cells where the header has 2"),
        ("a,b\n1,2\n\n1\n", {}, "line 4 has 1 cells where the header has 2"),
        ('a,b\n1,"x\ny"\n2\n', {}, "row 2 has 1 cells where the header has 2"),
        ('a,b\n1,"2\n1,2\n', {}, "not a readable CSV: unexpected end of data"),
        ("a,b\n1,x\n1,y\n", {}, r"`a` has one value only \('1'\).*drop = \[\"a\"\]"),
        ("a,b\n1,x\n2,x\n", {}, r"`b` has one value only \('x'\)"),
        ("a,b\n1,x\n2,y\n3,x\ninf,x\n", {}, "`a` holds infinite values"),
        ("a,b\n,x\n,y\n,x\n", {"missing": "drop"}, "every row of .* has a missing value"),
        ("a,b\n,x\n,y\n,x\n", {"missing": "category"}, "`a` has no value at all"),
        (GOOD, {"columns": ["age", "sxe"]}, "no column `sxe`; did you mean `sex`"),
        (GOOD, {"columns": ["zzz"]}, "no column `zzz`; the columns are age, sex, town"),
        (GOOD, {"drop": ["tow"]}, "no column `tow`; did you mean `town`"),
        (GOOD, {"columns": "age"}, r"`columns` must be a list.*\[\"age\"\]"),
        (GOOD, {"drop": "age"}, r"`drop` must be a list.*\[\"age\"\]"),
        (GOOD, {"columns": []}, "at least one column"),
        (GOOD, {"columns": ["age", "age"]}, "names `age` twice"),
        (GOOD, {"columns": ["age"], "drop": ["age"]}, "no column is left"),
        (GOOD, {"missing": "ignore"}, "`missing` must be one of refuse, drop, category"),
        (GOOD, {"bins": {"aeg": Bins(width=5)}}, "`bins` names the column `aeg`.*`age`"),
        (GOOD, {"bins": {"sex": Bins(width=5)}}, "`sex`, which is not numbers.*'f', 'm'"),
        (GOOD, {"bins": {"age": Bins(width=5)}, "drop": ["age"]}, "it is dropped"),
        (GOOD, {"bins": {"age": 10}}, r"must be Bins\(width"),
        (GOOD, {"bins": {"age": Bins(above=99)}}, r"`age` has one value only \('at most 99'\)"),
        (GOOD, {"bins": {"age": Bins(width=1e-5)}}, "3,300,001 bins.*take a larger one"),
        (GOOD, {"bins": {"age": Bins(width=0.1)}}, "331 bins, more than `max_values` = 200"),
        (GOOD, {"max_rows": 3}, "more rows; at most 3 are read"),
        (GOOD, {"max_rows": 0}, "`max_rows` must be at least 1"),
        (MANY, {"drop": ["id"]}, r"`x` has 300 different numbers.*width = 50.*quantiles"),
        (MANY, {"drop": ["x"]}, "`id` has another text in each of 300 rows: it identifies"),
        (
            MANY.replace("p299", "p298").replace("p", ""),
            {"drop": ["x"]},
            "`id` has 299 different numbers",
        ),
        (
            "x,s\n" + "".join(f"{i},{i % 2}\n" for i in range(300)) + "?,1\n?,0\n",
            {},
            r"`x` has 301 different texts.*most are numbers, but not all: it holds '\?'",
        ),
        (b"\x89PNG\r\n\x00\x00", {}, "it holds binary data"),
        (GOOD.encode("utf-16"), {}, "UTF-16: save it as UTF-8"),
        ("a,b\nK\u00f6ln,1\nUlm,2\n".encode("latin-1"), {}, r"not UTF-8 text \(byte 0xf6\)"),
    ],
)
def test_what_cannot_be_used(write, content, arguments, message):
    with pytest.raises(InputError, match=message):
        read_table(write(content), **arguments)


def test_wrong_row_beyond_the_first_chunk_is_named(write):
    lines = ["a,b", *(f"{i % 3},{i % 2}" for i in range(70_000))]
    lines[68_000] = "1"
    with pytest.raises(InputError, match="line 68001 has 1 cells"):
        read_table(write("\n".join(lines)))


def test_missing_file_names_the_nearest(write, tmp_path):
    write(GOOD)
    with pytest.raises(InputError, match=r"no such file: .*peple\.csv; did you mean `people\.csv`"):
        read_table(tmp_path / "peple.csv")
    with pytest.raises(InputError, match="there is no folder"):
        read_table(tmp_path / "nowhere" / "people.csv")
    with pytest.raises(InputError, match="is a folder, not a table"):
        read_table(tmp_path)


def test_files_that_are_something_else(write):
    with pytest.raises(InputError, match=r"must end in \.csv"):
        read_table(write(GOOD, "people.xlsx"))
    path = write(GOOD, "people.csv.gz")
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(InputError, match="not a complete gzip file"):
        read_table(path)
    path.write_text(GOOD)
    with pytest.raises(InputError, match="not a complete gzip file"):
        read_table(path)
    with pytest.raises(InputError, match="not a readable Parquet file"):
        read_table(write(GOOD, "people.parquet"))
    with pytest.raises(InputError, match="got int"):
        read_table(3)


def test_parquet_is_checked_like_text(tmp_path):
    path = tmp_path / "people.parquet"
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_parquet(path)
    with pytest.raises(InputError, match="did you mean `a`"):
        read_table(path, columns=["aa"])
    with pytest.raises(TooLargeError, match="2 rows; at most 1"):
        read_table(path, max_rows=1)


def test_too_large_a_file(write, monkeypatch):
    monkeypatch.setattr("narcissus.tables.sources.MAX_BYTES", 10)
    with pytest.raises(TooLargeError, match="at most"):
        read_table(write(GOOD))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('a,b\n1"x",2\n3,4\n', r"line 2 has a quote within a cell.*1\""),
        ('a,b\n1,2\n3,4"\n', "line 3 has a quote"),
        ('a,b\n1, "x"\n3,y\n', "line 2 has a quote"),
        ('a,b\n"x\ny",2\n"z",p"q\n', "line 4 has a quote"),
        ('a,b"c\n1,2\n', "line 1 has a quote"),
        ('a,b\n"x"y,2\n', "not a readable CSV"),
    ],
)
def test_a_quote_within_a_cell_is_no_letter(write, content, says):
    with pytest.raises(InputError, match=says):
        read_table(write(content))


def test_quotes_where_they_belong(write):
    text = 'a,"b ""c"""\n"x, y",1\n"","2"\n"p""q""",1\n"line\nbreak ""quoted""",2\n'
    table = read_table(write(text), missing="category")
    assert table.names == ("a", 'b "c"')
    assert table.labels[0] == ('line\nbreak "quoted"', 'p"q"', "x, y", "(missing)")


def test_one_word_in_a_column_of_numbers_is_noted(write):
    rows = [f"{i % 9},{i % 2},{'x' if i % 3 else 'y'}" for i in range(100)]
    assert read_table(write("\n".join(["n,m,t", *rows]))).notes == {}
    rows[41] = "unknown,1,x"
    table = read_table(write("\n".join(["n,m,t", *rows])))
    assert table.ordered == (False, True, False)
    assert set(table.notes) == {"n"}
    assert "1 of 100 cells are not ('unknown' in row 42)" in table.notes["n"]
    assert table.select(["m", "n"]).notes == table.notes
    assert table.select(["m"]).notes == {}
    frame = pd.DataFrame({"n": [1, 2, 3, "?"] * 5, "b": [True, False] * 10})
    assert set(read_table(frame).notes) == {"n"}


def test_a_pipe_is_no_folder(tmp_path):
    import os

    os.mkfifo(tmp_path / "people.csv")
    with pytest.raises(InputError, match="is a pipe or a device, not a file"):
        read_table(tmp_path / "people.csv")


def test_binary_data_far_into_a_file(write):
    content = GOOD * 1000 + "31,f\0,Ulm\n"
    with pytest.raises(InputError, match="binary data"):
        read_table(write(content))


def test_rows_much_wider_than_the_header(write):
    """Told at the first of them: a thousand such rows would not fit into memory."""
    content = "a,b\n1,2\n" + ("0," * 400_000 + "0\n") * 50
    with pytest.raises(InputError, match="line 3 has 400001 cells where the header has 2"):
        read_table(write(content, "people.csv.gz"))


def test_too_many_columns_or_cells(write, monkeypatch):
    wide = ",".join(f"c{i}" for i in range(10_001))
    with pytest.raises(TooLargeError, match="10,001 columns; at most 10,000"):
        read_table(write(f"{wide}\n{wide}\n"))
    monkeypatch.setattr("narcissus.tables.sources.MOST_CELLS", 11)
    with pytest.raises(TooLargeError, match=r"12 cells .* at most 11"):
        read_table(write(GOOD))
    with pytest.raises(TooLargeError, match=r"12 cells .* at most 11"):
        read_table(pd.read_csv(write(GOOD)))
    assert read_table(write(GOOD), drop=["town"]).rows == 4


class TestParquet:
    """Parquet files are small where their columns repeat themselves: what counts is unpacked."""

    def test_one_long_text_in_many_rows(self, tmp_path):
        """A megabyte that would be 200 GB: the text stays what it is, once."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        words = pa.DictionaryArray.from_arrays(
            pa.array(np.arange(200_000) % 2, pa.int32()), pa.array(["x" * 2**20, "y"])
        )
        table = pa.table({"t": words, "n": [1, 2] * 100_000})
        path = tmp_path / "people.parquet"
        pq.write_table(table, path, store_schema=False)
        read = read_table(path)
        assert [len(label) for label in read.labels[0]] == [2**20, 1]
        assert read.rows == 200_000

    def test_many_rows_of_one_number(self, tmp_path, monkeypatch):
        path = tmp_path / "people.parquet"
        pd.DataFrame({"a": np.zeros(100_000), "b": np.arange(100_000) % 2}).to_parquet(path)
        monkeypatch.setattr("narcissus.tables.sources.MAX_BYTES", 1_599_999)
        with pytest.raises(TooLargeError, match="unpacks to 1,600,000 bytes; at most 1,599,999"):
            read_table(path)
        assert path.stat().st_size < 100_000

    def test_columns_of_lists(self, tmp_path):
        path = tmp_path / "people.parquet"
        pd.DataFrame({"a": [[1], [2]], "b": [1, 2]}).to_parquet(path)
        with pytest.raises(InputError, match="`a` holds lists or structures"):
            read_table(path)

    @pytest.mark.parametrize("place", range(4, 400, 7))
    def test_damage_anywhere_is_one_message(self, tmp_path, place):
        path = tmp_path / "people.parquet"
        pd.DataFrame({"a": ["x", "y", "z"] * 9, "b": range(27)}).to_parquet(path)
        content = bytearray(path.read_bytes())
        for at in (place, len(content) - place):
            damaged = content.copy()
            damaged[at] ^= 0xFF
            path.write_bytes(damaged)
            with suppress(InputError):
                read_table(path)


def test_frames_that_cannot_be_used():
    with pytest.raises(InputError, match="holds no rows"):
        read_table(pd.DataFrame({"a": []}))
    with pytest.raises(InputError, match="is empty"):
        read_table(pd.DataFrame())
    with pytest.raises(InputError, match="neither numbers nor text"):
        read_table(pd.DataFrame({"a": [[1], [2]]}))
    with pytest.raises(InputError, match="infinite"):
        read_table(pd.DataFrame({"a": [1.0, np.inf, 2.0]}))


def test_packaged_tables_by_name():
    with pytest.raises(InputError, match="no table `fiar`; did you mean `fair`"):
        read_table("statsmodels:fiar")
    with pytest.raises(InputError, match="packaged tables are written 'statsmodels:NAME'"):
        read_table("statmodels:fair")


def test_a_table_by_hand_is_checked():
    labels, codes = (("a", "b"), ("1", "2")), np.array([[0, 1], [1, 0]])
    assert Table(("x", "y"), labels, (False, True), codes).values[1].tolist() == [1, 2]
    for arguments, message in [
        ((("x", "x"), labels, (False, True), codes), "must differ"),
        ((("x",), labels, (False, True), codes), "one entry for each of 2 columns"),
        ((("x", "y"), (("a", "a"), ("1", "2")), (False, True), codes), "labels of column `x`"),
        ((("x", "y"), labels, (False, True), codes + 1), r"`x` must be in 0\.\.1, got 1 to 2"),
        ((("x", "y"), labels, (False, True), codes * 0.5), "must be integers"),
        ((("x", "y"), labels, (False, True), codes[:0]), "none empty"),
        ((("x", "y"), labels, (False, True), codes, (None, None)), "`values` must hold"),
    ]:
        with pytest.raises(InputError, match=message):
            Table(*arguments)
