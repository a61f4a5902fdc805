"""Cells that say one thing and are written otherwise wait for a declaration."""

import re

import pytest

from narcissus.counts import Publication
from narcissus.counts.spelling import split_raw

from .test_forms import judge
from .test_layouts import write

TABLE = (
    "area,F,M,Total\nAlba,{a},{b},1204\nBrin,{c},{d},1350\nCero,590,{e},1410\nTotal,1900,{f},3964\n"
)
WRITING = re.compile("marks? |numbers? |blanks |cells behind|label .* written in several ways")
PLAIN = {"a": "x", "b": "x", "c": "x", "d": "x", "e": "820", "f": "2064"}


def ask(folder, text, **given):
    given = {"across": ["t.csv=sex"]} | given
    read = Publication(**given).understand([write(folder, text)])
    found = [text for text in read.layouts[0].texts if WRITING.match(text)]
    is_asked = any(one.subject.startswith("the wording") for one in read.unaccounted)
    return found if is_asked else []


def test_cells_that_are_written_alike_are_understood(tmp_path):
    text = TABLE.format(**PLAIN)
    assert ask(tmp_path, text) == []
    assert ask(tmp_path, text.replace(",", ", ")) == []
    assert ask(tmp_path, text.replace("x", '"x"')) == []
    assert ask(tmp_path, text.replace("x", "x ")) == []
    assert ask(tmp_path, text.replace(",", ";").replace("\n", " \n")) == []
    wide = [[cell.rjust(9) for cell in line.split(",")] for line in text.splitlines()]
    assert ask(tmp_path, "\n".join(map(",".join, wide)) + "\n") == []


@pytest.mark.parametrize(
    "change",
    [
        {"a": "X"},
        {"a": "x "},
        {"a": " x"},
        {"a": "x\u00a0"},
        {"a": "x\u2003"},
        {"a": '"x"'},
        {"a": "..", "b": ".."},
        {"a": "", "b": ""},
        {"a": "(x)"},
        {"a": "[x]"},
        {"a": '"x "'},
        {"e": "820.0"},
        {"e": "0820"},
        {"e": "820 "},
        {"e": "820\u00a0"},
        {"e": '"820"'},
        {"e": "\uff18\uff12\uff10"},
        {"e": "820 b"},
        {"e": "820*"},
        {"e": "820 (a)"},
        {"f": "2 064"},
        {"f": "2'064"},
        {"e": "820[1]"},
        {"e": "820\u00b9"},
    ],
)
def test_a_cell_that_is_written_otherwise_waits(tmp_path, change):
    text = TABLE.format(**PLAIN | change)
    assert ask(tmp_path, text)
    assert not ask(tmp_path, text, texts_tell_nothing=True)


@pytest.mark.parametrize("one", ["<5", "1-4"])
@pytest.mark.parametrize("other", ["< 5", "under 5", "1 - 4", "1\u20134", "<=4"])
def test_ranges_of_one_meaning_are_written_alike(tmp_path, one, other):
    ends = {text: "1" in text for text in (one, other)}
    if len(set(ends.values())) == 2:
        return  # from 0, and from 1
    text = TABLE.format(**PLAIN | dict.fromkeys("abcd", one) | {"a": other})
    assert ask(tmp_path, text)


def test_marks_that_are_declared_are_known(tmp_path):
    text = TABLE.format(**PLAIN | {"a": "c"})
    assert ask(tmp_path, text, below=10)
    assert not ask(tmp_path, text, below=2000, mark=["c=any"])


def test_numbers_of_one_style_are_known(tmp_path):
    text = TABLE.format(**PLAIN).replace("1900,2064,3964", "11900,12064,23964")
    for mark in (" ", "\u00a0", "'", "."):
        grouped = text
        for number in ("1204", "1350", "1410", "11900", "12064", "23964"):
            grouped = grouped.replace(number, number[:-3] + mark + number[-3:])
        assert ask(tmp_path, grouped) == []
        assert ask(tmp_path, grouped.replace("1" + mark + "204", "1204"))
        loose = grouped
        for number in ("1204", "1350", "1410"):
            loose = loose.replace("1" + mark + number[1:], number)
        assert ask(tmp_path, loose) == []  # of five digits alone


LONG = "area,sex,count\nAlba,F,x\nAlba,M,x\nAlba,Total,30\nBrin,F,x\nBrin,M,18\nBrin,Total,34\n"


@pytest.mark.parametrize(
    "change",
    [
        ("Alba,M", "Alba ,M"),
        ("Brin,M", "Brin\u00a0,M"),
        ("Brin,M", '"Brin",M'),
        ("Alba,Total", "Alba,total"),
        ("Alba,Total", "Alba,All"),
        ("Brin,M", "Brin*,M"),
        ("Alba,M,x", "Alba,M,x,"),
    ],
)
def test_a_label_that_is_written_otherwise_waits(tmp_path, change):
    assert ask(tmp_path, LONG, across=[], flat=["area"]) == []
    assert ask(tmp_path, LONG.replace(*change), across=[], flat=["area"])


def test_labels_of_one_table_that_differ_in_form_alone_are_asked(tmp_path):
    """Two names of one area would leave out its sum."""
    path = write(tmp_path, LONG.replace("Brin,M", "BRIN,M"))
    verdict, left = judge(path, 1, flat=["area"])
    assert verdict == "undeclared"
    assert "--same BRIN=Brin" in left[0].declaration
    assert judge(path, 1, flat=["area"], same=["Brin=BRIN"])[0] == "exceeded"
    assert judge(path, 1, flat=["area"], apart=["area"])[0] == "met"


def test_raw_cells_keep_blanks_and_quotes():
    assert split_raw('a, "b,""c" ,d"e,', ",") == ["a", ' "b,""c" ', 'd"e', ""]
