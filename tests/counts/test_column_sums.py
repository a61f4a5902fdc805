"""Columns of counts whose sum another column prints are counts, whatever their names are."""

import random

import pytest

from narcissus.counts import Publication
from narcissus.errors import InputError

from .test_layouts import limits, write

DISTRICTS = ("Alba", "Brig", "Cor", "Dun", "Elm", "Fay", "Gil", "Hay")
FIRST, SECOND = (12, 9, 8, 14, 21, 7, 11, 2), (23, 31, 33, 29, 40, 18, 26, 20)
THIRD = (17, 11, 25, 8, 19, 30, 14, 13)


def table(header, *columns, hidden=((7, 0),), mark="x", add_total=True, corner="District"):
    """Return a table with a row for each district and a row of totals; some cells are hidden."""
    columns = [list(column) for column in columns]
    if add_total:
        columns.append([sum(row) for row in zip(*columns, strict=True)])
    rows = [[str(column[k]) for column in columns] for k in range(len(DISTRICTS))]
    for row, column in hidden:
        rows[row][column] = mark
    rows.append([str(sum(column)) for column in columns])
    lines = [",".join([corner, *header])]
    lines += [",".join([name, *row]) for name, row in zip([*DISTRICTS, "Total"], rows, strict=True)]
    return "\n".join(lines) + "\n"


# Columns that are declared irrelevant


@pytest.mark.parametrize(
    ("text", "irrelevant", "count"),
    [
        (table(("A", "B", "Total"), FIRST, SECOND), ("A", "B"), None),
        (table(("A", "B", "Total"), FIRST, SECOND, hidden=()), ("A", "B"), None),
        (table(("A", "B", "count"), FIRST, SECOND), ("A", "B"), None),
        (table(("A", "B", "count"), FIRST, SECOND), ("A", "B"), "count"),
        (table(("A", "B", "people"), FIRST, SECOND), ("A", "B"), "people"),
        (table(("A", "B", "Total"), FIRST, SECOND), ("A",), None),
        (table(("A", "B", "Total"), FIRST, SECOND), ("Total",), None),
        (table(("A", "B", "C", "Total"), FIRST, SECOND, THIRD), ("A", "B", "C"), None),
        (table(("A", "B", "C", "Total"), FIRST, SECOND, THIRD), ("A", "C"), None),
        (table(("A", "B", "C", "Total"), FIRST, SECOND, THIRD, hidden=()), ("B",), None),
        (table(("yes", "no", "Total"), FIRST, SECOND), ("yes", "no"), None),
    ],
)
def test_parts_of_counts_are_not_irrelevant(tmp_path, text, irrelevant, count):
    given = {"irrelevant": irrelevant, "below": 5, "texts_tell_nothing": True, "count": count}
    with pytest.raises(InputError, match="sum to"):
        Publication(**given).understand([write(tmp_path, text)])


@pytest.mark.repeats(4, 200, "worlds")
def test_columns_of_other_things_are_irrelevant(tmp_path, worlds):
    """Nothing is said of numbers that no sum ties to the counts, nor of sums among these."""
    for seed in range(worlds):
        require_irrelevant(tmp_path, random.Random(seed))


def require_irrelevant(folder, rng):
    columns = [[rng.randint(0, 60) for _ in DISTRICTS] for _ in range(rng.randint(1, 4))]
    if len(columns) > 2:
        columns[-1] = [a + b for a, b in zip(*columns[:2], strict=True)]
    names = [f"V{k}" for k in range(len(columns))]
    people = [rng.randint(30, 90) for _ in DISTRICTS]
    text = table((*names, "count"), *columns, people, add_total=False, hidden=())
    given = {"irrelevant": names, "below": 5, "texts_tell_nothing": True}
    tables = Publication(**given).understand([write(folder, text)])
    assert not tables.unaccounted


@pytest.mark.parametrize("hidden", [(), ((7, 0),), ((7, 0), (5, 0))])
def test_a_column_that_may_count_some_of_the_people_is_named(tmp_path, hidden):
    """It is nowhere above the counts and has sums as they have: nothing shows whom it counts."""
    people = [a + b for a, b in zip(FIRST, SECOND, strict=True)]
    text = table(("A", "count"), FIRST, people, add_total=False, hidden=hidden)
    given = {"irrelevant": ["A"], "below": 9, "texts_tell_nothing": True}
    tables = Publication(**given).understand([write(tmp_path, text)])
    assert any("`A`" in premise and "none of these people" in premise
               for premise in tables.takes_as_given)  # fmt: skip


