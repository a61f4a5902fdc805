"""Optimal composition, against every product of randomized responses."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.guarantees import PureDP, optimal_composition

EPSILONS = np.array([0.0, 0.3, 0.5, 1.0, 1.7, 2.0, 3.0])


def brute_force(epsilon, times, delta):
    """Sum over every outcome of so many randomized responses that all is lost with ``delta``."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    one = {"lost": (delta, 0.0), 1: ((1 - delta) * keep, (1 - delta) * (1 - keep)),
           0: ((1 - delta) * (1 - keep), (1 - delta) * keep), "other": (0.0, delta)}  # fmt: skip
    pairs = [
        (math.prod(one[o][0] for o in outcome), math.prod(one[o][1] for o in outcome))
        for outcome in itertools.product(one, repeat=times)
    ]
    return [math.fsum(max(0.0, p - math.exp(e) * q) for p, q in pairs) for e in EPSILONS]


@pytest.mark.states("Kairouz, Oh and Viswanath 2015", "Theorem 3.3")
@pytest.mark.parametrize(("epsilon", "times"), [(1.0, 1), (1.0, 2), (0.5, 4), (0.2, 5)])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_it_is_what_randomized_responses_lose_together(epsilon, times, delta):
    found = optimal_composition(epsilon, times, delta).profile(EPSILONS)
    np.testing.assert_allclose(found, brute_force(epsilon, times, delta), atol=1e-12)


def test_it_is_between_one_answer_and_basic_and_advanced_composition():
    epsilon, times = 0.1, 50
    found = optimal_composition(epsilon, times)
    assert (found.profile(EPSILONS) <= PureDP(epsilon * times).profile(EPSILONS) + 1e-12).all()
    assert (found.profile(EPSILONS) >= PureDP(epsilon).profile(EPSILONS) - 1e-12).all()
    for slack in (1e-3, 1e-6):
        advanced = epsilon * math.sqrt(2 * times * math.log(1 / slack))
        advanced += times * epsilon * math.expm1(epsilon)
        assert found.profile(advanced) <= slack
    assert found.profile(epsilon * times) < 1e-12


def test_what_is_no_guarantee_is_refused():
    for wrong in ((-1.0, 2), (1.0, 0), (math.inf, 2), (1.0, 2, 1.5)):
        with pytest.raises(InputError):
            optimal_composition(*wrong)
