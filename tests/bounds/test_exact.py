"""The exact optimum over all mechanisms, and bounds held against it."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import optimize, stats

from narcissus.bounds import best, bounds_on, certify, domination, exact, exact_optimum, threat
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import ApproximateDP, GaussianDP, ProfileCurve, PureDP


def test_certify_says_what_it_found():
    good = certify(0.9, [0.7, 0.3], PureDP(0.0))
    assert good.holds
    assert not good.exact
    assert "valid, not tight" in str(good)
    assert "VIOLATED" in str(certify(0.5, [0.7, 0.3], PureDP(0.0)))
    assert "exact" in str(certify(0.7, [0.7, 0.3], PureDP(0.0)))


def test_what_does_not_fit_is_refused():
    with pytest.raises(TooLargeError, match="fewer targets"):
        certify(0.5, [[0.25] * 4] * 5, PureDP(1))
    with pytest.raises(InputError, match="guesses"):
        certify(0.5, [[0.5, 0.5]] * 2, PureDP(1), 1, guesses=1, shared=True)


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


@pytest.mark.states("Narcissus theory", "4.5")
def test_by_itself_it_takes_the_guarantee_s_own_points():
    fair = [0.5, 0.5]
    for mu in (0.5, 2.0):
        truth = stats.norm.cdf(mu / 2)
        assert truth - 1e-7 <= exact_optimum(fair, GaussianDP(mu)).value <= truth + 1e-3
    curve = ProfileCurve((0.5, 1.0), (0.2, 0.05))
    told = exact_optimum([0.4, 0.3, 0.3], curve, epsilons=curve.tangents()).value
    assert exact_optimum([0.4, 0.3, 0.3], curve).value == pytest.approx(told, abs=1e-9)
    # one point may be given as a number
    one = exact_optimum(fair, ApproximateDP(0.5, 0.1), epsilons=0.5).value
    assert one == pytest.approx(exact_optimum(fair, ApproximateDP(0.5, 0.1)).value, abs=1e-9)


def test_who_may_not_guess_reaches_nothing_and_whoever_need_not_everything():
    rows = [[0.6, 0.4]] * 2
    assert exact_optimum(rows, PureDP(1.0), 1, guesses=0).value == pytest.approx(0)
    assert exact_optimum(rows, PureDP(1.0), 0, guesses=0).value == pytest.approx(1)
    assert exact_optimum(rows, PureDP(1.0), 3).value == pytest.approx(0)
    # one shared guess for two fair bits under no information: both alike in half of all worlds
    shared = exact_optimum([[0.5, 0.5]] * 2, PureDP(0.0), 2, shared=True).value
    assert shared == pytest.approx(0.25)
    assert exact_optimum([[0.5, 0.5]] * 2, PureDP(0.0), 1, shared=True).value == pytest.approx(0.75)
    # all shown: as often as both have one value
    assert exact_optimum([[0.5, 0.5]] * 2, PureDP(30.0), 2, shared=True).value == pytest.approx(0.5)


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


def test_the_size_of_the_program_is_counted_before_it_is_made(monkeypatch):
    """Two fair bits: 4 worlds by 4 guesses, and as many slacks for each of 8 pairs."""
    for limit, fits in ((16 + 8 * 4, True), (16 + 8 * 4 - 1, False)):
        monkeypatch.setattr(exact, "_LARGEST", limit)
        if fits:
            exact_optimum([[0.5, 0.5]] * 2, PureDP(1.0))
        else:
            with pytest.raises(TooLargeError, match="48 variables, at most 47"):
                exact_optimum([[0.5, 0.5]] * 2, PureDP(1.0))


def test_a_program_that_is_not_solved_is_no_answer(monkeypatch):
    monkeypatch.setattr(exact, "maximise", lambda *_: None)
    with pytest.raises(InputError, match="could not solve"):
        exact_optimum([0.5, 0.5], PureDP(1.0))
    with pytest.raises(InputError, match="replace-one"):
        exact_optimum([0.5, 0.5], PureDP(1.0, adjacency="add-remove"))


def test_too_many_guesses_are_refused():
    for guesses in (-1, 3):
        with pytest.raises(InputError, match="guesses"):
            exact_optimum([[0.5, 0.5]] * 2, PureDP(1.0), guesses=guesses)
    shared = exact_optimum([[0.5, 0.5]] * 2, PureDP(1.0), guesses=2, shared=True)
    assert shared.value <= domination([[0.5, 0.5]] * 2, PureDP(1.0), 1).value + 1e-6
