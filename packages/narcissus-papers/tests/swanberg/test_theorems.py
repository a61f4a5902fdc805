"""Theorems of 001: those that hold do over all mechanisms, and the two others are exceeded."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import PoissonBinomial
from narcissus_papers import ITEMS, Given
from narcissus_papers.swanberg import theorems


@pytest.mark.states("Swanberg et al. 2025", "Theorem 3.2")
def test_the_odds_theorem_holds_and_is_reached(monkeypatch):
    made = ITEMS["001/statement-theorem-3.2"].make(Given())
    assert (made.verdict, made.shown) == ("agrees", "proved"), made.because
    monkeypatch.setattr(theorems, "posterior", lambda p, e: np.minimum(p * np.exp(0.9 * e), 1))
    assert not all(claim.holds for claim in ITEMS["001/statement-theorem-3.2"].make(Given()).held)


def test_the_best_given_an_output_by_hand():
    """One fair coin: e / (1 + e); two, both right: its square."""
    rows, right = np.full((2, 2), 0.5), np.array([[True, False]] * 2)
    one = np.e / (1 + np.e)
    assert theorems.best_given_output(rows[:1], right[:1], 1, 1.0) == pytest.approx(one, rel=1e-9)
    tail = PoissonBinomial(np.array([one, one])).tail(2)
    assert theorems.best_given_output(rows, right, 2, 1.0) == pytest.approx(tail, rel=1e-9)


@pytest.mark.states("Swanberg et al. 2025", "Corollary 3.4")
def test_the_corollary_is_never_exceeded(monkeypatch):
    made = ITEMS["001/statement-corollary-3.4"].make(Given())
    assert made.verdict == "agrees", made.because
    monkeypatch.setitem(theorems.THEOREMS, "swanberg-3.4", theorems.THEOREMS["swanberg-3.5"])
    assert ITEMS["001/statement-corollary-3.4"].make(Given()).verdict == "differs"


@pytest.mark.states("Swanberg et al. 2025", "Theorem 3.3", "Theorem 3.5")
@pytest.mark.parametrize("number", ["3.3", "3.5"])
def test_the_two_others_are_exceeded(number):
    made = ITEMS[f"001/statement-theorem-{number}"].make(Given())
    assert made.verdict == "differs"
    assert [claim.holds for claim in made.held] == [False] * 3
    assert "0.781362" in made.held[0].what
    assert "0.900893" in made.held[1].what
    assert "0.694737" in made.held[2].what
