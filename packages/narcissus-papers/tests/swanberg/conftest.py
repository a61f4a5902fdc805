"""Answers of pieces that were not played: numbers as a test wants them."""

from __future__ import annotations

import pytest

NAMES = ("guess", "rap", "short", "posterior", "ceiling", "likeliest")


@pytest.fixture
def answer():
    """Give the function that makes the answer of one piece: all shares .5, limits .4 and .6."""

    def make(published=0.9, ours=0.8, mean=0.7, **shares):
        every = {name: shares.get(name, 0.5) for name in NAMES}
        limited = {n: {"share": s, "low": s - 0.1, "high": s + 0.1} for n, s in every.items()}
        bounds = {key: dict.fromkeys(("0.05", "0.5", "0.95"), value)
                  for key, value in (("published", published), ("ours", ours))}  # fmt: skip
        return {**limited, "mean": mean, **bounds}

    return make


@pytest.fixture
def held():
    """Give the function that finds the one claim of an item whose text has some words."""

    def find(made, words):
        [one] = [one for one in made.held if words in one.what]
        return one.holds

    return find
