"""Profiles and trade-off functions against high-precision arithmetic and against each other."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP, require_replace_one

ALL = [PureDP(0), PureDP(1), PureDP(1e4), ApproximateDP(1, 0.1), ApproximateDP(0, 0.5)]
ALL += [GaussianDP(mu) for mu in (0, 1e-9, 0.268, 1, 3, 40)]


def exact_gaussian(epsilon: float, mu: float) -> mpmath.mpf:
    e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
    return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize("mu", [1e-9, 1e-3, 0.268, 1, 1.99, 2, 5, 40])
@pytest.mark.parametrize("x", [-20, -2, -0.5, 0, 0.7, 2.9, 3.9, 4.1, 8, 20, 36])
def test_the_gaussian_profile_is_right_in_the_tails(mu, x):
    epsilon = mu * (x + mu / 2)
    with mpmath.workdps(900):
        truth = float(exact_gaussian(epsilon, mu))
    # The argument itself is rounded: a relative error of x^2 roundings is inherent.
    assert float(GaussianDP(mu).profile(epsilon)) == pytest.approx(
        truth, rel=1e-14 + 4e-16 * max(1, x * x, abs(x) * mu), abs=0
    )


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
    ("epsilon", "delta"), [(1, 1e-5), (1, 1e-300), (0, 0.5), (1e-9, 1e-9), (1e4, 0.3)]
)
def test_gaussian_calibration_inverts_the_profile(epsilon, delta):
    mu = GaussianDP.from_epsilon_delta(epsilon, delta).mu
    with mpmath.workdps(900):
        slope = mpmath.diff(lambda m: mpmath.log(exact_gaussian(epsilon, m)), mu)
        off = (mpmath.log(exact_gaussian(epsilon, mu)) - mpmath.log(delta)) / (slope * mu)
    assert abs(float(off)) < 1e-13


def test_calibration_of_theory_9():
    assert GaussianDP.from_epsilon_delta(1, 1e-5).mu == pytest.approx(0.268, abs=5e-4)


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
