"""The two simple priors against counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from narcissus.errors import InputError, TooLargeError
from narcissus.priors import (
    IndependentColumns,
    empirical,
    fit_empirical,
    fit_independent,
    read_priors,
)
from narcissus.tables import CountedTable, Table

from .conftest import SIZES, all_records, joint_by_counting, small_table, unknowns

FALSE_ALARM = 1e-6


@given(seed=st.integers(0, 10_000), unknown=unknowns, smoothing=st.sampled_from([0.0, 0.2, 1.0]))
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


@pytest.mark.parametrize("smoothing", [0.0, 0.3, 1.0, None])
def test_samples_follow_the_mixture(smoothing):
    table = small_table(4)
    prior = (
        fit_independent(table) if smoothing is None else fit_empirical(table, smoothing=smoothing)
    )
    full = joint_by_counting(table, 1.0 if smoothing is None else smoothing).ravel()
    n = 40_000
    codes = prior.sample(n, rng=1)
    counts = np.bincount(np.ravel_multi_index(codes.T, SIZES), minlength=full.size)
    tail = FALSE_ALARM / (2 * 4 * full.size)
    assert (counts >= binom.ppf(tail, n, full)).all()
    assert (counts <= binom.isf(tail, n, full)).all()


@pytest.mark.parametrize("d", [4, 400])
def test_unseen_known_parts_do_not_underflow(d):
    labels = (("0", "1"),) * d
    table = Table(tuple(f"c{j}" for j in range(d)), labels, (True,) * d, np.eye(d, dtype=np.int32))
    asked = np.ones((1, d), dtype=int)
    answer = fit_empirical(table, smoothing=0.5).conditional(asked, [3])
    np.testing.assert_allclose(answer, [[1 - 1 / d, 1 / d]])
    with pytest.raises(InputError, match=r"no record of the prior has the known part .*smoothing"):
        fit_empirical(table, smoothing=0).conditional(asked, [3])


def counted(table):
    """Give the distinct records of a table with their counts."""
    records, counts = np.unique(table.codes, axis=0, return_counts=True)
    return CountedTable(table.names, table.labels, table.ordered, records, counts)


def test_a_counted_table_gives_the_same_prior():
    table = small_table(3, 60)
    whole, again = fit_empirical(table), fit_empirical(counted(table))
    np.testing.assert_array_equal(whole.records, again.records)
    np.testing.assert_array_equal(whole.weights, again.weights)
    each = [fit_independent(t, smoothing=0.3).marginals for t in (table, counted(table))]
    for one, other in zip(*each, strict=True):
        np.testing.assert_array_equal(one, other)


def test_too_many_records_are_refused_with_their_size(monkeypatch):
    table = small_table(3, 60)
    records = len(fit_empirical(table).records)
    monkeypatch.setattr(empirical, "MOST_CELLS", 4 * records)
    fit_empirical(counted(table))
    monkeypatch.setattr(empirical, "MOST_CELLS", 4 * records - 1)
    with pytest.raises(TooLargeError, match=rf"{records} distinct records of 4 columns needs"):
        fit_empirical(table)


@given(seed=st.integers(0, 10_000), unknown=unknowns)
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


@pytest.fixture
def written(tmp_path):
    def write(text: str, name: str = "people.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a,b,c\n0.5,0.3,0.2\n0.9,0.1,\n", "people.csv"),
        ("0.5,0.3,0.2\n0.9,0.1,0\n", "people.csv"),
        ("[[0.5, 0.3, 0.2], [0.9, 0.1]]", "people.json"),
    ],
)
def test_a_row_is_a_person_and_a_column_a_value(written, text, name):
    np.testing.assert_array_equal(
        read_priors(written(text, name)), [[0.5, 0.3, 0.2], [0.9, 0.1, 0]]
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n0.5,0.5\n0.5,0.6\n", r"row 2 \(line 3\), must sum to 1 .* got 1.1; write more"),
        ("0.333,0.333\n0.3,0.3\n", r"row 1 \(line 1\), must sum to 1 .* \(2 rows do not\)"),
        ("id,a,b\n7,0.5,0.5\n", r"row 1 \(line 2\), column `id`, must be a probability.*got 7"),
        ("a,b\n1.2,-0.2\n", "column `a`, must be a probability"),
        ("a,b\n0.5,0.5\n,\n0.5,0.5\n", r"row 2 \(line 3\), is empty; drop it"),
        ("a,b\n0.5,x\n", "column `b`, must be a number"),
        ("", "is empty"),
    ],
)
def test_what_is_no_prior_is_refused_by_its_place(written, text, said):
    with pytest.raises(InputError, match=said):
        read_priors(written(text))
