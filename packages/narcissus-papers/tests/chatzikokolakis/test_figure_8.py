"""Figure 8: three quick limits, all below beta*; which is best depends on the number of values."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.chatzikokolakis import figure_8


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 8")
def test_the_mean_row_is_best_where_the_print_says_so():
    """The text gives no range for the right picture: below 6 values is a note, and no misprint."""
    made = ITEMS["002/figure-8"].make(Given())
    assert made.verdict == "agrees"
    assert [one.holds for one in made.held] == [True, True, True]
    assert "with 3, 4, 5 values" in made.notes[0]
    left, right = made.panels
    assert [len(left.lines), len(right.lines)] == [5, 4]
    assert left.lines[4].y == pytest.approx(left.lines[0].y)


@pytest.mark.parametrize("n", [3, 10, 40])
def test_limits_by_formula(n):
    """Of randomized response: t is the distance of two rows."""
    t = (np.e**0.5 - 1) / (np.e**0.5 + n - 1)
    expected = (1 - t, 1 - 2 * t * (n - 1) / n, 1 - 2 * t, 1 - np.sqrt(n / 2) * t)
    assert figure_8.limits(n, 0.5) == pytest.approx(expected, abs=1e-6)


def test_a_claim_fails_where_the_package_is_wrong(failing, spoil):
    spoil("beta_star", "down")
    assert len(failing("figure-8")) == 1
