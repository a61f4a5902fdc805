"""The domination theorem at one point, against its full program and the condition itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from narcissus.bounds.domination import dominate, dominate_point

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


def test_the_solver_s_trouble_with_one_target_is_nobody_else_s():
    tiny = [3.29355120e-16, 1.10639049e-10, 9.99062307e-01, 7.23205452e-10, 9.37692395e-04]
    other = [0.2, 0.2, 0.2, 0.1, 0.3]
    rows = np.array([other, tiny, other])
    rows /= rows.sum(axis=1, keepdims=True)
    success = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])
    mu, _ = dominate_point(rows, success, 40.0)  # one guess only: it is right as often as it is
    assert mu.sum(axis=1) == pytest.approx((rows @ success)[:, 0], rel=1e-9)


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
