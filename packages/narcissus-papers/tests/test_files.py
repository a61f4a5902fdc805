"""The files of an item, the same each time."""

from __future__ import annotations

import csv
import json

import pytest

from narcissus.errors import InputError
from narcissus_papers import ITEMS, Given
from narcissus_papers.page import remove_item, write_item, write_page

ITEM = ITEMS["001/figure-2b"]


@pytest.fixture(scope="module")
def made():
    return ITEM.make(Given())


def test_data_and_picture_are_written_the_same_each_time(tmp_path, made):
    write_item(tmp_path, ITEM, made, anew=True)
    with (tmp_path / "data.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["panel", "line", "x", "y"]
    assert len(rows) == len(made.rows)
    said = json.loads((tmp_path / "data.json").read_text())
    assert said["printed"][0]["paper"] == 17.8
    starts = {"picture.svg": b"<?xml", "picture.pdf": b"%PDF"}
    before = {name: (tmp_path / name).read_bytes() for name in starts}
    assert all(before[name].startswith(start) for name, start in starts.items())
    assert b"/FontFile2" in before["picture.pdf"]  # TrueType: text can be edited and searched
    write_item(tmp_path, ITEM, made, anew=True)
    assert {name: (tmp_path / name).read_bytes() for name in starts} == before


def test_only_what_is_missing_or_all(tmp_path, made):
    for name in ("data.csv", "data.json", "picture.svg", "picture.pdf"):
        (tmp_path / name).write_text("old")
    (tmp_path / "data.csv").unlink()
    write_item(tmp_path, ITEM, made, anew=False)
    assert (tmp_path / "data.json").read_text() == "old"
    assert (tmp_path / "data.csv").read_text().startswith("panel,")
    write_item(tmp_path, ITEM, made, anew=True)
    assert (tmp_path / "data.json").read_text() != "old"
    remove_item(tmp_path)
    remove_item(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_named(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(InputError, match=r"cannot write .*/a\b"):
        write_page(tmp_path / "a" / "b", [])
