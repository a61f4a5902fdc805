"""The guess from the prior alone: the likeliest value, whatever was released."""

import numpy as np

from narcissus.attacks.table import PriorGuess, View
from narcissus.mechanisms import GaussianNoise
from narcissus.success import ColumnsRight


def view_of(worlds, release, success=None):
    rng = np.random.default_rng(1)
    targets, _ = worlds.world(
        rng, people=40, sizes=(2, 3), unknown=(1,), k=2, success=success, concentration=0.7
    )
    cells = worlds.release(targets, GaussianNoise(1.0), np.full(40, release), rng).cells
    return View(targets, GaussianNoise(1.0), cells)


def test_it_names_the_likeliest_value_whatever_is_released(worlds):
    first, second = view_of(worlds, 0), view_of(worlds, 2)
    assert (first.release != second.release).any()
    named = PriorGuess().guess(first, rng=np.random.default_rng(0))
    assert (named == [max(range(3), key=lambda v: row[v]) for row in first.targets.prior]).all()
    assert (named == PriorGuess().guess(second, rng=np.random.default_rng(9))).all()
    assert len(set(named)) == 3


def test_it_names_what_counts_most_often_where_near_misses_count(worlds):
    """Of {0, 1, 2}, one place off: the guess 1 covers all three."""
    view = view_of(worlds, 0, ColumnsRight((3,), (1,)))
    assert (PriorGuess().guess(view, rng=np.random.default_rng(0)) == 1).all()
