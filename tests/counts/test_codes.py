"""Columns that correspond one to one with labels: codes and names, or measures of the counts."""

import random

import pytest

from narcissus.counts import Publication

from .test_layouts import conclude, roles, write

AREAS = ["Alby", "Borg", "Carl", "Dorn"]
COUNTS = ["24", "x", "x", "76"]


def table(header, values, total, *, first=False):
    """A one-way table with two hidden counts, and a further column of distinct values."""
    lines = [["municipality", "count", header]]
    lines += [list(row) for row in zip(AREAS, COUNTS, values, strict=True)]
    lines.append(["Total", "106", total])
    if first:
        lines = [[line[2], line[0], line[1]] for line in lines]
    return "".join(";".join(line) + "\n" for line in lines)


MEASURES = [
    ("change", ["+2", "-1", "+3", "0"], "+4"),
    ("change", ["-", "▲1", "▼1", "▼3"], "▲2"),
    ("rank", ["2", "3", "4", "1"], ""),
    ("rank_of_2024", ["1", "3", "4", "2"], "5"),
    ("no", ["2", "3", "4", "1"], ""),
    ("hospital_no", ["12", "3", "2", "40"], "57"),
    ("hospital_no", ["12", "13", "22", "40"], "87"),
    ("range", ["20-29", "3-3", "1-3", "70-79"], "100-109"),
    ("approx", ["ca. 24", "ca. 3", "about 3", "76+"], "106 all"),
    ("one_in", ["1 in 35", "1 in 2000", "1 in 1500", "1 in 10"], "1 in 90"),
    ("per_capita", ["2,4 permille", "0,3 permille", "0,4 permille", "7,6 permille"], "3"),
    ("level", ["high", "low (2)", "low (4)", "top"], "all"),
    ("level", ["high", "low", "lower", "top"], "all"),
    ("v", ["many", "few", "fewer", "most"], ""),
    ("index", ["98", "75", "120", "101"], "100"),
    ("share of row", ["22.6", "2.8", "3.8", "71.7"], "100.9"),
    ("margin of error", ["4", "2", "1", "9"], "12"),
    ("rate per 1000", ["4.1", "2.9", "1.7", "9.3"], "7.7"),
    ("count 2023", ["22", "4", "1", "76"], "103"),
    ("code", ["24", "03", "03a", "76"], ""),
    ("id", ["n24", "n03", "n02", "n76"], ""),
]


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize(("header", "values", "total"), MEASURES)
@pytest.mark.one_in(2)
def test_a_measure_beside_labels_waits_for_a_declaration(tmp_path, header, values, total, first):
    path = write(tmp_path, table(header, values, total, first=first))
    verdict, tables = conclude(path, 1)
    assert verdict in ("undeclared", "exceeded")
    assert roles(tables)[header] != "code"
    assert roles(tables)["municipality"] == "dimension"
    if verdict == "undeclared":
        declarations = [question.declaration for question in tables.unaccounted]
        assert any(f"--irrelevant {header}" in one.replace('"', "") for one in declarations)
    assert conclude(path, 1, irrelevant=[header], flat=["municipality"])[0] == "met"


CODES = [
    ("code", ["E1", "E2", "E3", "E4"], "E9"),
    ("u", ["E01", "E02", "E03", "E04"], "E09"),
    ("nuts", ["DE11", "DE12", "DE13", "DE21"], "DE"),
    ("geo", ["DE", "FR", "IT", "AT"], "EU"),
    ("key", ["01", "02", "11", "13"], ""),
    ("area_code", ["101", "102", "103", "104"], "199"),
    ("nr", ["1", "2", "3", "4"], ""),
    ("fips", ["1001", "1003", "1007", "1005"], ""),
    ("municipality_name", ["Ålby", "Borgå", "Carlö", "Dörn"], "All"),
    ("area name", ["City 001A", "City 001B", "City 002A", "City 003A"], "All"),
    ("name_de", ["Nord", "Ost", "Sued", "West"], "Insgesamt"),
]


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize(("header", "values", "total"), CODES)
@pytest.mark.one_in(2)
def test_codes_and_names_are_asked_for_by_nobody(tmp_path, header, values, total, first):
    path = write(tmp_path, table(header, values, total, first=first))
    flat = [name for name, role in roles(conclude(path, 1)[1]).items() if role == "dimension"]
    verdict, tables = conclude(path, 1, flat=flat)
    assert verdict == "met", tables.unaccounted
    assert "code" in roles(tables).values()


