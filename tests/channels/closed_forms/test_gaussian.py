"""Gaussian noise against Gaussian differential privacy."""

import pytest

from narcissus.channels import Gaussian
from narcissus.guarantees import GaussianDP


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_the_profile_is_that_of_gaussian_dp(epsilon):
    form = Gaussian(span=2.0, sigma=3.0)
    expected = float(GaussianDP(2 / 3).profile(epsilon))
    assert form.delta(epsilon) == pytest.approx(expected, rel=1e-10)


def test_the_classical_calibration_keeps_its_word_below_one():
    for epsilon in (0.1, 0.5, 0.99):
        assert Gaussian.classical(epsilon, 1e-5).delta(epsilon) <= 1e-5
