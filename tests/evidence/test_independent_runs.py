"""Many runs with a secret each: exact levels, against a bound that is computed here."""

import math

import numpy as np
import pytest
from scipy import special, stats

from narcissus.errors import InputError
from narcissus.evidence.refutation import refuted_by_runs

PRIOR = np.array([0.4, 0.3, 0.2, 0.1])


def most(epsilon, delta=0.0):
    """Give the success of the best attacker by the closed form of one target."""
    sums, k = np.cumsum(PRIOR), np.arange(1, 5)
    best = (math.exp(epsilon) * sums / (math.exp(epsilon) + k - 1)).max()
    return delta + (1 - delta) * best


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_the_refuted_epsilon_is_where_the_binomial_tail_crosses_the_level(delta):
    found = refuted_by_runs(PRIOR, 300, 190, delta=delta).epsilon
    tails = [stats.binom.sf(189, 300, most(e, delta)) for e in (found, found + 1e-4)]
    assert tails[0] <= 0.05 < tails[1]


def test_mu_of_two_even_values_is_the_gaussian_test():
    found = refuted_by_runs([0.5, 0.5], 400, 300, confidence=0.9).mu
    tails = [stats.binom.sf(299, 400, special.ndtr(m / 2)) for m in (found, found + 1e-3)]
    assert tails[0] <= 0.1 < tails[1]


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_mechanism_that_keeps_epsilon_is_refuted_no_more_often_than_allowed(epsilon):
    """Exactly, over all counts, for an attacker who reaches the bound."""
    runs, share = 60, most(epsilon)
    first = next(k for k in range(runs + 1) if stats.binom.sf(k - 1, runs, share) <= 0.05)
    assert stats.binom.sf(first - 1, runs, share) > 0.005
    refuted = [refuted_by_runs(PRIOR, runs, k).epsilon for k in (first - 1, first, first + 1)]
    assert refuted[0] < epsilon < refuted[1] < refuted[2]


def test_the_prior_itself_refutes_nothing():
    found = refuted_by_runs(PRIOR, 1000, 400)
    assert (found.epsilon, found.mu) == (0.0, 0.0)
    assert refuted_by_runs(PRIOR, 1000, 0).epsilon == 0
    # an even secret that is named as often refutes much
    assert refuted_by_runs(np.full(4, 0.25), 1000, 400).epsilon > 0.5


def test_delta_refutes_less():
    assert (
        refuted_by_runs(PRIOR, 100, 90, delta=0.05).epsilon
        < refuted_by_runs(PRIOR, 100, 90).epsilon
    )


@pytest.mark.parametrize(
    "arguments", [(PRIOR, 0, 0), (PRIOR, 10, 11), ([0.5, 0.4], 10, 5)], ids=str
)
def test_what_is_refused(arguments):
    with pytest.raises(InputError):
        refuted_by_runs(*arguments)
