"""Other code, versions or data are another origin; what only shows numbers is not."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

import narcissus
from narcissus_papers import ITEMS, Given, Item, Needed, Reproduced
from narcissus_papers import origin as module
from narcissus_papers.origin import origin, package_source

FIGURE = ITEMS["001/figure-2a"]


def make(number: int, _given: Given) -> Reproduced:
    return Reproduced(cannot=str(number))


def test_an_origin_is_the_same_each_time_and_json_can_hold_it():
    assert json.loads(json.dumps(origin(FIGURE, {}))) == origin(FIGURE, {})
    assert origin(FIGURE, {})["versions"]["numpy"]


def test_what_a_function_is_given_counts():
    item = Item("001", "figure", "1", "f", 1.0, partial(make, 1))
    other = replace(item, make=partial(make, 2))
    assert origin(item, {})["item"] != origin(other, {})["item"]
    pieces = replace(item, pieces={"a": partial(make, 1)})
    assert len({origin(one, {})["item"] for one in (item, pieces, other)}) == 3
    assert origin(item, {}) == origin(replace(item, title="another", seconds=2.0), {})


def test_the_data_count():
    item = replace(FIGURE, needs=(Needed("a.csv", "", "here"),))
    assert origin(item, {"a.csv": "12"})["data"] == {"a.csv": "12"}
    assert origin(item, {})["data"] == {"a.csv": None}


@pytest.fixture
def house(tmp_path, monkeypatch):
    """Give a small package in the place of ours."""
    files = {
        "narcissus/bounds/one.py": "1",
        "narcissus/cli/shows.py": "1",
        "papers/base.py": "1",
        "papers/paper/__init__.py": "from narcissus_papers.paper.figure import ITEM",
        "papers/paper/figure.py": "from narcissus_papers.paper import model, NAME",
        "papers/paper/model.py": "def f():\n    import narcissus_papers.base",
        "papers/paper/other.py": "1",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(module, "__file__", str(tmp_path / "papers" / "origin.py"))
    monkeypatch.setattr(narcissus, "__file__", str(tmp_path / "narcissus" / "__init__.py"))

    def figure(_given: Given) -> Reproduced:
        return Reproduced()

    figure.__module__ = "narcissus_papers.paper.figure"
    item = Item("001", "figure", "1", "f", 1.0, figure)

    def changed(name):
        """Change a file, and say which part of the origin is another."""
        package_source.cache_clear()
        before = origin(item, {})
        (tmp_path / name).write_text(files[name] + " # changed")
        package_source.cache_clear()
        return {key for key, value in origin(item, {}).items() if value != before[key]}

    yield changed
    package_source.cache_clear()


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("narcissus/bounds/one.py", {"package"}),
        ("narcissus/cli/shows.py", set()),
        ("papers/paper/figure.py", {"item"}),
        ("papers/paper/model.py", {"item"}),
        ("papers/base.py", {"item"}),
        ("papers/paper/__init__.py", set()),
        ("papers/paper/other.py", set()),
    ],
)
def test_the_source_that_makes_numbers_counts(house, name, part):
    assert house(name) == part
