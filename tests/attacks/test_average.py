"""Attacks on averages, by hand; that of a count judges its guess against the baseline."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus.attacks import (
    Majority,
    Posterior,
    Subtraction,
)
from narcissus.mechanisms import (
    ExactAverage,
)
from narcissus.worlds import (
    Uniform,
)

RNG = np.random.default_rng(0)


def test_majority_and_subtraction_do_what_they_say():
    rng = np.random.default_rng(6)
    data = Uniform(5, 6).draw(20, rng).data
    average = ExactAverage().release(data, rng)
    assert (Majority().attempt(average, None, rng) == (data.mean(axis=1) >= 0.5)).all()
    assert (Subtraction().attempt(average, data[:, :4], rng) == data[:, 4]).all()


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
