"""Wide tables of places, single columns of numbers, percentages alone: two declarations suffice."""

import itertools
import shlex

import numpy as np
import pytest

from narcissus.counts import Publication, audit_tables
from narcissus.errors import InputError

PLACES = ("Aston", "Birch", "Corby", "Dale", "Elm")
OTHERS = {
    "Area km2": ["14.2", "11.9", "9.3", "30.1", "21.0"],
    "Density": ["3.1", "6.0", "2.8", "1.7", "5.5"],
    "Change": ["-3", "4", "-12", "-1", "-7"],
    "Elevation": ["120", "77", "204", "43", "88"],
    "Households": ["14", "21", "9", "30", "51"],
}
PEOPLE = {"Men": ["12", "40", "x", "25", "60"], "Women": ["x", "31", "9", "27", "55"]}


def write(folder, columns, name="table_1.csv"):
    rows = zip(PLACES, *columns.values(), strict=True)
    lines = [",".join(["Area", *columns]), *(",".join(row) for row in rows)]
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name


@pytest.mark.parametrize("chosen", list(itertools.combinations(OTHERS, 3)))
@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.one_in(2)
def test_columns_of_other_things_are_one_declaration(tmp_path, chosen, is_first):
    others = {name: OTHERS[name] for name in chosen}
    path = write(tmp_path, {**others, **PEOPLE} if is_first else {**PEOPLE, **others})
    read = Publication(below=5).understand([path])
    audit = audit_tables(*read.sure)
    assert {limits.cell.column for limits in audit.cells} == set(PEOPLE)
    [question] = read.unaccounted
    declaration, _, _ = question.declaration.removeprefix("`").partition("`")
    words = shlex.split(declaration)
    assert set(words[::2]) == {"--irrelevant"}
    assert set(words[1::2]) == set(chosen)
    assert not Publication(below=5, irrelevant=words[1::2]).understand([path]).unaccounted


def test_columns_that_nothing_explains_name_their_dimension(tmp_path):
    path = write(tmp_path, {name: OTHERS[name] for name in ("Elevation", "Households")})
    with pytest.raises(InputError, match=r"--across table_1.csv=NAME.*--irrelevant Households"):
        Publication(below=5).understand([path])


def test_several_tables_name_their_dimensions(tmp_path):
    """What columns are of joins tables, so nothing is taken for it where there are two."""
    paths = [
        write(tmp_path, {"Cats": ["5", "6", "7", "8", "9"], **PEOPLE}, f"{n}.csv") for n in "ab"
    ]
    with pytest.raises(InputError, match="which dimension has the labels"):
        Publication(below=5).understand(paths)


@pytest.mark.parametrize("names", [("Persons", "Number"), ("Kids", "Folk"), ("Folk", "count")])
@pytest.mark.parametrize("how", ["alone", "repeated", "by file"])
def test_each_file_has_its_column_of_counts(tmp_path, names, how):
    files = []
    for name, header, dimension in zip(("a.csv", "b.csv"), names, ("Sex", "Age"), strict=True):
        labels = ("female", "male") if dimension == "Sex" else ("0-17", "18+")
        rows = [f"{area},{label},{10 + k}" for k, area in enumerate("AB") for label in labels]
        (tmp_path / name).write_text("\n".join([f"Area,{dimension},{header}", *rows]) + "\n")
        files.append(tmp_path / name)
    count = {
        "alone": None,
        "repeated": list(names),
        "by file": [f"{file.name}:{name}" for file, name in zip(files, names, strict=True)],
    }[how]
    read = Publication(count=count).understand(files)
    assert [cell.column for cell in read.cells] == [name for name in names for _ in range(4)]
    waits = any(f"header `{name}`" in q.reason for q in read.unaccounted for name in names)
    assert waits == (how == "alone" and not {"Persons", "Number"} >= set(names))
    with pytest.raises(InputError, match="does not have a column"):
        Publication(count=["a.csv:Sheep"]).understand(files)


@pytest.mark.parametrize("header", ["2023", "Men", "0-17", "m"])
def test_a_single_column_that_is_a_label_is_no_column_of_counts(tmp_path, header):
    """Of two files with a year each, the same people would be counted twice."""
    (tmp_path / "t.csv").write_text(f"Area,{header}\nAston,40\nBirch,x\n")
    if header != "2023":
        with pytest.raises(InputError, match="--across"):
            Publication(below=5).understand([tmp_path / "t.csv"])
        return
    read = Publication(below=5).understand([tmp_path / "t.csv"])
    assert all(header in cell.labels.values() for cell in read.cells)


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("style", ["12.5", "12.5%", "13", "13%"])
@pytest.mark.parametrize("header", ["Percent", "Value"])
def test_percentages_alone_decide_nothing_in_favour(tmp_path, is_wide, style, header):
    rng = np.random.default_rng(0)
    shares = [100 * rng.dirichlet([3, 3]) for _ in PLACES]
    texts = [
        [f"{part:.{'.' in style:d}f}{'%' * style.endswith('%')}" for part in row] for row in shares
    ]
    lines = [f"Area,Men{' %' * (header == 'Percent')},Women{' %' * (header == 'Percent')}"]
    lines += [f"{place},{','.join(row)}" for place, row in zip(PLACES, texts, strict=True)]
    if not is_wide:
        lines = [f"Area,Sex,{header}"] + [
            f"{place},{sex},{text}"
            for place, row in zip(PLACES, texts, strict=True)
            for sex, text in zip(("Men", "Women"), row, strict=True)
        ]
    path = tmp_path / "table_1.csv"
    path.write_text("\n".join(lines) + "\n")
    publication = Publication(texts_tell_nothing=True, below=3)
    if (style, header) != ("13", "Value"):
        with pytest.raises(InputError, match="Bring the counts of the same rows"):
            publication.understand([path])
        return
    read = publication.understand([path])
    assert any("as percentages do" in question.reason for question in read.unaccounted)


