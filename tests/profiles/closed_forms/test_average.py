"""What an average says: bits, and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from narcissus.profiles.closed_forms.average import average_bits, noise_error


@pytest.mark.states("Kaplan et al. 2025", "Definition 1.1")
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_bits_by_integration_over_the_rate(n):
    def entropy(p):
        return stats.binom(n, p).entropy()

    mean = integrate.quad(entropy, 0, 1, epsabs=1e-9)[0] / math.log(2)
    assert average_bits(n, 3) == pytest.approx(3 * float(mean), abs=1e-6)


@pytest.mark.states("Kaplan et al. 2025", "Definition 3.2", "Theorem 4.7")
def test_the_error_by_the_law_of_the_largest_of_many():
    for n, d, epsilon, beta in ((20, 5000, 0.1, 0.05), (100, 1, 1.0, 0.5), (3, 10, 2.0, 1e-9)):
        alpha = noise_error(n, d, epsilon, beta)
        one = stats.laplace(scale=1 / (epsilon * n)).sf(alpha) * 2
        assert -np.expm1(d * np.log1p(-one)) == pytest.approx(beta, rel=1e-6)
