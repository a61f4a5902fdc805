"""What an error or a question suggests is true of the file, and works."""

import re

import pytest

from narcissus.counts import Publication, audit_tables
from narcissus.errors import InputError

from .test_layouts import limits, write

ROWS = ("North,12,23,35{}", "South,x,20,22{}", "East,9,31,40{}", "Total,23,74,97{}")


def table(header, *behind):
    return "\n".join([header, *(row.format(end) for row, end in zip(ROWS, behind, strict=True))])


# Columns of remarks, and of another time


@pytest.mark.parametrize("name", ["Note", "Flag", "Status", "Remark", "Quality"])
@pytest.mark.parametrize("ends", [(",p", ",", ",r", ","), (",p", ",p", ",r", ",r")])
def test_a_column_of_remarks_behind_counts_is_none_of_them(tmp_path, name, ends):
    path = write(tmp_path, table(f"area,F,M,Total,{name}", *ends))
    found, tables = limits(path, below=5, no_zeros=True)
    assert found == [(2, 2)]
    assert {cell.column for cell in tables.cells} == {"F", "M", "Total"}
    assert not any("--mark" in question.declaration for question in tables.unaccounted)


@pytest.mark.parametrize("name", ["Total 2011", "Total men", "All ages"])
def test_a_second_column_of_totals_is_left_out_by_the_option_that_is_named(tmp_path, name):
    path = write(tmp_path, table(f"area,F,M,Total,{name}", ",30", ",25", ",41", ",96"))
    with pytest.raises(InputError, match=f'--irrelevant "{name}"'):
        limits(path, below=5)
    assert limits(path, below=5, irrelevant=[name])[0] == [(2, 2)]


@pytest.mark.parametrize("header", ["area,F,M,Total", "area,yes,no,Total", "area,A,B,count"])
def test_a_header_that_is_printed_again_is_named(tmp_path, header):
    lines = table(header, "", "", "", "").split("\n")
    text = "\n".join([*lines[:3], header, *lines[3:]])
    with pytest.raises(InputError, match="line 4 has the names of columns again") as caught:
        limits(write(tmp_path, text), below=5)
    assert "--mark" not in str(caught.value)


# Exact totals beside rounded counts


def test_exact_totals_of_another_file_are_read_in_the_rounded_table(tmp_path):
    rows = "area,sex,count\nNorth,F,5\nNorth,M,10\nSouth,F,20\nSouth,M,25\n"
    write(tmp_path, rows, "a.csv")
    write(tmp_path, "area,count\nNorth,18\nSouth,42\n", "b.csv")
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    with pytest.raises(InputError, match="copied into the rounded table, as a row of its totals"):
        Publication(rounded="5").understand(files)
    text = f"{rows}North,Total,18\nSouth,Total,42\n"
    found, _ = limits(write(tmp_path, text), rounded="5", no_marks=True)
    assert found[:2] == [(6, 7), (11, 12)]


# Classes without an end


@pytest.mark.parametrize(
    ("printed", "least"),
    [("100+", 100), (">=16", 16), (">= 16", 16), ("\u226516", 16), (">15", 16), ("100 +", 100)],
)
def test_a_class_without_an_end_is_at_least_its_begin(tmp_path, printed, least):
    text = f"area,sex,count\nNorth,F,<5\nNorth,M,12\nSouth,F,{printed}\nSouth,M,23\n"
    tables = Publication(texts_tell_nothing=True).understand([write(tmp_path, text)])
    assert [(c.count.low, c.count.high) for c in tables.cells][2] == (least, None)


def test_a_total_without_an_end_narrows_its_parts(tmp_path):
    text = "area,sex,count\nNorth,F,<5\nNorth,M,12\nNorth,Total,>=16\nSouth,F,100+\nSouth,M,23\n"
    found, _ = limits(write(tmp_path, f"{text}South,Total,140\n"), below=5)
    assert (4, 4) in found
    assert (117, 117) in found


def test_labels_of_ages_without_an_end_are_labels(tmp_path):
    text = "area,age,count\nN,0-17,12\nN,18-64,x\nN,65+,9\nN,Total,24\n"
    _, tables = limits(write(tmp_path, text), below=5)
    assert {label for cell in tables.cells for label in cell.labels.values()} >= {"65+"}


# Tables of other people


def test_tables_that_contradict_each_other_may_be_of_other_people(tmp_path):
    write(tmp_path, "area,count\nN,30\nS,25\nTotal,55\n", "a.csv")
    write(tmp_path, "sex,count\nF,40\nM,41\nTotal,81\n", "b.csv")
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    tables = Publication(texts_tell_nothing=True).understand(files)
    with pytest.raises(InputError) as caught:
        audit_tables(tables.cells, tables.structure)
    assert re.search("they are about other people: then audit .* alone", str(caught.value))
