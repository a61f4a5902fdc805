"""The Tardos prior: how often rows are shared, rows that are kept, and surprisal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from narcissus.knowledge import KnownRows
from narcissus.worlds import (
    Tardos,
)


@pytest.mark.states("Kaplan et al. 2025", "Definition 3.3")
def test_tardos_shares_rows_as_often_as_it_should(within):
    world = Tardos(40, 200, 10)  # 200 bits: equal rows are the same people
    rng = np.random.default_rng(6)
    draw = world.draw(3000, rng)
    fresh = world.fresh(draw, rng)
    shared = (draw.data[:, :, None] == fresh[:, None]).all(axis=3).sum(axis=(1, 2))
    law = stats.hypergeom(40, 10, 10)
    for count in range(7):
        assert within(int((shared == count).sum()), 3000, float(law.pmf(count)))
    # Column counts of a data set are uniform on 0 .. n, under Laplace's rule.
    ones = draw.data[:, :, 0].sum(axis=1)
    for count in range(11):
        assert within(int((ones == count).sum()), 3000, 1 / 11)
    # Columns of the fresh rows that are not shared follow the same hidden rates.
    left = np.corrcoef(draw.data.mean(axis=1)[:, 0], fresh.mean(axis=1)[:, 0])[0, 1]
    assert left > 0.7


@pytest.mark.states("Kaplan et al. 2025", "Observation 4.2")
def test_tardos_given_rows_keeps_them_and_mixes_the_last(within):
    world = Tardos(20, 100, 5)
    rng = np.random.default_rng(7)
    draw = world.draw(4000, rng)
    side = KnownRows(4)
    known = side.reveal(world, draw, rng)
    fresh = side.fresh(world, draw, known, rng)
    assert (fresh[:, :4] == draw.data[:, :4]).all()
    same = (fresh[:, 4] == draw.data[:, 4]).all(axis=1)
    assert within(int(same.sum()), 4000, 1 / (20 - 5 + 1))  # Observation 4.2, corrected


def test_tardos_surprisal_is_the_rule_of_succession():
    world = Tardos(10, 3, 4)
    draw = world.draw(50, np.random.default_rng(10))
    bits = world.surprisal(draw, np.full(50, 1))
    for trial in range(50):
        others = np.delete(draw.data[trial], 1, axis=0).sum(axis=0)
        one = (others + 1) / 5
        chance = np.where(draw.data[trial, 1] == 1, one, 1 - one)
        assert bits[trial] == pytest.approx(-np.log2(chance).sum())
