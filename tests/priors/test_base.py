"""What record priors share: keys of rows, the protocol, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.priors import (
    EmpiricalRows,
    IndependentColumns,
    RecordPrior,
    fit_empirical,
    fit_independent,
)
from narcissus.priors.base import row_keys

from .conftest import small_table


def test_both_are_record_priors_and_describe_themselves():
    table = small_table(6)
    for prior in (fit_independent(table), fit_empirical(table), fit_empirical(table, smoothing=1)):
        assert isinstance(prior, RecordPrior)
        assert prior.names == table.names
        assert prior.sizes == table.sizes
        assert "columns" in prior.describe()
        assert (prior.sample(20, rng=3) == prior.sample(20, rng=3)).all()


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
