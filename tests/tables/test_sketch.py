"""Sketches of tables: what columns hold, from all rows or the first ones, however they are kept."""

from __future__ import annotations

import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.tables import sketch as module
from narcissus.tables.sketch import share_of_most, sketch_table

TEXT = ",a,b\n" + "".join(f"{i},{i % 3},{'x' if i % 4 else ''}\n" for i in range(60))


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_all_rows_of_a_file(write, name):
    found = sketch_table(write(TEXT, name))
    assert found.names == ["a", "b"]
    assert (found.rows, found.all_rows, found.unnamed) == (60, 60, 1)
    assert found.is_whole
    first, second = found.columns
    assert dict(zip(first.tally.values, first.tally.counts, strict=True)) == {
        "0": 20,
        "1": 20,
        "2": 20,
    }
    assert (second.people, second.tally.missing) == (45, 15)


def test_a_frame_is_looked_at_as_far_as_asked(monkeypatch):
    monkeypatch.setattr("narcissus.tables.parts._CHUNK", 20)
    frame = pd.DataFrame({"a": range(60), "b": ["x", "y"] * 30})
    found = sketch_table(frame, rows=25)
    assert (found.rows, found.all_rows) == (30, 60)  # parts of ten rows, the third looked at whole
    assert not found.is_whole
    assert found.columns[0].tally.rows == 30
    assert sketch_table(frame, rows=60).is_whole


def test_values_are_remembered_up_to_a_number(monkeypatch):
    monkeypatch.setattr("narcissus.tables.parts._CHUNK", 20)
    monkeypatch.setattr(module, "REMEMBERED", 15)
    found = sketch_table(pd.DataFrame({"a": range(60), "b": ["x", "y"] * 30}))
    assert [column.is_whole for column in found.columns] == [False, True]
    assert found.columns[0].people == 20
    assert found.columns[1].people == 60


def test_what_cannot_be_read_is_said_as_everywhere(write):
    with pytest.raises(InputError, match="header and no rows"):
        sketch_table(write("a,b\n"))
    with pytest.raises(InputError, match="is empty"):
        sketch_table(write(""))
    with pytest.raises(InputError, match="did you mean `b`"):
        sketch_table(write(TEXT), drop=["bb"])
    assert sketch_table(write(TEXT), drop=["b"]).names == ["a"]


def test_the_share_of_the_most_common():
    assert share_of_most([1, 3, 2]) == 0.5
