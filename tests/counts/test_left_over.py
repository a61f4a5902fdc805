"""Nothing that a publication prints is left out in silence: it is used, or it is asked for."""

import pytest

from narcissus.counts import Publication
from narcissus.errors import InputError

from .test_layouts import conclude, write

WIDE = "area,F,M,Total\nAlba,x,12,15\nBrin,14,20,34\nCero,11,12,23\n"
LONG = "area,sex,count\nAlba,F,x\nAlba,M,12\nAlba,Total,15\nBrin,F,14\nBrin,M,20\nBrin,Total,34\n"
MORE = "ill,F,M,Total\nyes,10,20,30\nno,18,22,40\n"
ACROSS = {"across": ["t.csv=sex"]}


def ask(path, **given):
    """Return what a table is asked about, whose wording was read."""
    return Publication(texts_tell_nothing=True, **given).understand([path]).unaccounted


# A second block of rows in one file


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (f"{WIDE}\n{WIDE.replace('x,12,15', '21,12,33')}", ACROSS),
        (f"Table 1: 2023\n{WIDE}\nTable 2: 2024\n{WIDE.replace('x', '3')}", ACROSS),
        (f"{WIDE}\n{MORE}", ACROSS),
        (f"{WIDE}\narea,F,M,Total\nAlba (%),20,80,100\n", ACROSS),
        (f"{LONG}\nill,sex,count\nyes,F,10\nyes,M,20\nyes,Total,30\n", {}),
        ("branch,turnover\nA,x\nB,700\n\nbranch,turnover\nC,500\nD,600\n",
         {"magnitude": "turnover"}),
        (f"{WIDE}1) Dorf,10,20,30\n", ACROSS),
    ],
)  # fmt: skip
def test_rows_of_a_second_table_are_no_notes(tmp_path, text, given):
    asked = ask(write(tmp_path, text), **given)
    assert any("of numbers" in one.reason and "line" in one.subject for one in asked)


def test_every_question_has_an_answer_that_may_be_written(tmp_path):
    text = "area,F,M,Porcentaje\nAlba,x,12,20\nBrin,14,20,43\nCero,11,11,50\n"
    asked = ask(write(tmp_path, text), across=["t.csv=sex"], below=5)
    assert [one.subject for one in asked] == ["column `Porcentaje` of t.csv"]
    assert all(one.declaration for one in asked)


# Notes that say another rule

HIDDEN = "area,F,M,Total\nAlba,x,x,13\nBrin,14,20,34\nCero,x,x,23\nTotal,29,41,70\n"


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("x = 1-2", "--no-zeros"),
        ("Cells with 1 to 4 people are shown as x.", "--no-zeros"),
        ("Zeros are not suppressed.", "--no-zeros"),
        ("Nullen werden nicht unterdr\u00fcckt.", "--no-zeros"),
        ("x: fewer than 5 but not zero", "--no-zeros"),
        ("x: 3-4", "3-4 in the cells"),
        ("Persons, in thousands", "--round 1000"),
        ("x: fewer than 5 people", ""),
        ("x = value between 0 and 4", ""),
        ("x: fewer than 5, zero included", ""),
    ],
)
def test_a_note_about_zeros_or_units_is_asked_about(tmp_path, note, said):
    given = {"below": 5, "flat": ["area"], **ACROSS}
    asked = ask(write(tmp_path, f'{HIDDEN}"{note}"\n'), **given)
    assert [said in f"{one.reason} {one.declaration}" for one in asked] == [True] * bool(said)
    if said == "--no-zeros":
        assert ask(tmp_path / "t.csv", **given | {"below": 3 if "2" in note else 5},
                   no_zeros=True) == ()  # fmt: skip


# Flags and marks


