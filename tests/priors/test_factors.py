"""Factors of many unknown columns, against the joint probabilities where these can be listed."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.priors import BayesianNetwork, IndependentColumns
from narcissus.priors.factors import Factored

SIZES = (2, 3, 2, 4)


def network() -> BayesianNetwork:
    """Give a network of four columns, drawn at random."""
    rng = np.random.default_rng(0)
    parents = ((), (0,), (0, 1), (2, 1))
    tables = [
        rng.dirichlet(np.ones(size), size=tuple(SIZES[p] for p in own))
        for own, size in zip(parents, SIZES, strict=True)
    ]
    return BayesianNetwork(tuple("abcd"), parents, tuple(np.asarray(t) for t in tables))


def independent() -> IndependentColumns:
    """Give independent columns of the same sizes."""
    rng = np.random.default_rng(1)
    return IndependentColumns(tuple("abcd"), tuple(rng.dirichlet(np.ones(s)) for s in SIZES))


@pytest.mark.parametrize("prior", [network(), independent()])
@pytest.mark.parametrize("unknown", [(3,), (3, 0), (1, 2, 3), (0, 1, 2, 3)])
def test_factors_are_proportional_to_the_conditional(prior, unknown) -> None:
    assert isinstance(prior, Factored)
    codes = prior.sample(7, rng=3)
    factors = prior.factors(codes, unknown)
    joint = prior.conditional(codes, unknown)
    assert factors.shape == tuple(SIZES[u] for u in unknown)
    assert all(scope == tuple(sorted(set(scope))) for scope in factors.scopes)
    found = np.empty(joint.shape)
    for value in range(joint.shape[1]):
        split = np.tile(np.unravel_index(value, factors.shape), (7, 1))
        found[:, value] = np.exp(factors.log_weights(split))
    np.testing.assert_allclose(found / found.sum(axis=1, keepdims=True), joint, rtol=1e-12)


def test_factors_of_columns_that_are_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="unknown"):
        network().factors(np.zeros((1, 4), dtype=int), [4])
    with pytest.raises(InputError, match="unknown"):
        independent().factors(np.zeros((1, 4), dtype=int), [1, 1])


def test_people_with_the_same_known_columns_share_a_row() -> None:
    factors = network().factors(np.array([[0, 1, 0, 2], [0, 1, 1, 3], [1, 1, 0, 0]]), [2, 3])
    assert factors.rows.tolist() == [0, 0, 1]
    assert factors.people == 3
    assert [len(table) for table in factors.tables] == [2] * len(factors.tables)
