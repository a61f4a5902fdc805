"""Bounds of two channels: below both and above both, and none other comes between."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError

A = [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]]
B = [[0.7, 0.3], [0.4, 0.6], [0.45, 0.55]]


def test_partitions():
    a = ch.of_program(lambda x: x // 2, range(8))  # pairs
    b = ch.of_program(lambda x: (x + 1) // 2 if x < 4 else 9, range(8))
    both = ch.greatest_below(a, b)
    # 0 1 | 2 3 | 4..7 by way of 1-2: 0..3 are one; 4..7 are one
    assert both.shape[1] == 2
    assert both.dense[:, 0].tolist() == [1, 1, 1, 1, 0, 0, 0, 0]
    either = ch.least_above(a, b)
    assert either.shape[1] == 6  # 0 | 1 | 2 | 3 | 4 5 | 6 7
    for one in (a, b):
        assert ch.refines(one, both).holds
        assert ch.refines(either, one).holds


@pytest.mark.states("Narcissus theory", "6.6")
@pytest.mark.parametrize("seed", range(6))
def test_two_secrets_have_both_bounds(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 2)
    a, b = (rng.dirichlet(np.full(m, 0.6), 2) for m in sizes)
    a = np.column_stack([a * 0.8, [[0.2], [0]], [[0], [0.2]]]) if seed % 2 else a
    low, high = ch.greatest_below(a, b), ch.least_above(a, b)
    for one in (a, b):
        assert ch.refines(one, low).holds
        assert ch.refines(high, one).holds
    below = above = 0
    for _ in range(12):
        other = a @ rng.dirichlet(np.full(2, 0.5), a.shape[1])
        if ch.refines(b, other).holds:
            below += 1
            assert ch.refines(low, other).holds
        more = rng.dirichlet(np.full(4, 0.1), 2)
        if ch.refines(more, a).holds and ch.refines(more, b).holds:
            above += 1
            assert ch.refines(more, high).holds
    assert below + above > 2


@pytest.mark.states("Narcissus theory", "6.6")
def test_two_secrets_by_hand():
    a, b = [[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]]
    # the curves cross at (9/14, 5/14); the hull of all corners is that of (.5, .1) and (.9, .5)
    assert ch.greatest_below(a, b).dense == pytest.approx(np.array([[9, 5], [5, 9]]) / 14)
    assert ch.least_above(a, b).dense == pytest.approx(np.array([[0.5, 0.4, 0.1], [0.1, 0.4, 0.5]]))
    sure, nothing = np.eye(2), [[1.0], [1.0]]
    assert ch.beta_star(ch.least_above(sure, a)).value == 0
    assert ch.beta_star(ch.greatest_below(nothing, a)).value == 1


def test_comparable_ones_are_their_own_bounds():
    rng = np.random.default_rng(3)
    a = rng.dirichlet(np.ones(4), 3)
    b = a @ rng.dirichlet(np.ones(3), 4)
    for pair in ((a, b), (b, a)):
        assert np.array_equal(ch.greatest_below(*pair).dense, b)
        assert np.array_equal(ch.least_above(*pair).dense, a)


@pytest.mark.parametrize("bound", [ch.greatest_below, ch.least_above])
def test_others_need_have_none(bound):
    with pytest.raises(InputError, match="need have no greatest lower"):
        bound(A, B)
    with pytest.raises(InputError, match="same secrets"):
        bound(A, [[1.0], [1.0]])
