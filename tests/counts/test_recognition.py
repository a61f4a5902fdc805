"""Which files are taken for published counts, and which for tables of people."""

import random
from pathlib import Path

import pytest
import statsmodels

from narcissus.counts.recognition import holds_counts

from . import test_offices as offices
from . import test_usual_files as usual

PUBLISHED = {
    name: text
    for module in (offices, usual)
    for name, text in vars(module).items()
    if name.isupper() and isinstance(text, str) and "\n" in text
}
MICRODATA = sorted((Path(statsmodels.__file__).parent / "datasets").rglob("*.csv"))
AGGREGATES = {"scotland_population.csv"}
"""Of these the only one whose rows are regions, one of them the total."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_tables_of_offices_are_counts(name, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(PUBLISHED[name], encoding="utf-8")
    assert holds_counts(path)


@pytest.mark.parametrize("path", MICRODATA, ids=lambda path: path.name)
def test_tables_with_a_row_each_are_no_counts(path):
    assert holds_counts(path) == (path.name in AGGREGATES)


@pytest.mark.parametrize("of", [("sex", "t"), ("group", "All"), ("count", "3"), ("n", "1")])
@pytest.mark.parametrize("with_number", [False, True])
def test_people_whose_columns_have_names_of_counts_are_people(of, with_number, tmp_path):
    """An answer that looks like a total, a number of children called count, with case numbers."""
    name, value = of
    draw = random.Random(name)
    rows = [
        f"{f'p{i},' * with_number}{draw.randint(18, 80)},{draw.choice('fm')},"
        f"{draw.choice([value, '2', '4'])}"
        for i in range(300)
    ]
    path = tmp_path / "people.csv"
    path.write_text("\n".join([f"{'id,' * with_number}age,gender,{name}", *rows]) + "\n")
    assert not holds_counts(path)


def test_a_file_of_no_rows_of_text_is_no_table_of_counts(tmp_path):
    for name, content in (("a.csv", b""), ("b.csv", b"a,b\n"), ("c.xlsx", b"PK"), ("d", b"\0\xff")):
        path = tmp_path / name
        path.write_bytes(content)
        assert not holds_counts(path)


@pytest.mark.parametrize(("rows", "columns"), [("All wards", "All sites"), ("All wards", "Sum"),
                                               ("Alle Bezirke", "Alle Orte")])  # fmt: skip
def test_totals_that_are_named_after_their_dimension_are_those_of_counts(tmp_path, rows, columns):
    text = (
        f"Ward,Oral cancer,Lung cancer,{columns}\nAshby,12,x,48\nBrook,x,17,28\n{rows},24,85,109\n"
    )
    (tmp_path / "counts.csv").write_text(text)
    assert holds_counts(tmp_path / "counts.csv")


def test_answers_that_begin_with_all_are_no_totals(tmp_path):
    rows = "".join(f"{n},{('All day', 'All night', 'never')[n % 3]},{n % 7}\n" for n in range(60))
    (tmp_path / "people.csv").write_text("age,smokes,visits\n" + rows)
    assert not holds_counts(tmp_path / "people.csv")
