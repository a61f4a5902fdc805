"""The exact optimum over all mechanisms, and bounds held against it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize, sparse, stats

from narcissus.bounds import best, bounds_on, certify, exact, exact_optimum, threat
from narcissus.bounds.exact import maximise
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP


def test_certify_says_what_it_found():
    good = certify(0.9, [0.7, 0.3], PureDP(0.0))
    assert good.holds
    assert not good.exact
    assert "valid, not tight" in str(good)
    assert "VIOLATED" in str(certify(0.5, [0.7, 0.3], PureDP(0.0)))
    assert "exact" in str(certify(0.7, [0.7, 0.3], PureDP(0.0)))


def test_what_does_not_fit_is_refused(monkeypatch):
    fair = [[0.5, 0.5]] * 2
    with pytest.raises(TooLargeError, match="fewer targets"):
        certify(0.5, [[0.25] * 4] * 5, PureDP(1))
    with pytest.raises(InputError, match="guesses"):
        certify(0.5, fair, PureDP(1), 1, guesses=1, shared=True)
    for guesses in (-1, 3):
        with pytest.raises(InputError, match="guesses"):
            exact_optimum(fair, PureDP(1.0), guesses=guesses)
    with pytest.raises(InputError, match="replace-one"):
        exact_optimum([0.5, 0.5], PureDP(1.0, adjacency="add-remove"))
    # two fair bits: 4 worlds by 4 guesses, and as many slacks for each of 8 pairs
    monkeypatch.setattr(exact, "_LARGEST", 48)
    exact_optimum(fair, PureDP(1.0))
    monkeypatch.setattr(exact, "_LARGEST", 47)
    with pytest.raises(TooLargeError, match="48 variables, at most 47"):
        exact_optimum(fair, PureDP(1.0))
    monkeypatch.setattr(exact, "maximise", lambda *_: None)
    with pytest.raises(InputError, match="could not solve"):
        exact_optimum([0.5, 0.5], PureDP(1.0))


def dense(rows, guarantee, v, success, points, guesses) -> float:
    """The optimum by a program written anew: events are the positive parts, one dense row each.

    For every pair of neighbours and every point, ``sum_z max(0, Q_x - e^eps Q_y)`` by slacks.
    """
    n = len(rows)
    worlds = list(product(*[range(len(row)) for row in rows]))
    outputs = [
        a
        for a in product([None, *range(success.shape[1])], repeat=n)
        if sum(z is not None for z in a) == guesses
    ]
    pairs = [
        (i, j)
        for i, x in enumerate(worlds)
        for j, y in enumerate(worlds)
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1
    ]
    count, width = len(worlds), len(outputs)
    size = count * width + len(pairs) * len(points) * width
    upper, limits = [], []
    for number, ((i, j), e) in enumerate(product(pairs, points)):
        slack = count * width + number * width
        for z in range(width):
            row = np.zeros(size)
            row[i * width + z], row[j * width + z], row[slack + z] = 1.0, -math.exp(e), -1.0
            upper.append(row)
            limits.append(0.0)
        row = np.zeros(size)
        row[slack : slack + width] = 1.0
        upper.append(row)
        limits.append(float(guarantee.profile(e)))
    sums = np.zeros((count, size))
    gain = np.zeros(size)
    for i, x in enumerate(worlds):
        sums[i, i * width : (i + 1) * width] = 1.0
        weight = math.prod(row[a] for row, a in zip(rows, x, strict=True))
        for k, a in enumerate(outputs):
            right = sum(z is not None and success[b, z] for b, z in zip(x, a, strict=True))
            gain[i * width + k] = weight * (right >= v)
    found = optimize.linprog(
        -gain, A_ub=np.array(upper), b_ub=limits, A_eq=sums, b_eq=np.ones(count), bounds=(0, None)
    )
    return -float(found.fun)


@pytest.mark.states("Narcissus theory", "4.5")
@pytest.mark.parametrize("guarantee", [PureDP(0.7), ApproximateDP(1.5, 0.03), GaussianDP(1.0)])
@pytest.mark.one_in(2)
def test_the_optimum_is_that_of_the_program_written_out(guarantee):
    rng = np.random.default_rng(6)
    points = np.array([0.0, 0.6, 2.0])
    cases = [(1, 3, 1, 1), (1, 4, 1, 1), (2, 2, 1, 2), (2, 2, 2, 2), (2, 2, 1, 1), (2, 3, 2, 2)]
    for n, values, v, guesses in cases:
        rows = rng.dirichlet(np.ones(values), n)
        success = np.eye(values)
        if n == 1:
            success = (rng.random((values, 3)) < 0.5).astype(float)
        truth = dense(rows, guarantee, v, success, points, guesses)
        found = exact_optimum(rows, guarantee, v, success, guesses=guesses, epsilons=points)
        assert found.value == pytest.approx(truth, abs=1e-7)
        assert found.bound >= truth - 1e-9
        assert found.bound == pytest.approx(truth, abs=1e-6)
        wide = np.hstack([rows, np.zeros((n, 1))])  # a value that never occurs, never guessed
        again = exact_optimum(
            wide, guarantee, v, np.vstack([success, np.zeros(success.shape[1])]),
            guesses=guesses, epsilons=points,
        )  # fmt: skip
        assert again.value == pytest.approx(truth, abs=1e-6)


def test_who_may_not_guess_reaches_nothing_and_whoever_need_not_everything():
    rows, fair = [[0.6, 0.4]] * 2, [[0.5, 0.5]] * 2
    for value, priors, epsilon, v, told in [
        (0, rows, 1.0, 1, {"guesses": 0}),
        (1, rows, 1.0, 0, {"guesses": 0}),
        (0, rows, 1.0, 3, {}),
        # one shared guess under no information, and both shown: alike in half of all worlds
        (0.25, fair, 0.0, 2, {"shared": True}),
        (0.75, fair, 0.0, 1, {"shared": True, "guesses": 2}),
        (0.5, fair, 30.0, 2, {"shared": True}),
    ]:
        found = exact_optimum(priors, PureDP(epsilon), v, **told).value
        assert found == pytest.approx(value, abs=1e-9)
    # by itself it takes the guarantee's own points
    truth = stats.norm.cdf(0.5)
    assert truth - 1e-7 <= exact_optimum([0.5, 0.5], GaussianDP(1.0)).value <= truth + 1e-3
    one = exact_optimum([0.5, 0.5], ApproximateDP(0.5, 0.1), epsilons=0.5).value
    assert one == pytest.approx(exact_optimum([0.5, 0.5], ApproximateDP(0.5, 0.1)).value, abs=1e-9)


def test_a_certificate_takes_bounds_and_numbers_and_has_a_tolerance():
    guarantee = PureDP(1.0)
    danger = threat(values=[0.6, 0.4], targets=2)
    bound = best(bounds_on(danger, guarantee, 2))
    found = certify(bound, [[0.6, 0.4]] * 2, guarantee, 2)
    assert (found.holds, found.exact, found.bound) == (True, True, bound.value)
    assert found.grade == "proved"
    assert found.at_most == pytest.approx(found.optimum, abs=1e-6)
    for off, holds, sharp in [
        (-2e-6, False, False),
        (-5e-7, True, True),
        (5e-7, True, True),
        (3e-6, True, False),
    ]:
        near = certify(found.optimum + off, [[0.6, 0.4]] * 2, guarantee, 2)
        assert (near.holds, near.exact) == (holds, sharp)
    some = certify(0.5, [[0.6, 0.4]] * 2, guarantee, 1, guesses=1)
    alone = exact_optimum([0.6, 0.4], guarantee)
    assert some.optimum > alone.value + 0.01  # who sees the release chooses whom to guess
    assert certify(bound, [[0.6, 0.4]] * 2, guarantee, 2, np.eye(2), epsilons=[1.0]).exact


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
