"""Reading in parts: what is held at a time, and in all, has limits that a bomb meets first."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.tables import parts as module
from narcissus.tables import read_table
from narcissus.tables.parts import column_names, open_parts

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


def test_packaged_tables_can_be_counted():
    table = read_table("statsmodels:fair", count_above=0)
    assert (table.rows, table.columns) == (6366, 9)


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
