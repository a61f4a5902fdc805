"""Figure 4: the paper's limit is above the earlier one."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus_papers import ITEMS, Given


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 4")
def test_the_two_curves():
    made = ITEMS["002/figure-4"].make(Given())
    assert made.verdict == "agrees"
    [panel] = made.panels
    ours, yeom = (dict(zip(line.x, line.y, strict=True)) for line in panel.lines)
    assert ours[1.0] == pytest.approx(2 / (1 + np.e))
    assert yeom[0.5] == pytest.approx(2 - np.exp(0.5))
    assert yeom[1.0] == 0


@pytest.mark.parametrize("name", ["from_local_dp", "yeom_bound"])
def test_a_claim_fails_where_the_package_is_wrong(failing, spoil, name):
    spoil(name, "up")
    assert failing("figure-4")
