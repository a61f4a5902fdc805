"""Narcissus theory 4.6: reference values of the one-target optimum."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import domination, exact_match_optimum, optimum
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP

TABLE = [
    ([0.7, 0.2, 0.1], PureDP(1), 0.7),
    ([0.7, 0.2, 0.1], PureDP(3), 0.90944),
    ([0.3, 0.25, 0.2, 0.15, 0.1], PureDP(2), 0.64879),
    ([0.5, 0.5], GaussianDP(0.268), 0.55330),
    ([0.582, 0.418], GaussianDP(0.268), 0.58886),
    ([0.742, 0.1, 0.08, 0.05, 0.028], GaussianDP(0.268), 0.742),
    ([0.5, 0.5], GaussianDP(1), 0.69146),
]


@pytest.mark.states("Narcissus theory", "4.6")
@pytest.mark.parametrize(("prior", "guarantee", "value"), TABLE)
def test_the_closed_form_gives_the_table(prior, guarantee, value):
    assert optimum(prior, guarantee)[0] == pytest.approx(value, abs=6e-6)
    assert optimum(prior, guarantee, np.eye(len(prior)))[0] == pytest.approx(value, abs=6e-6)


@pytest.mark.parametrize(("mu", "value"), [(0.72, 0.7422), (2, 0.8149)])
def test_the_table_s_25_tangents_are_not_below_the_whole_profile(mu, value):
    found = optimum([0.742, 0.1, 0.08, 0.05, 0.028], GaussianDP(mu))[0]
    assert value - 1.5e-3 < found <= value + 5e-5


@pytest.mark.states("Narcissus theory", "4.6")
def test_overlapping_success_of_4_2_and_4_4():
    two_of_three = 1 - np.eye(3)
    assert optimum([1 / 3] * 3, ApproximateDP(0.1, 0.01), two_of_three)[0] == pytest.approx(
        0.694737, abs=6e-7
    )
    sets = [[1, 0, 1], [1, 1, 0], [0, 1, 1]]
    assert optimum([0.5, 0.3, 0.2], PureDP(1), sets)[0] == pytest.approx(0.865529, abs=6e-7)


@pytest.mark.states("Narcissus theory", "4.4", "4.6")
@pytest.mark.parametrize(
    ("prior", "n", "v", "o", "bound"),
    [
        ([0.7, 0.3], 12, 9, 0.731059, 0.589582),
        ([0.7, 0.3], 12, 12, 0.731059, 0.023304),
        ([0.9, 0.1], 12, 11, 0.9, 0.659002),
    ],
)
def test_exact_match_under_pure_dp(prior, n, v, o, bound):
    assert exact_match_optimum(prior, 1)[0] == pytest.approx(o, abs=6e-7)
    assert domination([prior] * n, PureDP(1), v).value == pytest.approx(bound, abs=6e-7)


@pytest.mark.states("Narcissus theory", "4.4")
def test_exact_match_with_two_different_targets_and_with_delta():
    rows = [[0.34, 0.446, 0.214], [0.016, 0.416, 0.568]]  # the last printed as .567
    assert domination(rows, PureDP(1), 2).value == pytest.approx(0.41436, abs=5e-4)
    found = domination([[0.7, 0.3]] * 2, ApproximateDP(1, 0.01), 2).value
    assert found == pytest.approx(0.539825, abs=6e-7)
