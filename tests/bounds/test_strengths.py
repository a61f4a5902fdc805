"""What mechanisms that draw a strength in public reach: against all mechanisms, and the profile."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from narcissus.bounds import (
    exact_optimum,
    reached,
    reached_number,
    reached_tails,
    swap_program,
    threat,
)
from narcissus.bounds import strengths as room
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    ProfileCurve,
    RenyiDP,
    ZeroConcentratedDP,
    dp_sgd,
)


def curve(seed: int) -> ProfileCurve:
    rng = np.random.default_rng(seed)
    where = np.sort(rng.uniform(0, 3, 4))
    return ProfileCurve(tuple(where), tuple(np.sort(rng.uniform(0, 0.4, 4))[::-1] * (seed % 2)))


FINE = GaussianDP(1.0)
GUARANTEES = [
    *(curve(seed) for seed in (1, 2, 3)),
    ProfileCurve((1.0,), (0.1,)),
    ProfileCurve((0.0, 500.0), (0.5, 0.0)),
    ProfileCurve.from_profile(lambda e: float(FINE.profile(e)), np.linspace(0, 8, 700)),
    FINE,
    GaussianDP(0.01),
    GaussianDP(12.0),
]


def spent(law, epsilon):
    """The profile of a law, by its definition in ``t``, one strength after the other."""
    total = np.full(epsilon.shape, law.told)
    for strength, weight in zip(law.epsilons, law.weights, strict=True):
        stick = 1.0 / (1.0 + np.exp(-strength)) - np.exp(epsilon - np.logaddexp(0.0, strength))
        total += weight * np.maximum(stick, 0.0)
    return total


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_every_law_has_the_guarantee_at_every_epsilon(guarantee):
    strengths = room.strengths_of(guarantee)
    laws = [room.whole(guarantee, steps) for steps in (8, 400)]
    for middle in (0.2, 1.0, 2.5):  # tails as steep as those of many targets
        tails = 1.0 / (1.0 + np.exp(-40 * (strengths - middle)))
        laws.append(room.strongest(guarantee, strengths, tails))
    where = np.union1d(np.linspace(0.0, strengths[-1] + 1, 20_001), laws[-1].epsilons)
    for law in laws:
        assert (law.weights >= 0).all()
        assert law.weights.sum() + law.told == pytest.approx(1.0, abs=1e-12)
        assert (spent(law, where) <= guarantee.profile(where) * (1 + 1e-12) + 1e-15).all()


def test_a_program_alone_breaks_the_profile_between_its_points():
    strengths = room.strengths_of(FINE)
    tails = (strengths > 1.0).astype(float)
    weights = room._program(FINE, strengths[::10], strengths, 0.0, np.append(tails, 1.0))
    law = room.Strengths(strengths, weights[:-1])
    where = np.linspace(0.0, 6.0, 5_001)
    assert (spent(law, where) > FINE.profile(where) * 1.001).any()


@pytest.mark.parametrize("seed", range(6))
def test_no_law_is_above_the_best_of_all_mechanisms(seed):
    rng = np.random.default_rng(seed)
    guarantee = curve(seed)
    priors = rng.dirichlet([1.5] * (2 + seed % 2), size=2)
    for v in (1, 2):
        found = reached(priors, guarantee, v)
        assert reached_tails(priors, guarantee)[v] <= found + 1e-12
        assert found <= exact_optimum(priors, guarantee, v).value + 1e-6
    # about one fair bit the curve itself is all that matters, and all of it is used
    one = reached([[0.5, 0.5]], guarantee, 1)
    assert one == pytest.approx((1 + float(guarantee.profile(0.0))) / 2, rel=1e-6)


@pytest.mark.parametrize("mu", [0.4, 1.0, 2.0])
def test_it_is_between_the_law_of_the_gaussian_mechanism_and_what_is_proved(mu):
    guarantee, n = GaussianDP(mu), 30
    before = reached_tails([[0.5, 0.5]], guarantee, repeats=[n])
    danger = threat(values=[0.5, 0.5], targets=n)
    gained = 0.0
    for v in (16, 20, 24, 28):
        found = reached([[0.5, 0.5]], guarantee, v, repeats=[n])
        assert before[v] * (1 - 1e-9) <= found <= swap_program(danger, guarantee, v) + 1e-9
        gained = max(gained, found - before[v])
    assert gained > 0.02


@pytest.mark.states("Narcissus theory", "4.10")
@pytest.mark.parametrize(
    ("epsilon", "before", "number", "limit"), [(3, 818, 835, 0.85305), (1, 633, 638, 0.65268)]
)
@pytest.mark.one_in(2)
def test_a_thousand_fair_bits_and_the_limit_of_many(epsilon, before, number, limit):
    guarantee = GaussianDP.from_epsilon_delta(epsilon, 1e-5)
    tails = reached_tails([[0.5, 0.5]], guarantee, repeats=[1000])
    assert int(np.argmax(tails[1:] <= 0.05)) == before
    assert reached_number([0.5, 0.5], guarantee, 0.95, repeats=[1000]) == number

    def single(t):  # the success on one bit whose profile is delta / .05
        return (float(guarantee.profile(np.log(t))) / 0.05 + t) / (1 + t)

    found = optimize.minimize_scalar(single, bounds=(1.0, 40.0), method="bounded")
    assert found.fun == pytest.approx(limit, abs=5e-6)
    many = reached_number([0.5, 0.5], guarantee, 0.95, repeats=[10**5]) / 10**5
    assert limit - 0.004 < many < limit  # of the law before: .817 and .632


def test_each_guarantee_has_its_mechanism():
    bits, n = [0.5, 0.5], 20
    gaussian = reached(bits, GaussianDP(0.6), 14, repeats=[n])
    assert reached(bits, ZeroConcentratedDP(0.18), 14, repeats=[n]) == gaussian
    assert reached(bits, RenyiDP(4.0, 0.72), 14, repeats=[n]) == gaussian
    told = reached(bits, BayesSecurity(0.8), 18, repeats=[n])
    assert told == pytest.approx(reached(bits, ApproximateDP(0.0, 0.2), 18, repeats=[n]))
    assert told > 0.2
    at_one = reached(bits, ProfileCurve((1.0,), (0.1,)), 18, repeats=[n])
    assert at_one >= reached(bits, ApproximateDP(1.0, 0.1), 18, repeats=[n]) - 1e-8
    learned = dp_sgd(1.0, 0.01, 300)
    assert 66 < reached_number(bits, learned, 0.95, repeats=[100]) < 100


def test_the_law_of_a_curve_has_its_profile_at_each_corner():
    guarantee = ProfileCurve((0.0, 0.5, 1.0, 2.0), (0.4, 0.25, 0.1, 0.0))
    law = room.whole(guarantee, 100)
    assert law.weights.sum() + law.told == pytest.approx(1.0)
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        gaps = np.exp(law.epsilons) - np.exp(epsilon)
        share = np.maximum(gaps, 0.0) / (np.exp(law.epsilons) + 1.0)
        reached = float(law.weights @ share) + law.told
        assert reached == pytest.approx(float(guarantee.profile(epsilon)), abs=1e-6)
