"""Lines beside a table: footnotes of any form, and what they say of hidden counts."""

import pytest

from narcissus.counts import Publication
from narcissus.errors import InputError

from .test_layouts import conclude, write

LONG = "area,sex,count\nN,F,33\nN,M,x\nS,F,x\nS,M,44\nN,*,36\nS,*,47\n*,F,36\n*,M,47\n"
WIDE = "area,F,M,Total\nN,33,x,36\nS,x,44,47\nTotal,36,47,83\n"
HARMLESS = [
    "1) provisional",
    "Source: Office, 2024",
    "Source: Office of Ayton, Office of Beeton, and others, 2023",
    "Source: own count, page 3, 2024",
    "* suppressed, by rule",
    "(1) Since 2019, others are counted",
]


@pytest.mark.parametrize("table", [LONG, WIDE], ids=["long", "wide"])
@pytest.mark.parametrize("gap", ["", "\n"])
@pytest.mark.parametrize("many", [1, 2, len(HARMLESS)])
def test_footnotes_directly_below_the_rows_are_notes(tmp_path, table, gap, many):
    given = {"below": 4} | ({"across": ["t.csv=sex"]} if table is WIDE else {})
    for at in range(len(HARMLESS) if many == 1 else 1):
        notes = HARMLESS[at : at + many]
        path = write(tmp_path, table + gap + "\n".join(notes) + "\n")
        verdict, tables = conclude(path, 1, **given)
        assert verdict == conclude(write(tmp_path, table, "u.csv"), 1, below=4, **(
            {"across": ["u.csv=sex"]} if table is WIDE else {}
        ))[0]  # fmt: skip
        assert list(tables.layouts[0].notes) == notes
        assert not tables.unaccounted


@pytest.mark.parametrize("row", ["S,X", "S,5", "S,F,1,204", "5", "S,X,F!", "S,X,7,", ",5"])
def test_a_row_with_a_slip_is_never_taken_for_a_note(tmp_path, row):
    path = write(tmp_path, LONG + row + "\n")
    if row == "5":  # text alone, which is shown
        tables = Publication(below=4).understand([path])
        assert list(tables.layouts[0].notes) == [row]
    elif row == "S,X,7,":  # a row with a blank behind it
        assert len(Publication(below=4).understand([path]).cells) == 9
    else:
        with pytest.raises(InputError, match="line 10"):
            Publication(below=4).understand([path])


@pytest.mark.parametrize(
    ("note", "given", "option"),
    [
        ("x cells below 5 are hidden", {}, "--below 5"),
        ("x: fewer than five people", {"below": 3}, "--below 5"),
        ("Counts of 1-4 are suppressed", {"below": 10}, "--below 5"),
        ("Values < 5 withheld, 2024", {}, "--below 5"),
        ("x = at most 4 people, hidden", {}, "--below 5"),
        ("Numbers are rounded to the nearest 5", {}, "--round 5"),
        ("Counts are randomly rounded to base 3", {}, "--round random:3"),
        ("Small changes were made by a cell-key method", {}, "--cell-key"),
        ("x: not available", {"below": 5}, "--mark x=any"),
        ("x: hidden to protect other cells", {"below": 5}, "--mark x=any"),
        ("x nil", {"below": 5}, "--mark x=below:1"),
    ],
)
@pytest.mark.parametrize("is_title", [False, True])
def test_a_note_that_says_another_rule_is_asked_for(tmp_path, note, given, option, is_title):
    path = write(tmp_path, f'"{note}"\n\n{LONG}' if is_title else f"{LONG}{note}\n")
    tables = Publication(**given).understand([path])
    assert option in tables.unaccounted[0].declaration
    assert note in tables.layouts[0].notes


@pytest.mark.parametrize(
    ("note", "given"),
    [
        ("x cells below 5 are hidden", {"below": 5}),
        ("x: fewer than five people", {"below": 5}),
        ("Counts of 1 to 4 are suppressed", {"mark": ["x=below:5"], "no_zeros": True}),
        ("x: fewer than 5, zero included", {"below": 5}),
        ("x: fewer than 5. y: hidden", {"below": 5}),
        ("x: not available", {}),
        ("x: hidden, also to protect other cells", {}),
        ("p: provisional, r: revised", {"below": 5}),
        ("Table 3: people by area and sex, 2021", {"below": 5}),
    ],
)
def test_a_note_that_says_the_declared_rule_is_not_asked_for(tmp_path, note, given):
    assert not Publication(**given).understand([write(tmp_path, LONG + note + "\n")]).unaccounted


def test_of_totals_the_declared_rounding_is_not_asked_for(tmp_path):
    note = "Numbers are rounded to the nearest 5"
    path = write(tmp_path, f"area,turnover\nN,35\nS,x\n*,85\n{note}\n")
    for decimals in (0, 1):
        said = Publication(
            magnitude="turnover", rounded="5", decimals=decimals, texts_tell_nothing=True
        )
        tables = said.understand([path])
        assert tables.layouts[0].notes == (note,)
        assert not tables.unaccounted


@pytest.mark.parametrize("form", ["{} ({})", "{} [{}]", "{} (n = {})", "{}: {}", "{} - {}"])
def test_labels_that_carry_the_count_are_asked_for(tmp_path, form):
    counts = {"Alba": 3, "Brod": 12, "Cern": 8, "Dova": 2, "Eisk": 31}
    rows = [f"{form.format(k, n)},{'x' if n < 5 else n}" for k, n in counts.items()]
    path = write(tmp_path, "\n".join(["area,count", *rows, "Total,56"]) + "\n")
    verdict, tables = conclude(path, 1, below=5, flat=["area"])
    assert verdict == "undeclared"
    assert "labels of `area`" in tables.unaccounted[0].subject
    plain = "\n".join(["area,count", *(f"{k} (1),{n}" for k, n in counts.items())]) + "\n"
    assert not conclude(write(tmp_path, plain), 1, below=5, flat=["area"])[1].unaccounted
