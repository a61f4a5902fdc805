"""Limits of sums: against another solver, by any duals at all, and in parts."""

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from narcissus.counts.data_sets import Steps, points
from narcissus.counts.intervals import (
    InfeasibleError,
    Polytope,
    Printable,
    Solver,
    parts_of,
    proved_most,
    refuted,
    restricted,
)


def polytope(seed, unknowns=7, rows=6, most=4):
    """Draw sums of whole numbers with signs, limited around those of a point, or at random."""
    rng = np.random.default_rng(seed)
    matrix = rng.choice([0, 0, 1, 1, -1], size=(rows, unknowns))
    point = rng.integers(0, most, unknowns)
    sums = matrix @ point if rng.random() < 0.8 else rng.integers(-3, 8, rows)
    low = sums - rng.integers(0, 2, rows)
    high = np.where(rng.random(rows) < 0.2, 2**40, sums + rng.integers(0, 2, rows))
    return Polytope(
        csr_array(matrix.astype(np.int64)), low.astype(np.int64), high.astype(np.int64),
        np.zeros(unknowns, np.int64), np.full(unknowns, most, np.int64),
    )  # fmt: skip


def all_points(part):
    every = np.array(list(itertools.product(*(range(m + 1) for m in part.most))))
    sums = every @ part.matrix.toarray().T
    return every[((sums >= part.low) & (sums <= part.high)).all(axis=1)]


@pytest.mark.repeats(12, 600, "worlds")
def test_limits_and_points_as_by_enumeration(worlds):
    empty = 0
    for seed in range(worlds):
        part = polytope(seed, unknowns=5, rows=4, most=3)
        truth = all_points(part)
        rng = np.random.default_rng([1, seed])
        sums = csr_array(rng.choice([0, 1], size=(4, 5)).astype(np.int64))
        found = sorted(map(tuple, points(part, Steps())))
        assert found == sorted(map(tuple, truth))
        for near in truth[rng.permutation(len(truth))[:3]]:  # it comes first, and no other is lost
            beside = list(map(tuple, points(part, Steps(), near)))
            assert beside[0] == tuple(near)
            assert sorted(beside) == found
        solver = Solver(part, sums, np.full(4, -(2**40)), np.full(4, 2**40))
        if not len(truth):
            empty += 1
            with pytest.raises(InfeasibleError):
                solver.best(np.zeros(5, np.int64))
            continue
        assert refuted(part) is None
        limits = solver.settle()
        values = truth @ sums.toarray().T
        assert (limits.low == values.min(axis=0)).all()
        assert (limits.high == values.max(axis=0)).all()
        assert (limits.reached_low == limits.low).all()
        assert (limits.reached_high == limits.high).all()
    assert 0 < empty < worlds / 2


@pytest.mark.repeats(20, 400, "worlds")
def test_limits_beside_gaps_as_by_enumeration(worlds):
    """Sums that nothing would be printed as are left out: each limit is that of other points."""
    moved = 0
    for seed in range(worlds):
        part, rng = polytope(seed, unknowns=4, rows=3, most=3), np.random.default_rng([2, seed])
        sums = rng.integers(0, 2, (3, 4))
        gaps = rng.random((2, 20)) < 0.4  # of each of two sums, which numbers are none
        gapped = rng.integers(0, 2, (2, 4))
        every = all_points(part)
        truth = every[~gaps[[0, 1], every @ gapped.T].any(axis=1)]
        solver = Solver(
            part, csr_array(sums.astype(np.int64)), np.full(3, -(2**40)), np.full(3, 2**40),
            printable=Printable(
                csr_array(gapped.astype(np.int64)), np.zeros(2, np.int64),
                tuple(lambda n, own=own: float(not own[n]) for own in gaps),
            ),
        )  # fmt: skip
        if not len(truth):
            with pytest.raises(InfeasibleError):
                solver.best(np.zeros(4, np.int64))
            continue
        found = solver.settle()
        for limit, reached, ends in (
            (found.low, found.reached_low, (truth @ sums.T).min(axis=0)),
            (found.high, found.reached_high, (truth @ sums.T).max(axis=0)),
        ):
            assert limit.tolist() == reached.tolist() == ends.tolist()
        moved += (every @ sums.T).max() > (truth @ sums.T).max()
    assert moved


