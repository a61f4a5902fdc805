"""Names of columns in two lines, and the sheets of a workbook that are tables."""

import pytest

from narcissus.counts import Publication, audit_tables
from narcissus.errors import InputError

from .test_forms import judge
from .test_layouts import write

SPANS = "area,Men,,Women,\n,15-64,65+,15-64,65+\n"
ROWS = "Alba,14,12,x,9\nBrod,20,x,31,8\nTotal,34,15,35,17\n"
ACROSS = {"across": ["t.csv=sex,age"]}


def labels(path, **given):
    cells = Publication(texts_tell_nothing=True, **given).understand([path]).cells
    return [dict(cell.labels) for cell in cells]


@pytest.mark.parametrize("title", ["", "Persons by area, sex and age,,,,\n\n"])
@pytest.mark.parametrize("mark", [",", ";"])
def test_a_line_that_spans_is_a_dimension(tmp_path, title, mark):
    path = write(tmp_path, (title + SPANS + ROWS).replace(",", mark))
    found = labels(path, **ACROSS)
    assert found[1] == {"area": "Alba", "sex": "Men", "age": "65+"}
    assert found[-2] == {"sex": "Women", "age": "15-64"}
    assert judge(path, 1, **ACROSS)[0] == "exceeded"  # 35 - 31


def test_totals_of_spans(tmp_path):
    text = (
        "area,Total,Men,,,Women,,\n,,15-64,65+,All,15-64,65+,All\n"
        "Alba,x,x,12,26,x,9,13\nBrod,x,20,x,x,31,x,x\nTotal,101,34,15,49,35,17,52\n"
    )
    found = labels(write(tmp_path, text), **ACROSS)
    assert found[0] == {"area": "Alba"}
    assert found[3] == {"area": "Alba", "sex": "Men"}
    cells, structure = (
        Publication(texts_tell_nothing=True, **ACROSS).understand([tmp_path / "t.csv"]).sure
    )
    low = {
        (one.cell.line, one.cell.column): one.low for one in audit_tables(cells, structure).cells
    }
    assert low[3, "Total"] == 39
    assert low[3, "Men 15-64"] == 14


def test_a_name_above_all_labels_is_that_of_their_dimension(tmp_path):
    text = "area,Sex,,\n,F,M,Total\nAlba,x,12,20\nBrod,20,4,24\nTotal,28,16,44\n"
    assert labels(write(tmp_path, text))[0] == {"area": "Alba", "Sex": "F"}


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (SPANS.replace("Men", "Ill").replace("Women", "Well"), r"such as t.csv=sex,age"),
        ("area,Men,,Women,\n,15-64,65+,15-64,Total\n", "below Women 15-64, Total"),
        ("area,Men,,Women,\n,0-14,15+,15-64,65+\n", "below Men are 0-14, 15\\+"),
    ],
)
def test_two_lines_that_are_not_clear_are_refused_with_an_example(tmp_path, head, said):
    path = write(tmp_path, head + ROWS)
    with pytest.raises(InputError, match=said):
        labels(path, **({} if "Ill" in head else ACROSS))


@pytest.mark.parametrize(
    ("labels_of", "name"),
    [("M,F", "sex"), ("Hommes,Femmes", "sex"), ("2021,2022", "year"), ("0-17 years,18+", "age")],
)
def test_a_dimension_across_that_anybody_knows_needs_no_name(tmp_path, labels_of, name):
    text = f"area,{labels_of},Total\nAlba,x,x,40\nBrod,20,31,51\n"
    assert name in labels(write(tmp_path, text))[0]
    [found] = [set(one) for one in labels(write(tmp_path, "Persons by age\n\n" + SPANS + ROWS))[:1]]
    assert found == {"area", "sex", "age"}


def test_one_dimension_may_have_the_labels_of_both_lines(tmp_path):
    found = labels(write(tmp_path, SPANS + ROWS), across=["t.csv=group"], flat=["group"])
    assert found[0] == {"area": "Alba", "group": "Men 15-64"}


COVER = [["Statistics of persons"], ["Published in 2024"], ["Year", 2024], ["Contact: office"]]
ONE = [["area", "count"], ["Alba", "x"], ["Brod", 12], ["Cern", 8], ["Dova", "x"], ["Total", 25]]
TWO = [["sex", "count"], ["F", 12], ["M", 13], ["Total", 25]]


@pytest.fixture
def book(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")

    def write(**sheets):
        made = openpyxl.Workbook()
        made.remove(made.active)
        for name, rows in sheets.items():
            sheet = made.create_sheet(name)
            for row in rows:
                sheet.append(row)
        made.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    return write


def test_a_cover_of_text_is_read_as_notes(book):
    path = book(Cover=COVER, Table=ONE, Notes=[["x: confidential"]])
    read = Publication(below=5, flat=["area"]).understand([path])
    assert len(read.cells) == 5
    assert [one.subject for one in read.unaccounted] == ["the wording of t.xlsx"]
    assert judge(path, 1, below=5, flat=["area"])[0] == "met"


def test_sheets_of_numbers_are_named(book):
    path = book(Cover=COVER, Areas=ONE, Sexes=TWO)
    verdict, left = judge(path, 1, below=5, flat=["area"])
    assert verdict == "undeclared"
    assert "`Sexes`" in left[0].subject
    assert left[0].declaration.startswith("`--sheet Areas --sheet Sexes`")
    both = Publication(sheet=["Areas", "Sexes"], below=5, flat=["area"], texts_tell_nothing=True)
    read = both.understand([path])
    assert {cell.file for cell in read.cells} == {"t.xlsx#Areas", "t.xlsx#Sexes"}
    assert not any("sheet" in one.subject for one in read.unaccounted)
    one = Publication(sheet=["Sexes"]).understand([path])
    assert {cell.file for cell in one.cells} == {"t.xlsx"}
    assert any("`Areas`" in question.subject for question in one.unaccounted)
    with pytest.raises(InputError, match="did you mean `Areas`"):
        Publication(sheet=["Area"]).understand([path])
