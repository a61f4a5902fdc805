"""Mechanisms by hand."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.mechanisms import (
    CountingQuery,
    ExactAverage,
    KAnonymity,
    NoisyAverage,
    Parallel,
    Parity,
    Subsample,
    XorHalf,
)


def test_mechanisms_by_hand():
    rng = np.random.default_rng(0)
    data = np.array([[[0, 1, 1, 1], [1, 1, 0, 0]]], dtype=np.uint8)
    assert ExactAverage().release(data, rng).tolist() == [[0.5, 1.0, 0.5, 0.5]]
    assert Parity().release(data, rng).tolist() == [[[1, 0], [0, 0]]]
    both = Parallel([XorHalf("second"), XorHalf("xor")]).release(data[:, 0], rng)
    assert [part.tolist() for part in both[0]] == [[1, 1], [1, 0]]
    shares = np.array([[0, 0, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]])
    cut = CountingQuery(0.3).release(shares, rng)
    assert np.isnan(cut).tolist() == [True, False, True]
    ten = np.r_[np.ones(3), np.zeros(7)][None]
    assert CountingQuery(0.3).release(ten, rng)[0] == pytest.approx(0.3)  # not cut by rounding
    some = Subsample(2).release(np.arange(5)[None], rng)[0]
    assert len(set(some.tolist())) == 2
    noisy = NoisyAverage(0.5)
    many = noisy.release(np.zeros((50_000, 10, 1)), rng)[:, 0]
    assert np.abs(many).mean() == pytest.approx(1 / (0.5 * 10), rel=0.05)
    assert noisy.privacy(np.zeros((1, 10, 4))) == (2.0, 0.0)
    ranges = KAnonymity(2).release(np.array([[[5, 1], [1, 9], [6, 2], [0, 8], [7, 7]]]), rng)[0]
    assert ranges[0].tolist() == [[0, 1], [8, 9]]
    assert ranges[1].tolist() == [[5, 7], [1, 7]]  # the last group takes the one left over
