"""Theorems of 001: those that hold do over all mechanisms, and the two others are exceeded."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import optimize

from narcissus.bounds import PoissonBinomial
from narcissus.bounds.theorems import THEOREMS
from narcissus_papers import ITEMS, Given
from narcissus_papers.swanberg import theorems
from narcissus_papers.swanberg.theorems import (
    DEFINITIONS,
    MARKS,
    PROBES,
    ROWS,
    Probe,
    bayes_guess,
    covers,
    enumerated,
    priors,
    success,
)


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


AGREE = [one for one in DEFINITIONS if one.number != "Definition 4.1"]


@pytest.mark.states("Swanberg et al. 2025", "Definition 2.1", "Definition 2.2", "Definition 3.1")
@pytest.mark.states("Swanberg et al. 2025", "Definition A.1", "Definition A.2")
@pytest.mark.parametrize("item", AGREE, ids=[one.number for one in AGREE])
def test_a_definition_is_what_it_says(item):
    made = item.make(Given())
    assert (made.verdict, made.shown) == ("agrees", "checked"), made.because


@pytest.mark.states("Swanberg et al. 2025", "Definition 4.1")
def test_the_comparison_holds_and_its_print_lacks_one():
    [one] = [one for one in DEFINITIONS if one.number == "Definition 4.1"]
    made = one.make(Given())
    assert [claim.holds for claim in made.held] == [True, False]
    assert "leaves out the -1" in made.because


def test_a_wrong_mechanism_is_seen(monkeypatch):
    """A profile that promises less, and noise that is too small, make the claims fail."""
    [noisy] = [one for one in DEFINITIONS if one.number == "Definition A.2"]
    right = theorems.GaussianNoise.guarantee
    monkeypatch.setattr(
        theorems.GaussianNoise, "guarantee", lambda self, tables: right(self, 2 * tables)
    )
    assert noisy.make(Given()).verdict == "differs"


@pytest.mark.states("Swanberg et al. 2025", "Proposition B.1")
def test_all_claims_hold():
    made = ITEMS["001/statement-proposition-b.1"].make(Given())
    assert made.verdict == "agrees"
    assert made.shown == "checked"
    attained, theorem = (line.y for line in made.panels[0].lines[:2])
    apart = np.subtract(theorem, attained)
    edge = np.e / (1 + np.e)
    inside = np.array(made.panels[0].lines[0].x) <= edge
    np.testing.assert_allclose(apart[inside], 0, atol=1e-12)
    assert (apart[~inside] > 1e-3).all()


@pytest.mark.states("Swanberg et al. 2025", "Proposition B.1")
def test_two_records_by_hand():
    """Uniform bits at odds 3: each is right with probability 3/4, given any release."""
    found = enumerated(np.array([0.5, 0.5]), np.log(3), 2)
    assert found.says_what_it_sees
    assert found.apart < 1e-14
    assert success(np.array([0.5, 0.5]), np.log(3)) == pytest.approx((0.75, 0.75))
    # Outside: the likelier value is said whatever is seen, and the theorem grants odds of 27.
    assert success(np.array([0.9, 0.1]), np.log(3)) == pytest.approx((0.9, 27 / 28))
    assert not enumerated(np.array([0.9, 0.1]), np.log(3), 1).says_what_it_sees


def test_priors_meet_the_condition_and_touch_its_edge():
    found = priors(3, 1.0)
    ratios = [prior.max() / prior.min() for prior in found]
    assert max(ratios) == pytest.approx(np.e)
    assert min(ratios) == 1.0
    for prior in found:
        assert prior.sum() == pytest.approx(1)


def test_of_equals_what_is_seen_is_said():
    channel = np.array([[0.75, 0.25], [0.25, 0.75]])
    assert bayes_guess(np.array([0.75, 0.25]), channel).tolist() == [0, 1]
    assert bayes_guess(np.array([0.76, 0.24]), channel).tolist() == [0, 0]


@pytest.mark.states("Swanberg et al. 2025", "Table 1")
def test_marks_are_those_that_the_text_speaks_of():
    made = ITEMS["001/table-1"].make(Given())
    head, *rows = made.table
    assert head[1:] == MARKS
    marks = {row[0]: dict(zip(MARKS, row[1:], strict=True)) for row in rows}
    assert set(marks["Ours"].values()) == {"yes"}
    for row in ("Balle et al. [6]", "Stock et al. [59]", "Hayes et al. [31]"):
        assert marks[row]["non-uniform"] == marks[row]["complex"] == marks[row]["single"] == "yes"
        assert marks[row]["multiple"] == ""
    for row in ("Steinke et al. [58]", "Mahloujifar et al. [43]"):
        assert marks[row]["uniform"] == marks[row]["MI"] == marks[row]["multiple"] == "yes"
        assert marks[row]["non-uniform"] == marks[row]["complex"] == ""
    assert marks["Steinke et al. [58]"]["AI"] == ""
    assert marks["Cherubin et al. [12]"]["complex"] == ""
    assert covers("Ours", "non-uniform", "multiple", "complex")
    assert not covers("Mahloujifar et al. [43]", "multiple", "complex")
    assert [one.what[:12] for one in made.held if not one.holds] == ["only [6, 31,"]
    assert "Cummings" in made.because


def test_rows_are_theorems_of_the_package():
    assert {name for ids in ROWS.values() for name in ids} <= set(THEOREMS)
    assert len(PROBES) == 2 * (2 + 4 + 4)


def test_a_probe_is_answered_only_by_a_limit_that_holds():
    near = Probe("non-uniform", "AI", "single", "complex")
    assert near.answered_by(["balle"])
    assert not near.answered_by(["chatzikokolakis-1"])  # it answers, and does not hold here
    assert not Probe("uniform", "AI", "multiple", "simple").answered_by(["balle"])


@pytest.mark.parametrize("weights", [(1, 1, 1), (3, 1, 1), (3, 2, 1), (1, 1, 1, 1), (40, 1, 1)])
@pytest.mark.states("Swanberg et al. 2025", "Proposition B.1")
def test_a_certificate_is_the_optimum_of_the_program_over_all_mechanisms(weights):
    """A mechanism and its attacker are chances of a guess for each value, by row."""
    prior, m = [Fraction(w, sum(weights)) for w in weights], len(weights)
    below, tight = theorems.certified(prior, Fraction(3))
    pairs = [(x, other, z) for x, other in permutations(range(m), 2) for z in range(m)]
    rows = np.zeros((len(pairs), m, m))
    for row, (x, other, z) in zip(rows, pairs, strict=True):
        row[x, z], row[other, z] = 1, -3
    found = optimize.linprog(
        -np.diag(np.array(prior, dtype=float)).ravel(), A_ub=rows.reshape(len(pairs), -1),
        b_ub=np.zeros(len(pairs)), A_eq=np.kron(np.eye(m), np.ones(m)), b_eq=np.ones(m),
    )  # fmt: skip
    assert tight
    assert -found.fun == pytest.approx(float(below + Fraction(3, 2 + m)), abs=1e-9)