def test_counts_that_sum_to_a_hundred_are_declared(tmp_path):
    (tmp_path / "t.csv").write_text("Area,Men,Women\nAston,40,60\nBirch,55,45\n")
    (tmp_path / "u.csv").write_text(
        "Area,Sex,Value\nAston,Men,40\nAston,Women,60\nBirch,Men,55\nBirch,Women,45\n"
    )
    given = {"texts_tell_nothing": True, "below": 5}
    wide = Publication(dimension=["Men", "Women"], **given).understand([tmp_path / "t.csv"])
    long = Publication(count="Value", **given).understand([tmp_path / "u.csv"])
    for read in (wide, long):
        assert not any("as percentages do" in question.reason for question in read.unaccounted)


@pytest.mark.parametrize("printed", [(), (9,), (9, 9)])
def test_an_order_without_a_direction_is_asked_for(tmp_path, printed):
    """Labels in the order of their counts, of which too few are printed to show the direction."""
    rows = ["x", "x", *map(str, printed)] if len(printed) < 2 else ["x", "9", "9", "x"]
    lines = [f"{name},{text}" for name, text in zip("DBAC", rows, strict=False)]
    (tmp_path / "t.csv").write_text("\n".join(["Area,Count", *lines]) + "\n")
    given = {"texts_tell_nothing": True, "mark": ["x=any"], "flat": ["Area"]}
    path = tmp_path / "t.csv"
    if len(printed) < 2:
        with pytest.raises(InputError, match=r"limits no cell.*=falling.*=rising"):
            Publication(order=["t.csv=count"], **given).understand([path])
    for order, sign in (("falling", 1), ("rising", -1)):
        read = Publication(order=[f"t.csv={order}"], **given).understand([path])
        limits = audit_tables(*read.sure).cells
        for before, after in itertools.pairwise(limits):
            high = np.inf if before.high is None else before.high
            if sign > 0:
                assert before.low >= after.low
            else:
                assert high <= (np.inf if after.high is None else after.high)
        first = limits[0]
        if printed:
            assert (first.low >= 9) if sign > 0 else (first.high is not None and first.high <= 9)


def test_a_declared_direction_that_numbers_contradict_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("Area,Count\nD,30\nB,x\nA,20\nC,9\n")
    with pytest.raises(InputError, match="in no order, or in the other one"):
        Publication(order=["t.csv=rising"], below=5, flat=["Area"]).understand([tmp_path / "t.csv"])


@pytest.mark.parametrize("is_total_printed", [True, False])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.one_in(2)
def test_percentages_of_rounded_numbers_are_a_premise(tmp_path, seed, is_total_printed):
    """They do not narrow counts, whether their whole is printed or not."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 20, 4)
    shown = 5 * ((2 * counts + 5) // 10)
    whole = 5 * ((2 * counts.sum() + 5) // 10) if is_total_printed else shown.sum()
    if 0 in (whole, shown.sum()) or len({*shown.tolist()} - {0}) < 2:
        pytest.skip("nothing is a percentage")
    rows = [f"{place},{n},{100 * n / whole:.1f}" for place, n in zip(PLACES, shown, strict=False)]
    rows = [f"Total,{whole},100.0"] * is_total_printed + rows
    (tmp_path / "t.csv").write_text("\n".join(["Area,Count,Percent", *rows]) + "\n")
    given = {"rounded": "5", "below": 5, "no_marks": True, "flat": ["Area"]}
    read = Publication(**given, texts_tell_nothing=True).understand([tmp_path / "t.csv"])
    limits = audit_tables(*read.sure).cells[is_total_printed:]
    for cell, count in zip(limits, counts.tolist(), strict=True):
        assert cell.low <= count <= cell.high
    assert any("of the printed numbers" in premise for premise in read.takes_as_given)


@pytest.mark.parametrize("more", ["0-17,female,12", ""])
def test_percentages_of_more_people_than_all_parts_are_of_another_whole(tmp_path, more):
    """Of men alone, 7 would be 22.6% of 31, and all men are at most 19."""
    rows = ["0-17,Total,12,38.7", "0-17,male,x,x", "18-64,Total,8,25.8", "18-64,female,x,x"]
    rows += ["18-64,male,7,22.6", "65+,Total,11,35.5", "65+,female,x,x", "65+,male,10,32.3"]
    rows += [f"{more},38.7"] if more else []
    (tmp_path / "t.csv").write_text("\n".join(["age,sex,count,percent", *rows]) + "\n")
    read = Publication(below=3, flat=["age", "sex"], texts_tell_nothing=True).understand(
        [tmp_path / "t.csv"]
    )
    cells = audit_tables(*read.sure).cells
    counts = {"0-17": {"Total": 12}, "18-64": {"Total": 8, "female": 1, "male": 7}}
    for limits in cells:
        labels = limits.cell.labels
        count = counts.get(labels["age"], {}).get(labels.get("sex", "Total"))
        assert count is None or limits.low <= count <= limits.high
