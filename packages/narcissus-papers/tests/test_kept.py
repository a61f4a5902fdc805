"""What is kept counts only while it is whole and was made by what would make it now."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import partial

import pytest

from narcissus.errors import InputError
from narcissus.observer import SilentObserver
from narcissus_papers import ITEMS, Given, Item, Needed, Reproduced
from narcissus_papers import kept as module
from narcissus_papers.job import write
from narcissus_papers.kept import KeptItems, digests, origin, package_source

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
    monkeypatch.setattr(module, "__file__", str(tmp_path / "papers" / "kept.py"))
    monkeypatch.setattr(module, "ROOT", tmp_path / "narcissus")

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


SHA = hashlib.sha256(b"people").hexdigest()
ONE = Needed("one.csv", SHA.upper(), "https://one.example")
ANY = Needed("any.csv", "", "a census")


@pytest.fixture
def hears():
    """Give an observer that keeps its notes."""
    made = SilentObserver()
    made.notes = []
    made.note = made.notes.append
    return made


def item(*needs):
    return Item("001", "figure", "4", "f", 1.0, lambda _given: Reproduced(), needs=needs)


def test_each_file_by_its_digest(tmp_path, hears):
    (tmp_path / "one.csv").write_text("people")
    (tmp_path / "any.csv").write_text("others")
    found = digests([item(ONE), item(ONE, ANY)], tmp_path, hears)
    assert found == {"one.csv": SHA, "any.csv": hashlib.sha256(b"others").hexdigest()}
    assert hears.notes == []


def test_one_that_is_missing_is_named_with_its_source(tmp_path, hears):
    (tmp_path / "one.csv").write_text("people")
    assert digests([item(ONE, ANY)], tmp_path, hears) == {"one.csv": SHA, "any.csv": None}
    assert hears.notes == [f"not in {tmp_path}: any.csv (for 001/figure-4; from a census)"]


def test_another_file_is_refused(tmp_path, hears):
    (tmp_path / "one.csv").write_text("other people")
    says = (
        r"one\.csv is not the file that 001/figure-4 needs: its SHA-256 is [0-9a-f]{64}, and "
        r"should be .*from https://one\.example"
    )
    with pytest.raises(InputError, match=says):
        digests([item(ONE)], tmp_path, hears)


def test_one_without_a_checksum_is_read_to_see_that_it_is_the_one(tmp_path, hears):
    def check(path):
        if path.read_text() != "census":
            raise InputError(f"{path} is another")

    one = Needed("any.csv", "", "a census", check)
    (tmp_path / "any.csv").write_text("census")
    assert digests([item(one)], tmp_path, hears)["any.csv"]
    (tmp_path / "any.csv").write_text("invented")
    with pytest.raises(InputError, match=r"any\.csv is another"):
        digests([item(one)], tmp_path, hears)


def test_a_folder_without_any_of_them_is_a_mistake(tmp_path, hears):
    with pytest.raises(InputError, match=r"has none of the files .*one.csv \(for 001/figure-4; fr"):
        digests([item(ONE)], tmp_path, hears)
    with pytest.raises(InputError, match="must be a folder"):
        digests([item(ONE)], tmp_path / "no", hears)
    (tmp_path / "one.csv").mkdir()
    with pytest.raises(InputError, match="it is a folder"):
        digests([item(ONE)], tmp_path, hears)
    assert digests([item()], tmp_path, hears) == {}


def test_without_a_folder_all_is_missing_and_nothing_is_said(hears):
    assert digests([item(ONE)], None, hears) == {"one.csv": None}
    assert hears.notes == []
