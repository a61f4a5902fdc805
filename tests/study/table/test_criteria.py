"""What a threshold on a mean allows."""

import numpy as np
import pytest

from narcissus.study.table.criteria import Criterion, criteria
from narcissus.study.table.schema import ThresholdSpec

GUESS, FRESH = np.array([0.2, 0.6]), np.array([0.1, 0.5])


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("share", [0.25, 0.25]), ("advantage", [0.4, 0.7]), ("gain", [0.35, 0.75])],
)
def test_what_is_allowed_and_between_which_ends_an_excess_lies(name, allowed):
    one = Criterion(name, 0.25)
    assert one.allowed(GUESS, FRESH) == pytest.approx(np.array(allowed))
    low, high = one.ends
    every = np.linspace(0, 1, 11)
    guess, fresh = (grid.ravel() for grid in np.meshgrid(every, every))
    for share in (0.0, 0.3, 1.0):
        excess = share - one.allowed(guess, fresh)
        assert excess.min() >= low - 1e-12
        assert excess.max() <= high + 1e-12
    reached = [share - one.allowed(guess, fresh) for share in (0.0, 1.0)]
    assert reached[0].min() == pytest.approx(low)
    assert reached[1].max() == pytest.approx(high)


def test_a_threshold_holds_several_limits_and_one_of_groups():
    both = ThresholdSpec(share=0.9, gain=0.05, targets=3)
    assert criteria(both) == [Criterion("share", 0.9), Criterion("gain", 0.05)]
    assert criteria(both, of_group=True) == []
    assert criteria(ThresholdSpec(targets=3)) == []
    group = ThresholdSpec(gain=0.05, worst_group=0.1)
    assert criteria(group, of_group=True) == [Criterion("gain", 0.1)]
    assert criteria(group)[0].moments == "gain_bound"
    for wrong in ({}, {"targets": 1, "worst_group": 0.1}):
        with pytest.raises(ValueError, match=r"give at least one|goes with one of"):
            ThresholdSpec(**wrong)
    with pytest.raises(ValueError, match="goes with one of"):
        ThresholdSpec(share=0.5, gain=0.1, worst_group=0.1)
