"""What a source may be: files, frames and packaged tables; everything else is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.tables import read_table
from narcissus.tables.sources import has_index, open_source

GOOD = "age,sex,town\n31,f,Ulm\n42,m,Bonn\n9,f,Bonn\n31,m,Ulm\n"


def decoded(table):
    return [
        tuple(table.labels[j][code] for j, code in enumerate(row)) for row in table.codes.tolist()
    ]


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


def test_what_is_too_large_to_be_held_is_told(write, monkeypatch):
    """`read_table` counts it then; who needs its rows hears of it."""
    path = write(GOOD)
    assert len(open_source(path, None, (), 4)[1]) == 3
    with pytest.raises(TooLargeError, match="more rows; at most 3"):
        open_source(path, None, (), 3)
    monkeypatch.setattr("narcissus.tables.sources.MAX_BYTES", 10)
    with pytest.raises(TooLargeError, match="at most 10"):
        open_source(path, None, (), 4)


def test_a_pipe_is_no_folder(tmp_path):
    import os

    os.mkfifo(tmp_path / "people.csv")
    with pytest.raises(InputError, match="is a pipe or a device, not a file"):
        read_table(tmp_path / "people.csv")


def test_too_many_columns_or_cells(write, monkeypatch):
    wide = ",".join(f"c{i}" for i in range(10_001))
    with pytest.raises(TooLargeError, match="10,001 columns; at most 10,000"):
        read_table(write(f"{wide}\n{wide}\n"))
    monkeypatch.setattr("narcissus.tables.sources.MOST_CELLS", 11)
    for source in (write(GOOD), pd.read_csv(write(GOOD))):
        with pytest.raises(TooLargeError, match=r"12 cells .* at most 11"):
            open_source(source, None, (), 100)
        assert len(open_source(source, None, ["town"], 100)[1]) == 2


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


def test_a_first_column_without_a_name_is_an_index():
    assert has_index(["", "a"])
    assert has_index(["Unnamed: 0", "a"])
    for names in (["a", ""], ["", "", "a"], [""], ["a", "Unnamed: 0"]):
        assert not has_index(names)
