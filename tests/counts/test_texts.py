"""Every text of a table is understood by its form, or waits for one declaration."""

import random

import pytest

from narcissus.counts import Publication

from .test_layouts import write

TITLE = "Table 1: Persons by area and sex, 2021"
NOTE = "Source: Statistical Office"
TABLE = "{area},F,{M},{Total}\n{Alba},x,x,13\nBrin,14,20,34\n{Cero},x,x,23\n{All},29,41,70\n"
PLAIN = {"area": "area", "M": "M", "Total": "Total", "Alba": "Alba", "Cero": "Cero", "All": "Total"}


def ask(folder, text, name="table_1.csv", **given):
    given = {"across": [f"{name}=sex"]} | given
    return Publication(**given).understand([write(folder, text, name)]).unaccounted


def wording(asked):
    return [one for one in asked if one.subject.startswith("the wording")]


def test_ordinary_words_are_understood(tmp_path):
    assert ask(tmp_path, f"{TITLE}\n\n{TABLE.format(**PLAIN)}\n{NOTE}\n") == ()


ADDED = ["{} (8)", "{} 8", "{} [8]", "{}_8", "{}: 8 women", "{} three", "{} (III)", "{} quinze",
         "{} (38%)", "8 {}", "{} - thirteen", "{} (half)", "{} (n = 8)", "{} \u2018 drei",
         "{} (F > M)", "{} (dreiundzwanzig)"]  # fmt: skip


@pytest.mark.parametrize("place", ["title", "note", "file", *PLAIN])
@pytest.mark.parametrize("added", ADDED)
def test_a_text_that_tells_a_number_or_a_quantity_waits(tmp_path, place, added):
    words = {key: added.format(word) if key == place else word for key, word in PLAIN.items()}
    title, note = (
        added.format(text) if place == which else text
        for which, text in (("title", TITLE), ("note", NOTE))
    )
    name = "table of areas.csv"
    if place == "file":
        name = added.format("women of Alba").replace(":", "") + ".csv"
    text = f"{title}\n\n{TABLE.format(**words)}\n{note}\n"
    if place in ("M", "Total") and "%" in added:
        return  # a column of percentages
    if place == "file" and "=" in name:
        return  # `--across FILE=NAME` cannot name it
    given = {"flat": [], "across": [f"{name}=sex"], "total": [words["All"], words["Total"]]}
    assert wording(ask(tmp_path, text, name, **given))
    assert not wording(ask(tmp_path, text, name, **given, texts_tell_nothing=True))


@pytest.mark.parametrize(
    "label",
    ["Quota", "gap", "F:M", "pc women", "per mille", "Households", "Average age", "Frauenanteil",
     "Index", "weighted", "Difference", "rate"],
)  # fmt: skip
@pytest.mark.parametrize("is_column", [False, True])
def test_a_label_that_no_sum_confirms_waits(tmp_path, label, is_column):
    if is_column and label in ("rate", "Frauenanteil"):
        return  # a column of percentages
    text = f"sex,count\nF,x\nM,17\n{label},85\n"
    if is_column:
        text = f"area,F,M,{label}\nAlba,x,17,85\nBrin,20,26,130\n"
    asked = ask(tmp_path, text, **({} if is_column else {"across": []}))
    assert f"label `{label}`" in " ".join(one.reason for one in wording(asked))


def test_sums_confirm_labels_of_any_name(tmp_path):
    """With hidden cells, only labels without which the printed total is not reached."""
    text = "clan,count\nKrull,60\nOmbra,x\nTheta,40\nTotal,102\n"
    assert not wording(ask(tmp_path, text, across=[], below=3))
    text = text.replace("Theta,40", "Theta,2").replace("102", "62")
    asked = wording(ask(tmp_path, text, across=[], below=3))
    assert "`Theta`" in asked[0].reason
    assert "`Krull`" not in asked[0].reason


