"""Linear programs against a knapsack that a greedy choice solves, in rational numbers."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize, sparse

from narcissus.bounds.linear_program import maximise

ROUNDING = 1e-12


def knapsack(gain, weight, limit) -> Fraction:
    """The largest gain of parts of things within a limit of weight: the dearest first."""
    left, total = Fraction(limit), Fraction(0)
    for g, w in sorted(zip(gain, weight, strict=True), key=lambda t: -Fraction(t[0]) / t[1]):
        part = min(Fraction(1), left / w)
        left -= part * w
        total += part * g
    return total


def packed(gain, weight, limit):
    return maximise(
        np.array(gain, dtype=float),
        np.array([weight], dtype=float),
        np.array([limit], dtype=float),
        sparse.csr_array((0, len(gain))),
        np.zeros(0),
    )


@pytest.fixture
def problems():
    rng = np.random.default_rng(4)
    return [
        (rng.integers(1, 30, 7).tolist(), rng.integers(1, 9, 7).tolist(), int(rng.integers(1, 30)))
        for _ in range(20)
    ]


def test_the_bound_is_the_maximum(problems):
    for gain, weight, limit in problems:
        truth = float(knapsack(gain, weight, limit))
        found = packed(gain, weight, limit)
        assert found.bound == pytest.approx(truth, abs=1e-9)
        assert found.value == pytest.approx(truth, abs=1e-6)
        assert found.x @ gain == pytest.approx(found.value)
        assert ((found.x >= -1e-9) & (found.x <= 1 + 1e-9)).all()


def test_a_price_is_what_more_of_a_limit_brings(problems):
    for gain, weight, limit in problems:
        (price,) = packed(gain, weight, limit).upper_multipliers
        here = float(knapsack(gain, weight, limit))
        assert price >= 0
        for more in (Fraction(1, 100), 1, 10):
            most = float(knapsack(gain, weight, limit + more))
            assert most <= here + price * float(more) + 1e-9


def test_an_equality_is_met_and_has_its_price():
    # Of 1.5 things in all: the dearest, and half of the next, whose gain is the price of one more.
    found = maximise(
        np.array([3.0, 5.0, 1.0]),
        sparse.csr_array((0, 3)),
        np.zeros(0),
        np.ones((1, 3)),
        np.array([1.5]),
    )
    assert found.x.tolist() == pytest.approx([0.5, 1, 0])
    assert found.bound == pytest.approx(6.5)
    assert found.equal_multipliers.tolist() == pytest.approx([3])


def test_nothing_is_said_where_nothing_is_allowed():
    assert packed([1, 1], [1, 1], -1) is None


def test_the_bound_holds_whatever_the_solver_says(problems, monkeypatch):
    """Multipliers that are far off, some of the wrong sign, only cost sharpness."""
    rng = np.random.default_rng(5)
    solve = optimize.linprog

    def sloppy(*args, **kwargs):
        found = solve(*args, **kwargs)
        said = found.ineqlin.marginals + rng.normal(0, 2, found.ineqlin.marginals.shape)
        return SimpleNamespace(
            success=True,
            fun=found.fun,
            x=found.x,
            ineqlin=SimpleNamespace(marginals=said),
            eqlin=SimpleNamespace(marginals=found.eqlin.marginals),
        )

    monkeypatch.setattr(optimize, "linprog", sloppy)
    off = 0
    for gain, weight, limit in problems:
        found, truth = packed(gain, weight, limit), float(knapsack(gain, weight, limit))
        assert found.bound >= truth - ROUNDING * truth
        off += found.bound > truth + 1e-3
    assert off > 10
