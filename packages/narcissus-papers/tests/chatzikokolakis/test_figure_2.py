"""Figure 2: three games, each won as often as its best attacker can."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.chatzikokolakis import figure_2


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 2")
def test_who_chooses_more_wins_more():
    made = ITEMS["002/figure-2"].make(Given())
    assert made.verdict == "agrees"
    [panel] = made.panels
    first, second, third = (np.array(line.y) for line in panel.lines[:3])
    assert (first < second).all()
    assert (second < third).all()
    assert all(line.style == "points" for line in panel.lines[3:])


def test_success_by_hand():
    """Ten values at epsilon 1: e / (e + 9), 1 - 5 / (e + 9), e / (e + 1)."""
    e = np.e
    expected = (e / (e + 9), 1 - 5 / (e + 9), e / (e + 1))
    assert figure_2.best(1.0) == pytest.approx(expected, rel=1e-12)


def test_another_success_is_noticed(failing, monkeypatch):
    right = figure_2.best
    monkeypatch.setattr(figure_2, "best", lambda e: (right(e)[0] - 0.05, *right(e)[1:]))
    assert len(failing("figure-2")) == 1
