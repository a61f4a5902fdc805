"""A key is a piece or an item; what fails is told and never raised."""

from __future__ import annotations

import json
import pickle
import sys

import numpy as np

from narcissus.errors import InputError
from narcissus_papers import ITEMS, Item, Reproduced
from narcissus_papers.job import MadeText, Maker, item_of, key_of


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
