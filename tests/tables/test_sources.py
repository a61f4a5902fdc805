"""What a source may be: files, frames and packaged tables; everything else is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from narcissus.channels import read_channel
from narcissus.errors import InputError, TooLargeError
from narcissus.tables import read_table
from narcissus.tables import text as module
from narcissus.tables.parts import open_source
from narcissus.tables.sources import has_index
from narcissus.tables.text import text_parts

from .conftest import GOOD


def test_missing_file_names_the_nearest(write, tmp_path):
    write(GOOD)
    with pytest.raises(InputError, match=r"no such file: .*peple\.csv; did you mean `people\.csv`"):
        read_table(tmp_path / "peple.csv")
    with pytest.raises(InputError, match="there is no folder"):
        read_table(tmp_path / "nowhere" / "people.csv")
    with pytest.raises(InputError, match="is a folder, not a table"):
        read_table(tmp_path)


@pytest.mark.parametrize("leads", ["nowhere.csv", "link.csv"])
def test_a_link_that_leads_nowhere_is_said_to_be_one(tmp_path, leads):
    link = tmp_path / "link.csv"
    link.symlink_to(leads)
    for read in (read_table, read_channel):
        with pytest.raises(InputError, match=r"link\.csv is a link to a file that is not there$"):
            read(link)


def test_files_that_are_something_else(write):
    with pytest.raises(InputError, match=r"must end in \.csv"):
        read_table(write(GOOD, "people.xls"))
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
    path = write(GOOD)
    assert len(open_source(path, None, (), 4).columns) == 3
    with pytest.raises(TooLargeError, match="more rows; at most 3"):
        open_source(path, None, (), 3)
    monkeypatch.setattr("narcissus.tables.parts.MAX_BYTES", 10)
    with pytest.raises(TooLargeError, match="or than 10 bytes"):
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
    monkeypatch.setattr("narcissus.tables.parts.MOST_CELLS", 11)
    for source in (write(GOOD), pd.read_csv(write(GOOD))):
        with pytest.raises(TooLargeError, match="more than 11 cells"):
            open_source(source, None, (), 100)
        assert len(open_source(source, None, ["town"], 100).columns) == 2


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


def test_parts_have_the_next_rows_of_the_chosen_columns(write, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 6)
    monkeypatch.setattr(module, "_TAIL", 1)
    monkeypatch.setattr(module, "_plain_rows", lambda *_: 0)  # all by the standard library
    seen = []

    def choose(names):
        seen.append(names)
        return [2, 0]

    parts = list(text_parts(write(GOOD + "NA, f ,\n"), choose, largest=1000))
    assert seen == [["age", "sex", "town"]]
    found = [[[c.distinct[i] for i in c.codes] for c in part] for part in parts]
    assert found == [
        [["Ulm", "Bonn"], ["31", "42"]],
        [["Bonn", "Ulm"], ["9", "31"]],
        [[None], [None]],
    ]
    assert [c.name for c in parts[0]] == ["town", "age"]


def test_wrong_row_beyond_the_first_chunk_is_named(write):
    lines = ["a,b", *(f"{i % 3},{i % 2}" for i in range(70_000))]
    lines[68_000] = "1"
    with pytest.raises(InputError, match="line 68001 has 1 cells"):
        read_table(write("\n".join(lines)))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('a,b\n1"x",2\n3,4\n', r"line 2 has a quote within a cell.*1\""),
        ('a,b\n1,2\n3,4"\n', "line 3 has a quote"),
        ('a,b\n1, "x"\n3,y\n', "line 2 has a quote"),
        ('a,b\n"x\ny",2\n"z",p"q\n', "line 4 has a quote"),
        ('a,b"c\n1,2\n', "line 1 has a quote"),
        ('a,b\n"x"y,2\n', "not a readable CSV"),
    ],
)
def test_a_quote_within_a_cell_is_no_letter(write, content, says):
    with pytest.raises(InputError, match=says):
        read_table(write(content))


def test_quotes_where_they_belong(write):
    text = 'a,"b ""c"""\n"x, y",1\n"","2"\n"p""q""",1\n"line\nbreak ""quoted""",2\n'
    table = read_table(write(text), missing="category")
    assert table.names == ("a", 'b "c"')
    assert table.labels[0] == ('line\nbreak "quoted"', 'p"q"', "x, y", "(missing)")


def test_binary_data_far_into_a_file(write):
    content = GOOD * 1000 + "31,f\0,Ulm\n"
    with pytest.raises(InputError, match="binary data"):
        read_table(write(content))


def test_rows_much_wider_than_the_header(write):
    content = "a,b\n1,2\n" + ("0," * 400_000 + "0\n") * 20
    with pytest.raises(InputError, match="line 3 has 400001 cells where the header has 2"):
        read_table(write(content, "people.csv.gz"))
