"""Bayes security against Bayes risks of explicit channels, and as approximate DP."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.guarantees import ApproximateDP, BayesSecurity


def security(channel: np.ndarray) -> float:
    """The least ratio of Bayes risk to guessing error, over a grid of priors of each two rows."""
    least = 1.0
    for i in range(len(channel)):
        for j in range(i):
            for share in np.linspace(0.02, 0.98, 49):
                joint = np.array([share * channel[i], (1 - share) * channel[j]])
                least = min(least, (1 - joint.max(axis=0).sum()) / min(share, 1 - share))
    return least


def test_no_test_between_two_rows_does_better_than_its_guarantee_says():
    rng = np.random.default_rng(3)
    rates, points = np.linspace(0, 1, 21), np.linspace(0, 3, 7)
    for _ in range(20):
        channel = rng.dirichlet(np.ones(3), 3)
        guarantee = BayesSecurity(security(channel))
        for p in channel:
            for q in channel:
                sets = [np.array(s, dtype=float) for s in np.ndindex(2, 2, 2)]
                for event in sets:
                    assert float(guarantee.power(min(1.0, event @ q))) >= event @ p - 1e-9
                    assert float(guarantee.trade_off(min(1.0, event @ q))) <= 1 - event @ p + 1e-9
                stick = np.maximum(p - np.exp(points)[:, None] * q, 0).sum(axis=1)
                assert (stick <= guarantee.profile(points) + 1e-9).all()
        # and one of them reaches it
        apart = max(np.abs(p - q).sum() / 2 for p in channel for q in channel)
        assert float(guarantee.profile(0.0)) == pytest.approx(apart, abs=1e-9)
    assert (guarantee.power(rates) >= rates).all()


@pytest.mark.states("Chatzikokolakis et al. 2023", "Proposition 2")
@pytest.mark.parametrize("beta", [0.0, 0.3, 0.95, 1.0])
def test_its_views_have_their_closed_forms(beta):
    guarantee = BayesSecurity(beta)
    rates = np.linspace(0, 1, 41)
    assert guarantee.as_approximate == ApproximateDP(0.0, 1 - beta)
    assert guarantee.profile([0.0, 2.0, 1e300]) == pytest.approx([1 - beta] * 3, abs=1e-15)
    assert guarantee.power(rates) == pytest.approx(np.minimum(1, rates + 1 - beta), abs=1e-15)
    assert guarantee.trade_off(rates) == pytest.approx(np.maximum(0, beta - rates), abs=1e-15)
    assert guarantee.least_alpha(rates) == pytest.approx(np.maximum(0, rates - 1 + beta), abs=1e-15)
    assert guarantee.tangents(9).tolist() == [0]


def test_the_neighbours_are_kept():
    guarantee = BayesSecurity(0.9, adjacency="add-remove")
    assert guarantee.as_approximate.adjacency == "add-remove"
    assert guarantee.describe() == "Bayes security with beta* 0.9 (add-remove neighbours)"
