"""Closed forms as a file names them: calibrated from what is given."""

from __future__ import annotations

import math

import pytest

from narcissus.channels import Gaussian, calibrated
from narcissus.errors import InputError


def test_noise_is_scaled_to_the_span():
    assert calibrated.laplace(span=4, epsilon=2).scale == 2
    assert calibrated.laplace(span=4, epsilon=2).local_epsilon == pytest.approx(2)
    assert calibrated.laplace(scale=3, points=5).secrets == 5
    made = calibrated.gaussian(span=4, epsilon=1, delta=1e-6)
    assert made.beta_star == pytest.approx(Gaussian.classical(1, 1e-6).beta_star)
    assert calibrated.gaussian(sigma=2).sigma == 2


def test_subsets_have_the_size_that_is_best_for_frequencies():
    assert calibrated.subset(100, 1.0).size == round(100 / (math.e + 1))
    assert calibrated.subset(4, 50.0).size == 1
    assert calibrated.subset(4, 1.0, size=3).size == 3


def test_unary_encodings_differ_by_their_flips():
    assert calibrated.unary(5, 1.0) != calibrated.optimized_unary(5, 1.0)
    assert calibrated.unary(5, 1.0).local_epsilon == pytest.approx(1.0)
    assert calibrated.optimized_unary(5, 1.0).local_epsilon == pytest.approx(1.0)
    assert calibrated.exponential(5, 1.0).secrets == 5


def test_exactly_what_is_needed_must_be_given():
    for wrong in ({}, {"scale": 1, "epsilon": 1}):
        with pytest.raises(InputError, match="`scale` or `epsilon`"):
            calibrated.laplace(**wrong)
    for wrong in ({}, {"epsilon": 1}, {"sigma": 1, "delta": 0.1}):
        with pytest.raises(InputError, match="`sigma`, or"):
            calibrated.gaussian(**wrong)
    with pytest.raises(InputError, match="above 0"):
        calibrated.laplace(epsilon=0)