@pytest.mark.parametrize("header", ["area", "district", "Kreis", "State", "sex", "clan"])
def test_plain_names_below_a_header_of_places_are_taken_for_places(tmp_path, header):
    """The verdict says so. Other headers may have a measure among their labels."""
    text = f"{header},count\nKrull,60\nOmbra,x\nTheta,2\nTotal,62\n"
    (tmp_path / "t.csv").write_text(text)
    read = Publication(below=3).understand([tmp_path / "t.csv"])
    is_place = header in ("area", "district", "Kreis")
    assert bool(wording(read.unaccounted)) != is_place
    premise = f"each label of `{header}` names a group of people"
    assert (premise in read.takes_as_given) == is_place


@pytest.mark.parametrize(
    ("header", "labels"),
    [
        ("age", ("0-17", "18-64", "65+")),
        ("age", ("Under 5", "5 to 64", "65 and over (pensioners)")),
        ("area", ("Alba (07131)", "Brin (07132)", "Cero (07231)")),
        ("sector", ("Farming (1)", "Mining (2)", "Trade (3)")),
        ("size", ("1 room", "2 rooms", "3 rooms")),
        ("ward", ("Ward 12", "Ward 7", "Ward 9")),
        ("region code", ("DE1", "FR22", "AT130")),
        ("diagnosis", ("C00-C97", "D00-D48", "I00-I99")),
        ("area", ("Alba [1]", "Brin", "Cero")),
        ("age", ("[0,18)", "[18,65)", "[65,120]")),
        ("year", ("2019", "2020", "2021")),
        ("year", ("2019/20", "2020/21", "2021/22")),
        ("period", ("Q1", "Q2", "Q3")),
        ("rank", ("Region I", "Region II", "Region IV")),
    ],
)
def test_numbers_that_name_a_label_do_not_wait(tmp_path, header, labels):
    rows = [f'"{label}",{n}' for label, n in zip(labels, ("x", 29, 40), strict=True)]
    text = "\n".join([f"{header},count", *rows, "Total,72"]) + "\n"
    text += "1) Provisional\n" * (labels[0] == "Alba [1]")
    assert not wording(ask(tmp_path, text, across=[], below=5, flat=[header]))


@pytest.mark.parametrize(
    "labels",
    [
        ("F_28", "M_72"),
        ("F28", "M72"),
        ("15 Alba", "28 Brin"),
        ("Alba 15", "Brin 28"),
        ("Alba XV", "Brin XXVIII"),
        ("Alba\u00b3", "Brin"),
        ("Alba [2]", "Brin"),
        ("EU27", "EFTA"),
        ("17", "Brin"),
        ("Alba \u2642", "Brin"),
    ],
)
def test_numbers_beside_other_names_wait(tmp_path, labels):
    text = f"area,count\n{labels[0]},x\n{labels[1]},29\nCero,x\nTotal,43\n"
    assert wording(ask(tmp_path, text, across=[], flat=["area"]))


@pytest.mark.parametrize(
    "label",
    ["Alba women equal men", "Alba (no women)", "all men", "Alba dieci", "Alba without women",
     "women none", "m=w", "Alba dix femmes", "as many women as men"],
)  # fmt: skip
def test_words_that_compare_people_wait_whatever_sums_confirm(tmp_path, label):
    text = TABLE.format(**PLAIN | {"Alba": label})
    assert f"label `{label}`" in wording(ask(tmp_path, text))[0].reason


@pytest.mark.parametrize(
    "header", ["no women in Alba", "Women in Alba zero", "area equals", "area (8)", "dix"]
)
def test_headers_of_several_unknown_words_wait(tmp_path, header):
    assert wording(ask(tmp_path, TABLE.format(**PLAIN | {"area": header})))


@pytest.mark.parametrize(
    "name",
    ["no-women-in-alba", "women-none", "dieci-donne", "dixsept", "xvii", "f17", "t_women_17",
     "fortytwo", "\u5341\u4e03", "\u2460\u2466", "women table 17"],
)  # fmt: skip
def test_names_of_files_of_unknown_words_or_numbers_wait(tmp_path, name):
    assert wording(ask(tmp_path, TABLE.format(**PLAIN), f"{name}.csv"))


