"""The prior of independent columns against counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from narcissus.errors import TooLargeError
from narcissus.priors import (
    IndependentColumns,
    fit_independent,
)
from narcissus.tables import CountedTable, Table

from .conftest import SIZES, all_records, joint_by_counting, small_table, unknowns

FALSE_ALARM = 1e-6


@given(seed=st.integers(0, 10_000), unknown=unknowns)
@settings(max_examples=20, deadline=None)
def test_independent_conditional_is_the_product_of_shares(seed, unknown):
    table = small_table(seed)
    prior = fit_independent(table)
    full = joint_by_counting(table, 1.0)
    others = tuple(j for j in range(4) if j not in unknown)
    rest = sorted(unknown)
    expected = full.sum(axis=others).transpose([rest.index(u) for u in unknown]).ravel()
    answer = prior.conditional(table.codes, unknown)
    np.testing.assert_allclose(answer, np.tile(expected, (30, 1)), atol=1e-12)
    np.testing.assert_allclose(
        np.exp(prior.log_probability(all_records())), full.ravel(), atol=1e-12
    )


def test_independent_samples_follow_the_marginals():
    prior = fit_independent(small_table(5))
    n = 40_000
    codes = prior.sample(n, rng=2)
    assert codes.dtype == np.int32
    for j, share in enumerate(prior.marginals):
        counts = np.bincount(codes[:, j], minlength=len(share))
        tail = FALSE_ALARM / (2 * sum(SIZES))
        assert (counts >= binom.ppf(tail, n, share)).all()
        assert (counts <= binom.isf(tail, n, share)).all()


def test_smoothed_marginals():
    table = small_table(7)
    counts = np.bincount(table.codes[:, 1], minlength=3)
    np.testing.assert_allclose(
        fit_independent(table, smoothing=2).marginals[1], (counts + 2) / (30 + 6)
    )


def test_too_large_answers_are_refused():
    big = IndependentColumns(("x", "y"), (np.full(400, 1 / 400), np.full(300, 1 / 300)))
    with pytest.raises(TooLargeError, match="120,000 joint values"):
        big.conditional(np.zeros((1, 2), dtype=int), [0, 1])


def test_a_counted_table_gives_the_same_marginals():
    rng = np.random.default_rng(8)
    codes = np.column_stack([rng.integers(0, s, size=50) for s in SIZES])
    labels = tuple(tuple(str(v) for v in range(s)) for s in SIZES)
    records, counts = np.unique(codes, axis=0, return_counts=True)
    whole = Table(tuple("abcd"), labels, (True,) * 4, codes)
    few = CountedTable(tuple("abcd"), labels, (True,) * 4, records, counts)
    for one, other in zip(
        fit_independent(whole, smoothing=0.3).marginals,
        fit_independent(few, smoothing=0.3).marginals,
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
