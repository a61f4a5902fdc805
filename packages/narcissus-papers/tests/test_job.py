"""A key is a piece or an item; what fails is told and never raised."""

from __future__ import annotations

import json
import math
import pickle
import sys

import numpy as np

from narcissus.errors import InputError
from narcissus_papers import ITEMS, Held, Item, Line, Panel, Printed, Quote, Reproduced
from narcissus_papers.job import MadeText, Maker, as_dict, item_of, key_of, plain, read, write


def of(make, **pieces):
    item = Item("001", "statement", "Claim 1", "says", 1.0, make, pieces=pieces)
    return item, Maker({item.name: item}, None)


def test_a_key_names_a_piece_of_an_item():
    item, maker = of(lambda given: Reproduced(cannot=given.answers["a"]), a=lambda _: np.arange(2))
    key = key_of(item, "a")
    assert item_of(key) == item_of(item.name) == item.name
    assert maker(key) == MadeText("[0, 1]")


def test_an_item_is_made_of_the_answers():
    item, maker = of(lambda given: Reproduced(cannot=str(given.answers)), a=int)
    tried = maker.finished(item, {"a": "[1, 2.5]"})
    assert json.loads(tried.text)["cannot"] == "{'a': [1, 2.5]}"


def test_what_fails_is_told():
    def ours(_given):
        raise InputError("ours")

    said = {
        ours: "ours",
        lambda _given: sys.exit(3): "sys.exit(3) was called",
        lambda _given: 1 / 0: "ZeroDivisionError: division by zero (test_job.py, line ",
        lambda _given: set(): "AttributeError: ",  # that JSON does not know
    }
    for piece, why in said.items():
        item, maker = of(int, a=piece)
        tried = maker(key_of(item, "a"))
        assert tried.text == ""
        assert tried.why.startswith(why)


def test_it_can_be_sent():
    name = "001/figure-2a"
    maker = Maker({name: ITEMS[name]}, None)
    assert pickle.loads(pickle.dumps(maker))(name) == maker(name)


QUOTE = Quote("1.0", "it is 1.0", "section 1")
HELD = Held("it is so", holds=True, shown="proved")


def test_all_of_it_comes_back():
    line = Line("ours", [1.0, 2.0], [0.1, math.inf], "points")
    made = Reproduced(
        panels=(Panel("a", "x", "y", (line,), log_x=True),),
        printed=(Printed("p", QUOTE, 1.25, "why", "chosen", 0.5), Printed("q", None, 2.0)),
        held=(
            Held("it is so", holds=True, shown="proved"),
            Held("it is not", holds=False, shown="proved", because="see", quote=QUOTE),
        ),
        notes=("one", "two"),
        table=(("name", "count"), ("a", 3), ("b", 3.0)),
    )
    found = read(write(made))
    assert found == made
    assert [type(row[1]) for row in found.table[1:]] == [int, float]
    assert read(write(found)) == found


def test_numbers_and_arrays_of_numpy_are_those_of_json():
    told = {"a": np.float64(0.1), "b": np.arange(3), "c": np.bool_(True)}
    assert json.loads(plain(told)) == {"a": 0.1, "b": [0, 1, 2], "c": True}
    line = Line("ours", np.linspace(0, 1, 3), np.zeros(3))
    [panel] = read(write(Reproduced(panels=(Panel("a", "x", "y", [line]),)))).panels
    assert panel.lines[0].x == [0.0, 0.5, 1.0]
    [panel] = read(
        write(Reproduced(panels=(Panel("a", "x", "y", [Line("l", range(2), (3, 4))]),)))
    ).panels
    assert panel.lines[0].x == [0, 1]


def test_a_dictionary_has_the_verdict_and_the_rows():
    printed = (Printed("p", QUOTE, 2.0, "why"), Printed("q", None, 2.0))
    made = Reproduced(printed=printed, held=(HELD,), table=(("a",), (1.5,)))
    found = as_dict(Item("001", "table", "1", "t", 1.0, lambda _given: made), made)
    assert (found["verdict"], found["because"], found["data"]) == ("differs", "why", [["a"], [1.5]])
    first, second = found["printed"]
    assert (first["word"], first["paper"], first["within"]) == ("differs", 1.0, 0.05)
    assert (first["quote"], first["place"]) == ("it is 1.0", "section 1")
    assert (second["word"], second["paper"], second["quote"]) == ("no number in print", None, None)
    assert (found["held"][0]["holds"], found["held"][0]["place"]) == (True, None)
