"""Guarantees of one or two parameters against explicit channels, and their conversions."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import optimize

from narcissus.bounds import best, bounds_on, threat
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
    as_asked,
    as_gaussian,
    as_renyi,
    as_replace_one,
    as_zero_concentrated,
    require_replace_one,
)
from narcissus.guarantees.parametric import bernoulli_divergence, randomized_response_profile

EPSILONS = [0.0, 1e-9, 0.3, 1.0, 5.0]


def hockey_stick(p, q, e) -> mpmath.mpf:
    """``sum max(0, p - exp(e) q)`` of two distributions."""
    return sum((max(mpmath.mpf(0), a - mpmath.exp(e) * b) for a, b in zip(p, q, strict=True)))


def response(epsilon):
    """The two outcomes of randomized response, for either bit."""
    keep = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
    return [keep, 1 - keep], [1 - keep, keep]


@pytest.mark.states("Narcissus theory", "3")
@pytest.mark.parametrize("epsilon", [*EPSILONS, 40.0, 700.0])
def test_the_profile_is_that_of_randomized_response(epsilon):
    points = np.array([-800.0, -3.0, -1e-8, 0.0, 1e-12, 0.2, 1.0, 4.9, 39.0, 650.0])
    found = PureDP(epsilon).profile(points)
    with mpmath.workdps(400):
        truth = [float(hockey_stick(*response(epsilon), mpmath.mpf(e))) for e in points]
    assert found == pytest.approx(truth, rel=1e-13, abs=0)
    assert randomized_response_profile(points, epsilon) == pytest.approx(truth, rel=1e-13, abs=0)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_other_mechanism_exceeds_it(epsilon):
    """Random channels between two data sets, scaled until their ratios are within."""
    rng = np.random.default_rng(2)
    points = np.linspace(-2, 6, 17)
    for _ in range(50):
        q = rng.dirichlet(np.ones(4))
        low, high = 0.0, 1.0
        p = rng.dirichlet(np.ones(4))
        for _ in range(40):  # as far towards p as the guarantee allows
            share = (low + high) / 2
            ratio = np.abs(np.log((share * p + (1 - share) * q) / q)).max()
            low, high = (share, high) if ratio <= epsilon else (low, share)
        p = low * p + (1 - low) * q
        deltas = np.maximum(p - np.exp(points)[:, None] * q, 0).sum(axis=1)
        assert (deltas <= PureDP(epsilon).profile(points) + 1e-12).all()


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_best_test_is_of_the_outcome_mixed_with_chance(epsilon):
    """Corners of the line of tests: never, on the likelier outcome, always."""
    keep = 1 / (1 + math.exp(-epsilon))
    corners = [0.0, 1 - keep, 1.0], [0.0, keep, 1.0]
    rates = np.linspace(0, 1, 101)
    power = np.interp(rates, *corners)
    guarantee = PureDP(epsilon)
    assert guarantee.power(rates) == pytest.approx(power, abs=1e-14)
    assert guarantee.trade_off(rates) == pytest.approx(1 - power, abs=1e-14)
    assert guarantee.least_alpha(rates) == pytest.approx(np.interp(rates, *corners[::-1]), abs=1e-8)
    back = guarantee.power(guarantee.least_alpha(rates))
    assert back == pytest.approx(rates, abs=1e-14)


@pytest.mark.parametrize("rate", [1e-300, 1e-17])
def test_tiny_rates_keep_their_digits(rate):
    guarantee = PureDP(2.0)
    assert float(guarantee.power(rate)) == pytest.approx(math.exp(2) * rate, rel=1e-12, abs=0)
    assert float(guarantee.least_alpha(rate)) == pytest.approx(
        math.exp(-2) * rate, rel=1e-12, abs=0
    )
    wide = PureDP(1e4)
    assert (wide.power(0.0), wide.power(rate), wide.trade_off(rate)) == (0, 1, 0)
    assert (wide.least_alpha(1.0), wide.trade_off(0.0), wide.trade_off(1.0)) == (1, 1, 0)


def test_one_point_says_all():
    assert PureDP(1.5).tangents(7).tolist() == [1.5]
    assert PureDP(1.5).describe() == "pure DP with epsilon 1.5 (replace-one neighbours)"


CASES = [(0.0, 0.3), (0.5, 0.01), (1.0, 0.0), (2.0, 1e-12), (3.0, 0.9), (1.0, 1.0)]


def worst(epsilon, delta) -> tuple[np.ndarray, np.ndarray]:
    """The four outcomes for either bit: told 0, told 1, said 0, said 1."""
    keep = 1 / (1 + math.exp(-epsilon))
    said = [(1 - delta) * keep, (1 - delta) * (1 - keep)]
    return np.array([delta, 0.0, *said]), np.array([0.0, delta, *said[::-1]])


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_profile_is_that_of_the_worst_mechanism(epsilon, delta):
    p, q = worst(epsilon, delta)
    points = np.array([-30.0, -2.0, -0.1, 0.0, 0.4, 1.0, 2.5, 20.0])
    truth = np.maximum(p - np.exp(points)[:, None] * q, 0).sum(axis=1)
    guarantee = ApproximateDP(epsilon, delta)
    assert guarantee.profile(points) == pytest.approx(truth, rel=1e-11, abs=1e-15)
    assert float(guarantee.profile(epsilon)) == pytest.approx(delta, rel=1e-12, abs=0)
    assert guarantee.profile([epsilon, 1e300]).tolist() == pytest.approx([delta] * 2, abs=0)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_trade_off_is_that_of_the_best_test(epsilon, delta):
    """A program over tests: how often each outcome is called the first."""
    p, q = worst(epsilon, delta)
    guarantee = ApproximateDP(epsilon, delta)
    for rate in (0.0, 1e-3, 0.05, 0.2, 0.5, 0.9, 1.0):
        found = optimize.linprog(-p, A_ub=q[None], b_ub=[rate], bounds=(0, 1))
        assert float(guarantee.power(rate)) == pytest.approx(-found.fun, abs=1e-9)
        assert float(guarantee.trade_off(rate)) == pytest.approx(1 + found.fun, abs=1e-9)
        need = optimize.linprog(q, A_ub=-p[None], b_ub=[-rate], bounds=(0, 1))
        assert float(guarantee.least_alpha(rate)) == pytest.approx(need.fun, abs=1e-9)


def test_tiny_rates_of_approximate_dp_keep_their_digits():
    guarantee = ApproximateDP(2.0, 0.0)
    with mpmath.workdps(40):
        grown, shrunk = float(mpmath.exp(2) * 1e-200), float(mpmath.exp(-2) * 1e-200)
    assert float(guarantee.power(1e-200)) == pytest.approx(grown, rel=1e-12, abs=0)
    assert float(guarantee.least_alpha(1e-200)) == pytest.approx(shrunk, rel=1e-12, abs=0)
    wide = ApproximateDP(1e4, 0.25)
    assert (wide.power(0.0), wide.power(1e-9), wide.trade_off(1e-9)) == (0.25, 1, 0)
    assert wide.trade_off(1.0) == 0
    assert wide.least_alpha([0.25, 1.0]).tolist() == [0, 0.75]


def test_without_delta_it_is_pure():
    rates, points = np.linspace(0, 1, 41), np.linspace(-3, 3, 41)
    pure, same = PureDP(0.8), ApproximateDP(0.8, 0.0)
    assert same.profile(points) == pytest.approx(pure.profile(points), abs=1e-15)
    assert same.trade_off(rates) == pytest.approx(pure.trade_off(rates), abs=1e-15)
    assert same.tangents(9).tolist() == [0.8]
    assert same.describe() == (
        "approximate DP with epsilon 0.8 and delta 0 (replace-one neighbours)"
    )


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
    assert as_approximate(guarantee, epsilon=0.0) == ApproximateDP(0.0, guarantee.delta)
    assert guarantee.profile([0.0, 2.0, 1e300]) == pytest.approx([1 - beta] * 3, abs=1e-15)
    assert guarantee.power(rates) == pytest.approx(np.minimum(1, rates + 1 - beta), abs=1e-15)
    assert guarantee.trade_off(rates) == pytest.approx(np.maximum(0, beta - rates), abs=1e-15)
    assert guarantee.least_alpha(rates) == pytest.approx(np.maximum(0, rates - 1 + beta), abs=1e-15)
    assert guarantee.tangents(9).tolist() == [0]


def test_the_neighbours_are_kept():
    guarantee = BayesSecurity(0.9, adjacency="add-remove")
    assert as_approximate(guarantee, epsilon=0.0).adjacency == "add-remove"
    assert guarantee.describe() == "Bayes security with beta* 0.9 (add-remove neighbours)"


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


def divergence(q: float, p: float, alpha: float) -> mpmath.mpf:
    """The Renyi divergence of Bernoulli(q) from Bernoulli(p), in hundreds of digits."""
    with mpmath.workdps(260 if p < 1e-40 else 90):
        a, b, order = mpmath.mpf(q), mpmath.mpf(p), mpmath.mpf(alpha)
        moment = a**order * b ** (1 - order) + (1 - a) ** order * (1 - b) ** (1 - order)
        return mpmath.log(moment) / (order - 1)


LESS = (1e-15, 1e-14, 1e-12, 1e-10, 1e-7, 1e-4, 0.01, 0.5, 1.0, 10.0, 1e3, 1e6)
"""Orders minus 1, from where a divergence is nearly a relative entropy to nearly the largest."""


@pytest.mark.parametrize("less", LESS)
def test_a_divergence_of_two_coins_loses_no_digits(less):
    """At every order, and however near each other the two coins are."""
    alpha = 1 + less
    for p in (1e-100, 1e-20, 1e-9, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-9):
        for apart in (1e-12, 1e-9, 1e-6, 1e-3, 0.05, 0.3, 0.9):
            q = p + apart * min(p, 1 - p)
            for one, other in ((q, p), (p, q), (p + (1 - p) * apart, p)):
                if one == other or not (one < 1 and other < 1):
                    continue
                found = float(bernoulli_divergence(np.array([one]), np.array([other]), alpha)[0])
                assert found == pytest.approx(float(divergence(one, other, alpha)), rel=2e-11)


def test_a_divergence_at_the_ends():
    q, p = np.array([0.0, 0.5, 1.0, 0.0, 0.5, 1.0]), np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.5])
    for alpha in (1 + 1e-12, 2.0, 1e6):
        found = bernoulli_divergence(q, p, alpha)
        assert found[:5].tolist() == [0.0, np.inf, 0.0, np.inf, np.inf]
        assert found[5] == pytest.approx(np.log(2.0), rel=1e-12)


@pytest.mark.parametrize("gamma", [1e-20, 1e-9, 1e-4, 0.01, 1.0, 30.0])
@pytest.mark.parametrize("less", LESS)
def test_no_pair_of_coins_within_the_divergence_exceeds_what_is_said(less, gamma):
    """Coins that obey it in both directions are a mechanism; nothing may lie below any of them."""
    alpha = 1 + less
    guarantee = RenyiDP(alpha, gamma)
    for p in (1e-30, 1e-6, 0.01, 0.3, 0.5, 0.8, 1 - 1e-6):
        low, high = 0.0, 1.0 - p
        for _ in range(60):  # by how much more often the other coin may fall so
            middle = (low + high) / 2
            q = p + middle
            inside = q < 1 and max(divergence(q, p, alpha), divergence(p, q, alpha)) <= gamma
            low, high = (middle, high) if inside else (low, middle)
        q = p + low
        found = float(guarantee.power(p))
        assert found >= q
        if 1e-12 < gamma < 5:  # and not far above: the limit is what coins reach
            assert found - p == pytest.approx(low, rel=1e-6, abs=1e-15)
        for epsilon in (0.0, 1e-9, 1e-3, 0.1, 1.0, np.log(max(q / p, 1.0)) / 2):
            stick = max(0.0, low - np.expm1(epsilon) * p)
            assert float(guarantee.profile(epsilon)) >= stick * (1 - 1e-12)
        assert float(as_approximate(guarantee, epsilon=0.0).delta) >= low * (1 - 1e-12)


def test_orders_near_1_are_as_the_relative_entropy():
    """The input of a stranger: .500648 was said where .528186 is attained."""
    coin = 0.5281865
    entropy = coin * np.log(2 * coin) + (1 - coin) * np.log(2 - 2 * coin)
    back = -0.5 * np.log(4 * coin * (1 - coin))
    gamma = max(entropy, back)
    for less in (1e-15, 1e-14, 1e-9):
        assert float(RenyiDP(1 + less, gamma).power(0.5)) == pytest.approx(coin, abs=1e-7)


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


@pytest.mark.parametrize(
    "known",
    [
        PureDP(1, adjacency="add-remove"),
        ApproximateDP(1, 1e-5, adjacency="add-remove"),
        GaussianDP(0.5, adjacency="add-remove"),
        ZeroConcentratedDP(0.5, adjacency="add-remove"),
        RenyiDP(8, 1, adjacency="add-remove"),
        BayesSecurity(0.9, adjacency="add-remove"),
        ProfileCurve((0.0, 1.0), (0.1, 0.01), adjacency="add-remove"),
    ],
)
def test_what_was_converted_says_from_what(known):
    found = as_replace_one(known)
    assert found.adjacency == "replace-one"
    assert found.converted_from == known.describe()
    assert f"one removed and one added: from {known.describe()})" in found.describe()
    assert as_replace_one(found) is found
    # what is equal is equal, wherever it came from; and nothing else is said to be converted
    assert "one removed" not in PureDP(2).describe()
    assert as_replace_one(PureDP(1, adjacency="add-remove")) == PureDP(2)
    assert (found.profile([0.0, 1.0]) >= known.profile([0.0, 1.0])).all()


KNOWN = [
    PureDP(0.7, adjacency="add-remove"),
    ApproximateDP(0.7, 1e-3, adjacency="add-remove"),
    GaussianDP(0.8, adjacency="add-remove"),
    ZeroConcentratedDP(0.3, adjacency="add-remove"),
    RenyiDP(8, 0.5, adjacency="add-remove"),
    BayesSecurity(0.9, adjacency="add-remove"),
    ProfileCurve((0.0, 1.0), (0.2, 0.01), adjacency="add-remove"),
]


@pytest.mark.states("Narcissus theory", "3")
@pytest.mark.parametrize("known", KNOWN)
def test_membership_needs_no_conversion_and_is_never_easier_than_a_value(known):
    inside, value = as_asked(known, "membership"), as_asked(known, "value")
    epsilon, rates = np.linspace(-2, 4, 31), np.linspace(0, 1, 31)
    assert (inside.profile(epsilon) == known.profile(epsilon)).all()
    assert (inside.power(rates) <= value.power(rates) + 1e-12).all()
    assert value == as_replace_one(known)
    assert as_asked(inside, "value") == value
    assert as_asked(inside, "value").secret == "value"
    assert value.question == "what value a person's record has"
    assert inside.question == "whether a person's record is in the data"
    assert "add-remove neighbours: the record is in or out)" in inside.describe()
    require_replace_one(inside)
    with pytest.raises(InputError, match="ask for membership"):
        require_replace_one(known)
    for danger in (threat(values=[0.5, 0.5]), threat(values=[0.8, 0.2], targets=5)):
        limits = [best(bounds_on(danger, one, expensive=False)).value for one in (inside, value)]
        assert limits[0] <= limits[1] + 1e-12


def test_of_replaced_records_membership_is_about_another_in_its_place():
    known = GaussianDP(1)
    inside = as_asked(known, "membership")
    assert inside.question == "whether a person's record is in the data, or another in its place"
    assert "in, or another in its place)" in inside.describe()
    assert as_asked(known, "value") is known
    assert as_asked(inside, "value") == known
    assert inside != known  # nobody takes the answer to one question for that to the other
    with pytest.raises(InputError, match="was converted to a replaced record"):
        as_asked(as_replace_one(PureDP(1, adjacency="add-remove")), "membership")
    with pytest.raises(InputError, match="secret"):
        as_asked(known, "other")


def test_what_follows_is_about_the_same_question():
    inside = as_asked(GaussianDP(1, adjacency="add-remove"), "membership")
    for found in (as_approximate(inside, delta=1e-5), as_renyi(inside, 4.0)):
        assert (found.adjacency, found.secret) == ("add-remove", "membership")