@pytest.mark.parametrize("column", [[7, 3, 9, 1, 4, 8, 2, 6], [70, 3, 9, 1, 4, 8, 2, 6]])
def test_a_column_without_sums_is_not_named(tmp_path, column):
    people = [a + b for a, b in zip(FIRST, SECOND, strict=True)]
    text = table(("A", "count"), column, people, add_total=False, hidden=())
    text = text.replace(f"Total,{sum(column)},", "Total,5,")
    given = {"irrelevant": ["A"], "below": 5, "texts_tell_nothing": True}
    tables = Publication(**given).understand([write(tmp_path, text)])
    assert not any("`A`" in premise for premise in tables.takes_as_given)


# Labels that are named as a role is

WORDS = (
    *("yes", "no", "No.", "NO", "nr", "n", "N", "S", "Y", "y", "rate", "id", "ref", "flat"),
    *("count", "code", "note", "key", "name", "share", "status", "flag", "freq", "cases", "value"),
    *("percent", "number", "mean", "median", "average", "sum of", "other", "ratio", "si", "never"),
    *("quote", "rank", "title", "label", "description", "symbol", "sign", "quality", "exposed"),
    *("ill: no", "persons", "patients", "frequency", "counts", "comment", "anteil", "taux", "kz"),
    *("proportion", "iso"),
)  # fmt: skip


def as_letters(words):
    return [chr(ord("A") + k) for k in range(len(words))]


def draw_words(seed):
    rng = random.Random(seed)
    words = rng.sample(WORDS, rng.choice((2, 3)))
    while len({word.casefold() for word in words}) < len(words):
        words = rng.sample(WORDS, len(words))
    hidden = rng.choice([((7, 0),), ((7, 0), (7, 1)), ((7, 1), (3, 1)), ((6, 0), (5, 1))])
    corner = rng.choice(("District", "District \\ kind"))
    return words, hidden, corner


@pytest.mark.parametrize("words", [
    ("yes", "no"), ("Yes", "NO"), ("si", "no"), ("exposed", "no"), ("never", "no"), ("yes", "No."),
    ("cases", "no"), ("ill: yes", "ill: no"), ("no", "yes"), ("nr", "other"), ("S", "N"),
    ("flat", "rate"), ("id", "ref"), ("no", "yes", "unknown"), ("code", "note"), ("n", "y"),
    ("count", "other"), ("mean", "n"), ("persons", "no"),
])  # fmt: skip
def test_parts_of_a_printed_total_are_labels(tmp_path, words):
    require_alike(tmp_path, words, ((7, 0),), "District")


@pytest.mark.repeats(2, 1000, "worlds")
def test_any_words_are_labels_of_parts_of_a_total(tmp_path, worlds):
    """Limits follow from what cells tell, and from how many labels each has."""
    for seed in range(worlds):
        words, hidden, corner = draw_words(seed)
        columns = (FIRST, SECOND, THIRD)[: len(words)]
        each = []
        for header in (as_letters(words), words):
            text = table((*header, "Total"), *columns, hidden=hidden, corner=corner)
            given = {"below": 5, "mark": ("x=any",), "texts_tell_nothing": True}
            tables = Publication(**given).understand([write(tmp_path, text)])
            each.append(
                [(cell.line, cell.count, len(cell.labels), cell.share) for cell in tables.cells]
                + [len(tables.unaccounted)]
            )
        assert each[0] == each[1], words


def require_alike(folder, words, hidden, corner):
    columns = (FIRST, SECOND, THIRD)[: len(words)]
    letters = as_letters(words)
    path = write(folder, table((*letters, "Total"), *columns, hidden=hidden, corner=corner))
    expected, plain = limits(path, below=5, mark=("x=any",))
    path = write(folder, table((*words, "Total"), *columns, hidden=hidden, corner=corner))
    results, tables = limits(path, below=5, mark=("x=any",))
    assert results == expected, words
    assert len(tables.unaccounted) == len(plain.unaccounted), (words, tables.unaccounted)


