"""Figure 3: neither printed matrix reaches Theorem 5 in general; each does where it is said."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.chatzikokolakis import figure_3


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 3")
def test_what_is_wrong_in_print_and_what_holds():
    made = ITEMS["002/figure-3"].make(Given())
    assert made.verdict == "differs"
    assert [one.holds for one in made.held] == [True, False, True, False, True]
    assert "m = 2k" in made.because
    by_name = {(row[0], row[1], row[2]): row for row in made.table}
    assert by_name["second, as printed", 5, 4][6:8] == ("none", pytest.approx(1 / (1 + math.e)))
    assert "no channel" in str(by_name["first, as printed", 5, 7][5])


def test_rows_by_hand():
    assert figure_3.first(2, 4, 2, 1.0).sum(axis=1) == pytest.approx([1, 1])
    uneven = figure_3.first(2, 4, 1, 1.0).sum(axis=1)
    assert uneven[0] == pytest.approx(1)
    assert uneven[1] == pytest.approx((1 / 3 + 3 * math.e) / (1 + math.e))
    assert not figure_3.reaches(np.full((2, 2), 0.5), 1.0)
    assert figure_3.reaches(figure_3.mended(4, 3, 0.7), 0.7)
    assert not figure_3.reaches(figure_3.mended(4, 3, 0.7), 0.6)
