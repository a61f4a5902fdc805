"""Parquet: what counts is what a file unpacks to."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from narcissus._parquet import parquet_parts, read_footer, read_parquet
from narcissus.errors import InputError, TooLargeError
from narcissus.tables import read_table


def test_parquet_is_checked_like_text(tmp_path):
    path = tmp_path / "people.parquet"
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_parquet(path)
    with pytest.raises(InputError, match="did you mean `a`"):
        read_table(path, columns=["aa"])
    with pytest.raises(TooLargeError, match="2 rows; at most 1"):
        read_table(path, max_rows=1)


def test_columns_are_left_out(tmp_path):
    path = tmp_path / "people.parquet"
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_parquet(path)
    for above in (0, 10):
        assert read_table(path, drop=["b"], count_above=above).names == ("a",)
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).set_index("b").to_parquet(path)
    with pytest.raises(InputError, match="no column `b`"):
        read_table(path, columns=["a", "b"])


def test_parts_are_read_from_row_group_to_row_group(tmp_path):
    path = tmp_path / "people.parquet"
    frame = pd.DataFrame({"a": range(50), "b": list("vwxyz") * 10, "c": [[1]] * 50})
    frame.to_parquet(path, row_group_size=20)
    footer = read_footer(path)
    assert (footer.names, footer.rows) == (("a", "b", "c"), 50)
    parts = list(parquet_parts(path, ["a", "b"], 8))
    assert max(map(len, parts)) == 8
    read = pd.concat(part.astype({"b": str}) for part in parts)
    assert read["a"].tolist() == list(range(50))
    assert read["b"].tolist() == frame["b"].tolist()
    with pytest.raises(InputError, match="`c` holds lists or structures"):
        list(parquet_parts(path, ["a", "c"], 8))


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

    def test_many_rows_of_one_number(self, tmp_path):
        path = tmp_path / "people.parquet"
        pd.DataFrame({"a": np.zeros(100_000), "b": np.arange(100_000) % 2}).to_parquet(path)
        with pytest.raises(TooLargeError, match="unpacks to 1,600,000 bytes; at most 1,599,999"):
            read_parquet(path, largest=1_599_999)
        assert len(read_parquet(path, largest=1_600_000)) == 100_000
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
            for above in (0, 100):
                with suppress(InputError):
                    read_table(path, count_above=above)
