"""Profiles and trade-off functions against high-precision arithmetic and against each other."""

from __future__ import annotations

import mpmath
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
    as_approximate,
    as_gaussian,
    as_renyi,
    as_replace_one,
    as_zero_concentrated,
    dp_sgd,
    from_event,
    from_privacy_loss,
    require_replace_one,
)

ALL = [PureDP(0), PureDP(1), PureDP(1e4), ApproximateDP(1, 0.1), ApproximateDP(0, 0.5)]
ALL += [GaussianDP(mu) for mu in (0, 1e-9, 0.268, 1, 3, 40)]


def exact_gaussian(epsilon: float, mu: float) -> mpmath.mpf:
    e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
    return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@pytest.mark.states("Dong, Roth and Su 2022", "Corollary 2.13")
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


@pytest.mark.states("Balle and Wang 2018", "Theorem 8")
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


@pytest.mark.parametrize(("alpha", "gamma"), [(2, 0.5), (1.5, 0.1), (10, 3.0)])
def test_no_gaussian_or_randomised_response_of_that_divergence_exceeds_renyi(alpha, gamma):
    guarantee = RenyiDP(alpha, gamma)
    epsilon = np.linspace(-4, 10, 200)
    rates = np.logspace(-12, 0, 100)
    gaussian = GaussianDP(np.sqrt(2 * gamma / alpha))
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if as_renyi(PureDP(middle), alpha).gamma <= gamma else (low, middle)
        )
    for inside in (gaussian, PureDP(low)):
        assert (guarantee.profile(epsilon) >= inside.profile(epsilon) - 1e-12).all()
        assert (guarantee.power(rates) >= inside.power(rates) - 1e-12).all()
        # and the region is touched somewhere: the conversion is not idle
    touched = np.abs(guarantee.power(rates) - PureDP(low).power(rates)).min()
    assert touched < 1e-6


def test_no_gaussian_of_that_rho_exceeds_zcdp():
    for rho in (1e-4, 0.125, 2.0, 50.0):
        inside = GaussianDP(np.sqrt(2 * rho))
        epsilon = np.linspace(-3, rho + 8 * np.sqrt(rho) + 1, 300)
        assert (ZeroConcentratedDP(rho).profile(epsilon) >= inside.profile(epsilon) - 1e-13).all()


@pytest.mark.states("Canonne, Kamath and Steinke 2020", "Proposition 12")
def test_renyi_profile_is_at_most_the_published_conversion():
    alpha, gamma = 3.0, 0.4
    epsilon = np.linspace(0, 5, 50)
    published = np.exp((alpha - 1) * (gamma - epsilon)) * (1 - 1 / alpha) ** (alpha - 1) / alpha
    found = RenyiDP(alpha, gamma).profile(epsilon)
    assert (found <= published + 1e-15).all()
    assert (found < published).any()


def test_a_curve_through_a_gaussian_profile_is_above_it_and_near():
    truth = GaussianDP(1.0)
    curve = ProfileCurve.from_profile(lambda e: float(truth.profile(e)), np.linspace(0, 8, 1000))
    epsilon = np.linspace(-3, 8, 999)
    ratio = curve.profile(epsilon) / truth.profile(epsilon)
    assert (ratio >= 1 - 1e-12).all()
    assert (ratio <= 1 + 1e-3).all()
    assert curve.profile(1e4) == curve.profile(8.0)


def test_one_point_gives_approximate_dp():
    epsilon = np.linspace(-4, 4, 81)
    for e, d in [(1.0, 0.1), (0.0, 0.3), (2.0, 0.0)]:
        curve = ProfileCurve((e,), (d,))
        assert np.allclose(
            curve.profile(epsilon), ApproximateDP(e, d).profile(epsilon), atol=1e-12, rtol=0
        )
    rates = np.linspace(0, 1, 41)
    curve = ProfileCurve((1.0,), (0.1,))
    assert np.allclose(curve.power(rates), ApproximateDP(1, 0.1).power(rates), atol=1e-9, rtol=0)


def test_dp_sgd_by_accounting():
    one_step = dp_sgd(
        2.0, 1.0, 1, interval=1e-3
    )  # a replaced record moves a full batch by two clipping norms
    epsilon = np.linspace(0, 4, 9)
    found = one_step.profile(epsilon)
    truth = GaussianDP(1.0).profile(epsilon)
    assert (found >= truth - 1e-9).all()
    assert np.allclose(found, truth, atol=2e-4, rtol=0)
    added = dp_sgd(2.0, 1.0, 1, adjacency="add-remove", interval=1e-3)
    assert added.adjacency == "add-remove"
    assert np.allclose(added.profile(epsilon), GaussianDP(0.5).profile(epsilon), atol=2e-4, rtol=0)
    rates = np.logspace(-9, 0, 20)
    assert (one_step.power(rates) >= rates).all()  # never below the diagonal
    less, more = dp_sgd(1.0, 0.1, 9, interval=1e-3), dp_sgd(0.8, 0.1, 9, interval=1e-3)
    assert (less.profile(epsilon) <= more.profile(epsilon)).all()


