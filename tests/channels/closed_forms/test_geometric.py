"""Two-sided geometric noise, clamped: by adding up the noise."""

import numpy as np
import pytest

from narcissus.channels import Geometric


def test_the_matrix_by_adding_up_the_noise():
    n, a = 6, np.exp(-0.4)
    noise = np.arange(-200, 201)
    chance = (1 - a) / (1 + a) * a ** np.abs(noise)
    rows = [
        np.bincount(np.clip(s + noise, 0, n - 1), weights=chance, minlength=n) for s in range(n)
    ]
    assert np.allclose(Geometric(n, 0.4).channel().matrix, rows, atol=1e-14)


def test_reference_value():
    assert Geometric(5, 0.7).channel().dense[0, 0] == pytest.approx(0.668187772168166, abs=2e-15)
