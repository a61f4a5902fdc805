"""Priors known up to a factor or a distance, against all priors and mechanisms of small worlds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize

from narcissus.bounds import Nearby, ThreatToPeople, at_most, best, bounds_on, exact_optimum, threat
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, BayesSecurity, GaussianDP, PureDP

NEAR = [Nearby(factor=1.0), Nearby(factor=1.3), Nearby(factor=3.0),
        Nearby(distance=0.0), Nearby(distance=0.15), Nearby(distance=0.7)]  # fmt: skip
GUARANTEES = [PureDP(1.0), ApproximateDP(0.5, 0.1), GaussianDP(0.7), BayesSecurity(0.8)]
ROOM = 1e-9


def heaviest(prior, near, gain):
    """Find the largest mean of ``gain`` over all nearby priors, by a linear program."""
    v = len(prior)
    if near.factor is not None:
        limits = [(p / near.factor, min(1.0, p * near.factor)) for p in prior]
        found = optimize.linprog(-gain, A_eq=np.ones((1, v)), b_eq=[1.0], bounds=limits)
    else:  # the prior, and what it is above the given one
        above = np.hstack([np.eye(v), -np.eye(v)])
        rows = np.vstack([above, np.r_[np.zeros(v), np.ones(v)]])
        right = np.r_[prior, near.distance]
        whole = np.r_[np.ones(v), np.zeros(v)][None]
        cost = np.r_[-gain, np.zeros(v)]
        found = optimize.linprog(cost, A_ub=rows, b_ub=right, A_eq=whole, b_eq=[1.0])
    assert found.status == 0
    return -found.fun, found.x[:v]


@pytest.mark.parametrize("near", NEAR, ids=Nearby.describe)
def test_the_worst_prior_is_near_and_has_the_most_mass_of_any_values(near):
    rng = np.random.default_rng(1)
    for v in (1, 2, 4):
        for prior in rng.dirichlet(np.ones(v), 3):
            worst = near.worst(prior)
            assert worst.sum() == pytest.approx(1.0, abs=1e-12)
            if near.factor is not None:
                assert (worst <= near.factor * prior + ROOM).all()
                assert (worst >= prior / near.factor - ROOM).all()
            else:
                assert np.abs(worst - prior).sum() / 2 <= near.distance + ROOM
            falling = np.sort(worst)[::-1].cumsum()
            for size in range(1, v + 1):
                for chosen in itertools.combinations(range(v), size):
                    gain = np.isin(np.arange(v), chosen).astype(float)
                    most, _ = heaviest(prior, near, gain)
                    assert near.most(float(prior @ gain)) == pytest.approx(most, abs=1e-8)
                    least = -heaviest(prior, near, -gain)[0]
                    if size < v:  # of all values nothing is left
                        assert near.least(float(prior @ gain)) == pytest.approx(least, abs=1e-8)
                    assert most <= falling[size - 1] + 1e-8
                top = np.argsort(-prior)[:size]
                most, _ = heaviest(prior, near, np.isin(np.arange(v), top).astype(float))
                assert falling[size - 1] == pytest.approx(most, abs=1e-8)  # no more than it must


@pytest.mark.states("Narcissus theory", "4.12")
@pytest.mark.one_in(3)
@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: type(g).__name__)
@pytest.mark.parametrize("near", [NEAR[1], NEAR[2], NEAR[4]], ids=Nearby.describe)
def test_no_nearby_prior_and_no_mechanism_is_above_the_worst_ones_optimum(near, guarantee):
    """At random nearby priors, and at those where random mechanisms gain most (corners)."""
    rng = np.random.default_rng(2)
    for n, v, count in ((1, 3, 1), (2, 2, 1), (2, 2, 2)):
        priors = rng.dirichlet(np.ones(v), n)
        limit = exact_optimum(near.worst(priors), guarantee, count).value
        told = min(one.value for one in bounds_on(
            threat(values=priors[0], targets=1, nearby=near), guarantee) if one.valid)  # fmt: skip
        reached = []
        for _ in range(5):
            corners = np.array([heaviest(row, near, rng.random(v))[1] for row in priors])
            corners = np.maximum(corners, 0) / np.maximum(corners, 0).sum(axis=1, keepdims=True)
            share = rng.random()
            for rows in (corners, share * corners + (1 - share) * priors):
                found = exact_optimum(rows, guarantee, count).value
                assert found <= limit + 1e-7
                reached.append(found)
                # the program has finitely many points of the Gaussian profile, the bound has all
                if n == 1 and not isinstance(guarantee, GaussianDP):
                    assert found <= told + 1e-7
        assert max(reached) > exact_optimum(priors, guarantee, count).value - 1e-7


@pytest.mark.parametrize("near", [NEAR[1], NEAR[4]], ids=Nearby.describe)
def test_a_guess_that_covers_several_values_is_limited_as_well(near):
    rng = np.random.default_rng(3)
    cover = np.array([[1, 0], [1, 1], [0, 1]], dtype=float)
    for guarantee in GUARANTEES:
        prior = rng.dirichlet(np.ones(3))
        limit = best(bounds_on(threat(values=prior, success=cover, nearby=near), guarantee))
        assert limit.grade == "proved if"
        for _ in range(6):
            _, row = heaviest(prior, near, rng.random(3))
            row = np.maximum(row, 0) / np.maximum(row, 0).sum()
            found = exact_optimum(row, guarantee, success=cover).value
            assert found <= limit.value + 1e-7


def test_all_that_is_said_is_of_the_worst_prior_and_named_as_given():
    near = Nearby(factor=1.5)
    prior = [0.5, 0.3, 0.2]
    worst, mu = near.worst(prior), GaussianDP(0.5)
    one = best(bounds_on(threat(values=prior, nearby=near), mu))
    assert one.value == best(bounds_on(threat(values=worst), mu)).value
    assert one.takes_as_given == (near.describe(),)
    assert near.describe() in one.assumptions
    assert not any("as given" in said for said in one.assumptions)
    many = at_most(threat(values=prior, targets=50, nearby=near), mu, 0.95)
    assert many.value == at_most(threat(values=worst, targets=50), mu, 0.95).value
    assert many.grade == "proved if"
    for priors in ([prior] * 50, [prior, [0.1, 0.1, 0.8]] * 25):
        people, wide = ThreatToPeople(priors, near), ThreatToPeople(near.worst(priors))
        assert people.mean(mu).value == wide.mean(mu).value
        for found in (people.mean(mu), people.at_most(mu, 0.9), people.tail(mu, 40)):
            assert found.grade == "proved if"
            assert near.describe() in found.assumptions
            assert not any("as given" in said for said in found.assumptions)
        assert people.at_most(mu, 0.9).value == wide.at_most(mu, 0.9).value
    exact = threat(prior=0.4, exact_match=True, nearby=Nearby(distance=0.1))
    assert math.isclose(exact.prior, 0.5)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (Nearby, "and not both"),
        (lambda: Nearby(2.0, 0.1), "and not both"),
        (lambda: Nearby(factor=0.5), "`prior_factor`"),
        (lambda: Nearby(factor=math.inf), "`prior_factor`"),
        (lambda: Nearby(factor=math.nan), "`prior_factor`"),
        (lambda: Nearby(distance=1.5), "`prior_distance`"),
        (lambda: threat(prior=0.5, inseparable=0.1, nearby=NEAR[1]), "`inseparable`"),
    ],
)
def test_what_is_no_distance_of_priors_is_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


def test_a_factor_moves_what_an_unlikely_value_has_room_for():
    """The value of .1 may have up to .2 under a factor of 2, and not all that is left over."""
    worst = Nearby(factor=2.0).towards(np.array([0.1, 0.9]), np.array([1.0, 0.0]))
    assert worst == pytest.approx([0.2, 0.8])
