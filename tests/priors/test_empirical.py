"""The two simple priors against counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from narcissus.errors import InputError, TooLargeError
from narcissus.priors import empirical, fit_empirical
from narcissus.tables import CountedTable, Table

from .conftest import SIZES, all_records, joint_by_counting, small_table, unknowns

FALSE_ALARM = 1e-6


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


def counted(table):
    """Give the distinct records of a table with their counts."""
    records, counts = np.unique(table.codes, axis=0, return_counts=True)
    return CountedTable(table.names, table.labels, table.ordered, records, counts)


def test_a_counted_table_gives_the_same_prior():
    table = small_table(3, 60)
    whole, again = fit_empirical(table), fit_empirical(counted(table))
    np.testing.assert_array_equal(whole.records, again.records)
    np.testing.assert_array_equal(whole.weights, again.weights)


def test_too_many_records_are_refused_with_their_size(monkeypatch):
    table = small_table(3, 60)
    records = len(fit_empirical(table).records)
    monkeypatch.setattr(empirical, "MOST_CELLS", 4 * records)
    fit_empirical(counted(table))
    monkeypatch.setattr(empirical, "MOST_CELLS", 4 * records - 1)
    with pytest.raises(TooLargeError, match=rf"{records} distinct records of 4 columns needs"):
        fit_empirical(table)
