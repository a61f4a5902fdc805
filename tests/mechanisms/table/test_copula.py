"""The copula keeps frequencies and how columns rank together, and nothing else."""

import numpy as np
import pytest
from scipy import stats

from narcissus.mechanisms import Columns, GaussianCopula


def table(*sizes, ordered=True):
    names = tuple(f"c{i}" for i in range(len(sizes)))
    labels = tuple(tuple(f"v{v}" for v in range(size)) for size in sizes)
    return Columns(names, labels, (ordered,) * len(sizes), (0,))


def sampled(columns, codes, seed=0):
    prepared = GaussianCopula().prepare(columns)
    return prepared.release(codes[None], np.random.default_rng(seed))[0].rows


def test_normal_data_come_back_with_their_correlation():
    rng = np.random.default_rng(5)
    normals = rng.multivariate_normal([0, 0], [[1, -0.7], [-0.7, 1]], size=20_000)
    ends = np.linspace(-3, 3, 59)
    rows = sampled(table(60, 60), np.stack([np.searchsorted(ends, x) for x in normals.T], 1))
    assert stats.spearmanr(*rows.T).statistic == pytest.approx(
        6 / np.pi * np.arcsin(-0.35), abs=0.02
    )


def test_columns_keep_their_frequencies_and_values_that_nobody_has_stay_away():
    rng = np.random.default_rng(6)
    codes = rng.choice([0, 2, 3], p=[0.1, 0.2, 0.7], size=(20_000, 2))
    rows = sampled(table(5, 4, ordered=False), codes)
    shares = [np.bincount(rows[:, c], minlength=5) / 20_000 for c in range(2)]
    assert np.abs(np.array(shares) - [0.1, 0, 0.2, 0.7, 0]).max() < 0.015
    assert np.array(shares)[:, [1, 4]].max() == 0


def test_values_without_order_rank_by_how_frequent_they_are():
    """Where the labels' order would show no correlation, that of the frequencies does."""
    rng = np.random.default_rng(8)
    frequent = rng.choice(3, p=[0.6, 0.3, 0.1], size=20_000)
    codes = np.stack([np.array([1, 0, 2])[frequent], frequent], 1)
    rows = sampled(table(3, 3, ordered=False), codes)
    assert (np.array([1, 0, 2])[rows[:, 0]] == rows[:, 1]).mean() > 0.95
    mixed = sampled(table(3, 3), codes)
    assert (np.array([1, 0, 2])[mixed[:, 0]] == mixed[:, 1]).mean() < 0.9


def test_a_column_of_one_value_and_one_person_are_no_trouble():
    codes = np.stack([np.zeros(500, int), np.arange(500) % 3], 1)
    rows = sampled(table(2, 3), codes)
    assert (rows[:, 0] == 0).all()
    assert np.unique(rows[:, 1]).tolist() == [0, 1, 2]
    assert sampled(table(2, 3), np.array([[1, 2]])).tolist() == [[1, 2]]
