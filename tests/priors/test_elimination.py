"""Elimination against the joint distribution where it can be listed, and beyond where it cannot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.priors import elimination
from narcissus.priors.elimination import (
    chains,
    log_partition,
    log_probability,
    marginals,
    most_likely,
    row_count,
    sample,
)
from narcissus.priors.factors import Factors

seeds = st.integers(0, 10**6)


@given(seeds)
def test_every_answer_is_that_of_the_listed_joint(draw_factors, all_values, seed):
    factors = draw_factors(seed)
    values, chances = all_values(factors)
    for v, value in enumerate(values):
        everybody = np.tile(value, (factors.people, 1))
        with np.errstate(divide="ignore"):
            truth = np.log(chances[:, v])
        np.testing.assert_allclose(log_probability(factors, everybody), truth, atol=1e-11)
    for c, found in enumerate(marginals(factors)):
        truth = [chances[:, values[:, c] == v].sum(axis=1) for v in range(factors.shape[c])]
        np.testing.assert_allclose(found[factors.rows].T, truth, rtol=1e-11)
    best = most_likely(factors)[factors.rows]
    reached = np.exp(log_probability(factors, best))
    np.testing.assert_allclose(reached, chances.max(axis=1), rtol=1e-11)


@given(seeds)
@settings(max_examples=20)
def test_a_few_rows_at_a_time_are_the_same(draw_factors, seed):
    factors = draw_factors(seed)
    whole = (log_partition(factors), *marginals(factors), most_likely(factors))
    draws = sample(factors, 3, rng=seed)
    before = elimination._BLOCK
    elimination._BLOCK = 1
    try:
        assert len(list(chains(factors, "sum"))) == row_count(factors)
        parts = (log_partition(factors), *marginals(factors), most_likely(factors))
        assert (sample(factors, 3, rng=seed) == draws).all()
    finally:
        elimination._BLOCK = before
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("seed", [3, 14, 15])
def test_draws_follow_the_joint_distribution(draw_factors, all_values, within, seed):
    factors = draw_factors(seed, most=4)
    values, chances = all_values(factors)
    draws = sample(factors, 4000, rng=seed)
    assert draws.shape == (factors.people, 4000, len(factors.shape))
    number = np.ravel_multi_index(tuple(np.moveaxis(draws, -1, 0)), factors.shape)
    for person in range(factors.people):
        counts = np.bincount(number[person], minlength=len(values))
        for count, chance in zip(counts, chances[person], strict=True):
            assert within(int(count), 4000, float(chance))


@given(seeds)
@settings(max_examples=20)
def test_the_maximised_chain_says_what_the_best_completion_is_worth(draw_factors, all_values, seed):
    factors = draw_factors(seed)
    values, chances = all_values(factors)
    ((_, chain),) = chains(factors, "max")
    scale = log_partition(factors)
    row = factors.rows
    for value in values[:: max(1, len(values) // 7)]:
        score = (chain.total - scale)[row]
        drawn = np.ones(len(values), dtype=bool)
        for number, step in enumerate(chain.steps):
            at = tuple(value[list(step.clique)])
            score = score + chain.table(number, row)[(slice(None), *at)]
            drawn &= values[:, step.column] == value[step.column]
            truth = chances[:, drawn].max(axis=1)
            np.testing.assert_allclose(np.exp(score), truth, rtol=1e-11)


def test_a_ring_of_two_hundred_columns_has_the_trace_of_its_matrix():
    """The partition function of a ring is the trace of a power: no joint value is listed."""
    rng = np.random.default_rng(0)
    matrix = rng.dirichlet(np.ones(3), 3)
    n = 200
    table = np.log(matrix)[None]
    scopes = (*((i, i + 1) for i in range(n - 1)), (0, n - 1))
    tables = (*(table,) * (n - 1), table.transpose(0, 2, 1))
    ring = Factors((3,) * n, scopes, tables, np.zeros(1, dtype=np.intp))
    truth = np.trace(np.linalg.matrix_power(matrix, n))
    assert log_partition(ring)[0] == pytest.approx(np.log(truth), abs=1e-12)
    stationary = np.linalg.matrix_power(matrix, n).diagonal() / truth
    for found in marginals(ring)[::37]:
        np.testing.assert_allclose(found[0], stationary, rtol=1e-10)


def test_columns_that_nothing_is_said_of_are_uniform():
    nothing = Factors((2, 3), (), (), np.array([0, 1, 1]))
    assert row_count(nothing) == 2
    np.testing.assert_allclose(log_partition(nothing), np.log(6))
    assert marginals(nothing)[1].shape == (2, 3)
    np.testing.assert_allclose(marginals(nothing)[1], 1 / 3)
    assert sample(nothing, 5, rng=0).shape == (3, 5, 2)
    assert sample(nothing, 0, rng=0).shape == (3, 0, 2)


def test_what_is_impossible_is_refused_with_the_person():
    table = np.array([[0.0, 0.0], [-np.inf, -np.inf]])
    factors = Factors((2,), ((0,),), (table,), np.array([0, 0, 1]))
    with pytest.raises(InputError, match="person 2 are impossible"):
        log_partition(factors)


@pytest.mark.parametrize(
    ("values", "said"),
    [([[0]], "shape"), ([[0.5]] * 2, "whole numbers"), ([[0], [2]], "sizes"), ([[0], [-1]], "siz")],
)
def test_values_that_are_not_there_are_refused(values, said):
    factors = Factors((2,), ((0,),), (np.zeros((1, 2)),), np.array([0, 0]))
    with pytest.raises(InputError, match=said):
        log_probability(factors, values)
