"""Figure 1 of 001: six points of its curves, computed apart."""

from __future__ import annotations

import pytest

from narcissus.reproduce import ITEMS, Given


@pytest.mark.states("Swanberg et al. 2025", "Figure 1")
def test_points_of_the_curves():
    made = ITEMS["001/figure-1"].make(Given())
    pure, approximate = made.panels
    at = {line.label: line.y[list(line.x).index(0.1)] for line in pure.lines if len(line.x) > 2}
    for epsilon, ours, rero in ((1, 0.23196932, 0.27182818), (2, 0.45085306, 0.73890561),
                                (4, 0.85848645, 1.0)):  # fmt: skip
        assert at[f"Theorem 3.2, epsilon {epsilon}"] == pytest.approx(ours, abs=5e-9)
        assert at[f"ReRo, epsilon {epsilon}"] == pytest.approx(rero, abs=5e-9)
    for line in approximate.lines:
        assert list(line.y) == sorted(line.y)
        assert line.y[-1] == 1.0
    assert made.verdict == "cannot be compared"