@pytest.mark.parametrize(
    ("flags", "role"),
    [
        ("p,s,,s,s", "not understood"),
        ("N,D,F,D,D", "not understood"),
        ("p,,r,p,", "flags"),
        ("c,c,,c,c", "flags"),
    ],
)
def test_flags_that_tell_hidden_cells_apart_are_asked_about(tmp_path, flags, role):
    rows = ["Alba,F,x", "Alba,M,x", "Alba,Total,6", "Brin,F,x", "Brin,M,x"]
    rows = [f"{row},{flag}" for row, flag in zip(rows, flags.split(","), strict=True)]
    path = write(tmp_path, "\n".join(["area,sex,count,CONF_STATUS", *rows]) + "\n")
    tables = Publication(texts_tell_nothing=True).understand([path])
    assert {use.column: use.role for use in tables.layouts[0].columns}["CONF_STATUS"] == role


def test_marks_that_differ_in_case_are_two_marks(tmp_path):
    path = write(tmp_path, "area,count\nAlba,c\nBrin,C\nCero,40\nTotal,56\n")
    given = {"mark": ["c=below:2", "C=any"], "no_zeros": True, "below": 5}
    assert conclude(path, 1, **given)[0] == "exceeded"
    with pytest.raises(InputError, match="did you mean `c`"):
        ask(write(tmp_path, "area,count\nAlba,c\nBrin,9\nCero,40\nTotal,56\n"), mark=["C=any"])


def test_a_column_with_decimals_is_no_reason_to_refuse(tmp_path):
    path = write(tmp_path, "area,count,mean_age\nAlba,x,41.5\nBrin,12,39.9\nCero,30,1.2\n")
    assert "`mean_age`" in " ".join(one.subject for one in ask(path, below=5, flat=["area"]))


# Dimensions and labels under two names

TWO = "area,sex,count\nAlba,F,x\nAlba,M,x\nBrin,F,14\nBrin,M,20\nAlba,Total,12\nBrin,Total,34\n"


@pytest.mark.parametrize("header", ["SEX", "Sex", "sex ", "sexes", "s-e-x", "gender", "sex_code"])
def test_one_dimension_under_two_headers(tmp_path, header):
    files = [write(tmp_path, TWO, "a.csv"),
             write(tmp_path, f"{header},count\nF,17\nM,29\nTotal,46\n", "b.csv")]  # fmt: skip
    name = header.strip()
    is_same = name in ("SEX", "Sex", "sex", "s-e-x")
    tables = Publication(texts_tell_nothing=True).understand(files)
    names = {name for cell in tables.cells for name in cell.labels}
    asked = " ".join(one.declaration for one in tables.unaccounted)
    assert (names == {"area", "sex"}) == is_same
    assert (f"--same sex={name}" in asked) != is_same
    if not is_same:
        tables = Publication(texts_tell_nothing=True, same=[f"sex={name}"]).understand(files)
        assert {name for cell in tables.cells for name in cell.labels} == {"area", "sex"}
        apart = Publication(texts_tell_nothing=True, apart=[name]).understand(files)
        assert "--same" not in " ".join(one.declaration for one in apart.unaccounted)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Alba", "ALBA", True),
        ("Z\u00fcrich", "Zu\u0308rich", True),
        ("01", "1", True),
        ("0-17", "0 \u2013 17", True),
        ("Alba", "Alba (city)", False),
    ],
)
def test_one_label_that_two_tables_spell_otherwise(tmp_path, one, other, is_same):
    rows = f"{one},F,x\n{one},M,x\n{one},Total,15\nBrin,F,14\nBrin,M,20\n"
    files = [write(tmp_path, f"area,sex,count\n{rows}", "a.csv"),
             write(tmp_path, f"area,sex,count\n{other},M,12\nBrin,M,20\n", "b.csv")]  # fmt: skip
    tables = Publication(texts_tell_nothing=True, flat=["area"]).understand(files)
    assert ({cell.labels["area"] for cell in tables.cells} == {one, "Brin"}) == is_same
    assert bool(tables.unaccounted) != is_same


def test_a_flat_dimension_is_one_of_a_table(tmp_path):
    path = write(tmp_path, "area,count\nA,x\nB,20\nC,30\n")
    assert ask(path, flat=["Area"]) == ()
    with pytest.raises(InputError, match="did you mean `area`"):
        ask(path, flat=["areal"])


