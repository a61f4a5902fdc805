"""k-ary randomized response, by its definition."""

import numpy as np
import pytest

from narcissus.channels import KaryRandomizedResponse


def test_the_matrix_is_the_definition():
    weights = np.where(np.eye(4, dtype=bool), np.exp(1.5), 1.0)
    expected = weights / weights.sum(axis=1, keepdims=True)
    form = KaryRandomizedResponse(4, 1.5)
    assert np.allclose(form.channel().matrix, expected, rtol=1e-14)
    assert form.beta_star == pytest.approx(4 / (np.exp(1.5) + 3), rel=1e-14)
