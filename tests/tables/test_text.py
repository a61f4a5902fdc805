"""Text files: lines and quotes, told where they are wrong."""

from __future__ import annotations

import pytest

from narcissus.errors import InputError
from narcissus.tables import read_table
from narcissus.tables import sources as module
from narcissus.tables.sources import text_parts

GOOD = "age,sex,town\n31,f,Ulm\n42,m,Bonn\n9,f,Bonn\n31,m,Ulm\n"


def test_parts_have_the_next_rows_of_the_chosen_columns(write, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 6)
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
    """Told at the first of them: a thousand such rows would not fit into memory."""
    content = "a,b\n1,2\n" + ("0," * 400_000 + "0\n") * 20
    with pytest.raises(InputError, match="line 3 has 400001 cells where the header has 2"):
        read_table(write(content, "people.csv.gz"))