# Declarations that arithmetic refutes


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        (["cum"], ["3", "23", "57", "79", "120"]),
        (["cum %"], ["2.5", "19.2", "47.5", "65.8", "100.0"]),
        (["change"], ["", "17", "14", "-12", "19"]),
        (["change"], ["", "566.7", "70.0", "-35.3", "86.4"]),
        (["se"], ["1.73", "4.47", "5.83", "4.69", "6.40"]),
        (["weight"], ["33.333", "5.000", "2.941", "4.545", "2.439"]),
        (["births", "balance"], ["15 -12", "12 8", "30 4", "41 -19", "8 33"]),
        (["total", "mean"], ["93000 31000", "700000 35000", "1326000 39000", "990000 45000",
                             "1640000 40000"]),
    ],
)  # fmt: skip
def test_a_declaration_is_refused_where_numbers_tell_the_counts(tmp_path, columns, values):
    counts = ["x", "20", "34", "22", "41"]
    rows = [
        ",".join([f"a{at}", count, *value.split(" ")])
        for at, (count, value) in enumerate(zip(counts, values, strict=True))
    ]
    names = [f"{name}_" for name in columns]  # no name of statistics
    path = write(tmp_path, "\n".join([",".join(["area", "count", *names]), *rows]) + "\n")
    with pytest.raises(InputError, match="tells hidden counts"):
        ask(path, below=5, flat=["area"], irrelevant=names)


def test_means_of_a_sum_and_its_parts_are_refused_as_irrelevant(tmp_path):
    rows = ["Alba,F,x,31000", "Alba,M,x,40000", "Alba,Total,15,38200"]
    rows += ["Brin,F,20,35000", "Brin,M,22,45000", "Brin,Total,42,40238.1"]
    path = write(tmp_path, "\n".join(["area,sex,count,mean_income", *rows]) + "\n")
    with pytest.raises(InputError, match="weighted by the counts"):
        ask(path, below=5, mark=["x=any"], irrelevant=["mean_income"])


def test_numbers_of_other_things_may_be_irrelevant(tmp_path):
    rows = ["a0,x,31,7.1", "a1,20,18,2.2", "a2,34,44,9.0", "a3,22,60,5.1", "a4,41,23,3.3"]
    path = write(tmp_path, "\n".join(["area,count,km2,height", *rows]) + "\n")
    assert ask(path, below=5, flat=["area"], irrelevant=["km2", "height"]) == ()


@pytest.mark.parametrize("parts", ["Alba,brin", "ALBA,Brin", "Alba,Brinn"])
def test_a_misspelt_label_of_a_hierarchy_is_refused(tmp_path, parts):
    path = write(tmp_path, "area,count\nAlba,x\nBrin,12\nCero,9\nNord,15\n")
    with pytest.raises(InputError, match="did you mean"):
        ask(path, below=5, hierarchy=[f"area:Nord={parts}"])


@pytest.mark.parametrize("place", ["footer", "property", "tip", "prompt", "none"])
def test_texts_beside_a_sheet_are_asked_about(tmp_path, place):
    books = pytest.importorskip("openpyxl")
    book = books.Workbook()
    sheet = book.active
    for row in ("area,count", "Alba,x", "Brin,x", "Cero,40", "Total,50"):
        sheet.append([int(cell) if cell.isdigit() else cell for cell in row.split(",")])
    if place == "footer":
        sheet.oddFooter.center.text = "Alba: 3 women"
    if place == "property":
        book.properties.description = "Alba: 3 women"
    if place == "tip":
        sheet["B2"].hyperlink = "https://example.org"
        sheet["B2"].hyperlink.tooltip = "3 women"
    if place == "prompt":
        rule = books.worksheet.datavalidation.DataValidation(type="whole", prompt="3 women")
        rule.add("B2")
        sheet.add_data_validation(rule)
    sheet.oddHeader.center.text = "Page &P"
    book.save(tmp_path / "t.xlsx")
    asked = Publication(below=9, flat=["area"]).understand([tmp_path / "t.xlsx"]).unaccounted
    assert [one.subject for one in asked] == ["the wording of t.xlsx"] * (place != "none")
