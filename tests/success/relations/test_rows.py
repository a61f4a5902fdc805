"""Rows that are near: the baseline in exact integers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from narcissus.success.relations import (
    Hamming,
)
from narcissus.worlds import (
    Uniform,
)


# SciPy 1.17's binomial distribution function gives 0 for the last two.
@pytest.mark.parametrize(("d", "allowed"), [(12, 3), (1000, 2), (1116, 37), (1193, 32)])
def test_the_baseline_of_near_rows_by_exact_integers(d, allowed):
    rows = Fraction(sum(math.comb(d, j) for j in range(allowed + 1)), 2**d)
    found = Hamming(allowed / d).baseline(Uniform(3, d), np.zeros((1, d)))
    assert found == pytest.approx(float(1 - (1 - rows) ** 3), rel=1e-11, abs=0)
