"""What came back beside fresh ones: gains follow from shares, groups add up to the whole."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from narcissus.evidence import clopper_pearson
from narcissus.results import Estimate
from narcissus.study.results.base import SampledShare
from narcissus.study.results.recovered import (
    GainOverFresh,
    require_gain,
    require_groups,
    shown_gain,
    status_of,
)

FRESH = SampledShare.of(Estimate(0.25, 0.125, 0.5, 0.95, 40, "a share", "by hand"))


def test_a_gain_is_the_share_less_that_of_fresh_ones():
    gain = GainOverFresh.of((0.5, 0.25, 0.625))
    require_gain(0.75, FRESH, gain, "words")
    require_gain(0.75, None, GainOverFresh.of(None), "words")
    for wrong in ((0.5, 0.25, 0.6), (0.5, 0.3, 0.625), (0.4, 0.25, 0.625), (0.5, 0.625, 0.25)):
        with pytest.raises(ValueError, match="beyond that of fresh words"):
            require_gain(0.75, FRESH, GainOverFresh.of(wrong), "words")
    for fresh, said in ((FRESH, None), (None, gain)):
        with pytest.raises(ValueError, match="without fresh words"):
            require_gain(0.75, fresh, said, "words")


def test_the_first_group_is_the_whole_of_the_others():
    require_groups([(0, 5, 9)], "words")
    require_groups([(0, 5, 9), (1, 2, 8), (4, 3, 1)], "words")
    for wrong in ([(1, 5, 9)], [(1, 5, 9), (0, 5, 9)], [(0, 5, 9), (0, 5, 9)]):
        with pytest.raises(ValueError, match="must come first"):
            require_groups(wrong, "words")
    for wrong in ([(0, 5, 9), (1, 5, 8)], [(0, 5, 9), (1, 4, 9)]):
        with pytest.raises(ValueError, match="add up to all words"):
            require_groups(wrong, "words")


@pytest.mark.parametrize(
    ("gains", "most", "status"),
    [
        ([(0.3, 0.2)], 0.1, "exceeded"),
        ([(0.5, 0.0), (0.3, 0.2)], 0.1, "exceeded"),
        ([(0.0, 0.0), (0.3, 0.1)], 0.1, "too few trials"),
        ([(0.1, 0.05)], 0.1, "inconclusive"),
        ([(0.3, 0.2)], None, "no threshold"),
    ],
)
def test_an_attack_that_fails_proves_nothing(gains, most, status):
    assert status_of(most, gains) == status


@cache
def shown(ours, of, theirs, others):
    fresh = SampledShare.of(clopper_pearson(theirs, others, confidence=0.95))
    return shown_gain(ours / of, of, fresh), ours / of - fresh.high


@pytest.mark.parametrize(
    ("of", "others", "share"), [(8, 168, 0.05), (10, 1000, 0.1), (20, 20, 0.3)]
)
def test_a_model_that_never_saw_any_seldom_seems_to_gain(of, others, share):
    rng = np.random.default_rng(1)
    drawn = zip(rng.binomial(of, share, 3000), rng.binomial(others, share, 3000), strict=True)
    gains = np.array([shown(int(ours), of, int(theirs), others) for ours, theirs in drawn])
    # 1% of 3,000 above 5% would be seen; the limit of fresh ones alone fails as often as a third
    assert (gains[:, 0] > 0).mean() < 0.05
    assert (gains[:, 1] > 0).mean() > 0.05


def test_a_gain_that_is_no_chance_keeps_its_limit():
    rng = np.random.default_rng(2)
    kept = 0
    for _ in range(300):
        of, others = (int(n) for n in rng.integers(1, 40, 2))
        ours, theirs = int(rng.integers(of + 1)), int(rng.integers(others + 1))
        found, low = shown(ours, of, theirs, others)
        chance = stats.hypergeom.sf(ours - 1, of + others, ours + theirs, of)
        assert found == (min(low, 0.0) if chance > 0.05 else low)
        kept += low > 0
    assert kept > 30
    assert shown_gain(1.0, 5, None) == -1.0
