"""Confidence limits: against independent formulas, and by seeded coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus import clopper_pearson
from narcissus.errors import InputError
from narcissus.evidence import bernstein_limits


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_clopper_pearson_against_scipy(counts):
    successes, trials = counts
    ours = clopper_pearson(successes, trials, confidence=0.9)
    theirs = stats.binomtest(successes, trials).proportion_ci(0.9, method="exact")
    assert ours.low == pytest.approx(theirs.low, abs=1e-9)
    assert ours.high == pytest.approx(theirs.high, abs=1e-9)


@pytest.mark.states("Maurer and Pontil 2009", "Theorem 4")
def test_bernstein_limits_follow_the_theorem():
    """Maurer and Pontil 2009, Theorem 4, at half of alpha a side, from the values themselves."""
    values = np.random.default_rng(5).random(500)
    log = np.log(2 / 0.025)
    reach = np.sqrt(2 * values.var(ddof=1) * log / 500) + 7 * log / (3 * 499)
    limits = bernstein_limits(values.sum(), (values**2).sum(), 500)
    assert bernstein_limits(5, 5, 10).value == 0.5  # zeros and ones are their own squares
    with pytest.raises(InputError, match="squares"):
        bernstein_limits(5, 5.1, 10)
    with pytest.raises(InputError, match="total"):
        bernstein_limits(10.1, 5, 10)
    assert limits.low == pytest.approx(values.mean() - reach, abs=1e-12)
    assert limits.high == pytest.approx(values.mean() + reach, abs=1e-12)


def test_counts_that_cannot_be_are_refused():
    for successes, trials, name in ((3, 2, "successes"), (-1, 2, "successes"), (0, 0, "trials")):
        with pytest.raises(InputError, match=name):
            clopper_pearson(successes, trials)
    assert clopper_pearson(2, 2).high == 1
    assert clopper_pearson(0, 1).low == 0
    with pytest.raises(InputError, match="count"):
        bernstein_limits(0.5, 0.5, 1)
