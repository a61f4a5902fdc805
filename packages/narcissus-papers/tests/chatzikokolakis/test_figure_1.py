"""Figure 1: the pair that is told apart best is the one farthest apart."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.chatzikokolakis import figure_1


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 1")
def test_the_pair_farthest_apart_is_drawn_with_full_lines():
    made = ITEMS["002/figure-1"].make(Given())
    assert made.verdict == "agrees"
    plan, cut = made.panels
    best = [line for line in plan.lines if "told apart best" in line.label]
    assert [line.style for line in best] == ["line", "line"]
    assert [line.label[:8] for line in best] == ["secret 1", "secret 5"]
    assert np.all(np.array(cut.lines[2].y) <= np.minimum(cut.lines[0].y, cut.lines[1].y))


def test_the_integral_is_that_of_the_plane():
    """By Monte Carlo: radii of the noise are gamma-distributed, angles uniform."""
    rng = np.random.default_rng(8)
    radius, turn = rng.gamma(2, 1, 400_000), rng.uniform(0, 2 * math.pi, 400_000)
    for distance in (0.5, 2.0):
        share = float((radius * np.cos(turn) > distance / 2).mean())
        # 4.9 standard deviations: a false alarm once in a million
        off = 4.9 * 2 * math.sqrt(share * (1 - share) / 400_000)
        assert figure_1.overlap(distance) == pytest.approx(2 * share, abs=off)
    assert figure_1.overlap(0.0) == pytest.approx(1.0, abs=1e-9)


def test_noise_that_differs_from_the_integral_is_noticed(failing, monkeypatch):
    monkeypatch.setattr(figure_1, "overlap", lambda distance: 0.3)
    assert len(failing("figure-1")) == 1
