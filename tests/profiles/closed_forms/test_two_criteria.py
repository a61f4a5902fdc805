"""A looser relation for fresh data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.profiles.closed_forms.average import (
    limit_given_rows,
    looser_gamma,
    places,
    two_criteria_limit,
)


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.7")
@pytest.mark.parametrize(
    ("case", "value", "within"),
    [
        ((10, 5000, 0.23), 0.3148, 5e-5),
        ((20, 5000, 0.24), 0.306, 5e-5),
        ((100, 10**4, 0.25), 0.2876, 5e-5),
        ((100, 10**5, 0.25), 0.26514, 1e-4),  # the theory's grid was coarser
        ((1000, 10**4, 0.3), 0.3377, 5e-5),
    ],
)
def test_the_looser_share_at_the_sizes_of_the_theory(case, value, within):
    assert float(looser_gamma(*case, 1e-6)) == pytest.approx(value, abs=within)


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.7")
@pytest.mark.parametrize(
    ("n", "d", "gamma", "looser"), [(10, 800, 0.23, 0.33), (40, 500, 0.3, 0.4)]
)
def test_no_mean_disagreement_is_worse_than_the_bound(n, d, gamma, looser):
    """All columns alike, of which the binomials are the exact chances: a fine grid of means."""
    near, far = places(gamma, d), places(looser, d)
    mean = np.linspace(0.001, 0.999, 20_001)
    hit = np.where(near <= d * mean - 1, n * stats.binom.cdf(near, d, mean), 1.0)
    fresh = (n * mean + 1) / (n + 2)
    missed = np.where(far >= d * fresh, stats.binom.sf(far, d, fresh), 1.0)
    top = float((np.minimum(1.0, hit) * missed).max())
    bound = two_criteria_limit(n, d, near, far)
    assert min(top, limit_given_rows(n, d, gamma)) <= bound <= top * 1.01


def test_more_room_for_fresh_data_never_hurts():
    found = [two_criteria_limit(10, 600, 140, k) for k in range(140, 260, 12)]
    assert all(a >= b for a, b in itertools.pairwise(found))
    assert two_criteria_limit(10, 600, 12, 12) <= limit_given_rows(10, 600, 0.02)
    with pytest.raises(InputError, match="`looser`"):
        two_criteria_limit(10, 600, 140, 139)
