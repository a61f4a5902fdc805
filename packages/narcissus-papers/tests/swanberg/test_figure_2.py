"""Figure 2 of 001: its printed numbers, and the reading of s that they belong to."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.swanberg.figure_2 import bound_on_advantage, protecting


@pytest.mark.states("Swanberg et al. 2025", "Figure 2")
def test_printed_numbers_agree_for_one_reading_of_s():
    for name in ("001/figure-2a", "001/figure-2b"):
        made = ITEMS[name].make(Given())
        assert made.verdict == "differs"
        apart = [one for one in made.printed if one.word == "differs"]
        assert ["1.1" in one.what for one in apart] == [True]
        assert "s = 1.2" in made.because
        assert all(one.holds for one in made.held)


def test_what_a_constant_of_ours_was_chosen_for_does_not_count_as_agreeing():
    words = {
        (one.what, one.quote.number): one.word
        for name in ("001/figure-2a", "001/figure-2b")
        for one in ITEMS[name].make(Given()).printed
    }
    assert words["uniform canary", "17.8"] == "agrees"
    fitted = {number for (_, number), word in words.items() if word == "fitted"}
    assert fitted == {"0.24", "0.25", "0.45", "2.37", "1.0"}
    assert all(
        word == "fitted" for (what, _), word in words.items() if "name" in what or "1.2" in what
    )


def test_the_fitted_prior_of_the_name_is_one_of_few_that_fit():
    fit = [
        prior
        for prior in (0.00543, 0.00544, 0.00545, 0.00546)
        if abs(protecting(prior) - 2.37) <= 0.005
        and abs(bound_on_advantage(prior, 5.0) - 0.45) <= 0.005
    ]
    assert fit == [0.00544, 0.00545]


@pytest.mark.states("Swanberg et al. 2025", "Figure 2")
def test_numbers_with_more_digits():
    assert protecting(1e-9) == pytest.approx(17.7786, abs=5e-5)
    assert protecting(0.181411234149102) == pytest.approx(0.254680, abs=5e-7)
    assert protecting(0.107232591061448) == pytest.approx(0.39925, abs=5e-6)
    assert protecting(0.00545) == pytest.approx(2.36605, abs=2e-5)
    assert bound_on_advantage(0.181411234149102, 1.0) == pytest.approx(0.237652, abs=5e-7)
    assert bound_on_advantage(0.107232591061448, 1.0) == pytest.approx(0.1556, abs=5e-5)
    assert bound_on_advantage(1e-9, 10.0) == pytest.approx(3.2025e-5, rel=1e-4)


def test_what_protects_falls_with_the_prior():
    [panel] = ITEMS["001/figure-2b"].make(Given()).panels
    assert (np.diff(panel.lines[0].y) < 0).all()
    assert {line.style for line in panel.lines[1:]} == {"points"}
