"""Names that several tables spell otherwise: mended by form, settled by numbers, or asked."""

import pytest

from narcissus.counts import Publication

from .test_layouts import write

ONE = (
    "area,sex,count\nAlba,F,x\nAlba,M,x\nBrin,F,14\nBrin,M,20\nAlba,*,12\nBrin,*,34\n"
    "*,F,19\n*,M,27\n"
)


def ask(folder, *texts, **given):
    files = [write(folder, text, f"t{at}.csv") for at, text in enumerate(texts, 1)]
    declared = {"flat": ["area"], "texts_tell_nothing": True} | given
    return Publication(**declared).understand(files).unaccounted


@pytest.mark.parametrize(
    ("header", "labels"),
    [
        ("gender", ("F", "M")),
        ("geschlecht", ("Frauen", "M\u00e4nner")),
        ("sex of person", ("Female", "Male")),
        ("s", ("1", "2")),
        ("kind", ("Women", "Men")),
        ("female", ("yes", "no")),
        ("group", ("ill women", "others")),
    ],
)
def test_a_dimension_that_no_table_crosses_with_another_one_is_asked_about(
    tmp_path, header, labels
):
    more = f"{header},count\n{labels[0]},19\n{labels[1]},27\n"
    [asked] = ask(tmp_path, ONE, more)
    assert asked.subject == f"the dimension `{header}`"
    assert "`sex`" in asked.reason
    assert f"--same sex={header}" in asked.declaration or "area" in asked.reason
    assert ask(tmp_path, ONE, more, apart=[header]) == ()


def test_a_label_of_one_dimension_that_is_another_one_is_asked_about(tmp_path):
    """Months and quarters, ages and minors, and one file with both, crossed by no row."""
    ages = "age,count\n0-17,x\n18-64,x\n65+,88\nTotal,490\n"
    for more in ("minor,count\nyes,105\nno,385\n", "age,count\nyoung,105\nold,385\n"):
        assert ask(tmp_path, ages, more.replace("old", "others"), flat=["age"])
    months = "month,count\nJanuary,x\nFebruary,20\nMarch,30\nApril,x\nMay,41\nTotal,156\n"
    asked = ask(tmp_path, months, "quarter,count\nQ1,75\nQ2,81\nTotal,156\n", flat=["month"])
    assert "tells nothing of the others" in asked[0].declaration
    years = "years,count\n0-17,105\n18+,385\n"
    assert ask(tmp_path, ages, years, flat=["age"])
    both = "sex,female,count\nFemale,*,x\nMale,*,x\n*,yes,20\n*,no,70\n*,*,90\n"
    assert ask(tmp_path, both, flat=["sex"])


@pytest.mark.parametrize(
    "more",
    [
        "age,count\n0-17,19\n18+,27\n",  # ranges are no sexes
        "ill,count\nyes,19\nno,27\n",
        "area,count\nAlba,12\nBrin,34\n",
    ],
)
def test_a_dimension_that_is_another_one_is_not_asked_about(tmp_path, more):
    assert ask(tmp_path, ONE, more) == ()


@pytest.mark.parametrize(
    ("labels", "asked"),
    [
        (("Saint Alba", "Brin"), True),
        (("Alba", "Brinn"), True),
        (("Alba-Stadt", "Brin"), True),
        (("ALBA", "brin"), False),
        (("Alba",), False),
        (("Alba", "Brin", "Cero"), False),
    ],
)
@pytest.mark.parametrize("way", ["plain", "declared"])
def test_labels_of_one_table_alone_are_asked_about(tmp_path, labels, asked, way):
    more = "area,count\n" + "".join(f"{label},30\n" for label in labels)
    if way == "declared":
        assert ask(tmp_path, ONE, more, apart=["area"]) == ()
        return
    found = ask(tmp_path, ONE, more)
    assert bool(found) == asked
    assert all("labels of `area`" in one.subject for one in found)


