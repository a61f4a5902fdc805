"""Losses that `beta*` limits: against linear programs over all channels, and random channels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csgraph

from narcissus import channels as ch
from narcissus.errors import InputError

EXCLUDE = np.eye(3)
"""Name a secret that it is not."""


def competing(rng):
    """Losses of guesses whose savings sum to the largest loss, of each secret another one."""
    guesses, secrets = rng.integers(2, 5), rng.integers(3, 5)
    most = rng.random(secrets) + 0.2
    return most - rng.dirichlet(np.ones(guesses) * 0.3, secrets).T * most * (1 - 1e-12)


def tree(rng):
    n = rng.integers(3, 6)
    edges = np.zeros((n, n))
    for child in range(1, n):
        edges[child, rng.integers(child)] = rng.random() + 0.05
    far = csgraph.shortest_path(edges, directed=False)
    return (far + far.T) / 2


def attributes(_rng):
    """How many of two attributes are wrong, of any pair of values."""
    pairs = [(a, b) for a in range(2) for b in range(2)]
    return np.array([[(a != c) + (b != d) for c, d in pairs] for a, b in pairs], dtype=float)


@pytest.mark.states("Narcissus theory", "6.13")
@pytest.mark.parametrize(
    ("make", "family"), [(competing, "competing guesses"), (tree, "tree"), (attributes, "")]
)
def test_no_channel_and_prior_is_below(make, family):
    rng = np.random.default_rng(3)
    for _ in range(12):
        loss = make(rng)
        assert not family or ch.loss_family(loss) in (family, "competing guesses")
        prior, security = rng.dirichlet(np.full(loss.shape[1], 0.7)), rng.random()
        assert ch.least_l_beta(loss, security, prior).value >= security - 1e-7


@pytest.mark.states("Narcissus theory", "6.13")
def test_every_loss_is_limited_by_the_column_minima_and_one_reaches_them():
    rng = np.random.default_rng(4)
    for _ in range(200):
        n = int(rng.integers(2, 5))
        rows = rng.dirichlet(np.ones(4) * 0.8, n)
        limit = ch.l_beta_bound(rows)
        loss, prior = rng.random((3, n)) ** 3, rng.dirichlet(np.ones(n))
        assert ch.l_beta(rows, loss, prior) >= limit.value - 1e-12
        assert ch.l_beta(rows, np.eye(n)) == pytest.approx(limit.value, rel=1e-9)
        family = ch.loss_family(loss)
        assert ch.l_beta(rows, loss, prior) >= ch.l_beta_bound(rows, loss).value - 1e-12
        assert (family == "two secrets") == (n == 2)


def test_a_loss_that_beta_star_does_not_limit():
    rows = [[0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]]
    assert ch.beta_star(rows).value == 0.5
    assert ch.loss_family(EXCLUDE) == ""
    assert ch.l_beta(rows, EXCLUDE) == 0
    assert ch.l_beta_bound(rows, EXCLUDE).value == 0
    assert ch.l_beta_bound(rows, 1 - EXCLUDE).value == 0.5


def test_the_edge_of_the_family():
    """Savings that sum to a little more than the largest loss are of no family."""
    loss = np.array([[0, 1, 1], [1, 0, 1], [0.99, 1, 0]])
    assert ch.loss_family(loss) == ""
    loss[2, 0] = 1
    assert ch.loss_family(loss) == "competing guesses"
    line = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    assert ch.loss_family(line) == "tree"
    line[0, 2] = line[2, 0] = 1.9
    assert ch.loss_family(line) == ""
    assert ch.loss_family(np.zeros((3, 3))) == "competing guesses"


def test_the_least_of_one_prior_is_reached():
    loss = 1 - np.eye(4)
    for security in (0.0, 0.3, 1.0):
        assert ch.least_l_beta(loss, security).value == pytest.approx(security, abs=1e-7)


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ([[0.0], [1.0]], "at least two secrets"),
        ([[-1.0, 0, 1]], "at least 0"),
        ([0.0, 1, 2], "got shape"),
        ([[0.0, 1]], "a column for each of the 3"),
    ],
)
def test_bad_losses(loss, words):
    with pytest.raises(InputError, match=words):
        ch.l_beta_bound(np.full((3, 2), 0.5), loss)
    with pytest.raises(InputError, match="without the output is 0"):
        ch.least_l_beta(np.zeros((3, 3)), 0.5)
