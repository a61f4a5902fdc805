"""Lukewarm columns: how many there are, and the surprisal that they leave."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from narcissus.profiles.closed_forms.average import least_surprisal, log2_few_lukewarm


@pytest.mark.states("Kaplan et al. 2025", "Claim 4.9")
@pytest.mark.parametrize(
    ("n", "d", "value"), [(20, 200, -80.2483), (100, 1000, -302.330), (20, 5000, -1868.97657)]
)
def test_few_lukewarm_columns_by_exact_rationals(n, d, value):
    inside = Fraction(sum(Fraction(n, 4) <= m <= Fraction(3 * n, 4) for m in range(n)), n)
    top, whole = inside.numerator, inside.denominator
    total = sum(math.comb(d, k) * top**k * (whole - top) ** (d - k) for k in range(d // 5))
    exact = math.log2(total) - d * math.log2(whole)
    assert log2_few_lukewarm(n, d, d // 5) == pytest.approx(exact, abs=1e-6)
    assert exact == pytest.approx(value, abs=5e-4)


@pytest.mark.states("Kaplan et al. 2025", "Claim 4.9")
def test_least_surprisal_is_that_of_the_likeliest_bits():
    for n in range(2, 30):
        bits = [-math.log2(max(m + 1, n - m) / (n + 1)) for m in range(n)]
        warm = [b for m, b in enumerate(bits) if n <= 4 * m <= 3 * n]
        assert least_surprisal(n, 1, 0) == pytest.approx(min(bits), abs=1e-12)
        if warm:
            assert least_surprisal(n, 3, 2) == pytest.approx(2 * min(warm) + min(bits), abs=1e-12)
    assert log2_few_lukewarm(20, 10, 0) == -math.inf
