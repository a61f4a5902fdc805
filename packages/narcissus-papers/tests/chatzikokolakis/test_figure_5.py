"""Figure 5: with few priors a level, the same shapes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus_papers import Given
from narcissus_papers.chatzikokolakis import figure_5


@pytest.fixture(scope="module")
def found():
    """Play each channel with a tenth of the priors."""
    return {
        name: partial(figure_5.gaps, name, Given(), repeats=100)()
        for name in figure_5.FIGURE_5.pieces
    }


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 5")
def test_each_limit_is_near_where_the_paper_says(found, monkeypatch):
    monkeypatch.setattr(figure_5, "SURE", 2.0)
    made = figure_5.make(Given(found))
    assert [one.holds for one in made.held] == [True, True, True]
    # Where the secrets lie is not printed: the other reading is a note, and no misprint.
    opened = {name: figure_5.open_share(one) for name, one in found.items()}
    assert opened[figure_5.SPREAD] < opened[figure_5.SIMPLEX] < opened[figure_5.BESIDE]
    assert f"{opened[figure_5.SPREAD]:.3f} of 1 - beta* open" in made.notes[2]
    assert [len(panel.lines) for panel in made.panels] == [4, 2, 2]
    for panel in made.panels:
        for line in panel.lines:
            assert len(line.x) == 9
            assert min(line.y) > 0


def test_means_that_do_not_differ_are_not_called_different(found):
    flat = {name: {**one, "leakage": [[1.0, 0.1]] * 9} for name, one in found.items()}
    assert not figure_5.make(Given(flat)).held[0].holds
    assert not figure_5.less([1.0, 0.1], [1.2, 0.1])
    assert figure_5.less([1.0, 0.01], [1.2, 0.01])


def test_channels_are_those_of_the_paper():
    for name in figure_5.FIGURE_5.pieces:
        assert ch.channel(figure_5.rows_of(name)).shape == (10, 1000)
    spread = figure_5.rows_of(figure_5.SPREAD)
    assert np.log(spread[1, 99] / spread[1, 100]) == pytest.approx(-0.1)
    assert spread[1].argmax() == 100
    assert figure_5.rows_of(figure_5.BESIDE)[9].argmax() == 9
