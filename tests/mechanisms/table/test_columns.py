"""A table's columns: people as labels and back, and what is refused of somebody else's rows."""

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import Columns

GOOD = {"age": ["young"], "job": ["cook"], "ill": ["no"]}


def test_people_as_labels(columns):
    frame = columns.frame(np.array([[2, 3, 0], [0, 2, 1], [2, 1, 1]]))
    assert list(frame.columns) == ["age", "job", "ill"]
    assert frame.to_numpy().tolist() == [
        ['very "old"', "é\nà", "no"],
        ["young", "", "yes"],
        ['very "old"', "1", "yes"],
    ]
    for name, labels in zip(columns.names, columns.labels, strict=True):
        assert frame[name].cat.categories.tolist() == list(labels)  # those of nobody as well
        assert not frame[name].cat.ordered


def test_labels_and_back(columns, people):
    frame = columns.frame(people)
    codes = columns.codes(frame, of="the release")
    assert codes.dtype == np.int32
    np.testing.assert_array_equal(codes, people)
    turned = frame.iloc[:, ::-1].astype(object)
    turned.index = range(100, 160)
    np.testing.assert_array_equal(columns.codes(turned, of="the release"), people)


def test_nobody_is_no_error(columns, people):
    none = columns.frame(people[:0])
    assert none.shape == columns.codes(none, of="the release").shape == (0, 3)


def test_names_and_values_are_read_by_their_text():
    columns = Columns(("7", "b"), (("1", "2.5"), ("True", "False")), (False,) * 2, (0,))
    frame = pd.DataFrame({"b": [False, True], 7: [2.5, "1"]})
    assert columns.codes(frame, of="the release").tolist() == [[1, 1], [0, 0]]


def test_sizes(columns):
    assert columns.sizes == (3, 4, 2)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"age": None, "ill": None}, "the file lacks the columns 'age', 'ill'"),
        ({"new": ["x"], "old": ["x"]},
         "the file has columns that were not in the data: 'new', 'old'"),
        ({"ill": ["maybe"]}, "column 'ill' of the file has values that were not in the data: "
         "'maybe'"),
        ({"ill": [None]}, "column 'ill' of the file has values that were not in the data: 'None'"),
        ({"job": [1.5]}, "column 'job' of the file has values that were not in the data: '1.5'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(columns, changes, said):
    given = {name: values for name, values in (GOOD | changes).items() if values is not None}
    with pytest.raises(InputError) as caught:
        columns.codes(pd.DataFrame(given), of="the file")
    assert str(caught.value) == said


def test_a_column_twice_is_named_once(columns):
    frame = pd.DataFrame([["young", "cook", "no", "old, or so"]])
    frame.columns = ["age", "job", "ill", "age"]
    with pytest.raises(InputError, match=r"^the file has the columns 'age' twice$"):
        columns.codes(frame, of="the file")


def test_of_many_strange_values_five_are_named_in_order(columns):
    def said(values):
        frame = pd.DataFrame({"age": values, "job": "cook", "ill": "no"})
        with pytest.raises(InputError) as caught:
            columns.codes(frame, of="the file")
        return str(caught.value).partition("data: ")[2]

    assert said([*"edcba", "young", "a"]) == "'a', 'b', 'c', 'd', 'e'"
    assert said([*"fedcba"]) == "'a', 'b', 'c', 'd', 'e' ..."


def test_a_missing_value_is_none_of_the_labels():
    """Also where a label reads as one does."""
    columns = Columns(("a",), (("nan", "x"),), (False,), (0,))
    with pytest.raises(InputError, match="not in the data: 'nan'"):
        columns.codes(pd.DataFrame({"a": ["x", np.nan]}), of="the file")
    assert columns.codes(pd.DataFrame({"a": ["x", "nan"]}), of="the file").tolist() == [[1], [0]]
