"""ROC bands: exact on uniform values, at all thresholds at once, with ties."""

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.evidence.roc import exceedance_limits, roc_band
from narcissus.results import Approximate, Estimate


def test_limits_of_a_rank_are_those_of_clopper_and_pearson():
    low, high = exceedance_limits(1, 0.1)
    assert low == pytest.approx([0, 0.05])
    assert high == pytest.approx([0.95, 1])
    low, high = exceedance_limits(2, 0.1)
    for called in range(3):
        by = clopper_pearson(called, 2, confidence=0.95)
        assert (low[called], high[called]) == pytest.approx((by.low, by.high))


@pytest.mark.parametrize("count", [1, 2, 7, 40, 1000])
def test_limits_are_monotone_and_hold_the_share(count):
    low, high = exceedance_limits(count, 0.05)
    share = np.arange(count + 1) / count
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()
    assert (low <= share).all()
    assert (share <= high).all()


@pytest.mark.parametrize("values", [None, 5])
def test_all_thresholds_at_once(values):
    rng, runs, n = np.random.default_rng(1), 2000, 60
    low, high = exceedance_limits(n, 0.1)
    failed = 0
    for _ in range(runs):
        drawn = rng.random(n)
        if values is None:  # the chance to be above a value is the value's own
            chances = np.sort(drawn)
            thresholds = np.concatenate([1 - chances, 1 - np.nextafter(chances, 0)])
            called = (1 - drawn[:, None] >= thresholds).sum(axis=0)
            truth = 1 - thresholds
        else:
            drawn = np.floor(values * drawn)
            called = (drawn[:, None] >= np.arange(values)).sum(axis=0)
            truth = 1 - np.arange(values) / values
        failed += bool(((truth < low[called] - 1e-12) | (truth > high[called] + 1e-12)).any())
    assert failed <= stats.binom.isf(1e-6, runs, 0.1)
    assert failed > 0  # the limits can fail


def test_a_curve_by_hand():
    found = roc_band([3, 1, 2], [0, 2], confidence=0.9)
    assert found.thresholds.tolist() == [np.inf, 3, 2, 1, 0]
    assert found.true_positives == pytest.approx([0, 1 / 3, 2 / 3, 1, 1])
    assert found.false_positives == pytest.approx([0, 0, 0.5, 0.5, 1])
    low, high = exceedance_limits(3, 0.05)
    assert found.tpr_low == pytest.approx(low[[0, 1, 2, 3, 3]])
    assert found.tpr_high == pytest.approx(high[[0, 1, 2, 3, 3]])
    assert found.tpr_at(0.5).value == 1
    assert found.tpr_at(0.4).value == pytest.approx(1 / 3)
    assert found.tpr_at(0).low == 0
    assert found.tpr_at(1).high == 1


def test_the_true_rate_lies_between_the_limits():
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(200):
        found = roc_band(rng.normal(2, 1, 500), rng.normal(0, 1, 500), confidence=0.8)
        for fpr in (0.001, 0.01, 0.1, 0.5):
            at, truth = found.tpr_at(fpr), stats.norm.sf(stats.norm.isf(fpr) - 2)
            missed += not at.low <= truth <= at.high
    assert missed <= stats.binom.isf(1e-6, 200, 0.2)
    assert 0.6 < at.low < truth < at.high <= 1


def test_grades():
    assert isinstance(roc_band([1, 2], [0, 1]).tpr_at(0.5), Estimate)
    taken = roc_band([1, 2], [0, 1], taken_independent=True)
    assert isinstance(taken.tpr_at(0.5), Approximate)
    assert taken.grade == "approximate"
    assert str(taken).startswith("APPROXIMATE")


def test_members_who_are_all_there_need_no_limits():
    found = roc_band([1, 2, 3], range(100), members_known=True)
    assert (found.tpr_low == found.true_positives).all()
    low, high = exceedance_limits(100, 0.05)
    assert found.fpr_high[-1] == high[-1]
    assert found.fpr_low[-1] == pytest.approx(low[-1])


@pytest.mark.parametrize("bad", [[], [[1.0]], [1.0, float("nan")]])
def test_what_are_no_scores_is_refused(bad):
    with pytest.raises(InputError, match="inside"):
        roc_band(bad, [1.0])
