"""No answers made of the outputs cost less than the best ones, by trying all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError


@pytest.mark.states("Narcissus theory", "6.6")
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_best_of_all_answers(seed):
    rng = np.random.default_rng(seed)
    rows, loss, prior = rng.dirichlet(np.ones(4), 3), rng.random((3, 3)), rng.dirichlet(np.ones(3))
    found = ch.remap(rows, loss, prior, answers=["n", "m", "s"])

    def cost(made):
        return float((prior[:, None] * made * loss).sum())

    best = min(cost(rows @ np.eye(3)[list(c)]) for c in itertools.product(range(3), repeat=4))
    assert found.loss == pytest.approx(best, rel=1e-13)
    columns = [["n", "m", "s"].index(o) for o in found.channel.outputs]
    full = np.zeros((3, 3))
    full[:, columns] = found.channel.dense
    assert cost(full) == pytest.approx(best, rel=1e-13)
    assert ch.refines(rows, found.channel).holds
    assert rows @ found.by.dense == pytest.approx(found.channel.dense, abs=1e-15)


def test_noise_is_undone_where_the_prior_says_so():
    made = ch.Geometric(5, 0.7)
    far = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    prior = [0.9, 0.025, 0.025, 0.025, 0.025]
    plain = float(np.asarray(prior) @ (made.channel().dense * far).sum(axis=1))
    found = ch.remap(made.channel(), far, prior)
    assert found.loss < 0.6 * plain
    with pytest.raises(InputError, match="column per secret"):
        ch.remap(made.channel(), np.ones((3, 2)))
