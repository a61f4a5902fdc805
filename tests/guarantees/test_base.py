"""The two views of every guarantee, against each other."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    require_replace_one,
)
from narcissus.guarantees.parametric import _tangent_points

ALL = [PureDP(0), PureDP(1), PureDP(1e4), ApproximateDP(1, 0.1), ApproximateDP(0, 0.5)]
ALL += [GaussianDP(mu) for mu in (0, 1e-9, 0.268, 1, 3, 40)]


OTHERS = [
    RenyiDP(2, 0.5),
    RenyiDP(1.01, 1e-3),
    RenyiDP(30, 2.0),
    RenyiDP(1e6, 1.0),
    ZeroConcentratedDP(0.125),
    ZeroConcentratedDP(2.0),
    BayesSecurity(0.9),
    ProfileCurve((1.0,), (0.05,)),
    ProfileCurve((0.3, 1.0, 4.0), (0.2, 0.01, 1e-6)),
]


@pytest.mark.states("Dong, Roth and Su 2022", "Proposition 2.12")
@pytest.mark.states("Narcissus theory", "3")
@pytest.mark.parametrize("guarantee", ALL)
def test_profile_and_trade_off_are_views_of_one_thing(guarantee):
    epsilon = np.linspace(-6, 6, 49)
    alpha = np.concatenate(
        [[0], np.logspace(-12, -0.3, 4000), 1 - np.logspace(-0.31, -12, 4000), [1]]
    )
    delta = guarantee.profile(epsilon)
    gaps = guarantee.power(alpha)[None, :] - np.exp(epsilon)[:, None] * alpha[None, :]
    assert (gaps <= delta[:, None] + 1e-12).all()
    assert np.abs(gaps.max(axis=1) - delta).max() < 2e-3
    assert np.allclose(guarantee.power(alpha) + guarantee.trade_off(alpha), 1, atol=1e-14, rtol=0)
    mirrored = -np.expm1(-epsilon) + np.exp(-epsilon) * delta
    assert np.allclose(guarantee.profile(-epsilon), mirrored, atol=1e-12, rtol=0)


@pytest.mark.parametrize("guarantee", ALL)
def test_profiles_at_the_ends(guarantee):
    found = guarantee.profile([-np.inf, -1e4, 1e300])
    assert found[0] == 1
    assert found[1] == 1
    assert found[2] == (guarantee.delta if isinstance(guarantee, ApproximateDP) else 0)
    points = guarantee.tangents(7)
    assert 1 <= points.size <= 7
    assert (points >= 0).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: PureDP(-1),
        lambda: PureDP(float("nan")),
        lambda: PureDP(float("inf")),
        lambda: ApproximateDP(1, 1.5),
        lambda: GaussianDP(-0.1),
        lambda: GaussianDP.from_epsilon_delta(1, 0),
        lambda: PureDP(1, adjacency="swap"),
        lambda: PureDP(1).profile(float("nan")),
        lambda: PureDP(1).trade_off(1.5),
    ],
)
def test_bad_input_is_refused(make):
    with pytest.raises(InputError):
        make()


def test_adjacency_is_stated_and_not_mixed():
    assert "replace-one" in PureDP(1).describe()
    require_replace_one(PureDP(1))
    with pytest.raises(InputError, match="double"):
        require_replace_one(PureDP(1, adjacency="add-remove"))


@pytest.mark.parametrize("guarantee", ALL + OTHERS)
def test_the_other_views_are_consistent(guarantee):
    epsilon = np.linspace(-5, 9, 300)
    delta = guarantee.profile(epsilon)
    assert ((delta >= 0) & (delta <= 1)).all()
    assert (np.diff(delta) <= 1e-12).all()
    assert (delta >= -np.expm1(epsilon) - 1e-12).all()
    alpha = np.concatenate([[0], np.logspace(-14, -0.01, 300), [1]])
    power = guarantee.power(alpha)
    assert (power >= alpha - 1e-12).all()
    assert (np.diff(power) >= -1e-12).all()
    # neither view claims more than the other allows
    line = delta[None, :] + np.exp(epsilon)[None, :] * alpha[:, None]
    slack = 2e-3 if isinstance(guarantee, RenyiDP) else 1e-9
    assert (power <= line.min(axis=1) + slack).all()
    back = guarantee.least_alpha(power)
    inner = power < 1 - 1e-9  # where it is 1 the inverse is any of many rates
    assert (back <= alpha + 1e-7)[inner].all()
    assert guarantee.describe().endswith("neighbours)")


@pytest.mark.parametrize("delta", [0.3, 1e-5, 1e-60])
@pytest.mark.parametrize(
    "guarantee",
    [GaussianDP(1.0), RenyiDP(2.0, 0.5), ZeroConcentratedDP(0.001), ApproximateDP(1, 0)],
)
def test_four_halvings_at_once_are_four_halvings(guarantee, delta):
    """To the last digit: one at a time, in plain numbers."""
    low, high = 0.0, 1.0
    while guarantee.profile(high) > delta:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if guarantee.profile(middle) > delta else (low, middle)
    expected = 0.0 if guarantee.profile(0.0) <= delta else high
    assert guarantee.epsilon_beyond(delta) == expected


def test_the_region_of_many_orders_is_that_of_each():
    orders = np.array([1.01, 2.0, 11.0])
    together = _tangent_points(orders[:, None], 0.3 * orders[:, None], 50)
    each = [_tangent_points(float(one), 0.3 * float(one), 50) for one in orders]
    assert together == tuple(sum((one[k] for one in each), ()) for k in (0, 1))
