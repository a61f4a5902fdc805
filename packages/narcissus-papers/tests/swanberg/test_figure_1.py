"""Figure 1 of 001: six points of its curves, computed apart."""

from __future__ import annotations

import math

import pytest
from scipy import optimize, stats

from narcissus.bounds.published import f_dp_one_run_p_value
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP
from narcissus_papers import ITEMS, Given
from narcissus_papers.swanberg import figure_1
from narcissus_papers.swanberg.figure_1 import mmc


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
        if line.style == "line":
            assert list(line.y) == sorted(line.y)
            assert line.y[-1] == 1.0
    assert [line.label for line in approximate.lines if "ReRo" in line.label] == []
    assert (made.verdict, made.printed) == ("agrees", ())
    assert all(one.holds for one in made.held)
    assert "No number of this figure is in print" in made.notes[0]
    assert "epsilon 2: Theorem 3.2 0.4509, MMC for ten values 0.4509" in made.notes[0]


def test_mmc_stands_at_equally_likely_values_only():
    pure, approximate = ITEMS["001/figure-1"].make(Given()).panels
    for panel in (pure, approximate):
        points = [line for line in panel.lines if "MMC" in line.label]
        assert [line.style for line in points] == ["points"] * 3
        assert all(list(line.x) == [1 / k for k in figure_1.SIZES] for line in points)
    tens = {
        line.label: line.y[figure_1.SIZES.index(10)] for line in pure.lines if "MMC" in line.label
    }
    assert tens["MMC, epsilon 2"] == pytest.approx(math.e**2 / (math.e**2 + 9), abs=1e-12)
    assert tens["MMC, epsilon 2"] == pytest.approx(0.4509, abs=5e-5)  # not 1 - f(.1), .7389


def test_mmc_is_the_published_recursion_for_one_canary():
    for k in (2, 10):
        for guarantee in (PureDP(2.0), ApproximateDP(1.0, 1e-3), GaussianDP(1.0)):
            limit = mmc(k, guarantee)
            published = f_dp_one_run_p_value(1, 1, 1, guarantee, values=k)
            assert limit <= published <= limit * 1.002  # found to four digits and rounded up


@pytest.mark.parametrize(("mu", "k"), [(0.5, 10), (2.0, 10), (1.0, 2)])
def test_mmc_by_the_normal_law_itself(mu, k):
    law = stats.norm

    def above(a):
        """Compare a power with what a wrong guess, as often as it must be one, allows."""
        return law.cdf(law.ppf((1 - a) / (k - 1)) + mu) - a

    limit = optimize.brentq(above, 1 / k, 1 - 1e-9)
    assert mmc(k, GaussianDP(mu)) == pytest.approx(limit, abs=1e-9)


def test_a_claim_fails_where_a_curve_is_wrong(monkeypatch):
    right = figure_1.mmc
    monkeypatch.setattr(figure_1, "mmc", lambda k, g: min(1.0, 1.1 * right(k, g)))
    assert [one.holds for one in ITEMS["001/figure-1"].make(Given()).held] == [True, False]
    monkeypatch.undo()
    right_2, right_b = figure_1.THEOREM_3_2, figure_1.BALLE
    monkeypatch.setattr(figure_1, "THEOREM_3_2", right_b)
    monkeypatch.setattr(figure_1, "BALLE", right_2)
    assert ITEMS["001/figure-1"].make(Given()).verdict == "differs"
