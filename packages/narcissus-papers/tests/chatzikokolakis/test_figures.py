"""Figure 1: the pair that is told apart best is the one farthest apart."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus_papers import ITEMS, Given
from narcissus_papers.chatzikokolakis import figures


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
        assert figures.overlap(distance) == pytest.approx(2 * share, abs=off)
    assert figures.overlap(0.0) == pytest.approx(1.0, abs=1e-9)


def test_noise_that_differs_from_the_integral_is_noticed(failing, monkeypatch):
    monkeypatch.setattr(figures, "overlap", lambda distance: 0.3)
    assert len(failing("figure-1")) == 1


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
    assert figures.best(1.0) == pytest.approx(expected, rel=1e-12)


def test_another_success_is_noticed(failing, monkeypatch):
    right = figures.best
    monkeypatch.setattr(figures, "best", lambda e: (right(e)[0] - 0.05, *right(e)[1:]))
    assert len(failing("figure-2")) == 1


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
    assert figures.first(2, 4, 2, 1.0).sum(axis=1) == pytest.approx([1, 1])
    uneven = figures.first(2, 4, 1, 1.0).sum(axis=1)
    assert uneven[0] == pytest.approx(1)
    assert uneven[1] == pytest.approx((1 / 3 + 3 * math.e) / (1 + math.e))
    assert not figures.reaches(np.full((2, 2), 0.5), 1.0)
    assert figures.reaches(figures.mended(4, 3, 0.7), 0.7)
    assert not figures.reaches(figures.mended(4, 3, 0.7), 0.6)


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


@pytest.fixture(scope="module")
def found():
    """Play each channel with a tenth of the priors."""
    return {
        name: partial(figures.gaps, name, Given(), repeats=100)()
        for name in figures.FIGURE_5.pieces
    }


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 5")
def test_each_limit_is_near_where_the_paper_says(found, monkeypatch):
    monkeypatch.setattr(figures, "SURE", 2.0)
    made = figures.make_5(Given(found))
    assert [one.holds for one in made.held] == [True, True, True]
    # Where the secrets lie is not printed: the other reading is a note, and no misprint.
    opened = {name: figures.open_share(one) for name, one in found.items()}
    assert opened[figures.SPREAD] < opened[figures.SIMPLEX] < opened[figures.BESIDE]
    assert f"{opened[figures.SPREAD]:.3f} of 1 - beta* open" in made.notes[2]
    assert [len(panel.lines) for panel in made.panels] == [4, 2, 2]
    for panel in made.panels:
        for line in panel.lines:
            assert len(line.x) == 9
            assert min(line.y) > 0


def test_means_that_do_not_differ_are_not_called_different(found):
    flat = {name: {**one, "leakage": [[1.0, 0.1]] * 9} for name, one in found.items()}
    assert not figures.make_5(Given(flat)).held[0].holds
    assert not figures.less([1.0, 0.1], [1.2, 0.1])
    assert figures.less([1.0, 0.01], [1.2, 0.01])


def test_channels_are_those_of_the_paper():
    for name in figures.FIGURE_5.pieces:
        assert ch.channel(figures.rows_of(name)).shape == (10, 1000)
    spread = figures.rows_of(figures.SPREAD)
    assert np.log(spread[1, 99] / spread[1, 100]) == pytest.approx(-0.1)
    assert spread[1].argmax() == 100
    assert figures.rows_of(figures.BESIDE)[9].argmax() == 9
