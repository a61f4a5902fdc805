"""A folder for each item and one page for all, the same each time."""

from __future__ import annotations

import csv
import json

import pytest

from narcissus.errors import InputError
from narcissus.observer import Observer
from narcissus.reproduce import ITEMS, Given, Held, Item, Reproduced, reproduce


class Heard(Observer):
    """Counts what it hears."""

    def __init__(self) -> None:
        self.steps = 0

    def start(self, what: str, total: int, done: int = 0) -> None:
        self.total = total

    def advance(self, steps: int = 1) -> None:
        self.steps += steps


def test_a_folder_holds_data_picture_and_verdict(tmp_path):
    items = [ITEMS["001/figure-2b"]]
    heard = Heard()
    [(_, made)] = reproduce(items, tmp_path, observer=heard)
    assert heard.steps == heard.total == 1
    folder = tmp_path / "001" / "figure-2b"
    with (folder / "data.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["panel", "line", "x", "y"]
    assert len(rows) == len(made.rows)
    said = json.loads((folder / "data.json").read_text())
    assert said["verdict"] == made.verdict
    assert said["printed"][0]["paper"] == 17.8
    assert (folder / "picture.svg").read_text().startswith("<?xml")
    page = (tmp_path / "index.html").read_text()
    assert "What epsilon protects" in page
    assert "<svg" in page
    assert "https:" not in page
    assert "src=" not in page
    before = (folder / "picture.svg").read_bytes()
    reproduce(items, tmp_path)
    assert (folder / "picture.svg").read_bytes() == before


def test_nothing_is_written_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(reproduce([ITEMS["001/figure-1"]])) == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "001").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        reproduce([ITEMS["001/figure-1"]], tmp_path)


def test_pieces_are_done_before_and_hear_of_the_data(tmp_path):
    def piece(given: Given) -> list[str]:
        return [str(given.data)]

    def make(given: Given) -> Reproduced:
        return Reproduced(cannot=f"{given.answers['a']} {given.data == tmp_path}")

    item = Item("001", "statement", "Claim 1", "says", 1.0, make, pieces={"a": piece})
    [(_, made)] = reproduce([item], data=tmp_path)
    assert made.cannot == f"{[str(tmp_path)]} True"


def test_claims_stand_in_the_files_and_on_the_page(tmp_path):
    held = (Held("it is so", holds=False, shown="checked", because="it is not"),)
    item = Item("004", "statement", "Lemma 1", "says", 1.0, lambda _given: Reproduced(held=held))
    reproduce([item], tmp_path)
    said = json.loads((tmp_path / "004" / "statement-lemma-1" / "data.json").read_text())
    assert (said["verdict"], said["shown"]) == ("differs", "checked")
    assert said["held"][0]["because"] == "it is not"
    assert "no: it is not" in (tmp_path / "index.html").read_text()
