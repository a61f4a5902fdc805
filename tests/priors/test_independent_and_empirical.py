"""The two simple priors against counting."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from narcissus.errors import InputError, TooLargeError
from narcissus.priors import (
    EmpiricalRows,
    IndependentColumns,
    RecordPrior,
    fit_empirical,
    fit_independent,
)
from narcissus.priors.base import row_keys
from narcissus.tables import Table

FALSE_ALARM = 1e-6
SIZES = (2, 3, 2, 4)


def small_table(seed, n=30):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, s, size=n) for s in SIZES])
    labels = tuple(tuple(str(v) for v in range(s)) for s in SIZES)
    return Table(tuple("abcd"), labels, (True,) * 4, codes)


def all_records():
    return np.array(list(itertools.product(*(range(s) for s in SIZES))), dtype=np.int32)


def joint_by_counting(table, smoothing):
    """Rows counted one by one, mixed with the product of the columns' shares."""
    records = [tuple(r) for r in table.codes.tolist()]
    full = np.zeros(SIZES)
    for record in itertools.product(*(range(s) for s in SIZES)):
        apart = np.prod([(table.codes[:, j] == v).mean() for j, v in enumerate(record)])
        full[record] = (1 - smoothing) * records.count(record) / len(records) + smoothing * apart
    return full


unknowns = st.permutations(range(4)).flatmap(
    lambda order: st.integers(1, 4).map(lambda k: tuple(order[:k]))
)


@given(seed=st.integers(0, 10_000), unknown=unknowns, smoothing=st.sampled_from([0.0, 0.2, 1.0]))
@settings(max_examples=40, deadline=None)
def test_empirical_conditional_is_counted(seed, unknown, smoothing):
    table = small_table(seed)
    prior = fit_empirical(table, smoothing=smoothing)
    full = joint_by_counting(table, smoothing)
    codes = table.codes if smoothing == 0 else all_records()
    hidden = codes.copy()
    hidden[:, unknown] = 77
    answer = prior.conditional(hidden, unknown)
    rest = sorted(unknown)
    for row, given_row in zip(answer, codes, strict=True):
        index = tuple(slice(None) if j in unknown else given_row[j] for j in range(4))
        block = full[index].transpose([rest.index(u) for u in unknown])
        if block.sum() > 0:
            np.testing.assert_allclose(row, (block / block.sum()).ravel(), atol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(prior.log_probability(codes), np.log(full[tuple(codes.T)]))


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


@pytest.mark.parametrize("smoothing", [0.0, 0.3, 1.0])
def test_empirical_samples_follow_the_mixture(smoothing):
    table = small_table(4)
    prior = fit_empirical(table, smoothing=smoothing)
    full = joint_by_counting(table, smoothing).ravel()
    n = 40_000
    codes = prior.sample(n, rng=1)
    counts = np.bincount(np.ravel_multi_index(codes.T, SIZES), minlength=full.size)
    tail = FALSE_ALARM / (2 * 3 * full.size)
    assert (counts >= binom.ppf(tail, n, full)).all()
    assert (counts <= binom.isf(tail, n, full)).all()


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


def test_unseen_known_parts():
    codes = np.array([[0, 0, 0, 0], [1, 1, 1, 1]] * 5)
    table = Table(tuple("abcd"), (("0", "1"),) * 4, (True,) * 4, codes)
    asked = np.array([[0, 0, 1, 0]])
    with pytest.raises(InputError, match="no record of the prior has the known part") as caught:
        fit_empirical(table, smoothing=0).conditional(asked, [3])
    assert "smoothing" in str(caught.value)
    answer = fit_empirical(table, smoothing=0.1).conditional(asked, [3])
    np.testing.assert_allclose(answer, [[0.5, 0.5]])


def test_unseen_known_parts_of_many_columns_do_not_underflow():
    d = 400
    codes = np.eye(d, dtype=np.int32)
    labels = (("0", "1"),) * d
    table = Table(tuple(f"c{j}" for j in range(d)), labels, (True,) * d, codes)
    answer = fit_empirical(table, smoothing=0.5).conditional(np.ones((1, d), dtype=int), [7])
    np.testing.assert_allclose(answer, [[1 - 1 / d, 1 / d]])


def test_both_are_record_priors_and_describe_themselves():
    table = small_table(6)
    for prior in (fit_independent(table), fit_empirical(table), fit_empirical(table, smoothing=1)):
        assert isinstance(prior, RecordPrior)
        assert prior.names == table.names
        assert prior.sizes == table.sizes
        assert "columns" in prior.describe()
        assert (prior.sample(20, rng=3) == prior.sample(20, rng=3)).all()


def test_smoothed_marginals():
    table = small_table(7)
    counts = np.bincount(table.codes[:, 1], minlength=3)
    np.testing.assert_allclose(
        fit_independent(table, smoothing=2).marginals[1], (counts + 2) / (30 + 6)
    )


def test_row_keys_stay_exact_beyond_64_bits():
    rng = np.random.default_rng(9)
    sizes = (1000,) * 12  # 10^36 combinations
    base = rng.integers(0, 1000, size=(50, 12)).astype(np.int32)
    codes = np.concatenate([base, base, base])
    codes[50:100, 0] = (codes[50:100, 0] + 1) % 1000
    codes[100:, -1] = (codes[100:, -1] + 1) % 1000
    keys = row_keys(codes, range(12), sizes)
    _, expected = np.unique(codes, axis=0, return_inverse=True)
    _, got = np.unique(keys, return_inverse=True)
    pairs = set(zip(expected.tolist(), got.tolist(), strict=True))
    assert len(pairs) == len(set(expected.tolist())) == len(set(got.tolist())) == 150


def test_bad_arguments():
    table = small_table(1)
    for smoothing in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="smoothing"):
            fit_empirical(table, smoothing=smoothing)
    with pytest.raises(InputError, match="smoothing"):
        fit_independent(table, smoothing=-1)
    with pytest.raises(InputError, match="sum to 1"):
        IndependentColumns(("x",), (np.array([0.5, 0.4]),))
    with pytest.raises(InputError, match="names"):
        IndependentColumns(("x", "y"), (np.array([0.5, 0.5]),))
    with pytest.raises(InputError, match="one for each of 2 records"):
        EmpiricalRows(("x",), (2,), np.array([[0], [1]]), np.array([1.0]))
    for prior in (fit_independent(table), fit_empirical(table)):
        with pytest.raises(InputError, match="`unknown`"):
            prior.conditional(table.codes, [])
        with pytest.raises(InputError, match="`n` must be at least 0"):
            prior.sample(-1)
        with pytest.raises(InputError, match=r"must be in 0\.\.2, got 3"):
            prior.conditional(np.array([[0, 3, 0, 0]]), [0])


def test_too_large_answers_are_refused():
    big = IndependentColumns(("x", "y"), (np.full(400, 1 / 400), np.full(300, 1 / 300)))
    with pytest.raises(TooLargeError, match="120,000 joint values"):
        big.conditional(np.zeros((1, 2), dtype=int), [0, 1])
