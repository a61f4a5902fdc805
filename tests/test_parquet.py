"""Parquet: what counts is what a file unpacks to."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from narcissus import _guard
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


@pytest.fixture
def without_proc(monkeypatch):
    """Let nothing that begins with /proc be there, as in some containers."""
    stat, read_text, listdir = os.stat, Path.read_text, os.listdir

    def hidden(real):
        def asked(place, *arguments, **options):
            if isinstance(place, str | Path) and str(place).startswith("/proc"):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place))
            return real(place, *arguments, **options)

        return asked

    monkeypatch.setattr(os, "stat", hidden(stat))
    monkeypatch.setattr(os, "listdir", hidden(listdir))
    monkeypatch.setattr(Path, "read_text", hidden(read_text))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
def test_a_good_file_is_read_where_the_system_has_no_proc(tmp_path, without_proc):
    with pytest.raises(FileNotFoundError):
        Path("/proc/self/statm").read_text()
    path = tmp_path / "people.parquet"
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    frame.to_parquet(path)
    assert read_table(path).names == ("a", "b")
    assert read_parquet(path)["a"].tolist() == [1, 2]
    assert [len(part) for part in parquet_parts(path, ["b"], 1)] == [1, 1]
    frame.to_feather(tmp_path / "people.feather")
    assert read_table(tmp_path / "people.feather").names == ("a", "b")
    assert _guard.children() == []


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


def numbered(value, length=None):
    """Write a whole number as Parquet's footer has it, filled up to a length."""
    made, left = bytearray(), 2 * value
    while left > 127 or (length is not None and len(made) < length - 1):
        made.append(left & 127 | 128)
        left >>= 7
    return bytes([*made, left])


def small_file(path):
    pd.DataFrame({"a": [1, 2, 2], "b": ["x", "y", "y"]}).to_parquet(path, index=False)
    content = path.read_bytes()
    size = int.from_bytes(content[-8:-4], "little")
    return content[: -8 - size], content[-8 - size : -8]


@pytest.mark.parametrize("size", [0, 1, 4, 2**31 - 1, 2**32 - 1, 700])
def test_a_forged_length_of_the_footer_is_refused_in_a_line(tmp_path, size):
    path = tmp_path / "people.parquet"
    body, footer = small_file(path)
    path.write_bytes(body + footer + size.to_bytes(4, "little") + b"PAR1")
    with pytest.raises(InputError, match="is not a readable Parquet file") as error:
        read_table(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("rows", [2**33, 2**40, 2**61])
def test_a_forged_number_anywhere_in_the_footer_takes_no_memory(tmp_path, rows):
    """Each byte that is a 3 may be the number of rows, of a group, of a column's values."""
    path = tmp_path / "people.parquet"
    body, footer = small_file(path)
    right = read_table(path)
    refused = 0
    for place in [i for i, byte in enumerate(footer) if byte == 6]:
        forged = footer[:place] + numbered(rows) + footer[place + 1 :]
        path.write_bytes(body + forged + len(forged).to_bytes(4, "little") + b"PAR1")
        for above in (0, 10**6):
            with suppress(InputError):
                refused += 1
                table = read_table(path, count_above=above)
                refused -= 1
                assert table.names == right.names
    assert refused >= 4


BOMB = """
import io, resource, sys
import pyarrow as pa, pyarrow.parquet as pq
from pathlib import Path
from narcissus import _parquet
from narcissus.errors import InputError
from narcissus.tables import read_table
file, path = io.BytesIO(), Path(sys.argv[1])
for group in range(4):  # 60 MB each, no two texts the same
    table = pa.table({"a": [f"{group} {i} " + "x" * 10**6 for i in range(60)]})
    if not group:
        writer = pq.ParquetWriter(file, table.schema, compression="gzip", use_dictionary=False,
                                  write_statistics=False, store_schema=False)
    writer.write_table(table)
writer.close()
content = file.getvalue()
metadata = pq.ParquetFile(io.BytesIO(content)).metadata
def numbered(value, length=None):
    made, left = bytearray(), 2 * value
    while left > 127 or (length is not None and len(made) < length - 1):
        made.append(left & 127 | 128)
        left >>= 7
    return bytes([*made, left])
lied = content
for group in map(metadata.row_group, range(4)):
    for size in (group.total_byte_size, group.column(0).total_uncompressed_size):
        lied = lied.replace(numbered(size), numbered(100, len(numbered(size))))
assert lied != content
_parquet.SPARE = 2**26
for forged in (False, True):
    path.write_bytes(lied if forged else content)
    try:
        read_table(path, count_above=int(sys.argv[2]))
    except InputError as error:
        print(str(error)[len(str(path)):])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of Linux")
@pytest.mark.parametrize("above", [0, 10**6])
@pytest.mark.one_in(2)
def test_pages_that_hold_more_than_the_footer_says_are_refused(tmp_path, above):
    """The library makes room for what a page says, and the footer said a few bytes."""
    path = tmp_path / "people.parquet"
    done = subprocess.run(
        [sys.executable, "-c", BOMB, str(path), str(above)], check=True, capture_output=True,
        text=True, env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},
    )  # fmt: skip
    honest, forged = done.stdout.splitlines()
    assert "unpacks" not in honest
    assert "says that it unpacks to" in forged
    assert path.stat().st_size < 2**20


def test_a_part_does_not_reach_into_the_next_row_group(tmp_path):
    """It held as many row groups at a time as its rows came to: of long texts, gigabytes."""
    path = tmp_path / "people.parquet"
    pd.DataFrame({"a": np.arange(100)}).to_parquet(path, row_group_size=10, index=False)
    parts = list(parquet_parts(path, ["a"], 1000))
    assert [len(part) for part in parts] == [10] * 10


def test_what_a_footer_says_of_a_column_and_cannot_be_is_refused():
    """Found by fuzzing: pyarrow's view of such a column ends the whole process."""
    path = Path(__file__).parent / "fuzz" / "found" / "histogram.parquet"
    code = f"from narcissus.tables import read_table; read_table({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1  # a traceback, where `terminate` is a signal
    assert "is not a readable Parquet file" in done.stderr