@pytest.mark.parametrize("text", [
    "area \\ ill,yes,no,Total\nNorth,x,23,x\nSouth,x,20,22\nEast,9,31,40\nWest,x,33,x\n"
    "Total,x,107,121\n",
    "area \\ ill,yes,no,Total\nNorth,12,x,35\nSouth,x,20,22\nEast,9,31,40\nWest,8,33,41\n"
    "Total,x,x,138\n",
    "area \\ ill,yes,no,Total\nNorth,x,x,11\nSouth,x,x,26\nEast,x,x,x\nWest,x,x,x\n"
    "Centre,x,x,27\nTotal,31,46,77\n",
    "area \\ ill,yes,no,Total\nNorth,x,x,11\nSouth,x,x,26\nEast,x,x,13\nTotal,0,50,50\n",
    "area \\ ill,no,yes\nNorth,x,20\nSouth,12,30\nEast,17,41\nTotal,31,91\n",
    "area \\ ill,yes,no\nNorth,x,20\nSouth,12,30\nEast,17,41\nTotal,31,91\n",
    "area,no,yes\nNorth,x,20\nSouth,12,30\nEast,17,41\nTotal,31,91\n",
    "area,yes,no\nNorth,x,20\nSouth,12,30\nEast,17,41\nTotal,31,91\n",
    "area \\ ill,n,yes\nNorth,x,20\nSouth,12,30\nEast,17,41\nTotal,31,91\n",
    "area \\ ill,no,yes\nNorth,12,x\nSouth,30,20\nEast,17,41\n",
    "area \\ kind,id,ref\nNorth,12,x\nSouth,30,20\nEast,17,41\n",
    "area,no,yes\nNorth,12,x\nSouth,30,20\nEast,17,41\n",
    "area \\ ill,yes,no,Total\nNorth,x,x,x\nSouth,x,x,x\nTotal,x,x,35\n",
    "area,no,yes,Total\nNorth,x,x,x\nSouth,x,x,x\nTotal,x,x,35\n",
    "area \\ ill,flat,rate\nNorth,x,20\nSouth,12,30\nEast,17,41\nTotal,31,91\n",
], ids=[
    "hidden totals", "hidden sums", "a row of sums", "a zero", "no, yes", "yes, no", "no corner",
    "no last", "n, yes", "no sums", "id, ref", "no sums or corner", "all hidden",
    "all hidden, no corner",
    "flat, rate",
])  # fmt: skip
def test_few_numbers_show_labels_too(tmp_path, text):
    words = text.split("\n")[0].split(",")[1:]
    header = [w if w == "Total" else letter for w, letter in zip(words, "ABC", strict=False)]
    corner = text.split(",", 1)[0]
    plain = ",".join([corner, *header]) + "\n" + text.split("\n", 1)[1]
    across = () if "Total" in words or "\\" in corner else ("t.csv=kind",)
    expected, _ = limits(write(tmp_path, plain), mark=("x=any",), across=across)
    results, _ = limits(write(tmp_path, text), mark=("x=any",), across=across)
    assert results == expected


@pytest.mark.parametrize("name", ["no", "nr", "code", "id", "No.", "key"])
@pytest.mark.parametrize("values", [
    [101, 102, 103, 104, 105, 106, 107, 108], [1, 2, 3, 4, 5, 6, 7, 8],
    ["08", "11", "02", "07", "03", "05", "06", "01"], [11, 17, 12, 45, 32, 67, 21, 55],
])  # fmt: skip
def test_codes_of_rows_stay_codes(tmp_path, name, values):
    """They are in no sum, and tell rows apart."""
    path = write(tmp_path, codes(name, values))
    results, tables = limits(path, below=5, mark=("x=any",))
    assert results == [(2, 2)]
    use = {use.column: use.role for use in tables.layouts[0].columns}
    assert use[name] != "count"


def codes(name, values):
    lines = table(("A", "B", "Total"), FIRST, SECOND).splitlines()
    cells = [name, *map(str, values), ""]
    rows = [line.split(",", 1) for line in lines]
    return "".join(f"{a},{cell},{b}\n" for (a, b), cell in zip(rows, cells, strict=True))
