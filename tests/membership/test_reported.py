"""What a report shows of an attack's rates."""

import numpy as np
import pytest

from narcissus.evidence import roc_band
from narcissus.membership.reported import RocCurve


@pytest.mark.parametrize(("inside", "outside", "tens"), [(40, 30, 2), (30, 60, 3), (700, 40, 4)])
def test_a_curve_begins_below_the_least_rate_that_two_scores_can_differ_by(inside, outside, tens):
    """Eight points for each factor of ten, from a power of ten up to 1; limits hold the value."""
    rng = np.random.default_rng(3)
    band = roc_band(rng.normal(1, 1, inside), rng.normal(size=outside))
    curve = RocCurve.of("mine", band)
    assert np.log10(curve.fpr) == pytest.approx(np.arange(-8 * tens, 1) / 8)
    assert curve.fpr[0] <= 1 / (2 * max(inside, outside)) < 10 * curve.fpr[0]
    value, low, high = band.curve(np.array(curve.fpr))
    assert curve.tpr == pytest.approx(value)
    assert (curve.low, curve.high) == (pytest.approx(low), pytest.approx(high))
    assert all(a <= b <= c for a, b, c in zip(curve.low, curve.tpr, curve.high, strict=True))
