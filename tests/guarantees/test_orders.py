"""Two profiles, of adding and of removing a record, become one of replacing it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP, ProfileCurve, as_replace_one, from_orders
from narcissus.guarantees.curves import one_after_another

E = np.linspace(0.0, 4.0, 41)


def sampled(rate: float, epsilon: np.ndarray, *, remove: bool) -> np.ndarray:
    """Hockey stick of (1 - q) N(0, 1) + q N(1, 1) and N(0, 1), by brute force on a fine grid."""
    x = np.linspace(-9.0, 10.0, 40_001)
    without = np.exp(-(x**2) / 2)
    with_it = (1 - rate) * without + rate * np.exp(-((x - 1) ** 2) / 2)
    without, with_it = without / without.sum(), with_it / with_it.sum()
    p, q = (with_it, without) if remove else (without, with_it)
    return np.array([np.maximum(p - np.exp(e) * q, 0.0).sum() for e in epsilon])


def replaced(rate: float, epsilon: np.ndarray) -> np.ndarray:
    """The same of a record at 1 exchanged for one at -1."""
    x = np.linspace(-10.0, 10.0, 40_001)
    base = (1 - rate) * np.exp(-(x**2) / 2)
    p, q = (base + rate * np.exp(-((x - m) ** 2) / 2) for m in (1, -1))
    p, q = p / p.sum(), q / q.sum()
    return np.array([np.maximum(p - np.exp(e) * q, 0.0).sum() for e in epsilon])


@pytest.mark.states("Dwork and Roth 2014", "Theorem 2.2")
@pytest.mark.parametrize("rate", [0.05, 0.4, 1.0])
def test_two_steps_limit_what_a_replaced_record_shows(rate):
    points = np.linspace(0.0, 6.0, 200)
    add, remove = (sampled(rate, points, remove=r) for r in (False, True))
    both = from_orders(points, add, remove)
    found = both.profile(E)
    assert (found >= replaced(rate, E) - 1e-9).all()
    # the two orders apart say more than the worse of them twice
    worse = ProfileCurve(tuple(points), tuple(np.maximum(add, remove)), adjacency="add-remove")
    twice = as_replace_one(worse).profile(E)
    assert (found <= twice * (1 + 1e-9)).all()
    if rate < 1:
        assert found[10] < 0.95 * twice[10]
    # by brute force over the splits, either order first
    e = 1.0
    parts = np.linspace(0, e, 2001)
    own = {r: sampled(rate, parts, remove=r) for r in (False, True)}
    best = min((own[r] + np.exp(parts) * own[not r][::-1]).min() for r in (False, True))
    assert best <= float(both.profile(e)) + 1e-9
    assert float(both.profile(e)) == pytest.approx(best, abs=2e-3)


def test_two_gaussian_steps_are_near_their_own_composition():
    half = GaussianDP(0.5).profile
    found = one_after_another(half, half, 6.0).profile(E)
    truth = GaussianDP(1.0).profile(E)
    assert (found >= truth - 1e-12).all()
    assert (found[E > 0.2] <= 1.02 * truth[E > 0.2]).all()


def test_only_points_that_were_given_are_used():
    """One point (e, d) of both orders: the sum of both is all that follows at twice e."""
    both = from_orders([1.0], [0.01], [0.02])
    first, second = 0.01 + np.e * 0.02, 0.02 + np.e * 0.01
    assert float(both.profile(2.0)) == pytest.approx(min(first, second), rel=1e-12)
    assert float(both.profile(50.0)) == pytest.approx(min(first, second), rel=1e-12)
    assert both.adjacency == "replace-one"
    assert "of adding and of removing a record (add-remove" in both.describe()


def test_an_order_is_limited_by_the_mirrored_other_one():
    """delta of the one at -e is 1 - exp(-e) (1 - delta of the other at e): no point lies below."""
    gauss = GaussianDP(1.0)
    points = np.array([0.5, 1.0, 2.0])
    both = from_orders(points, gauss.profile(points), gauss.profile(points))
    assert float(both.profile(0.0)) >= float(GaussianDP(2.0).profile(0.0))
    # without the mirror the chord from (0, 1) is all there is at 0
    chord = 1 - (1 - gauss.profile(0.5)) / np.exp(0.5)
    assert float(both.profile(0.0)) < 2 * float(chord)


def test_far_epsilons_neither_overflow_nor_claim_too_much():
    both = from_orders([0.0, 400.0, 900.0], [0.5, 0.2, 0.0], [0.5, 0.1, 0.0])
    found = both.profile([0.0, 300.0, 500.0, 2000.0])
    assert ((found >= 0) & (found <= 1)).all()
    assert special.expit(0) <= found[0]


@pytest.mark.parametrize(
    "wrong",
    [
        ([], [], []),
        ([1.0], [0.1], [0.1, 0.2]),
        ([-1.0], [0.1], [0.1]),
        ([np.inf], [0.1], [0.1]),
        ([1.0], [1.1], [0.1]),
    ],
)
def test_what_is_no_pair_of_profiles_is_refused(wrong):
    with pytest.raises(InputError):
        from_orders(*wrong)


def test_of_membership_the_worse_order_holds_and_no_more():
    """A pair of coins of which neither order dominates the other, its curve written out."""
    p, q = np.array([0.9, 0.1]), np.array([0.5, 0.5])
    epsilon = np.linspace(0, 2, 401)

    def stick(a, b):
        return np.maximum(a[:, None] - np.exp(epsilon) * b[:, None], 0).sum(axis=0)

    add, remove = stick(q, p), stick(p, q)
    found = from_orders(epsilon, add, remove, secret="membership")
    assert (found.adjacency, found.secret) == ("add-remove", "membership")
    assert np.allclose(found.profile(epsilon), np.maximum(add, remove), atol=1e-12)
    between = epsilon[:-1] + 0.0021
    worse = np.maximum(
        *(np.maximum(a[:, None] - np.exp(between) * b[:, None], 0).sum(axis=0)
          for a, b in ((p, q), (q, p)))
    )  # fmt: skip
    assert (found.profile(between) >= worse - 1e-15).all()
    value = from_orders(epsilon, add, remove)
    assert (found.profile(epsilon) <= value.profile(epsilon) + 1e-12).all()
    # where one order says more at 0 than the other, both have it: it is one total variation
    assert float(
        from_orders([0.0, 1.0], [0.1, 0.0], [0.2, 0.0], secret="membership").profile(0.0)
    ) == pytest.approx(0.1)
