"""Figure 7 with one release of a table at three epsilons; the print's own n beside ours."""

from __future__ import annotations

import json

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus_papers import Given
from narcissus_papers.chatzikokolakis import figure_7


@pytest.fixture(scope="module")
def found():
    """Play three epsilons once each, without the Census."""
    return {f"epsilon {e:g}": figure_7.play(e, Given(), repeats=1) for e in (1.0, 3.3, 4.8)}


@pytest.fixture(scope="module")
def read():
    """Play them on an uneven table as large as the Census of the print."""
    shares = np.random.default_rng(3).dirichlet(np.full(figure_7.KINDS, 0.05))
    held = np.random.default_rng(4).multinomial(figure_7.RECORDS, shares)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figure_7, "counts", lambda _given: held)
        return {f"epsilon {e:g}": figure_7.play(e, Given(), repeats=1) for e in (1.0, 3.3, 4.8)}


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 7", "Appendix H")
def test_printed_security_is_that_of_the_number_of_records(found, monkeypatch):
    monkeypatch.setattr(figure_7, "EPSILONS", (1.0, 3.3, 4.8))
    made = figure_7.make(Given(json.loads(json.dumps(found))))
    words = {one.what: one.word for one in made.printed}
    for epsilon in (3.3, 4.8):
        assert words[f"beta* at epsilon {epsilon:g}, the number of records for n"] == "fitted"
        assert words[f"beta* at epsilon {epsilon:g}, the number of values for n"] == "differs"
    assert all(one.reason for one in made.printed)
    assert [one.holds for one in made.held] == [True, False]
    ours = {one.what: one.ours for one in made.printed}
    assert ours["beta* at epsilon 4.8, the number of values for n"] == pytest.approx(
        0.7685, abs=5e-5
    )


def test_without_the_census_no_utility_is_invented(found, monkeypatch):
    monkeypatch.setattr(figure_7, "EPSILONS", (1.0, 3.3, 4.8))
    made = figure_7.make(Given(json.loads(json.dumps(found))))
    assert all(one[key] == [] for one in found.values() for key in figure_7.READINGS)
    assert not any("utility" in one.what for one in (*made.printed, *made.held))
    assert not any("utility" in line.label for panel in made.panels for line in panel.lines)
    assert "is not compared: it needs the Census, 2,458,285 records" in made.notes[0]


def test_utility_rises_and_the_nearest_distribution_is_the_best(read):
    for one in read.values():
        assert one["raw"][0] < one["cut"][0] < one["nearest"][0] < 1
    assert read["epsilon 1"]["nearest"][0] < 0.75 < read["epsilon 3.3"]["raw"][0]


def test_a_users_census_is_compared(read, monkeypatch):
    monkeypatch.setattr(figure_7, "EPSILONS", (1.0, 3.3, 4.8))
    made = figure_7.make(Given(read))
    assert "the user's" in made.notes[0]
    compared = [one for one in made.printed if "utility" in one.what]
    assert {one.quote.number for one in compared} == {"95%", "99%"}
    assert len(compared) == 2 * len(figure_7.READINGS)
    assert [one.holds for one in made.held] == [True, True, True, False]
    assert made.panels[0].lines[0].label == "utility, the nearest distribution"


def test_limits_that_miss_are_noticed(found, monkeypatch):
    monkeypatch.setattr(figure_7, "EPSILONS", (1.0, 3.3, 4.8))
    wrong = {**found, "epsilon 1": {**found["epsilon 1"], "low": 0.9999}}
    assert [one.holds for one in figure_7.make(Given(wrong)).held] == [False, False]


def test_an_exact_release_has_full_utility():
    rng = np.random.default_rng(2)
    true = rng.dirichlet(np.ones(figure_7.KINDS))
    shown = true @ ch.KaryRandomizedResponse(figure_7.KINDS, 2.0).channel().dense
    assert figure_7.utilities(shown, true, 2.0) == pytest.approx(
        {"nearest": 1.0, "cut": 1.0, "raw": 1.0}, abs=1e-9
    )
