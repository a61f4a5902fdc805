"""The study file: one value is changed, and all else stays as it was written."""

import tomllib
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.app.text import changed, digest, get, written
from narcissus.errors import InputError
from narcissus.kinds.table.propose import draft, propose
from narcissus.study.shipped import FOLDER, shipped_studies
from narcissus.tables.parts import sketch_table

TABLES = [one for one in shipped_studies() if one.kind in ("table", "synthetic")]
VALUES = {
    ("threat", "unknown"): ["income", "work"], ("threat", "share_of_columns"): True,
    ("data", "bins", "age"): {"quantiles": 4}, ("data", "bins", "a b.c"): {"width": 2.5},
    ("data", "missing"): "drop", ("data", "drop"): ["a", ""], ("groups", "columns"): None,
    ("data", "read_as", "work"): "text", ("threshold", "advantage"): 0.07,
    ("threshold", "reason"): 'two\nlines, "quoted" \\ \u00e4', ("release", "path"): "r.csv",
    ("mechanism", "epsilon"): [float("inf"), 1], ("mechanism", "delta"): None,
    ("run", "seed"): 7,
}  # fmt: skip


@cache
def drafted():
    return draft(propose(sketch_table(FOLDER / "invented_people.csv")), "invented_people.csv")


def after(text, values):
    """Say what the file must then hold."""
    data = tomllib.loads(text)
    for keys, value in values.items():
        place = data
        for key in keys[:-1]:
            place = place.get(key, {}) if value is None else place.setdefault(key, {})
        if value is None:
            place.pop(keys[-1], None)
        else:
            place[keys[-1]] = value
    return data


@pytest.mark.parametrize("text", [drafted(), *(one.path.read_text() for one in TABLES)])
def test_each_value_changes_alone_and_all_together(text):
    for keys, value in VALUES.items():
        found = changed(text, {keys: value})
        assert get(tomllib.loads(found), *keys) == value
        assert changed(found, {keys: value}) == found
    assert tomllib.loads(changed(text, VALUES)) == after(text, VALUES)
    assert changed(text, {}) == text


@given(st.dictionaries(
    st.sampled_from(sorted(VALUES)),
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9)
    | st.lists(st.text(max_size=5), max_size=3) | st.floats(allow_nan=False),
    max_size=5,
))  # fmt: skip
def test_any_values_are_written_as_they_are_or_refused(values):
    text = drafted()
    try:
        found = changed(text, values)
    except InputError:
        return
    assert tomllib.loads(found) == after(text, values)


def test_a_comment_that_explains_another_value_goes_and_others_stay():
    text = drafted()
    found = changed(text, {("threat", "unknown"): ["work"], ("threshold", "share"): 0.5})
    for gone in ("What the attacker is after", "All other columns", "cells in", "[threshold]\n#"):
        assert gone in text or gone.startswith("[")
        assert gone not in found
    assert "# How the attacker knows the columns to go together" in found
    assert "# Levels to compare" not in found or "epsilon" in found
    assert "What do you accept?" not in found
    assert "\n[threshold]\nshare = 0.5" in found
    assert "# What was understood:" in found
    assert "\n\n\n" not in found
    same = changed(text, {("data", "bins", "age"): {"width": 5}})
    assert "about ten bins" not in same.split("[data]")[1]
    assert "What the attacker is after" in same


def test_what_looks_like_a_comment_in_a_text_stays():
    text = 'title = """\n[threat]\n# no comment\n[mechanism]\n"""\n\n[threat]\n'
    text += '# one\nunknown = ["a"]\n'
    found = tomllib.loads(changed(text, {("threat", "unknown"): ["b"]}))
    assert found == {"title": tomllib.loads(text)["title"], "threat": {"unknown": ["b"]}}


@pytest.mark.parametrize("text", [
    "data = 5\n", "[data]\nbins = 3\n", "data = []\n", "[[data]]\na = 1\n",
    "[data.bins]\nage = 4\n",
])  # fmt: skip
def test_a_file_in_another_form_is_refused_or_right(text):
    values = {("data", "bins", "age"): {"width": 5.0}, ("data", "missing"): "drop"}
    try:
        found = changed(text, values)
    except InputError:
        return
    assert tomllib.loads(found) == after(text, values)


def test_a_new_file_leaves_out_what_is_not_given():
    text = written(
        {"kind": "synthetic", "data": {"real": "a", "control": None, "bins": {"x": {"width": 1}}},
         "groups": {"columns": None}}, ["One\nline.", "# Two."],
    )  # fmt: skip
    assert text.startswith("# One line.\n# # Two.\n")
    assert tomllib.loads(text) == {
        "kind": "synthetic", "data": {"real": "a", "bins": {"x": {"width": 1}}}
    }  # fmt: skip
    assert digest(text) != digest(text + " ")
    assert digest("\ud800")
