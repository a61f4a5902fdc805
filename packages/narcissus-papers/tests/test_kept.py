"""What is kept counts only while it is whole and was made by what would make it now."""

from __future__ import annotations

import json

import pytest

from narcissus_papers import Reproduced
from narcissus_papers.kept import KeptItems
from narcissus_papers.texts import write

NAME = "001/figure-1"
TEXT = write(Reproduced(cannot="no numbers"))


def test_what_was_kept_is_found_by_its_key(tmp_path):
    kept = KeptItems(tmp_path, {NAME: {"package": "a"}})
    assert kept.get(NAME) is None
    for key, text in ((NAME, TEXT), (f"{NAME}:a/b: c", "[1, NaN]"), (f"{NAME}:..", "2")):
        kept.put(key, text)
        assert kept.get(key) == text
    assert kept.get(f"{NAME}:a") is None
    assert len(list((tmp_path / NAME / "kept").iterdir())) == 3


def test_what_others_made_is_not(tmp_path):
    KeptItems(tmp_path, {NAME: {"package": "a"}}).put(NAME, TEXT)
    assert KeptItems(tmp_path, {NAME: {"package": "b"}}).get(NAME) is None
    assert KeptItems(tmp_path, {NAME: {"package": "a"}}).get(NAME) == TEXT


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", '{"made by": {}}', '{"made by": {}, "found": {"cannot": "x"}}'],
)
def test_what_is_damaged_is_not_there(tmp_path, text):
    kept = KeptItems(tmp_path, {NAME: {}})
    kept.put(NAME, TEXT)
    [path] = (tmp_path / NAME / "kept").iterdir()
    assert json.loads(path.read_text())["made by"] == {}
    path.write_text(text)
    assert kept.get(NAME) is None


def test_without_a_folder_nothing_is_kept():
    kept = KeptItems(None, {NAME: {}})
    kept.put(NAME, TEXT)
    assert kept.get(NAME) is None
