"""Tests of it."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from narcissus import channels as ch
from narcissus.channels import (
    Geometric,
    KaryRandomizedResponse,
    beta,
    beta_star,
    channel,
    l2_bounds,
    pairwise,
    plot_pairwise,
    quick_bounds,
    tied_pairs,
)
from narcissus.errors import TooLargeError

from .conftest import random_channel, refused


@pytest.mark.states("Chatzikokolakis et al. 2023", "Theorem 2")
@pytest.mark.parametrize(
    ("n", "m"), [(2, 1), (2, 2), (5, 3), (13, 7), (300, 4), (90, 31), (520, 40)]
)
@pytest.mark.parametrize("concentration", [0.05, 1.0, 20.0])
def test_beta_star_is_the_l1_diameter(loops, n, m, concentration):
    rng = np.random.default_rng([n, m, int(100 * concentration)])
    rows = random_channel(rng, n, m, concentration)
    found = beta_star(rows)
    assert found.value == pytest.approx(1 - pdist(rows, "cityblock").max() / 2, abs=1e-13)
    a, b = found.indices
    assert a < b
    assert found.value == pytest.approx(np.minimum(rows[a], rows[b]).sum(), rel=1e-14, abs=0)


def test_tiny_security_keeps_relative_accuracy():
    channel_ = Geometric(2_000, 0.1).channel()
    assert beta_star(channel_).value == pytest.approx(3.9059249e-44, rel=1e-7, abs=0)


def test_tied_pairs_and_table():
    c = KaryRandomizedResponse(6, 1).channel()
    assert len(tied_pairs(c)) == 15
    refused("more than `most` = 3", tied_pairs, c, most=3, error=TooLargeError)
    table = pairwise(c)
    assert np.array_equal(table, table.T)
    assert np.all(np.diag(table) == 1)
    refused("MiB", pairwise, c, most=5, error=TooLargeError)


def test_heat_map_has_a_cap():
    import matplotlib.pyplot as plt

    axes = plot_pairwise(KaryRandomizedResponse(6, 1).channel())
    assert len(axes.images) == 1
    plt.close("all")
    with pytest.raises(TooLargeError, match="cannot be read"):
        plot_pairwise(KaryRandomizedResponse(6, 1).channel(), most=5)


@pytest.mark.states("Chatzikokolakis et al. 2023", "Proposition 5")
def test_quick_bounds_respect_the_convex_hull():
    # Uniform is outside the hull: the paper's upper bound would say 0.35, the truth is 0.9.
    c = [[0.9, 0.1, 0, 0], [0.8, 0.2, 0, 0]]
    found = quick_bounds(c, "uniform")
    assert found.high is None
    assert "hull" in found.why
    assert found.low <= beta_star(c).value
    inside = quick_bounds(c, [0.85, 0.15, 0, 0])
    assert inside.high >= beta_star(c).value == pytest.approx(0.9)
    refused("'centroid', 'uniform'", quick_bounds, c, "middle")
    refused("4 entries", quick_bounds, c, [1.0])


@pytest.mark.states("Chatzikokolakis et al. 2023", "Proposition 5", "section VII-C")
@pytest.mark.parametrize("seed", range(10))
def test_all_bounds_hold(seed):
    rng = np.random.default_rng(seed)
    rows = random_channel(rng, 12, 6, 0.7)
    truth = beta_star(rows).value
    weights = rng.dirichlet(np.ones(12))
    for found in (
        quick_bounds(rows),
        quick_bounds(rows, "uniform"),
        quick_bounds(rows, rows[3]),
        quick_bounds(rows, weights @ rows / (weights @ rows).sum()),
        l2_bounds(rows),
    ):
        assert found.low <= truth + 1e-12
        assert found.high is None or found.high >= truth - 1e-12


@pytest.mark.states("Chatzikokolakis et al. 2023", "Theorem 1")
def test_beta_star_is_the_least_beta_over_priors():
    rng = np.random.default_rng(2)
    rows = random_channel(rng, 5, 4)
    found = beta_star(rows)
    two = np.zeros(5)
    two[list(found.indices)] = 0.5
    assert beta(rows, two) == pytest.approx(found.value, rel=1e-12)
    for prior in rng.dirichlet(np.full(5, 0.4), 500):
        assert beta(rows, prior) >= found.value - 1e-12


def test_texts():
    found = beta_star(channel([[0.9, 0.1], [0.2, 0.8]], secrets=["in", "out"]))
    assert "'in' and 'out'" in str(found)
    assert found.to_dict()["pair"] == ["in", "out"]
    assert found.advantage == pytest.approx(0.7)


@pytest.mark.states(
    "Chatzikokolakis et al. 2023",
    "Equation 2",
    "Proposition 2",
    "Equation 3",
    "section V-B",
    "section V-C",
)
def test_local_dp_by_enumeration():
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.ones(5), 6)
    ratio = max(rows[a, o] / rows[b, o] for a in range(6) for b in range(6) for o in range(5))
    assert ch.local_dp_epsilon(rows) == pytest.approx(math.log(ratio), rel=1e-13)
    for epsilon in (0.0, 0.3, 1.0, 5.0):
        delta = max(
            sum(max(0, rows[a, o] - math.exp(epsilon) * rows[b, o]) for o in range(5))
            for a in range(6)
            for b in range(6)
        )
        assert ch.local_dp_delta(rows, epsilon) == pytest.approx(delta, rel=1e-12)
    assert ch.local_dp_delta(rows, 0) == pytest.approx(1 - ch.beta_star(rows).value, abs=1e-14)
    assert ch.local_dp_delta(rows, ch.local_dp_epsilon(rows)) < 1e-15


def test_local_dp_with_impossible_outputs():
    rows = [[0.5, 0.5, 0.0], [0.5, 0.3, 0.2]]
    assert ch.local_dp_epsilon(rows) == math.inf
    assert ch.local_dp_delta(rows, 1e4) == pytest.approx(0.2)
    profile = ch.local_dp_profile(rows)
    assert profile.delta[-1] == pytest.approx(0.2)
    assert list(profile.to_frame().columns) == ["epsilon", "delta"]
    refused("at least 0", ch.local_dp_profile, rows, [-1.0])
    import matplotlib.pyplot as plt

    assert profile.plot().get_xlabel() == "epsilon"
    plt.close("all")
