"""The domination theorem at one point, against its full program and the condition itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from narcissus.bounds import optimum, optimum_program
from narcissus.bounds.domination_point import dominate_point
from narcissus.bounds.domination_program import dominate
from narcissus.bounds.single_guess import optimum_at_points
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP

ROUNDING = 1e-12


@st.composite
def worlds(draw):
    """Priors with zeros and tiny masses, and any success in which every value can be right."""
    values = draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.dirichlet(np.full(values, draw(st.sampled_from([0.05, 0.5, 3.0]))), 3)
    rows[rows < draw(st.sampled_from([0.0, 0.05]))] = 0
    rows /= rows.sum(axis=1, keepdims=True)
    success = rng.random((values, draw(st.integers(1, 5)))) < draw(st.sampled_from([0.3, 0.6]))
    return rows, success.astype(float), draw(st.sampled_from([0.0, 0.3, 1.0, 4.0, 40.0, 600.0]))


@pytest.mark.states("Narcissus theory", "4.4")
@settings(max_examples=100, deadline=None)
@given(worlds())
def test_the_pair_is_feasible_and_the_least(world):
    rows, success, epsilon = world
    mu, theta = dominate_point(rows, success, epsilon)
    assert (mu >= 0).all()
    assert (mu <= rows * (1 + ROUNDING)).all()
    for prior, m, work in zip(rows, mu, theta, strict=True):
        least, _ = dominate(prior, success, np.array([epsilon]), np.zeros(1), 1.0)
        assert m.sum() <= least + 1e-6
        if least < 1:  # it gives up, with 1, where masses are below its rounding
            assert m.sum() >= least - 1e-6
        assert _least_work(prior, m, success, epsilon) - 1e-7 <= work <= prior.size - 1


def _least_work(prior, mu, success, epsilon):
    """Least work that this ``mu`` allows: a program over flows, from the theorem as it stands."""
    values = prior.size
    pairs = [(x, y) for x in range(values) for y in range(values) if x != y]
    sets = [s for s in success.T if s.any()]
    size = len(pairs) * (1 + len(sets))
    rows, limits = [], []
    for k, inside in enumerate(sets):
        place = len(pairs) * (1 + k)
        for x in range(values):  # D(x)[x in S] <= mu_x + in - e^eps out, divided where it is large
            row = np.zeros(size)
            for p, (to, giver) in enumerate(pairs):
                if to == x:
                    row[place + p] -= 1
                if giver == x:
                    row[place + p] += np.exp(min(epsilon, 600))
            scale = max(1.0, np.abs(row).max())
            rows.append(row / scale)
            limits.append((mu[x] - prior[x] * inside[x]) / scale + 1e-12)
        for p in range(len(pairs)):
            row = np.zeros(size)
            row[place + p], row[p] = 1, -1
            rows.append(row)
            limits.append(0.0)
    if not rows:
        return 0.0
    cost = np.zeros(size)
    cost[: len(pairs)] = 1
    found = optimize.linprog(cost, A_ub=np.array(rows), b_ub=limits, bounds=(0, 1))
    return found.fun if found.success else np.inf  # infeasible: no work would be enough


@pytest.mark.states("Narcissus theory", "4.6")
@pytest.mark.parametrize(
    "guarantee", [PureDP(0.7), GaussianDP(0.4), GaussianDP(1.5), ApproximateDP(0.5, 0.02)]
)
def test_limits_at_points_against_the_whole_program(guarantee):
    """The order that the bounds must have, and that each step up is small."""
    rng = np.random.default_rng(11)
    success = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1.0]])
    rows = rng.dirichlet(np.ones(4), 6)
    whole = optimum_program(rows, guarantee, success)
    single = optimum(rows, guarantee, success)
    points = optimum_at_points(rows, guarantee, success, 10)
    # The programs know the profile at some points only, and may be that much above the truth.
    assert (whole <= single + 2e-4).all()
    assert (single <= points + 2e-3).all()
    assert (points <= single + 0.1).all()
    if isinstance(guarantee, PureDP):
        np.testing.assert_allclose(points, whole, atol=1e-6)
    # Targets are solved many at a time. Alone, each gets the same but for the choice among
    # multipliers that are equally good at the tangents and not quite so between them.
    alone = np.concatenate([optimum(row, guarantee, success) for row in rows])
    np.testing.assert_allclose(single, alone, atol=5e-3)
