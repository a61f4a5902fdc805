"""Laplace noise, by integrating the smaller density."""

import math

import numpy as np
import pytest
from scipy import integrate

from narcissus.channels import Laplace


@pytest.mark.parametrize(("span", "scale"), [(1.0, 2.0), (3.0, 0.5)])
def test_overlap_by_integration(span, scale):
    def smaller(x):
        return np.exp(-max(abs(x), abs(x - span)) / scale) / (2 * scale)

    found, _ = integrate.quad(smaller, -40 * scale, span + 40 * scale, points=[0, span / 2, span])
    form = Laplace(span, scale)
    assert form.beta_star == pytest.approx(found, rel=1e-7)
    assert form.local_epsilon == span / scale
    assert form.delta(0) == pytest.approx(1 - math.exp(-span / scale / 2), rel=1e-12)
