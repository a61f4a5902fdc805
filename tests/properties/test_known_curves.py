"""Every guarantee and conversion against a mechanism that has it, at extremes of every argument.

Randomised response and Gaussian noise have profiles that are formulas, computed here in hundreds of
digits. What has them as mechanisms may say more than they show, and never less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import mpmath as mp
import numpy as np
import pytest

from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    Guarantee,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    as_approximate,
    as_gaussian,
    as_renyi,
    as_replace_one,
    as_zero_concentrated,
    from_losses,
    from_orders,
    optimal_composition,
)

DIGITS = 200
ROUNDED = 1e-11  # relatively
EPSILONS = (0.0, 1e-15, 1e-12, 1e-9, 1e-5, 1e-3, 0.1, 0.7, 3.0, 10.0, 40.0)
RATES = (1e-90, 1e-20, 1e-9, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-9)
AMOUNTS = (1e-12, 1e-9, 1e-4, 0.1, 1.0, 1.999, 5.0, 20.0)
LESS = (1e-15, 1e-6, 0.5, 30.0, 1e6)


class Mechanism(NamedTuple):
    """Its profile at epsilons of at least 0, and its power; in hundreds of digits."""

    profile: Callable[[float], mp.mpf]
    power: Callable[[float], mp.mpf]


@cache
def gaussian(mu: float) -> Mechanism:
    def profile(epsilon: float) -> mp.mpf:
        m, e = mp.mpf(mu), mp.mpf(epsilon)
        if e > 60 * m + m * m / 2:  # below 1e-700
            return mp.mpf(0)
        return mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)

    def power(rate: float) -> mp.mpf:
        return mp.ncdf(_quantile(rate) + mp.mpf(mu))

    return Mechanism(profile, power)


@cache
def _quantile(rate: float) -> mp.mpf:
    return mp.sqrt(2) * mp.erfinv(2 * mp.mpf(rate) - 1)


@cache
def randomised_response(epsilon_0: float, delta: float = 0.0) -> Mechanism:
    """It tells all with chance ``delta``."""

    def profile(epsilon: float) -> mp.mpf:
        big, e, d = mp.mpf(epsilon_0), mp.mpf(epsilon), mp.mpf(delta)
        return d + (1 - d) * max(mp.mpf(0), (mp.exp(big) - mp.exp(e)) / (1 + mp.exp(big)))

    def power(rate: float) -> mp.mpf:
        big, a, d = mp.mpf(epsilon_0), mp.mpf(rate), mp.mpf(delta)
        return min(mp.mpf(1), d + mp.exp(big) * a, 1 - mp.exp(-big) * max(1 - d - a, 0))

    return Mechanism(profile, power)


@cache
def answers(epsilon_0: float, times: int, delta: float) -> Mechanism:
    """So many randomised responses, each of which tells all with chance ``delta``."""

    def profile(epsilon: float) -> mp.mpf:
        big, e, d = mp.mpf(epsilon_0), mp.mpf(epsilon), mp.mpf(delta)
        keep = 1 / (1 + mp.exp(-big))
        kept = mp.mpf(0)
        for k in range(times + 1):
            many = mp.binomial(times, k)
            here = many * keep**k * (1 - keep) ** (times - k)
            there = many * keep ** (times - k) * (1 - keep) ** k
            kept += max(mp.mpf(0), here - mp.exp(e) * there)
        whole = (1 - d) ** times
        return 1 - whole + whole * kept

    return Mechanism(profile, mp.mpf)


def _points(amount: float, count: int) -> np.ndarray:
    return np.linspace(0.0, 6 * amount + amount**2, count)


def cases(a: float) -> Iterator[tuple[str, Guarantee, Mechanism]]:
    """Guarantees of one amount, and mechanisms that have them."""
    gdp, pure = GaussianDP(a), PureDP(a)
    noise, coin = gaussian(a), randomised_response(a)
    yield "gaussian", gdp, noise
    yield "pure", pure, coin
    yield "pure as gaussian", as_gaussian(pure), coin
    yield "pure as zcdp", as_zero_concentrated(pure), coin
    yield "gaussian as zcdp", as_zero_concentrated(gdp), noise
    for less in LESS:
        yield f"gaussian as renyi {less}", as_renyi(gdp, 1 + less), noise
        yield f"pure as renyi {less}", as_renyi(pure, 1 + less), coin
    for d in (1e-300, 1e-15, 1e-5, 0.3, 1 - 1e-12):
        yield f"approximate {d}", ApproximateDP(a, d), randomised_response(a, d)
        yield f"calibrated {d}", ApproximateDP(a, d), gaussian(
            GaussianDP.from_epsilon_delta(a, d).mu
        )  # fmt: skip
    for times, d in ((1, 0.0), (2, 1e-12), (7, 1e-3), (30, 0.0)):
        yield f"answers {times} {d}", optimal_composition(a, times, d), answers(a, times, d)
    for count in (1, 2, 9, 100):
        points = _points(a, count)
        curve = ProfileCurve.from_profile(lambda e, g=gdp: float(g.profile(e)), points)
        yield f"curve {count}", curve, noise
        deltas = gdp.profile(points)
        yield f"orders {count}", from_orders(points, deltas, deltas), gaussian(2 * a)
        yield f"curve twice {count}", as_replace_one(
            ProfileCurve(curve.points, curve.deltas, adjacency="add-remove")
        ), gaussian(2 * a)  # fmt: skip
    near = as_approximate(gdp, epsilon=a)
    yield "as approximate", near, noise
    least = as_approximate(gdp, delta=1e-7)
    yield "as approximate, delta", least, noise
    yield "losses", from_losses([a, -a], _coin(a)), coin
    twice = {"adjacency": "add-remove"}
    yield "gaussian twice", as_replace_one(GaussianDP(a, **twice)), gaussian(2 * a)
    rho = a * a / 2
    yield "zcdp twice", as_replace_one(ZeroConcentratedDP(rho, **twice)), gaussian(2 * a)
    yield "approximate twice", as_replace_one(
        ApproximateDP(a, float(gdp.profile(a)), **twice)
    ), gaussian(2 * a)  # fmt: skip
    for less in (1.0 + 1e-12, 2.0, 30.0):
        renyi = RenyiDP(1 + less, (1 + less) * rho, **twice)
        yield f"renyi twice {less}", as_replace_one(renyi), gaussian(2 * a)
    secure = BayesSecurity(float(np.nextafter(float(1 - noise.profile(0.0)), 0.0)))
    yield "bayes security", secure, noise


def _coin(epsilon: float) -> list[float]:
    return [float(1 / (1 + np.exp(-epsilon))), float(1 / (1 + np.exp(epsilon)))]


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    with mp.workdps(DIGITS):
        yield


@pytest.mark.parametrize("amount", AMOUNTS)
def test_nothing_is_said_below_what_a_mechanism_shows(amount):
    short: list[str] = []
    for name, guarantee, mechanism in cases(amount):
        profile, power = known(mechanism)
        epsilons, rates = np.array(list(profile)), np.array(list(power))
        truth = np.array(list(profile.values()))
        sides = {
            "profile": (epsilons, truth),
            "mirrored profile": (-epsilons, -np.expm1(-epsilons) + np.exp(-epsilons) * truth),
            "power": (rates, np.array(list(power.values()))),
        }
        for what, (where, least) in sides.items():
            said = (guarantee.power if what == "power" else guarantee.profile)(where)
            short += [
                f"{name}: {what} at {x!r} {said[i]!r} < {least[i]!r}"
                for i, x in enumerate(where.tolist())
                if said[i] < least[i] * (1 - ROUNDED)
            ]
    assert not short, "\n".join(short[:20])


@cache
def known(mechanism: Mechanism) -> tuple[dict[float, float], dict[float, float]]:
    """Its numbers; an epsilon that is a float is not told from one a little larger."""
    profile = {e: float(mechanism.profile(e * (1 + 1e-14))) for e in EPSILONS}
    return profile, {rate: float(mechanism.power(rate)) for rate in RATES}


def test_every_kind_of_guarantee_is_tried():
    kinds = {type(guarantee).__name__ for _, guarantee, _ in cases(1.0)}
    assert kinds == {kind.__name__ for kind in _subclasses(Guarantee)} - {
        "ProfileGuarantee",
        "_OnePoint",
    }


def _subclasses(kind: type) -> set[type]:
    own = {k for k in kind.__subclasses__() if k.__module__.startswith("narcissus.")}
    return own | {below for k in own for below in _subclasses(k)}
