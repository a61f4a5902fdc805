"""Calibration: the parameter found keeps the limit, and a little more does not."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import (
    Limit,
    advantage,
    at_most,
    best,
    bounds_on,
    epsilon_by_value,
    largest_epsilon,
    largest_mu,
    smallest_noise,
    threat,
    typical_priors,
)
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP, dp_sgd


@pytest.mark.states("Narcissus theory", "4.8")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("danger", [threat(prior=0.2), threat(values=[0.6, 0.3, 0.1])])
def test_the_advantage_is_used_up(danger, delta):
    limit = Limit(advantage=0.1)

    def reached(guarantee):
        success = best(bounds_on(danger, guarantee, dear=False)).value
        return advantage(success, danger.prior)

    epsilon = largest_epsilon(danger, limit, delta=delta)
    make = (lambda e: ApproximateDP(e, delta)) if delta else PureDP
    assert reached(make(epsilon)) <= 0.1 < reached(make(epsilon + 1e-6))
    mu = largest_mu(danger, limit)
    assert reached(GaussianDP(mu)) <= 0.1 < reached(GaussianDP(mu + 1e-5))


@pytest.mark.states("Narcissus theory", "4.8")
def test_the_number_of_targets_is_used_up():
    danger = threat(values=[0.5, 0.5], targets=40)
    limit = Limit(at_most=30, confidence=0.9)
    epsilon = largest_epsilon(danger, limit, delta=1e-7)
    assert at_most(danger, ApproximateDP(epsilon, 1e-7), 0.9).value == 30
    assert at_most(danger, ApproximateDP(epsilon + 0.01, 1e-7), 0.9).value == 31
    # both limits at once: the stricter one decides
    both = Limit(advantage=0.01, at_most=30, confidence=0.9)
    assert largest_epsilon(danger, both) < epsilon


def test_dp_sgd_noise():
    danger, limit = threat(prior=0.5, inseparable=0.5), Limit(advantage=0.2)
    noise = smallest_noise(danger, limit, rate=0.05, steps=9, digits=2)
    kept = best(bounds_on(danger, dp_sgd(noise, 0.05, 9, interval=1e-3))).value
    assert advantage(kept, 0.5) <= 0.2
    less = dp_sgd(noise * 0.9, 0.05, 9, interval=1e-3)
    assert advantage(best(bounds_on(danger, less)).value, 0.5) > 0.2


def test_typical_values():
    found = typical_priors([0.5, 0.2, 0.1, 0.1, 0.1])
    assert (found.least, found.median, found.most) == (0.1, 0.2, 0.5)
    epsilons = epsilon_by_value([0.5, 0.2, 0.1, 0.1, 0.1], Limit(0.05), delta=1e-6)
    assert epsilons.least > epsilons.median > 0
    uniform = typical_priors(np.full(8, 1 / 8))
    assert uniform.least == uniform.median == uniform.most


def test_impossible_limits_are_refused():
    with pytest.raises(InputError, match="delta"):
        largest_epsilon(threat(prior=0.1), Limit(0.0), delta=1e-5)
    with pytest.raises(InputError, match="advantage"):
        Limit()
    with pytest.raises(InputError, match="at_most"):
        largest_mu(threat(prior=0.5, targets=10), Limit(at_most=2))
    with pytest.raises(InputError, match="sees no release"):  # no delta is to blame
        largest_epsilon(threat(prior=0.5, targets=10), Limit(at_most=2))
    assert largest_epsilon(threat(prior=0.1), Limit(0.0)) < 1e-9
    assert largest_epsilon(threat(prior=0.1), Limit(1.0)) >= 1e4
