"""Batches that are kept: what is made, what is taken again, what is told of it."""

import numpy as np
import pytest

from narcissus.errors import StoreError
from narcissus.extraction.kept import in_batches, key_of, tokens_fit
from narcissus.observer import SilentObserver

BATCHES = [("a", 3), ("b", 2), ("c", 5), ("d", 1)]


class Store(dict):
    def get(self, key):
        if self[key] is None:
            raise StoreError("damaged")
        return self[key]

    def put(self, key, payload):
        self[key] = payload


class Told(SilentObserver):
    def __init__(self):
        self.all = []

    def start(self, what, total, done=0):
        self.all.append((what, total, done))

    def advance(self, steps=1):
        self.all.append(steps)


def played(store, told=None, *, stop=99, shown=1):
    made = []

    def make(number):
        if len(made) == stop:
            raise KeyboardInterrupt
        made.append(number)
        return {"x": np.array([number])}

    def fits(number, kept):
        return kept["x"].tolist() == [number]

    every = in_batches(store, BATCHES, make, fits, what="do", observer=told or Told(), shown=shown)
    return [int(one["x"][0]) for one in every], made


@pytest.mark.parametrize("stop", range(5))
def test_only_what_is_missing_is_made(stop):
    store, told = Store(), Told()
    if stop < 4:
        with pytest.raises(KeyboardInterrupt):
            played(store, stop=stop)
    else:
        played(store)
    assert list(store) == ["a", "b", "c", "d"][:stop]
    done = sum(size for _, size in BATCHES[:stop])
    assert played(store, told) == ([0, 1, 2, 3], [0, 1, 2, 3][stop:])
    assert told.all == [("do", 11, done), *(size for _, size in BATCHES[stop:])]


@pytest.mark.parametrize("wrong", [None, {"y": np.zeros(1)}, {"x": np.array([7])}])
def test_what_does_not_fit_is_made_again(wrong):
    store = Store()
    played(store)
    store["c"] = wrong
    assert played(store) == ([0, 1, 2, 3], [2])
    assert played(store) == ([0, 1, 2, 3], [])


def test_without_a_store_all_is_made_and_little_work_is_not_told():
    told = Told()
    assert played(None, told, shown=12) == ([0, 1, 2, 3], [0, 1, 2, 3])
    assert told.all == []


def test_keys_differ_where_anything_differs():
    said = [("a", 1), ("a", 2), ("a", [1]), ("a", "1"), ("a1",), (["a", 1],), ("a", None)]
    assert len({key_of(*one) for one in said}) == len(said)
    assert key_of("a", 1) == key_of("a", 1)


@pytest.mark.parametrize(
    ("tokens", "right"),
    [
        (np.zeros((2, 3), dtype=np.int64), True),
        (np.zeros((2, 0), dtype=np.int64), True),
        (np.full((2, 3), 8), True),
        (np.full((2, 3), 9), False),
        (np.full((2, 3), -1), False),
        (np.zeros((2, 3)), False),
        (np.zeros((2, 0)), False),
        (np.zeros((3, 3), dtype=np.int64), False),
        (np.zeros(2, dtype=np.int64), False),
    ],
)
def test_tokens_that_cannot_be(tokens, right):
    assert tokens_fit(tokens, 2, 9) is right
