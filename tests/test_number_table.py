"""Tables of numbers that users wrote: read, or refused by row and column."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from narcissus._number_table import read_number_table
from narcissus.errors import InputError


@pytest.fixture(autouse=True)
def _values(monkeypatch):
    """Let messages quote cells, so that a test can see which."""
    monkeypatch.setenv("NARCISSUS_SHOW_VALUES", "1")


@pytest.fixture
def written(tmp_path):
    def write(text: str, name: str = "table.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("a,b\n1,2\n3,4\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("1,2\n3,4", None, [[1, 2], [3, 4]]),
        (' A , "B"\n1, 2e-3\n\n', ("a", "b"), [[1, 0.002]]),
        ("\n\na\ninf\n-inf\n", ("a",), [[np.inf], [-np.inf]]),
        ("a,b\n1,\n", ("a", "b"), [[1, np.nan]]),
        ("a,b\r\n1,2\r\n", ("a", "b"), [[1, 2]]),
    ],
)
def test_text_with_and_without_names(written, text, names, rows):
    table = read_number_table(written(text))
    assert table.names == names
    np.testing.assert_array_equal(table.values, rows)


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("[[1, 2], [3]]", None, [[1, 2], [3, np.nan]]),
        ('[{"a": 1, "B": 2}, {"B": 4, "a": 3}]', ("a", "b"), [[1, 2], [3, 4]]),
        ('{"a": [1, 3], "b": [2, "inf"]}', ("a", "b"), [[1, 2], [3, np.inf]]),
    ],
)
def test_three_forms_of_json(written, text, names, rows):
    table = read_number_table(written(text, "table.json"))
    assert table.names == names
    np.testing.assert_array_equal(table.values, rows)
    assert "line" not in table.place(0)


def test_a_packed_table(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert read_number_table(path).values.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n\n\n", "no rows"),
        ("a,b\n1,2\n3,x\n", r"row 2 \(line 3\), column `b`, must be a number, got 'x'"),
        ("1,2\n3,4\nann,5\n", r"row 3 \(line 3\), column 1, must be a number, got 'ann'"),
        ("\na\n1\nTrue\n", r"row 2 \(line 4\), column `a`, must be a number, got 'True'"),
        ("a;b\n1;x\n", r"column `b`, must be a number, got 'x'"),
        ("a,b\n1,2\n3,4,5\n", "as many cells as the first"),
        ("a,b,c\n1,2\n", "names 3 columns in its first line, and its rows have 2 cells"),
    ],
)
def test_text_that_is_no_table_of_numbers(written, text, said):
    with pytest.raises(InputError, match=said):
        read_number_table(written(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "not JSON"),
        ("[]", "no rows"),
        ("3", "no rows"),
        ("[[1], []]", "row 2 must be a list of numbers"),
        ("[1, 2]", "row 1 must be a list of numbers"),
        ('[[1, "x"]]', "row 1, column 2, must be a number, got 'x'"),
        ("[[true]]", "must be a number, got True"),
        ('[{"a": 1}, {"b": 1}]', "row 2 must have the keys a"),
        ('{"a": [1], "b": [1, 2]}', "lists of one length"),
        ('{"a": 1}', "lists of one length"),
        ("{}", "lists of one length"),
    ],
)
def test_json_that_is_no_table_of_numbers(written, text, said):
    with pytest.raises(InputError, match=said):
        read_number_table(written(text, "table.json"))


def test_columns_are_found_by_name_whatever_their_order(written):
    table = read_number_table(written("y,x\n1,2\n"))
    assert table.columns(("x", "y"))["x"].tolist() == [2]
    assert set(table.columns(("z",), ("y", "x"))) == {"x", "y"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,2\n", "must name its columns in its first line: `alpha`, `beta`"),
        ("alpha,bta\n1,2\n", "did you mean `beta`"),
        ("alpha\n1\n", "it has `alpha`$"),
        ("alpha,beta,beta\n1,2,3\n", "each once"),
        ("alpha,beta,other\n1,2,3\n", "no others"),
        ("alpha,beta\n1,\n", r"row 1 \(line 2\), column `beta`, is empty"),
        ("alpha;bta\n1;2\n", "`beta`"),
    ],
)
def test_columns_that_are_missing_are_named(written, text, said):
    with pytest.raises(InputError, match=said):
        read_number_table(written(text)).columns(("alpha", "beta"))
