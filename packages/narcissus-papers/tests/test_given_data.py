"""A file of the user's is the one that is needed, or it is said which and where it is from."""

from __future__ import annotations

import hashlib

import pytest

from narcissus.errors import InputError
from narcissus.observer import SilentObserver
from narcissus_papers import Item, Needed, Reproduced
from narcissus_papers.given_data import digests

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
