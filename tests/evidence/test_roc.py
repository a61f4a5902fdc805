"""ROC bands: exact on uniform values, at all thresholds at once, with ties."""

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.evidence.roc import crossing, exceedance_limits, ranks_of, roc_band
from narcissus.results import Approximate, Estimate


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


def test_area_precision_and_rates_are_of_one_band():
    rng = np.random.default_rng(3)
    found = roc_band(rng.normal(1, 1, 300).round(1), rng.normal(0, 1, 400).round(1))
    grid = np.linspace(0, 1, 200_001)
    value, low, high = found.curve(grid)
    area = found.auc
    assert area.low == pytest.approx(low.mean(), abs=1e-4)
    assert area.high == pytest.approx(high.mean(), abs=1e-4)
    assert value.mean() < area.value < area.high  # half of a tie is above the steps
    for fpr, base in ((0.1, 0.5), (0.01, 0.001), (0.3, 0.2)):
        rate, precise = found.tpr_at(fpr), found.precision_at(fpr, base)
        for end in ("value", "low", "high"):
            told = base * getattr(rate, end)
            assert getattr(precise, end) == pytest.approx(told / (told + (1 - base) * fpr))


@pytest.mark.parametrize("fpr", [0.1, 0.01, 0.003])
def test_what_cannot_be_seen_is_said_and_so_many_are_enough(fpr):
    few = roc_band([1.0], np.zeros(20))
    assert not few.sees(fpr)
    said = few.unseen(fpr)
    assert said.startswith("cannot be seen with 20 non-members")
    enough = int(said.split("; ")[1].split()[0].replace(",", ""))
    many = roc_band([1.0], np.zeros(enough))
    assert many.sees(fpr)
    assert many.fpr_high[0] <= fpr == pytest.approx(many.least_seen, rel=0.7)
    # one certain threshold is what makes a rate seen
    assert roc_band(np.ones(10**4), np.zeros(enough)).tpr_at(fpr).low > 0.9
    assert roc_band(np.ones(10**4), np.zeros(20)).tpr_at(fpr).low == 0
    assert "any number" in few.unseen(0)


@pytest.mark.parametrize(("values", "shift"), [(None, 1.0), (8, 1.0), (None, 0.0)])
def test_curve_and_area_hold_at_once(values, shift):
    """All truths of one band; with ties the curve has steps. Corners are wider than each side."""
    rng, missed = np.random.default_rng(4), {0.8: 0, 0.02: 0}
    grid = np.linspace(0.001, 0.999, 400)
    points = np.concatenate([[np.inf], np.linspace(6, -6, 4001)])
    cut = points if values is None else np.ceil(points * values / 4) * 4 / values
    fprs, tprs = stats.norm.sf(cut), stats.norm.sf(cut - shift)
    truth = tprs[np.searchsorted(fprs, grid + 1e-9, side="right") - 1]
    for run in range(400):
        own, others = rng.normal(shift, 1, 70), rng.normal(0, 1, 90)
        if values is not None:
            own, others = (np.floor(one * values / 4) * 4 / values for one in (own, others))
        level = 0.8 if run < 200 else 0.02
        found = roc_band(own, others, confidence=level)
        _, low, high = found.curve(grid)
        wrong = (truth < low - 1e-2) | (truth > high + 1e-2)
        area = found.auc
        held = area.low <= np.trapezoid(tprs, fprs) <= area.high
        missed[level] += bool(wrong.any() or not held)
    assert missed[0.8] <= stats.binom.isf(1e-6, 200, 0.2)
    assert missed[0.02] > 0  # the limits can fail


@pytest.mark.parametrize("n", [31, 32, 40, 200])
def test_limits_that_are_never_crossed_have_no_chance(n):
    """The chance of so many values in all is exact for few and a series for many."""
    assert crossing(n, ranks_of(n), 1e-30) < 1e-9
