"""Limits of the excess of one share over another, against enumeration and SciPy."""

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.evidence.intervals import NUISANCE, TwoSamples, standard_score

CASES = [(9, 12, 3, 10), (0, 5, 0, 9), (5, 5, 0, 9), (40, 60, 30, 70), (1, 30, 2, 20)]


@pytest.mark.parametrize("case", CASES)
def test_fisher_is_scipys(case):
    a, n, b, m = case
    expected = stats.fisher_exact([[a, n - a], [b, m - b]], alternative="greater").pvalue
    assert TwoSamples(*case).fisher == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("excess", [-0.3, 0.0, 0.2])
@pytest.mark.parametrize("case", CASES)
def test_the_p_value_is_a_sum_over_all_outcomes(case, excess):
    """The largest chance of so large a difference, where the other chance is in its limits."""
    a, n, b, m = case
    error = 0.1
    limits = clopper_pearson(b, m, confidence=1 - NUISANCE * error)
    worst = 0.0
    for q in np.linspace(limits.low, limits.high, 201):
        p = min(1.0, q + excess)
        if p < 0:
            continue
        ours, theirs = stats.binom.pmf(range(n + 1), n, p), stats.binom.pmf(range(m + 1), m, q)
        far = np.arange(n + 1)[:, None] * m - np.arange(m + 1) * n >= a * m - b * n
        worst = max(worst, (np.outer(ours, theirs) * far).sum())
    expected = min(1.0, worst + NUISANCE * error)
    found = TwoSamples(*case).p_value(excess, error=error)
    if excess >= 0:
        expected = max(expected, TwoSamples(*case).fisher)
    assert found == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize(("n", "m"), [(12, 9), (7, 15)])
def test_limits_cover_at_every_pair_of_chances(n, m):
    """Exactly, by every outcome of two small samples: either side errs at most its half."""
    confidence = 0.9
    found = {
        (a, b): TwoSamples(a, n, b, m).excess(confidence=confidence)
        for a in range(n + 1)
        for b in range(m + 1)
    }
    low = np.array([[found[a, b].low for b in range(m + 1)] for a in range(n + 1)])
    high = np.array([[found[a, b].high for b in range(m + 1)] for a in range(n + 1)])
    worst = [0.0, 0.0]
    for p in np.linspace(0, 1, 26):
        for q in np.linspace(0, 1, 26):
            mass = np.outer(
                stats.binom.pmf(range(n + 1), n, p), stats.binom.pmf(range(m + 1), m, q)
            )
            missed = (mass * (low > p - q + 1e-9)).sum(), (mass * (high < p - q - 1e-9)).sum()
            worst = np.maximum(worst, missed)
    assert (worst <= 0.05 + 1e-9).all()
    assert (worst > 0.02).all()  # and not because they say nothing


@pytest.mark.parametrize("case", [(40, 60, 30, 70), (9, 12, 3, 10), (2, 30, 1, 40)])
def test_a_limit_is_where_the_test_begins_to_accept(case):
    found = TwoSamples(*case)
    low = found.excess(confidence=0.9).low
    assert found.p_value(low - 1e-3, error=0.05) < 0.05
    assert found.p_value(low + 1e-3, error=0.05) > 0.05
    # not only near: the part of the error that is kept counts on both sides
    assert found.p_value(low, error=0.05) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize("case", [(4, 6, 0, 5), (5, 6, 2, 9), (4, 6, 2, 14)])
def test_a_lower_limit_is_zero_where_fishers_test_accepts_and_the_other_does_not(case):
    found = TwoSamples(*case)
    assert found.fisher > 0.025
    assert found.excess(confidence=0.95).low == 0
    assert not found.refuses(0.0, error=0.025)


def test_a_lower_limit_above_zero_is_refused_by_fishers_test_as_well():
    for a in range(0, 41, 4):
        for b in range(0, 31, 3):
            found = TwoSamples(a, 40, b, 30)
            if found.excess(confidence=0.95).low > 0:
                assert found.fisher <= 0.025


def test_limits_mirror_when_the_samples_change_places():
    found, back = TwoSamples(20, 50, 5, 40).excess(), TwoSamples(5, 40, 20, 50).excess()
    assert (found.low, found.high) == pytest.approx((-back.high, -back.low))
    assert found.low <= found.value <= found.high


def test_what_is_detectable_is_the_least_that_is_refused():
    found = TwoSamples(12, 100, 8, 90)
    least = found.detectable(0.05, error=0.025)
    at = round((least + 8 / 90) * 100)
    assert TwoSamples(at, 100, 8, 90).refuses(0.05, error=0.025)
    assert not TwoSamples(at - 1, 100, 8, 90).refuses(0.05, error=0.025)
    assert TwoSamples(at, 100, 8, 90).excess(confidence=0.95).low > 0.05
    assert TwoSamples(1, 2, 1, 2).detectable(0.5, error=0.025) is None


def test_standard_scores_have_the_sign_of_the_difference():
    assert standard_score(TwoSamples(5, 5, 5, 5)) == 0
    assert standard_score(TwoSamples(30, 50, 20, 50)) == pytest.approx(2.0)
    assert standard_score(TwoSamples(20, 50, 30, 50)) < 0


def test_counts_out_of_range_are_refused():
    with pytest.raises(InputError, match="successes"):
        TwoSamples(6, 5, 0, 5)
    with pytest.raises(InputError, match="other_trials"):
        TwoSamples(1, 5, 0, 0)
