"""The thesis of the paper as a picture."""

from __future__ import annotations

import math

import pytest

from narcissus.profiles.closed_forms.candidates import bayes_success
from narcissus_papers import ITEMS, Given
from narcissus_papers.kaplan import thesis


@pytest.mark.states("Kaplan et al. 2025", "section 1.4", "section 4.2")
def test_all_of_it_holds_and_is_drawn():
    made = ITEMS["004/figure-thesis"].make(Given())
    assert made.verdict == "agrees"
    assert {type(one.holds) for one in made.held} == {bool}  # JSON holds no other
    assert [len(panel.lines) for panel in made.panels] == [3, 3, 1]
    named, near, told = made.panels[0].lines
    assert named.y[-1] > 0.99 > 1e-100 > near.y[-1]
    assert told.y[-1] < 1e-100


def test_where_each_begins():
    d = thesis.membership_begins(20)
    assert bayes_success(20, d - 1, math.inf) < thesis.SURE <= bayes_success(20, d, math.inf)
    assert thesis.safety_begins(20)[0] == 102
    assert thesis.first(lambda x: x >= 17, 0, 100) == 17


def test_it_fails_where_membership_cannot_be_told(monkeypatch):
    monkeypatch.setattr(thesis, "bayes_success", lambda n, d, e: 0.9 + d / 1e6)
    assert ITEMS["004/figure-thesis"].make(Given()).verdict == "differs"
