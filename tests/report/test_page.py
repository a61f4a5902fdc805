"""Pages of every kind of study: tables that hold together, names and colours of pictures."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from narcissus.report import Figure, Grid, page_of
from narcissus.report.page import MISSING
from narcissus.report.svg import svg_of
from narcissus.results import GRADES
from narcissus.study.kinds import KINDS, OF_PAPERS
from narcissus.study.reading import read_record

STUDIES = Path(__file__).parents[1] / "study"
RECORDS = [
    *sorted((STUDIES / "records" / "last").glob("*.json")),
    *sorted((STUDIES / "kept").glob("*.json")),
]
RECORDS = [path for path in RECORDS if path.stem not in OF_PAPERS.keys() - KINDS.keys()]


@pytest.fixture(params=RECORDS, ids=lambda path: path.stem)
def record(request):
    """A record of every kind, and of several of some."""
    return read_record(request.param)


def test_every_kind_of_study_has_a_page():
    assert KINDS.keys() == {read_record(path).kind for path in RECORDS}


def test_every_table_has_a_cell_for_each_column_and_a_grade_for_each_row(record, blocks):
    page = page_of(record)
    tables = blocks(page, Grid) + [picture.table for picture in blocks(page, Figure)]
    assert tables
    for table in tables:
        assert {len(row) for row in table.rows} <= {len(table.columns)}, table.caption
        assert set(table.percent) <= set(table.columns), table.caption
        if table.grades is not None:
            assert len(table.grades) == len(table.rows), table.caption
            assert set(table.grades) <= set(GRADES), table.caption


def test_pictures_are_called_by_a_word_of_their_own_and_take_the_page_s_colours(record, blocks):
    """Colours of their own would not change in the dark; a heat map has a scale beside it."""
    pictures = blocks(page_of(record), Figure)
    names = [picture.name for picture in pictures]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and name != "figure" for name in names)
    for picture in pictures:
        if picture.name != "pairs":
            assert re.findall(r"#[0-9a-f]{6}", svg_of(picture, "p")) == [], picture.name


def test_a_column_that_holds_nothing_is_left_out_where_it_may_be():
    grid = Grid("c", ("a", "b", "d"), [["x", None, MISSING], ["y", "", 0.5]], percent=("b", "d"))
    left = grid.where_known("b", "d")
    assert (left.columns, left.rows) == (["a", "d"], [["x", MISSING], ["y", 0.5]])
    assert left.percent == ("d",)
    assert grid.where_known("a", "d") == replace(grid, columns=[*grid.columns], rows=grid.rows,
                                                 percent=grid.percent)  # fmt: skip