@pytest.mark.parametrize("name", ["t", "area", "areas", "table_2021", "sex by area 2021-03"])
def test_names_of_files_of_words_of_the_table_do_not_wait(tmp_path, name):
    assert not wording(ask(tmp_path, TABLE.format(**PLAIN), f"{name}.csv"))


@pytest.mark.parametrize("header", ["Quota", "Persons (weighted)", "en milliers", "count (3)"])
def test_a_header_of_numbers_that_is_not_known_waits(tmp_path, header):
    text = f"area,{header}\nAlba,x\nBrin,29\nCero,x\nTotal,43\n"
    asked = ask(tmp_path, text, across=[f"table_1.csv={header}"])
    assert asked


def test_marks_of_footnotes_behind_numbers_are_explained_or_wait(tmp_path):
    text = TABLE.format(**PLAIN).replace("Brin,14,", "Brin,14 (2),")
    assert "cell `14 (2)`" in wording(ask(tmp_path, text))[0].reason
    assert not wording(ask(tmp_path, f"{text}\n(2) Provisional\n"))


QUIET = [
    "Table 4. Cases by area and sex, 2024",
    "Last updated: 01/02/2024, 31 March 2024",
    "x: fewer than 5 people",
    "x = suppressed, fewer than 5 persons",
    "1) provisional",
    "* suppressed, by rule",
    "Source: Office of Ayton, Office of Beeton, and others, 2023",
    "Quelle: Statistisches Landesamt, Stand 31.12.2022",
    "Values below 5 are suppressed to protect confidentiality.",
    "x: not available",
    "Counts of 0 to 4 are hidden",
]


@pytest.mark.parametrize("line", QUIET)
def test_lines_of_neutral_words_do_not_wait(tmp_path, line):
    rules = {"mark": ["x=any"]} if "available" in line else {}
    text = f'{TABLE.format(**PLAIN).replace("13", "8").replace("70", "65")}\n"{line}"\n'
    assert not wording(ask(tmp_path, text, **rules, below=5))


TELLING = [
    "No men live in Alba.",
    "Half of the people of Alba are women.",
    "Alba: Frauen und M\u00e4nner je zur H\u00e4lfte.",
    "Alba: F > M.",
    "Note: three of the cases were in Alba.",
    "Source: office. One case in Cero was removed.",
    "Source: Alba has as many F as M",
    "Source: Dieci Donne",
    "Source: No Young Women",
    "F: Table 17",
    "(17) F",
    "trois cas \u00e0 Alba",
    "ALBA: III",
    "The hidden areas differ by 1.",
    "Two fifths of Alba",
    "Fourteen persons",
    "x: fewer than 10 people",
    "x never stands for an empty cell",
    "2 married persons",
    "2021 persons",
    "weighted",
    "en milliers",
    "Albassa on kolme naista",
    "x: fewer than 5, not counting none",
]


@pytest.mark.parametrize("line", TELLING)
@pytest.mark.parametrize("is_title", [False, True])
def test_other_lines_wait(tmp_path, line, is_title):
    plain = TABLE.format(**PLAIN)
    text = f'"{line}"\n\n{plain}' if is_title else f'{plain}\n"{line}"\n'
    assert ask(tmp_path, text, below=5)


def test_random_words_are_neutral_or_wait(tmp_path):
    """No line with a digit but a date's, a table's or the declared limit's is understood."""
    rng = random.Random(1)
    words = [
        "table",
        "persons",
        "by",
        "area",
        "note",
        "x",
        "the",
        "of",
        "fewer",
        "than",
        "in",
        "and",
        "suppressed",
        "Alba",
        "F",
    ]
    for _ in range(60):
        many = rng.randint(1, 6)
        line = " ".join([*rng.choices(words, k=many), str(rng.choice([1, 2, 3, 17, 60]))])
        tells = "table" not in line.split()[-2] and "note" not in line.split()[-2]
        asked = ask(tmp_path, f"{TABLE.format(**PLAIN)}\n{line}\n", below=5)
        assert asked or not tells, line