def test_parts_and_wholes_of_a_hierarchy_are_no_other_names(tmp_path):
    more = "area,count\nNorth,46\n"
    tree = ["area:North=Alba,Brin"]
    assert not [q for q in ask(tmp_path, ONE, more, hierarchy=tree) if "labels of" in q.subject]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("nationality", "German", "Foreign"), ("country", "Germany", "Abroad")),
        (("age", "0-15", "16+"), ("education", "Under 16", "16 and over")),
        (("age", "0-15", "16+"), ("marital status", "Under 16", "Other")),
        (("sex", "Female", "Male"), ("education", "Girls school", "Boys school")),
        (("sex", "Female", "Male"), ("marital status", "Widow", "Widower")),
        (("sex", "F", "M"), ("income", "Female", "Male")),
    ],
)
def test_labels_of_the_other_dimension_s_kind_are_asked_about(tmp_path, first, second):
    one, other = (
        f"area,{name},count\nNorth,{a},x\nNorth,{b},x\nSouth,{a},20\nSouth,{b},30\n"
        for name, a, b in (first, second)
    )
    assert any("the dimension" in question.subject for question in ask(tmp_path, one, other))


def known(folder, header, labels, *, crossed):
    """Return questions and assumptions of ages and another dimension."""
    ages = ["0-5", "6-17", "18+"]
    if crossed:
        rows = "\n".join(
            f"{age},{label},{'x' if at else 9}" for at, age in enumerate(ages) for label in labels
        )
        write(folder, f"age,{header},count\n{rows}\n", "a.csv")
        files = ["a.csv"]
    else:
        write(folder, "age,count\n0-5,x\n6-17,19\n18+,x\nTotal,60\n", "a.csv")
        write(folder, f"{header},count\n{labels[0]},x\n{labels[1]},x\nTotal,60\n", "b.csv")
        files = ["a.csv", "b.csv"]
    read = Publication(flat=["age", header], texts_tell_nothing=True).understand(
        [folder / file for file in files]
    )
    asked = [one for one in read.unaccounted if one.subject.startswith("the dimension")]
    return asked, tuple(text for text in read.takes_as_given if not text.startswith("all tables"))


@pytest.mark.parametrize("header", ["education", "occupation", "marital status", "income"])
def test_what_anybody_knows_of_two_dimensions_is_asked_or_named(tmp_path, header):
    asked, given = known(tmp_path, header, ["none", "some"], crossed=False)
    assert "--apart" in asked[0].declaration
    assert given == ()
    asked, given = known(tmp_path, header, ["none", "some"], crossed=True)
    assert asked == []
    assert f"`{header}`" in given[0]


@pytest.mark.parametrize(
    ("header", "labels"), [("sex", ["F", "M"]), ("area", ["Alba", "Brin"]), ("ill", ["yes", "no"])]
)
@pytest.mark.parametrize("crossed", [False, True])
def test_ages_tell_nothing_of_sexes_areas_and_the_ill(tmp_path, header, labels, crossed):
    assert known(tmp_path, header, labels, crossed=crossed) == ([], ())


@pytest.mark.parametrize(
    ("header", "labels", "beside", "others"),
    [
        ("sex", ["Men", "Women"], "occupation", ["waitresses", "waiters"]),
        ("sexe", ["Hommes", "Femmes"], "profession", ["vendeuses", "vendeurs"]),
        ("sex", ["Men", "Women"], "religion", ["nuns", "monks"]),
        ("marital status", ["married", "single"], "occupation", ["housewives", "bachelors"]),
        ("education", ["primary", "degree"], "occupation", ["doctors", "labourers"]),
        ("education", ["primary", "degree"], "income", ["low", "high"]),
        ("sex", ["Men", "Women"], "household size", ["expecting couples", "others alone"]),
    ],
)
def test_labels_of_known_dimensions_may_tell_one_another(tmp_path, header, labels, beside, others):
    write(tmp_path, f"{header},count\n{labels[0]},x\n{labels[1]},31\nTotal,54\n", "a.csv")
    write(tmp_path, f"{beside},count\n{others[0]},31\n{others[1]},x\nTotal,54\n", "b.csv")
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    read = Publication(texts_tell_nothing=True).understand(files)
    assert any(beside in one.subject or header in one.subject for one in read.unaccounted)
    told = Publication(texts_tell_nothing=True, apart=[beside]).understand(files)
    assert not [one for one in told.unaccounted if one.subject.startswith("the dimension")]


