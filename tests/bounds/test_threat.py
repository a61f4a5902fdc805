"""Threats: what follows from the best guess alone, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus.bounds import best, bounds_on, threat
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP


def test_membership_is_exact_match_on_two_values():
    coin = threat(prior=0.5, exact_match=True)
    assert coin.values == (0.5, 0.5)
    assert coin.inseparable == 0.5
    assert best(bounds_on(coin, GaussianDP(1.0))).value == pytest.approx(0.6914624613)
    assert best(bounds_on(threat(prior=0.5), GaussianDP(1.0))).value > 0.79


@pytest.mark.parametrize("p", [1e-320, 1e-9, 1e-3, 0.07, 0.1, 1 / 3, 0.4, 0.5, 0.7, 1.0])
def test_the_worst_prior_is_a_corner_of_all_with_that_best_guess(p):
    danger = threat(prior=p, exact_match=True)
    assert danger.prior == p
    if danger.values is not None:
        row = np.array(danger.values)
        assert row.sum() == pytest.approx(1, abs=1e-12)
        assert row.max() <= p * (1 + 1e-12)
        assert (row == p).sum() >= row.size - 1
        assert row.size == math.ceil(1 / p - 1e-9)
        assert danger.inseparable == pytest.approx(float((row**2).sum()), abs=1e-12)
    else:
        assert danger.inseparable == pytest.approx(p, rel=1e-3, abs=1e-300)


def test_no_prior_with_that_best_guess_allows_more():
    rng = np.random.default_rng(5)
    for _ in range(25):
        values = int(rng.integers(2, 5))
        prior = rng.dirichlet(np.full(values, 3.0))
        p = float(prior.max())
        for guarantee in (GaussianDP(1.0), ApproximateDP(0.5, 0.02), PureDP(1.0)):
            worst = best(bounds_on(threat(prior=p, exact_match=True), guarantee)).value
            given = best(bounds_on(threat(values=prior), guarantee)).value
            assert given <= worst + 1e-6
            anyhow = best(bounds_on(threat(prior=p), guarantee)).value
            assert worst <= anyhow + 1e-9


@pytest.mark.parametrize("values", [93, 99, 105, 210, 999])
def test_whole_numbers_of_equal_values_are_whole_in_spite_of_rounding(values):
    danger = threat(prior=1 / values, exact_match=True)
    assert danger.uniform
    assert len(danger.values) == values


def test_what_exact_match_computes_is_not_taken():
    for wrong in (
        {"prior": 0.5, "exact_match": True, "inseparable": 0.5},
        {"values": [0.5, 0.5], "exact_match": True},
        {"values": [0.5, 0.5], "inseparable": 0.5},
    ):
        with pytest.raises(InputError, match="leave it out"):
            threat(**wrong)


def test_one_guess_for_each_value_is_exact_match_in_whatever_order():
    plain = threat(values=[0.5, 0.3, 0.2])
    assert threat(values=[0.5, 0.3, 0.2], success=np.eye(3)) == plain
    assert threat(values=[0.5, 0.3, 0.2], success=np.eye(3)[:, [2, 0, 1]]) == plain
    assert threat(values=[0.5, 0.3, 0.2], within=0) == plain
    assert not threat(values=[0.5, 0.3, 0.2], within=1).exact_match
