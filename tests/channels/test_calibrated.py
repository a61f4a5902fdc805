"""Closed forms from what a study file says of them."""

import pytest

from narcissus.channels import Exponential, calibrated
from narcissus.errors import InputError


def test_noise_from_a_privacy_level():
    assert calibrated.laplace(span=3, epsilon=0.5).local_epsilon == pytest.approx(0.5)
    assert calibrated.laplace(span=3, scale=2).scale == 2
    made = calibrated.gaussian(span=3, epsilon=0.5, delta=1e-5)
    assert made.delta(0.5) <= 1e-5
    assert calibrated.gaussian(sigma=2).sigma == 2


def test_values():
    assert calibrated.subset(10, 1).size == 3  # 10 / (e + 1) = 2.7
    assert calibrated.subset(10, 1, size=4).size == 4
    assert not calibrated.unary(4, 1).optimized
    assert calibrated.optimized_unary(4, 1).optimized
    assert isinstance(calibrated.exponential(4, 1), Exponential)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (calibrated.laplace, "one of them"),
        (lambda: calibrated.laplace(scale=1, epsilon=1), "one of them"),
        (lambda: calibrated.laplace(epsilon=0), "above 0"),
        (lambda: calibrated.gaussian(sigma=1, epsilon=1), "`sigma`, or"),
        (lambda: calibrated.gaussian(epsilon=1), "`sigma`, or"),
        (lambda: calibrated.subset(1, 1), "at least 2"),
    ],
)
def test_bad_calibrations(make, words):
    with pytest.raises(InputError, match=words):
        make()
