"""Confidence limits: against independent formulas, and by seeded coverage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus import clopper_pearson
from narcissus.errors import InputError


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_clopper_pearson_against_scipy(counts):
    successes, trials = counts
    ours = clopper_pearson(successes, trials, confidence=0.9)
    theirs = stats.binomtest(successes, trials).proportion_ci(0.9, method="exact")
    assert ours.low == pytest.approx(theirs.low, abs=1e-9)
    assert ours.high == pytest.approx(theirs.high, abs=1e-9)


def test_counts_that_cannot_be_are_refused():
    for successes, trials, name in ((3, 2, "successes"), (-1, 2, "successes"), (0, 0, "trials")):
        with pytest.raises(InputError, match=name):
            clopper_pearson(successes, trials)
    assert clopper_pearson(2, 2).high == 1
    assert clopper_pearson(0, 1).low == 0
