"""Unary encoding."""

import mpmath
import pytest

from narcissus import channels as ch


@pytest.mark.parametrize("values", [2, 3, 40, 100_000])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0, 20.0, 50.0, 300.0, 1400.0])
@pytest.mark.parametrize("optimized", [False, True])
def test_unary_encoding_in_many_digits(values, epsilon, optimized):
    mechanism = ch.UnaryEncoding(values, epsilon, optimized)
    with mpmath.workdps(800):
        e, n = mpmath.mpf(epsilon), values
        half = mpmath.exp(e / 2)
        p = mpmath.mpf(1) / 2 if optimized else half / (1 + half)
        q = 1 / (1 + mpmath.exp(e)) if optimized else 1 - p
        right = p * (1 - (1 - q) ** n) / (n * q) + (1 - p) * (1 - q) ** (n - 1) / n
        risk, likely, unlikely = 1 - right, p * (1 - q), q * (1 - p)
        assert mechanism.bayes_risk == pytest.approx(float(risk), rel=1e-12, abs=0)
        for share in (0.0, 0.3, 0.999):
            delta = float(likely - mpmath.exp(share * epsilon) * unlikely)
            assert mechanism.delta(share * epsilon) == pytest.approx(delta, rel=1e-10, abs=0)
