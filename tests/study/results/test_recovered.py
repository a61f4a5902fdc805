"""What came back beside fresh ones: gains follow from shares, groups add up to the whole."""

import pytest

from narcissus.results import Estimate
from narcissus.study.results.base import SampledShare
from narcissus.study.results.recovered import (
    GainOverFresh,
    require_gain,
    require_groups,
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