def test_dp_sgd_with_hardly_any_noise_is_told_by_how_often_a_record_is_sampled():
    """Losses beyond 600 give NaN in dp-accounting and are not asked for."""
    found = dp_sgd(0.05, 0.01, 2, interval=1e-2)
    assert max(found.points) == 600
    # delta is at most the chance to be sampled at all, and nearly that
    assert float(found.profile(0.0)) == pytest.approx(1 - 0.99**2, abs=1e-4)
    assert float(found.profile(1e4)) >= 0


def test_accounting_refuses_what_it_cannot_do():
    events = pytest.importorskip("dp_accounting").dp_event
    with pytest.raises(InputError, match="event"):
        from_event(events.LaplaceDpEvent(1.0))
    with pytest.raises(InputError, match="noise"):
        dp_sgd(0, 0.1, 10)
    with pytest.raises(InputError, match="steps"):
        dp_sgd(1, 0.1, 0)

    class Pure:
        def get_delta_for_epsilon(self, epsilon):
            return PureDP(1.0).profile(epsilon)

    found = from_privacy_loss(Pure(), adjacency="replace-one")
    assert np.allclose(found.profile([0, 0.5, 2]), PureDP(1.0).profile([0, 0.5, 2]), atol=1e-6)


@pytest.mark.states("Bun and Steinke 2016", "Proposition 1.4", "Proposition 1.6")
def test_conversions_hold():
    epsilon = np.linspace(-3, 6, 200)
    pure = PureDP(1.3)
    for weaker in (as_gaussian(pure), as_renyi(pure, 3.0), as_zero_concentrated(pure)):
        assert (weaker.profile(epsilon) >= pure.profile(epsilon) - 1e-12).all()
    # the Gaussian one touches at the fixed point of the trade-off function
    rate = 1 / (1 + np.exp(1.3))
    assert as_gaussian(pure).power(rate) == pytest.approx(float(pure.power(rate)), abs=1e-12)
    assert as_gaussian(PureDP(1e4)).mu > 100
    assert as_renyi(GaussianDP(1.0), 4.0).gamma == 2.0
    assert as_renyi(RenyiDP(4, 1.0), 2.0).gamma == 1.0
    assert as_zero_concentrated(GaussianDP(2.0)).rho == 2.0
    assert as_renyi(PureDP(2.0), 1e9).gamma == pytest.approx(2.0, abs=1e-6)
    found = as_approximate(GaussianDP(1.0), delta=1e-5)
    assert float(GaussianDP(1.0).profile(found.epsilon)) == pytest.approx(1e-5, rel=1e-12, abs=0)
    assert as_approximate(GaussianDP(1.0), epsilon=1.0).delta == GaussianDP(1.0).profile(1.0)
    assert as_approximate(PureDP(2.0), delta=0.9).epsilon == 0


@pytest.mark.parametrize(
    "convert",
    [
        lambda: as_gaussian(ApproximateDP(1, 0.1)),
        lambda: as_gaussian(ZeroConcentratedDP(1)),
        lambda: as_renyi(BayesSecurity(0.5), 2),
        lambda: as_renyi(RenyiDP(2, 1), 3),
        lambda: as_zero_concentrated(RenyiDP(2, 1)),
        lambda: as_approximate(ApproximateDP(1, 0.1), delta=0.01),
        lambda: as_approximate(PureDP(1)),
        lambda: as_replace_one(RenyiDP(2, 1, adjacency="add-remove")),
        lambda: RenyiDP(1, 1),
        lambda: RenyiDP(float("inf"), 1),
        lambda: ZeroConcentratedDP(-1),
        lambda: BayesSecurity(2),
        lambda: ProfileCurve((1.0,), (0.1, 0.2)),
        lambda: ProfileCurve((-1.0,), (0.1,)),
    ],
)
def test_what_does_not_follow_is_refused(convert):
    with pytest.raises(InputError):
        convert()


@pytest.mark.states("Dwork and Roth 2014", "Theorem 2.2")
@pytest.mark.states("Dong, Roth and Su 2022", "Theorem 2.14")
@pytest.mark.states("Bun and Steinke 2016", "Proposition 1.9")
@pytest.mark.states("Mironov 2017", "Proposition 11")
def test_replacing_is_removing_and_adding():
    def twice(guarantee):
        return as_replace_one(guarantee)

    assert twice(PureDP(1, adjacency="add-remove")) == PureDP(2)
    assert twice(GaussianDP(0.5, adjacency="add-remove")) == GaussianDP(1.0)
    assert twice(ZeroConcentratedDP(1, adjacency="add-remove")) == ZeroConcentratedDP(4)
    assert twice(ApproximateDP(1, 0.01, adjacency="add-remove")).delta == pytest.approx(
        0.01 * (1 + np.e)
    )
    assert twice(BayesSecurity(0.9, adjacency="add-remove")).beta_star == pytest.approx(0.8)
    assert twice(PureDP(1)) == PureDP(1)
    # two Gaussian steps of mu 1/2 are inside what each weaker statement gives
    epsilon = np.linspace(0, 4, 40)
    truth = GaussianDP(1.0).profile(epsilon)
    half = GaussianDP(0.5)
    curve = ProfileCurve.from_profile(
        lambda e: float(half.profile(e)), np.linspace(0, 6, 300), adjacency="add-remove"
    )
    assert (twice(curve).profile(epsilon) >= truth - 1e-12).all()
    renyi = RenyiDP(8, 8 * 0.125, adjacency="add-remove")
    assert (twice(renyi).profile(epsilon) >= truth - 1e-12).all()
