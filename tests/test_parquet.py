"""Parquet: what counts is what a file unpacks to."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.tables import read_table


def test_parquet_is_checked_like_text(tmp_path):
    path = tmp_path / "people.parquet"
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_parquet(path)
    with pytest.raises(InputError, match="did you mean `a`"):
        read_table(path, columns=["aa"])
    with pytest.raises(TooLargeError, match="2 rows; at most 1"):
        read_table(path, max_rows=1)


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
