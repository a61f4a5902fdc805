"""The subset mechanism, by listing all sets."""

import itertools

import numpy as np
import pytest

from narcissus.channels import Subset


@pytest.mark.parametrize(("values", "size"), [(4, 1), (5, 2), (5, 4)])
def test_overlap_and_risk_by_listing_all_sets(values, size):
    sets = list(itertools.combinations(range(values), size))
    weights = np.array([[np.exp(0.9) if v in s else 1.0 for s in sets] for v in range(values)])
    rows = weights / weights.sum(axis=1, keepdims=True)
    form = Subset(values, size, 0.9)
    assert np.allclose(form.channel().matrix, rows, rtol=1e-13)
    assert form.beta_star == pytest.approx(np.minimum(rows[0], rows[1]).sum(), rel=1e-13)
    assert form.bayes_risk == pytest.approx(1 - rows.max(axis=0).sum() / values, rel=1e-12)
