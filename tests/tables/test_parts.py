"""Reading in parts: what is held at a time, and in all, has limits that a bomb meets first."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.tables import parts as module
from narcissus.tables import read_table
from narcissus.tables.parts import column_names, open_parts, share_of_most, sketch_table

TEXT = "a,b\n" + "".join(f"{i % 3},{i % 2}\n" for i in range(60))


@pytest.fixture
def few(monkeypatch):
    """A limit of what is held at a time that small files meet."""

    def set_(size):
        monkeypatch.setattr(module, "MAX_BYTES", size)

    return set_


def read(source, max_rows=10**6):
    return list(open_parts(source, None, (), max_rows).read())


def test_a_packed_text_that_unpacks_to_much_more_is_a_bomb(write, few):
    few(1000)
    bomb = write("a,b\n" + "1,2\n" * 100_000, "bomb.csv.gz")
    assert gzip.decompress(bomb.read_bytes()).count(b"\n") == 100_001
    assert len(gzip.decompress(bomb.read_bytes())) > 100 * bomb.stat().st_size
    with pytest.raises(TooLargeError, match=r"more than .* bytes of text; at most"):
        read(bomb)
    with pytest.raises(TooLargeError, match="bytes of text"):
        read_table(bomb, count_above=0)
    rng = np.random.default_rng(1)
    rows = "".join(f"{a},{b}\n" for a, b in rng.integers(0, 9, (10_000, 2)))
    honest = write("a,b\n" + rows, "people.csv.gz")
    assert sum(len(part[0].codes) for part in read(honest)) == 10_000


def test_a_plain_text_is_as_large_as_it_is(write, few):
    few(10)
    assert sum(len(part[0].codes) for part in read(write(TEXT))) == 60


def test_too_many_rows_are_refused_before_they_are_read(write, tmp_path):
    path = write(TEXT)
    frame = pd.read_csv(path)
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.parquet"):
        with pytest.raises(TooLargeError, match=r"60 rows; at most 59 are read: .*`max_rows`"):
            open_parts(source, None, (), 59)
        assert open_parts(source, None, (), 60).rows == 60
    with pytest.raises(TooLargeError, match="more rows; at most 59"):
        read(path, 59)
    assert open_parts(path, None, (), 60).rows is None


def test_cells_are_limited_with_rows(tmp_path, write):
    frame = pd.DataFrame({f"c{i}": [1, 2] for i in range(41)})
    frame.to_parquet(tmp_path / "t.parquet")
    text = write(frame.to_csv(index=False))
    for source in (tmp_path / "t.parquet", text):
        with pytest.raises(TooLargeError, match=r"82 cells .* at most 80 are read: drop columns"):
            read(source, 4)
        assert len(read(source, 5)) == 1


def test_a_row_group_is_limited_not_the_file(tmp_path, few):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(4000), "b": rng.random(4000)})
    frame.to_parquet(tmp_path / "small.parquet", row_group_size=100)
    frame.to_parquet(tmp_path / "large.parquet")
    few(10_000)
    assert sum(len(part[0].codes) for part in read(tmp_path / "small.parquet")) == 4000
    said = r"row group 0 of .*large.parquet unpacks to [\d,]+ bytes; at most 10,000 .* smaller row"
    with pytest.raises(TooLargeError, match=said):
        read(tmp_path / "large.parquet")
    with pytest.raises(TooLargeError, match="row group 0"):
        read_table(tmp_path / "large.parquet", count_above=0)


def test_parts_of_parquet_are_no_longer_than_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 20)
    frame = pd.DataFrame({"a": range(95), "b": range(95)})
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=40)
    for source in (frame, tmp_path / "t.parquet"):
        sizes = [len(part[0].codes) for part in read(source)]
        assert max(sizes) == 10
        assert sum(sizes) == 95


def test_an_empty_parquet_file(tmp_path):
    pd.DataFrame({"a": [1]})[:0].to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="holds no rows"):
        open_parts(tmp_path / "t.parquet", None, (), 10)


def test_names_of_columns_as_they_stand_there(write, tmp_path):
    assert column_names(write(",a,\n1,2,3\n")) == ["", "a", ""]
    assert column_names(write(TEXT, "people.csv.gz")) == ["a", "b"]
    assert column_names(pd.DataFrame({"x": [1], 2: [3]})) == ["x", "2"]
    assert "affairs" in column_names("statsmodels:fair")
    pd.DataFrame({"x": [1], "y": [3]}).to_parquet(tmp_path / "p.parquet")
    assert column_names(tmp_path / "p.parquet") == ["x", "y"]


GAPPED = ",a,b\n" + "".join(f"{i},{i % 3},{'x' if i % 4 else ''}\n" for i in range(60))


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_all_rows_of_a_file(write, name):
    found = sketch_table(write(GAPPED, name))
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
        sketch_table(write(GAPPED), drop=["bb"])
    assert sketch_table(write(GAPPED), drop=["b"]).names == ["a"]


def test_the_share_of_the_most_common():
    assert share_of_most([1, 3, 2]) == 0.5