def test_tables_are_about_the_same_people_if_no_part_is_named(tmp_path):
    """A title says otherwise, which nobody reads but the user: the verdict names it."""
    write(tmp_path, "age,count\n0-17,x\n18+,x\nTotal,30\n", "a.csv")
    write(tmp_path, "Persons aged 18+\n\nsex,count\nMen,10\nWomen,12\n", "b.csv")
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    premise = "all tables are about the same people"
    read = Publication(texts_tell_nothing=True).understand(files)
    assert any(text.startswith(premise) for text in read.takes_as_given)
    alone = Publication(texts_tell_nothing=True).understand(files[:1])
    assert not any(text.startswith(premise) for text in alone.takes_as_given)


SPELLINGS = [("Women", "Men"), ("F", "M"), ("1", "2"), ("01", "02"), ("w\u00b2", "m\u00b2")]


@pytest.mark.parametrize("labels", SPELLINGS)
@pytest.mark.parametrize(
    ("header", "others"),
    [
        ("occupation", ["Nun", "Monk"]),
        ("diagnosis", ["C61", "C56"]),
        ("marital status", ["1", "2"]),
        ("religion", ["RC", "P"]),
    ],
)
@pytest.mark.parametrize("crossed", [False, True])
def test_headers_decide_whether_labels_tell_one_another(tmp_path, labels, header, others, crossed):
    """However short the labels are: sexes as letters or codes, classes as codes."""
    if crossed:
        rows = [f"{a},{b},{'x' if a == labels[0] else 20}" for a in labels for b in others]
        write(tmp_path, "\n".join([f"sex,{header},count", *rows]) + "\n", "a.csv")
        files = ["a.csv"]
    else:
        write(tmp_path, f"sex,count\n{labels[0]},x\n{labels[1]},31\nTotal,54\n", "a.csv")
        write(tmp_path, f"{header},count\n{others[0]},31\n{others[1]},x\nTotal,54\n", "b.csv")
        files = ["a.csv", "b.csv"]
    read = Publication(texts_tell_nothing=True).understand([tmp_path / file for file in files])
    asked = [one for one in read.unaccounted if one.subject.startswith("the dimension")]
    given = [text for text in read.takes_as_given if "knows from elsewhere" in text]
    assert (len(asked), len(given)) == ((0, 1) if crossed else (1, 0))


def test_single_ages_tell_of_the_married_and_places_may_name_a_sex(tmp_path):
    text = "age,marital status,count\n10,1,x\n10,2,x\n40,1,x\n40,2,x\n*,*,30\n"
    sexes = "area,sex,count\nGirls school,F,x\nGirls school,M,x\nPort,F,x\nPort,M,9\n*,*,60\n"
    for text in (text, sexes):
        given = Publication(texts_tell_nothing=True).understand([write(tmp_path, text)])
        assert any("knows from elsewhere" in one for one in given.takes_as_given)


def test_dimensions_without_a_common_label_are_apart_first(tmp_path):
    """`--same` alone would be refused there: the question names a pair of labels with it."""
    [asked] = ask(tmp_path, ONE, "s,count\n1,19\n2,27\n")
    assert asked.declaration.startswith("`--apart s`")
    assert "with its labels, as `--same" in asked.declaration
    [asked] = ask(tmp_path, ONE, "s,count\nF,19\nM,27\n")
    assert asked.declaration.startswith("`--same sex=s`")
    assert not ask(tmp_path, ONE, "s,count\n1,19\n2,27\n", same=["sex=s", "F=1", "M=2"])
