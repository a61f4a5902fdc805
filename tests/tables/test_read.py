"""Reading tables: what comes out, and one clear message for each thing that cannot be used."""

from __future__ import annotations

from decimal import Decimal
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.tables import Bins, read_table

from .conftest import GOOD, decoded

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


def test_fair():
    for above in (10**6, 0):  # held, and counted
        table = read_table("statsmodels:fair", bins={"affairs": Bins(above=0)}, count_above=above)
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


def test_missing_values_are_refused_with_their_places_dropped_or_a_category(write):
    path = write(MISSING)
    said = r"1 in `age` \(row 2\); 2 in `sex` \(row 3, 4\).*missing = 'drop'"
    with pytest.raises(InputError, match=said):
        read_table(path)
    with pytest.raises(InputError, match="in `age`") as caught:
        read_table(path, columns=["age"])
    assert "sex" not in str(caught.value)
    assert read_table(path, columns=["age"], missing="drop").rows == 4
    assert decoded(read_table(path, missing="drop")) == [("31", "f"), ("12", "m")]
    table = read_table(path, missing="category")
    assert table.labels == (("9", "12", "31", "(missing)"), ("f", "m", "(missing)"))
    assert table.ordered == (False, False)
    assert decoded(table)[1] == ("(missing)", "m")
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
        ("a,,c\n1,2,3\n", {}, r'column 2 has no name.*drop = \[""\]'),
        ("a,,c\n1,2,3\n", {"columns": ["", "a"]}, "column 2 has no name"),
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
        (GOOD, {"columns": b"age"}, "`columns` must be a list of names, got b'age'"),
        (GOOD, {"drop": "aeg"}, "no column `aeg`; did you mean `age`"),
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
        (
            MANY,
            {"drop": ["id"]},
            r"`x` has 300 different numbers.*--bins x=50 or --bins x=quantiles=5",
        ),
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
        (b"\xff\xfe\x00\xd8a", {}, "begins as UTF-16 and is none"),
    ],
)
def test_what_cannot_be_used(write, content, arguments, message):
    with pytest.raises(InputError, match=message):
        read_table(write(content), **arguments)


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


def test_columns_without_a_name_can_be_left_out(write):
    path = write(",a,,b\n0,x,1,u\n1,y,1,v\n")
    assert read_table(path, drop=[""]).names == ("a", "b")
    counted = read_table(path, drop=[""], count_above=1)
    assert counted.names == ("a", "b")


def test_codes_and_common_values_are_the_same_where_records_are_counted(write):
    rows = [
        f"{'N' if i % 7 == 0 else i},{'ab'[i % 2] if i % 5 else f't{i % 9}'}" for i in range(90)
    ]
    path = write("\n".join(["x,y", *rows]) + "\n")
    bins = {"x": Bins(width=30, codes=["N"]), "y": Bins(common=2)}
    held, counted = (read_table(path, bins=bins, count_above=most) for most in (10**6, 1))
    assert (
        held.labels
        == counted.labels
        == (
            ("0 to 29", "30 to 59", "60 to 89", "N"),
            ("a", "b", "(other)"),
        )
    )
    assert held.ordered == counted.ordered == (False, False)
    assert held.notes == counted.notes == {}
    assert np.array_equal(np.sort(held.codes, axis=0), np.sort(counted.codes, axis=0))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "latin-1"])
def test_letters_are_the_same_in_whatever_the_file_is_encoded(write, encoding):
    """As Excel, SAS and R on Windows write it: a file and its comparison need not agree."""
    content = "ville,âge\nKöln,12\nÉvry,13\nSão João,14\nKöln,12\n".encode(encoding)
    table = read_table(write(content))
    assert table.names == ("ville", "âge")
    assert set(table.labels[0]) == {"Köln", "Évry", "São João"}
    assert table.codes[0].tolist() == table.codes[3].tolist()


def test_bytes_without_a_letter_stay_apart(write):
    """Five bytes of Windows-1252 mean nothing; each is a value of its own."""
    cells = [bytes([b]) for b in (0x81, 0x8D, 0x8F, 0x90, 0x9D, 0x80)] + 10 * [b"caf\xe9"]
    table = read_table(
        write(b"x,y\n" + 2 * b"".join(c + b"k,%d\n" % n for n, c in enumerate(cells)))
    )
    assert len(table.labels[0]) == 7


def test_columns_of_one_name_are_told_apart(write):
    table = read_table(write("a,b,a,a (2),a\n1,2,3,4,5\n2,3,4,5,6\n"))
    assert table.names == ("a", "b", "a (2)", "a (2) (2)", "a (3)")
    assert read_table(write("a,b,a\n1,2,3\n2,3,4\n"), drop=["a"]).names == ("b", "a (2)")


def test_a_header_of_one_name_a_hundred_thousand_times_is_refused_at_once(write):
    content = ",".join(["x", "x (2)"] * 50_000) + "\n" + ",".join("1" * 100_000) + "\n"
    with pytest.raises(InputError, match="100,000 columns; at most 10,000"):
        read_table(write(content))


def test_all_problems_are_told_at_once(write):
    lines = "".join(f"{i},p{i},x,{'' if i % 9 else i},{i % 2}\n" for i in range(300))
    with pytest.raises(InputError) as error:
        read_table(write("age,who,one,pay,sex\n" + lines))
    said = str(error.value).split("\n")
    assert said[0] == "4 problems:"
    for line, (column, remedy) in zip(
        said[1:],
        [
            ("`pay` (row 2, 3, 4, ...)", "--missing category"),
            ("`age` has 300 different numbers", "--bins age=50"),
            ("`who` has another text in each", "--drop who"),
            ("`one` has one value only", "--drop one"),
        ],
        strict=True,
    ):
        assert column in line
        assert remedy in line
    for how in ({"drop": ["x", "y"]}, {"bins": {"x": Bins(width=1), "y": Bins(width=1)}}):
        with pytest.raises(InputError, match=r"2 problems:\n\* .*`x`.*\n\* .*`y`"):
            read_table(write(GOOD), **how)
    wide = ",".join(f"c{i}" for i in range(50)) + "\n" + ("1," * 49 + "1\n") * 3
    with pytest.raises(InputError, match=r"50 problems:(\n.*){20}\n\* and 30 more problems"):
        read_table(write(wide))


def test_letters_with_accents_are_one_character_whatever_the_source(tmp_path):
    """macOS writes them as two."""
    composed = pd.DataFrame({"town": ["Zürich", "Köln"] * 2, "sex": ["m", "f", "f", "m"]})
    apart = composed.assign(town=[normalize("NFD", town) for town in composed["town"]])
    assert list(apart["town"]) != list(composed["town"])
    apart.to_csv(tmp_path / "apart.csv", index=False)
    for source in (apart, tmp_path / "apart.csv"):
        assert read_table(source).labels == read_table(composed).labels
    both = pd.concat([composed, apart])
    assert read_table(both).labels == read_table(composed).labels
