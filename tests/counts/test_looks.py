"""A cell that looks otherwise than those like it waits for a declaration; usual styles do not."""

import pytest

from narcissus.counts import Publication

from .test_forms import judge

openpyxl = pytest.importorskip("openpyxl")
styles = openpyxl.styles
RED = styles.Font(color="FFFF0000")
BOLD = styles.Font(bold=True)
FILL = styles.PatternFill("solid", fgColor="FFFFFF00")
WIDE = [
    ["area", "F", "M", "Total"],
    ["Alba", "x", "x", 45],
    ["Brod", "x", 19, "x"],
    ["Cern", 8, "x", "x"],
    ["Dova", 12, 21, 33],
    ["Esta", 17, 23, 40],
    ["Total", 60, 90, 150],
]
LONG = [["area", "count"], ["Alba", "x"], ["Brod", 12], ["Cern", 8], ["Dova", "x"], ["Total", 25]]


def write(folder, rows, change):
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    change(made.active)
    made.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def find(path, **given):
    read = Publication(flat=["area"], **given).understand([path])
    shown = [text for text in read.layouts[0].texts if "colours" in text or "hidden" in text]
    assert not shown or any("wording" in one.subject for one in read.unaccounted)
    return shown


def on(places, **style):
    def change(sheet):
        for place in places.split():
            cells = sheet[place]
            for row in cells if isinstance(cells, tuple) else ((cells,),):
                for cell in row:
                    for name, value in style.items():
                        setattr(cell, name, value)

    return change


def both(*changes):
    def change(sheet):
        for one in changes:
            one(sheet)

    return change


def rule(kind, places):
    def change(sheet):
        if kind == "format":
            made = openpyxl.formatting.rule.CellIsRule(
                operator="lessThan", formula=["5"], fill=FILL
            )
            sheet.conditional_formatting.add(places, made)
        elif kind == "validation":
            made = openpyxl.worksheet.datavalidation.DataValidation(type="whole", sqref=places)
            sheet.add_data_validation(made)

    return change


def row(number, **given):
    def change(sheet):
        for name, value in given.items():
            setattr(sheet.row_dimensions[number], name, value)

    return change


def hide_column(sheet):
    sheet.column_dimensions["C"].hidden = True


THIN = styles.Border(left=styles.Side("thin"))
MEDIUM = styles.Border(bottom=styles.Side("medium"))
USUAL = {
    "plain": on(""),
    "header": on("A1:D1", font=BOLD, fill=FILL),
    "total row": on("A7:D7", font=BOLD, border=MEDIUM),
    "total column": on("D1:D7", font=BOLD),
    "totals": both(on("A7:D7", font=BOLD), on("D1:D7", fill=FILL)),
    "labels": on("A2:A7", font=BOLD),
    "marks": on("B2 C2 B3 D3 C4 D4", font=RED),
    "column": on("C2:C7", border=THIN),
    "stripes": on("A2:D2 A4:D4 A6:D6", fill=FILL),
    "frame": both(on("A1:D1", border=MEDIUM), on("A2:D2", border=MEDIUM)),
    "format of all": rule("format", "B2:D7"),
    "height of all": both(*(row(n, height=20) for n in range(2, 8))),
    "height of the header": row(1, height=40),
}
ODD = {
    **{
        name: on("B2", **style)
        for name, style in {
            "font": {"font": RED},
            "fill": {"fill": FILL},
            "bold": {"font": BOLD},
            "italic": {"font": styles.Font(italic=True)},
            "struck": {"font": styles.Font(strike=True)},
            "border": {"border": THIN},
            "aligned": {"alignment": styles.Alignment(horizontal="left")},
            "format": {"number_format": "0"},
            "locked": {"protection": styles.Protection(locked=False)},
        }.items()
    },
    "two marks": on("B2 C4", font=RED),
    "a number beside": on("B4", font=RED),
    "a label": on("A3", font=RED),
    "a row": on("A3:D3", fill=FILL),
    "all but one": on("B2 C2 B3 D3 C4", font=RED),
    "in the total row": both(on("A7:D7", font=BOLD), on("B2", font=BOLD)),
    "stripes and one": both(
        on("A2:D2 A4:D4 A6:D6", fill=FILL), on("B2", fill=styles.PatternFill())
    ),
    "format of some": rule("format", "B2:B2 D3:D3"),
    "validation of some": rule("validation", "B2 D3"),
    "height": row(3, height=33),
    "hidden row": row(3, hidden=True),
    "hidden column": hide_column,
    "level": row(4, outlineLevel=1),
    "text": lambda sheet: sheet.__setitem__("B5", "12"),
    "blank": lambda sheet: sheet.__setitem__("B2", "x "),
}


@pytest.mark.parametrize("style", USUAL)
def test_a_usual_style_is_understood(tmp_path, style):
    path = write(tmp_path, WIDE, USUAL[style])
    assert find(path, across=["t.xlsx=sex"]) == []


@pytest.mark.parametrize("style", ODD)
@pytest.mark.one_in(2)
def test_a_style_of_single_cells_waits(tmp_path, style):
    path = write(tmp_path, WIDE, ODD[style])
    assert find(path, across=["t.xlsx=sex"])
    read = Publication(across=["t.xlsx=sex"], flat=["area"], texts_tell_nothing=True)
    assert not any("wording" in one.subject for one in read.understand([path]).unaccounted)


def test_styles_of_a_long_table(tmp_path):
    assert find(write(tmp_path, LONG, on("A6:B6", font=BOLD))) == []
    assert find(write(tmp_path, LONG, on("B2 B5", font=RED))) == []
    assert find(write(tmp_path, LONG, on("A2:B2", border=MEDIUM))) == []
    assert find(write(tmp_path, LONG, on("B2", font=RED)))
    assert find(write(tmp_path, LONG, on("A5:B5", fill=FILL)))


def test_a_table_that_hides_nothing_may_be_coloured(tmp_path):
    shown = [[12 if cell == "x" else cell for cell in row] for row in LONG[:-1]]
    assert find(write(tmp_path, shown, on("B2", font=RED))) == []
    assert judge(write(tmp_path, shown, on("B2", font=RED)), 1, flat=["area"])[0] == "met"
