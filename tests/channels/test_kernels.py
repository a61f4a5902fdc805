"""Sums over pairs of rows, in both forms, against the plain formula."""

import itertools

import numpy as np
import pytest

from narcissus.channels import _kernels


@pytest.fixture(params=["compiled", "plain"], autouse=True)
def loops(request, monkeypatch):
    _kernels.loops.cache_clear()
    if request.param == "plain":
        monkeypatch.setenv("NARCISSUS_NO_NUMBA", "1")
    else:
        pytest.importorskip("numba", reason="the extra `fast` is not installed")
    yield
    _kernels.loops.cache_clear()


@pytest.mark.parametrize("outputs", [1, 7, _kernels.CHUNK + 3])
def test_pairs_of_rows(outputs):
    rng = np.random.default_rng(outputs)
    left, right = rng.random((9, outputs)), rng.random((6, outputs))
    overlap = np.minimum(left[:, None], right[None]).sum(axis=2)
    excess = np.maximum(left[:, None] - right[None], 0).sum(axis=2)
    assert np.allclose(_kernels.pair_block(left, right), overlap, rtol=1e-12)
    assert np.allclose(_kernels.pair_block(left, right, kind="excess"), excess, rtol=1e-12)


def test_subsets():
    rows = np.random.default_rng(1).dirichlet(np.ones(5), 8)
    found = _kernels.subset_minima(rows)
    for bits in itertools.product((0, 1), repeat=5):
        index = sum(bit << k for k, bit in enumerate(bits))
        assert found[index] == pytest.approx((rows @ np.array(bits)).min(), abs=1e-15)
