"""Figure 7 with one release of the made table at three epsilons; the print's own n beside ours."""

from __future__ import annotations

import json

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.reproduce import Given
from narcissus.reproduce.chatzikokolakis import figure_7


@pytest.fixture(scope="module")
def found():
    """Play three epsilons once each."""
    return {f"epsilon {e:g}": figure_7.play(e, Given(), repeats=1) for e in (1.0, 3.3, 4.8)}


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 7", "Appendix H")
def test_printed_security_is_that_of_the_number_of_records(found, monkeypatch):
    monkeypatch.setattr(figure_7, "EPSILONS", (1.0, 3.3, 4.8))
    made = figure_7.make(Given(json.loads(json.dumps(found))))
    agrees = {one.what: one.agrees for one in made.printed}
    for epsilon in (3.3, 4.8):
        assert agrees[f"beta* at epsilon {epsilon:g}, the number of records for n"]
        assert not agrees[f"beta* at epsilon {epsilon:g}, the number of values for n"]
    assert all(one.because for one in made.printed if not one.agrees)
    assert [one.holds for one in made.held] == [True, True, True, False]
    assert "made, not the Census" in made.notes[0]
    assert "the table is not the Census" in made.because
    ours = {one.what: one.ours for one in made.printed}
    assert ours["beta* at epsilon 4.8, the number of values for n"] == pytest.approx(
        0.7685, abs=5e-5
    )


def test_utility_rises_and_the_nearest_distribution_is_the_best(found):
    for one in found.values():
        assert one["raw"][0] < one["cut"][0] < one["nearest"][0] < 1
    assert found["epsilon 1"]["nearest"][0] < 0.75 < found["epsilon 3.3"]["raw"][0]


def test_a_users_table_is_no_excuse(found, monkeypatch):
    monkeypatch.setattr(figure_7, "EPSILONS", (1.0, 3.3, 4.8))
    read = {name: {**one, "read": True} for name, one in found.items()}
    made = figure_7.make(Given(read))
    assert "the user's" in made.notes[0]
    assert "not the Census" not in made.because


def test_limits_that_miss_are_noticed(found, monkeypatch):
    monkeypatch.setattr(figure_7, "EPSILONS", (1.0, 3.3, 4.8))
    wrong = {**found, "epsilon 1": {**found["epsilon 1"], "low": 0.9999}}
    assert [one.holds for one in figure_7.make(Given(wrong)).held] == [True, True, False, False]


def test_an_exact_release_has_full_utility():
    rng = np.random.default_rng(2)
    true = rng.dirichlet(np.ones(figure_7.KINDS))
    shown = true @ ch.KaryRandomizedResponse(figure_7.KINDS, 2.0).channel().dense
    assert figure_7.utilities(shown, true, 2.0) == pytest.approx(
        {"nearest": 1.0, "cut": 1.0, "raw": 1.0}, abs=1e-9
    )
