"""The optimum of a secret whose masses are a formula, against the listed one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from narcissus.bounds import (
    at_most,
    best,
    bounds_on,
    domination,
    interpolation,
    optimum,
    ranked_optimum,
    ranked_tails,
    threat_of_ranked,
)
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP, RenyiDP
from narcissus.priors import Zipf

HERE = pytest.mark.states("Narcissus theory", "4.11")


@HERE
@pytest.mark.parametrize("s", [0.0, 0.6, 1.0, 1.1, 2.5])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 997])
def test_it_is_the_optimum_of_the_listed_masses(n, s):
    mass = np.arange(1, n + 1, dtype=float) ** -s
    mass /= mass.sum()
    for epsilon in (0.0, 0.3, 1.0, 4.0, 800.0):
        for guarantee in (PureDP(epsilon), ApproximateDP(epsilon, 0.01)):
            found = ranked_optimum(Zipf(s, n), guarantee)
            assert found == pytest.approx(float(optimum(mass, guarantee)[0]), rel=1e-11)


@HERE
@pytest.mark.parametrize(
    ("s", "values"),
    [
        (1.2, (0.1903575179, 0.3143734043, 0.4655825961, 0.7537626232)),
        (1.1, (0.1149739262, 0.1997231331, 0.3129060511, 0.5809093074)),
    ],
)
def test_a_billion_passwords(s, values):
    found = [ranked_optimum(Zipf(s, 10**9), ApproximateDP(e, 1e-5)) for e in (1.0, 3.0, 5.0, 10.0)]
    assert found == pytest.approx(values, abs=6e-11)


# Narcissus theory 4.11: upper limits by multipliers, and what a mechanism reaches
BILLION = {
    1.1: (
        (0.1072453620, 0.1120717134, 0.1276847266, 0.2028338998),
        (0.1072454, 0.111411, 0.123042, 0.178573),
    ),
    1.2: (
        (0.1814196498, 0.1875748988, 0.2086950794, 0.3087350968),
        (0.1814196, 0.1869184, 0.2035669, 0.2812846),
    ),
}


def reached(law, mu):
    """Publish |Lambda|, Lambda ~ N(mu^2 / 2, mu^2), then the pure mechanism of that epsilon."""
    nodes, weights = np.polynomial.legendre.leggauss(4)
    edges = np.sort(np.append(np.linspace(-8.0, 8.0, 200), -mu / 2))  # Lambda changes its sign
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + half + half * nodes).ravel()
    each = [ranked_optimum(law, PureDP(float(abs(mu**2 / 2 + mu * x)))) for x in z]
    return float((half * weights).ravel() @ (stats.norm.pdf(z) * each))


@HERE
@pytest.mark.parametrize("s", [1.1, 1.2])
def test_a_billion_passwords_under_gaussian_dp(s):
    law = Zipf(s, 10**9)
    for epsilon, above, below in zip((1.0, 3.0, 5.0, 10.0), *BILLION[s], strict=True):
        guarantee = GaussianDP.from_epsilon_delta(epsilon, 1e-5)
        found = ranked_optimum(law, guarantee)
        assert found == pytest.approx(above, abs=2e-10)
        floor = reached(law, guarantee.mu)
        assert floor == pytest.approx(below, abs=1.5e-6)  # the quadrature's error
        assert floor <= found
        # less than what the one point (epsilon, delta) of the same curve proves
        assert found < ranked_optimum(law, ApproximateDP(epsilon, 1e-5))


@HERE
@pytest.mark.parametrize("guarantee", [GaussianDP(1.0), GaussianDP(4.0), RenyiDP(4.0, 0.5)])
@pytest.mark.parametrize(("s", "n"), [(0.4, 30_000), (1.0, 9_001), (2.0, 4_097)])
def test_in_groups_it_is_the_optimum_of_all_masses(guarantee, s, n):
    mass = np.arange(1, n + 1, dtype=float) ** -s
    truth = float(optimum(mass / mass.sum(), guarantee)[0])
    found = ranked_optimum(Zipf(s, n), guarantee)
    assert truth - 2e-9 <= found <= truth * (1 + 1e-6)


@pytest.mark.parametrize("guarantee", [PureDP(2.0), ApproximateDP(2.0, 1e-3), GaussianDP(1.0)])
def test_a_tail_by_rank_is_that_of_the_listed_masses(guarantee):
    law, n = Zipf(1.1, 40), 12
    mass = np.arange(1, 41, dtype=float) ** -1.1
    mass /= mass.sum()
    tails = ranked_tails(law, guarantee, n)
    assert tails.shape == (n + 2,)
    assert (tails[0], tails[-1]) == (1.0, 0.0)
    for v in (3, 6, 9):
        by_list = domination(mass, guarantee, v, repeats=[n]).value
        assert tails[v] <= by_list * (1 + 1e-9)
        if isinstance(guarantee, PureDP):
            assert tails[v] == pytest.approx(by_list, rel=1e-9)
        else:
            # listed, each point may be chosen anew; never above by more than rounding
            assert tails[v] >= interpolation(mass, guarantee, v, repeats=[n]).value * (1 - 1e-9)


def test_a_threat_by_rank_is_answered_by_all_commands_alike():
    """Up to a thousand values it is listed; beyond, the theorems by rank answer."""
    few = threat_of_ranked(Zipf(1.1, 10), targets=3)
    assert len(few.values) == 10
    found = best(bounds_on(few, ApproximateDP(3.0, 1e-5)))
    assert found.value == pytest.approx(0.694906, abs=5e-7)
    assert any("Zipf's law with exponent 1.1 over 10 values" in said for said in found.assumptions)
    many = threat_of_ranked(Zipf(1.1, 10**9), targets=20)
    assert many.values is None
    assert many.known
    assert many.exact_match
    guarantee = GaussianDP(1.0)
    success = best(bounds_on(many, guarantee))
    assert success.id == "one-target-optimum-ranked"
    assert success.value == ranked_optimum(Zipf(1.1, 10**9), guarantee)
    number = int(at_most(many, guarantee, 0.95).value)
    tails = ranked_tails(Zipf(1.1, 10**9), guarantee, 20)
    assert tails[number + 1] <= 0.05 < tails[number]
    # no more than the bound from the best guess alone
    assert best(bounds_on(many, guarantee, 12)).value <= best(
        bounds_on(threat_of_ranked(Zipf(1.1, 1000), targets=20), guarantee, 12)
    ).value * (1 + 1e-9)


def test_other_neighbours_are_refused():
    with pytest.raises(InputError, match="replace-one"):
        ranked_optimum(Zipf(1.0, 5), PureDP(1.0, adjacency="add-remove"))
