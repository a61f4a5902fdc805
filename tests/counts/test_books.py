"""What an Excel file holds beside the sheet that is read is asked for."""

import pytest

from narcissus.counts import Publication

from .test_forms import judge

openpyxl = pytest.importorskip("openpyxl")
SHOWN = [["area", "count"], ["Alba", "x"], ["Brod", 12], ["Cern", 8], ["Dova", "x"], ["Total", 25]]
TRUE = [["Alba", 3], ["Dova", 2]]


def book(folder, *, more=None, state="visible", change=None):
    """Write a workbook with the table, another sheet, and a change of the first sheet."""
    made = openpyxl.Workbook()
    for row in SHOWN:
        made.active.append(row)
    if more is not None:
        other = made.create_sheet("more")
        other.sheet_state = state
        for row in more:
            other.append(row)
    if change is not None:
        change(made)
    made.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def comment(made):
    made.active["B2"].comment = openpyxl.comments.Comment("3 cases", "a")


def name(made):
    made.defined_names["alba"] = openpyxl.workbook.defined_name.DefinedName("alba", attr_text="3")


def chart(made):
    drawn = openpyxl.chart.BarChart()
    drawn.add_data(openpyxl.chart.Reference(made.active, min_col=2, min_row=1, max_row=6))
    made.active.add_chart(drawn, "D2")


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        ({"more": TRUE}, "the sheet `more`"),
        ({"more": TRUE, "state": "hidden"}, "the hidden sheet `more`"),
        ({"more": TRUE, "state": "veryHidden"}, "the hidden sheet `more`"),
        ({"more": [["Alba", "3"]]}, "the sheet `more`"),
        ({"change": comment}, "comments"),
        ({"change": name}, "the name `alba`"),
        ({"change": chart}, "charts or text boxes"),
    ],
)
def test_what_else_a_workbook_tells_is_asked_for(tmp_path, given, subject):
    verdict, left = judge(book(tmp_path, **given), 1, below=5, flat=["area"])
    assert verdict == "undeclared"
    assert subject in left[0].subject


@pytest.mark.parametrize(
    "given", [{}, {"more": []}, {"more": [["Source: Office, 2024"], ["Contact: office"]]}]
)
def test_a_workbook_that_tells_no_more_is_decided(tmp_path, given):
    assert judge(book(tmp_path, **given), 1, below=5, flat=["area"])[0] == "met"


def test_formulas_of_cells_alone_are_no_numbers(tmp_path):
    def summed(made):
        made.active["D1"] = "=SUM(B3:B4)"

    path = book(tmp_path, change=summed)
    questions = Publication(texts_tell_nothing=True, below=5).understand([path]).unaccounted
    assert not any("formulas" in question.subject for question in questions)


def with_format(shown):
    def change(made):
        made.active["B2"].number_format = shown

    return change


def with_title(made):
    made.active.title = "young women"


def with_name(made):
    target = openpyxl.workbook.defined_name.DefinedName("AlbaThree", attr_text="Sheet!$A$1")
    made.defined_names["AlbaThree"] = target


def with_filter(made):
    made.active.auto_filter.ref = "A1:B6"
    made.active.auto_filter.add_filter_column(1, ["3", "12"])


@pytest.mark.parametrize(
    "given",
    [
        {"change": with_format('@" = 3"')},
        {"change": with_format(';;;"three"')},
        {"change": with_format('[=3]"2 + 1";0')},
        {"change": with_title},
        {"change": with_name},
        {"change": with_filter},
        {"more": [["Alba: seven women"]]},
        {"more": [["Alba had 3 cases"]]},
        {"more": [["naisia kolme"]], "state": "hidden"},
    ],
)
def test_words_and_forms_of_a_workbook_are_understood_or_listed(tmp_path, given):
    path = book(tmp_path, **given)
    asked = Publication(below=5, flat=["area"]).understand([path]).unaccounted
    assert any(question.subject == "the wording of t.xlsx" for question in asked)
    read = Publication(below=5, flat=["area"], texts_tell_nothing=True).understand([path])
    assert not any(question.subject.startswith("the wording") for question in read.unaccounted)
    plain = book(tmp_path, change=with_format("#,##0"))
    asked = Publication(below=5, flat=["area"]).understand([plain]).unaccounted
    assert not any("number format" in question.reason for question in asked)
