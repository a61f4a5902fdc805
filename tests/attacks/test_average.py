"""The attacker of a counting query judges its guess against the baseline."""

import math

import numpy as np
import pytest

from narcissus.attacks import Posterior

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.6])
def test_posterior_abstains_where_no_entry_gains_at_its_epsilon(epsilon):
    shares = np.array([0.0, 0.2, 0.4, 0.5, 0.7, 0.85, 1.0])
    found = Posterior(epsilon, rate=0.5).attempt(shares, None, RNG)
    likelier = np.maximum(shares, 1 - shares)
    assert found.made.tolist() == (likelier > math.exp(epsilon) * 0.5).tolist()
    assert (found.values[found.made, 1, 0] == (shares > 0.5)[found.made]).all()
    assert (found.values[:, 0] == 0).all()


@pytest.mark.parametrize(("epsilon", "made"), [(0.0, True), (0.6, True), (0.7, False)])
def test_what_was_likely_before_is_no_gain(epsilon, made):
    """A one is likelier, 0.8, but less so than before; a zero gains up to log 2."""
    found = Posterior(epsilon, rate=0.9).attempt(np.array([0.8]), None, RNG)
    assert found.made[0] == made
    assert found.values[0, 1, 0] == 0 or not made