@pytest.mark.repeats(10, 60, "worlds")
def test_large_sums_as_by_another_solver(worlds):
    for seed in range(worlds):
        part = polytope([2, seed], unknowns=15, rows=8, most=9)
        rng = np.random.default_rng([3, seed])
        cost = rng.integers(-2, 3, 15)
        found = milp(
            -cost,
            constraints=LinearConstraint(
                part.matrix, part.low, np.where(part.high == 2**40, np.inf, part.high)
            ),
            bounds=Bounds(part.least, part.most), integrality=np.ones(15),
        )  # fmt: skip
        solver = Solver(part, part.matrix, part.low, part.high)
        if found.status == 2:
            with pytest.raises(InfeasibleError):
                solver.best(cost)
        else:
            assert solver.best(cost, nodes=5000) == round(-found.fun)
            assert Solver(part, part.matrix, part.low, part.high).best(cost, nodes=3) >= round(
                -found.fun
            )  # what ends early holds


@pytest.mark.repeats(60, 600, "worlds")
def test_any_duals_prove_a_limit(worlds):
    """Whatever a solver says: what is concluded from it is exceeded by no point."""
    tight = 0
    for seed in range(worlds):
        part = polytope(seed, unknowns=5, rows=4, most=3)
        truth = all_points(part)
        rng = np.random.default_rng([4, seed])
        cost = rng.integers(-2, 3, 5)
        for duals in (rng.normal(size=4), rng.integers(-2, 3, 4) / 2, 1e12 * rng.normal(size=4)):
            limit = proved_most(part, cost, duals, -np.inf)
            if len(truth):
                assert (truth @ cost <= limit).all()
                tight += (truth @ cost).max() == limit
    assert tight > 0


def test_a_refutation_names_rows_that_refute():
    matrix = csr_array(np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    low = np.array([9, 0, 0, 2])
    part = Polytope(matrix, low, np.array([9, 4, 4, 2]), np.zeros(3, np.int64), np.full(3, 2**40))
    assert set(refuted(part)) == {0, 1, 2}
    some = Polytope(matrix[:1], low[:1], low[:1], part.least, part.most)
    assert refuted(some) is None


def test_parts_share_no_unknown():
    matrix = csr_array(np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 1, 1, 1, 1]]))
    part = Polytope(
        matrix, np.array([3, 2, 0]), np.array([3, 2, 99]), np.zeros(5, np.int64), np.full(5, 6)
    ).tightened()
    found = parts_of(part)
    assert sorted(unknowns.tolist() for _, unknowns in found) == [[0, 1], [2, 3], [4]]
    sizes = [len(list(points(restricted(part, *one), Steps()))) for one in found]
    assert sorted(sizes) == [3, 4, 7]


def test_limits_of_any_numbers_are_rounded_away():
    """Three numbers whose pairs sum to 1 are halves: no whole numbers are, and limits hold them."""
    matrix = csr_array(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]))
    one = np.ones(3, np.int64)
    part = Polytope(matrix, one, one, 0 * one, one * 2**40)
    each = csr_array(np.eye(3, dtype=np.int64))
    limits = Solver(part, each, 0 * one, one * 2**40, whole=False).settle()
    assert (limits.low.tolist(), limits.high.tolist()) == ([0, 0, 0], [1, 1, 1])
    assert (limits.reached_high < limits.reached_low).all()  # no point of whole numbers was met
    cost, duals = np.array([1, 0, 0]), np.array([0.5, -0.5, 0.5])
    assert [proved_most(part, cost, duals, 0.5, whole=whole) for whole in (True, False)] == [0, 1]
    with pytest.raises(InfeasibleError):
        Solver(part, each, 0 * one, one * 2**40).best(one)