def test_a_name_beside_a_measure_does_not_hide_it(tmp_path):
    """The measure is not taken for the labels of which the name is a second one."""
    rows = ["level;area_name;count", "high;Alby;24", "low;Borg;x", "lower;Carl;x", "top;Dorn;76"]
    path = write(tmp_path, "\n".join([*rows, "all;Total;106"]) + "\n")
    verdict, tables = conclude(path, 1)
    assert (verdict, roles(tables)["area_name"]) == ("undeclared", "dimension")


def test_a_code_is_declared(tmp_path):
    path = write(tmp_path, table("v", ["9", "30", "4", "17"], ""))
    assert conclude(path, 1)[0] == "undeclared"
    verdict, tables = conclude(path, 1, code=["v"], flat=["municipality"])
    assert (verdict, roles(tables)["v"]) == ("met", "code")


@pytest.mark.parametrize("seed", range(25))
def test_no_measure_of_a_one_way_table_is_a_code(tmp_path, seed):
    """Random texts made of the true counts, in forms that no list of names knows."""
    rng = random.Random(seed)
    counts = [rng.randint(1, 4) if k in (1, 2) else rng.randint(20, 90) for k in range(7)]
    form = rng.choice(
        ["{}", "+{}", "~{}", "{} p.", "about {}", "({})", "{}k", "{}/9", "={}", "{0}-{1}", "n{}"]
    )
    shift = rng.choice([0, 0, 1, 7])
    values = [form.format(count + shift, count + shift + 1) for count in counts]
    if len(set(values)) < len(values):
        pytest.skip("the column repeats a value")
    rows = [
        f"A{k}x;{'x' if k in (1, 2) else count};{value}"
        for k, (count, value) in enumerate(zip(counts, values, strict=True))
    ]
    header = rng.choice(["v", "area_no", "key", "number", "w code"])
    text = "\n".join([f"area;count;{header}", *rows, f"Total;{sum(counts)};"]) + "\n"
    verdict, tables = conclude(write(tmp_path, text), 1)
    assert verdict != "met"
    assert roles(tables)[header] != "code"


def classes(bounds):
    counts = [3, 12, 33, 2, 4, 71, 55, 18, 14, 26, 39, 66, 91, 17, 58, 41]
    names = {place: sum(count >= bound for bound in bounds) for place, count in enumerate(counts)}
    hidden = (0, 3, 4)
    rows = [
        f"a{place}x;{'x' if place in hidden else count};{'BKQRS'[names[place]]}"
        for place, count in enumerate(counts)
    ]
    return "\n".join(["area;count;class", *rows, f"Total;{sum(counts)};*"]) + "\n"


@pytest.mark.parametrize("bounds", [(10, 30), (20, 40), (4, 20, 50)])
def test_classes_of_size_are_no_groups(tmp_path, bounds):
    verdict, tables = conclude(write(tmp_path, classes(bounds)), 1)
    assert (verdict, roles(tables)["class"] == "group") == ("undeclared", False)
    assert "--irrelevant class" in tables.unaccounted[0].declaration


def test_a_code_that_no_table_has(tmp_path):
    path = write(tmp_path, table("code", ["E1", "E2", "E3", "E4"], "E9"))
    with pytest.raises(Exception, match="no table has a column 'kode'"):
        Publication(texts_tell_nothing=True, code=["kode"]).understand([path])
