"""How many targets fall, at most: against binomials in whole numbers, and every count tried.
What some mechanism reaches: never above what none exceeds, and what a real one does.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from scipy import integrate, stats

from narcissus.bounds import (
    THEOREMS,
    at_most,
    best,
    bounds_on,
    domination,
    exact_optimum,
    interpolation,
    optimum,
    reached,
    reached_number,
    reached_number_of_threat,
    reached_of_threat,
    reached_tails,
    threat,
)
from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from narcissus.results import NotAssessed


@pytest.mark.states("Narcissus theory", "4")
@pytest.mark.parametrize("told", [{"prior": 0.5}, {"values": [0.5, 0.5]}])
@pytest.mark.parametrize("allowed", [Fraction(1, 2), Fraction(1, 20), Fraction(1, 10**9)])
def test_fair_bits_under_pure_dp_fall_as_bits_right_three_times_in_four(told, allowed):
    def tail(v):
        return sum(comb(30, j) * 3**j for j in range(v, 31)) * Fraction(1, 4**30)

    least = next(v for v in range(31) if tail(v + 1) <= allowed)
    assert at_most(threat(**told, targets=30), PureDP(log(3)), float(1 - allowed)).value == least


@pytest.mark.parametrize("guarantee", [PureDP(1), ApproximateDP(0.5, 1e-4), GaussianDP(0.7)])
def test_at_most_is_the_least_count_that_the_tails_allow(guarantee):
    for confidence in (0.5, 0.95):
        danger = threat(values=[0.4, 0.3, 0.3], targets=30, guesses=25)
        found = int(at_most(danger, guarantee, confidence).value)
        assert best(bounds_on(danger, guarantee, found + 1)).value <= 1 - confidence
        assert best(bounds_on(danger, guarantee, found)).value > 1 - confidence


@pytest.mark.parametrize("prior", [0.02, 0.5])
def test_the_search_with_few_programs_finds_what_all_programs_allow(prior):
    danger = threat(prior=prior, targets=24)
    for guarantee in (GaussianDP(0.3), GaussianDP(1.2)):
        tails = [best(bounds_on(danger, guarantee, v)).value for v in range(26)]
        for allowed in (0.05, 1e-6):
            least = next(v for v in range(25) if tails[v + 1] <= allowed)
            assert at_most(danger, guarantee, 1 - allowed).value == least


@pytest.mark.parametrize("guarantee", [PureDP(1.0), GaussianDP(0.1), GaussianDP(1.0)])
@pytest.mark.parametrize("prior", [0.02, 0.5])
def test_the_theorem_that_is_named_says_it(guarantee, prior):
    danger = threat(prior=prior, targets=40, inseparable=0.01)
    found = at_most(danger, guarantee, 0.95)
    said = THEOREMS[found.id].bound(danger, guarantee, int(found.value) + 1)
    assert said.value <= 0.05
    assert (found.theorem, found.assumptions) == (said.theorem, said.assumptions)
    assert found.quantity == "number of 40 targets that fall, with confidence 0.95"
    # the program is named where the closed forms do not say as much
    cheap = best(bounds_on(danger, guarantee, int(found.value) + 1, dear=False))
    assert (found.id == "swap-program") == (cheap.value > 0.05)


def test_all_may_fall_where_nothing_is_proved():
    found = at_most(threat(prior=0.9, targets=3), GaussianDP(5.0), 0.95)
    assert (found.value, found.id, found.theorem) == (3, "", "every target may fall")
    # whoever guesses nothing, or wants no confidence, is told nothing falls
    assert at_most(threat(prior=0.9, targets=3, guesses=0), GaussianDP(5.0), 0.95).value == 0
    assert at_most(threat(prior=0.9, targets=3), GaussianDP(5.0), 0.0).value == 0
    with pytest.raises(InputError, match="confidence"):
        at_most(threat(prior=0.9, targets=3), GaussianDP(5.0), 1.0)


@pytest.fixture
def programs(monkeypatch):
    """The counts that were asked of the program, and at how many points of the profile."""
    module, asked = sys.modules["narcissus.bounds.at_most"], []
    solve = module.swap_program

    def counted(*args, epsilons):
        asked.append((args[2], epsilons.size))
        return solve(*args, epsilons=epsilons)

    monkeypatch.setattr(module, "swap_program", counted)
    return asked


def test_programs_are_few_and_the_dear_ones_fewest(programs):
    """A third of the points first comes near the answer; all of them decide beside it."""
    danger, guarantee = threat(prior=0.5, targets=120), GaussianDP(1.0)
    found = at_most(danger, guarantee, 0.95)
    counts = range(1, 121)
    high = next(
        v - 1 for v in counts if best(bounds_on(danger, guarantee, v, dear=False)).value <= 0.05
    )
    assert found.value < high
    assert {size for _, size in programs} == {14, 40}
    dear = [v for v, size in programs if size == 40]
    assert len(programs) - len(dear) <= 2 * (high - int(found.value)).bit_length() + 1
    assert dear == [found.value]  # the count one lower is still allowed too much


def test_no_program_where_it_adds_nothing_or_is_too_large(programs, monkeypatch):
    monkeypatch.setattr(sys.modules["narcissus.bounds.at_most"], "LARGEST_PROGRAM", 30)
    at_most(threat(prior=0.5, targets=30), ApproximateDP(1.0, 1e-4), 0.95)
    at_most(threat(prior=0.5, targets=40, guesses=31), GaussianDP(0.3), 0.95)
    assert not programs
    at_most(threat(prior=0.5, targets=40, guesses=30), GaussianDP(0.3), 0.95)
    assert programs


HERE = pytest.mark.states("Narcissus theory", "4.10")


@HERE
@pytest.mark.parametrize(
    "guarantee", [PureDP(1.0), ApproximateDP(1.0, 0.02), GaussianDP(0.3), GaussianDP(2.0)]
)
def test_it_is_never_above_the_bounds(guarantee):
    rng = np.random.default_rng(0)
    for _ in range(5):
        rows = rng.dirichlet(np.ones(3), 8)
        tails = reached_tails(rows, guarantee)
        assert not isinstance(tails, NotAssessed)
        assert tails.shape == (10,)
        for v in range(1, 9):
            limit = domination if isinstance(guarantee, PureDP) else interpolation
            most = limit(rows, guarantee, v).value
            assert tails[v] <= most + 1e-12
            if isinstance(guarantee, PureDP):
                assert tails[v] == pytest.approx(most)


@HERE
def test_small_worlds_reach_it():
    rng = np.random.default_rng(1)
    for _ in range(20):
        rows = rng.dirichlet(np.ones(2), 2)
        guarantee = ApproximateDP(rng.uniform(0, 2), rng.uniform(0.001, 0.2))
        for v in (1, 2):
            assert reached(rows, guarantee, v) <= exact_optimum(rows, guarantee, v).bound + 1e-9


@HERE
@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
def test_two_values_under_gaussian_dp_reach_the_optimum(mu):
    """The mixture is the Gaussian mechanism itself; rounded down by no more than its steps."""
    for p in (0.5, 0.7):
        best = float(optimum([p, 1 - p], GaussianDP(mu))[0])
        found = reached([[p, 1 - p]], GaussianDP(mu), 1)
        assert best - 2e-3 <= found <= best + 1e-9


@HERE
def test_one_strength_for_all_targets():
    """Against the integral over the privacy loss, with a binomial at each strength."""
    mu, n, v, p = 0.8, 20, 15, 0.6

    def inside(loss):
        o = max(p, 1 / (1 + np.exp(-abs(loss))))
        return stats.norm.pdf(loss, mu**2 / 2, mu) * stats.binom.sf(v - 1, n, o)

    whole = integrate.quad(inside, -12, 12, points=[-0.4055, 0, 0.4055], limit=400)[0]
    found = reached([[p, 1 - p]] * n, GaussianDP(mu), v)
    assert whole - 3e-3 <= found <= whole + 1e-9


@HERE
def test_the_table_of_a_hundred():
    for prior, most in (
        ([0.58, 0.42], {1: 67, 3: 83, 10: 100}),
        ([0.75, 0.25], {1: 82, 3: 84, 10: 100}),
        ([0.742, 0.1, 0.08, 0.05, 0.028], {1: 81, 3: 81, 10: 98}),
    ):
        rows = np.tile(np.array(prior) / np.sum(prior), (100, 1))
        for epsilon, v in most.items():
            tails = reached_tails(rows, GaussianDP.from_epsilon_delta(epsilon, 1e-5))
            assert not isinstance(tails, NotAssessed)
            assert int(np.argmax(tails[1:] <= 0.05)) == v


def test_of_other_guarantees_none_is_known():
    found = reached([[0.5, 0.5]], BayesSecurity(0.8), 1)
    assert isinstance(found, NotAssessed)
    assert "BayesSecurity" in str(found) or "Bayes" in str(found)
    assert reached([[0.5, 0.5]], PureDP(1.0), 0) == 1
    assert reached([[0.5, 0.5]], ApproximateDP(1.0, 0.1), 5) == 0


@HERE
def test_the_number_is_the_least_that_is_not_exceeded():
    for guarantee in (ApproximateDP(1.0, 0.01), GaussianDP(0.7)):
        for rows, many in (([[0.6, 0.4]], [30]), ([[0.6, 0.4], [0.5, 0.5]], [20, 10])):
            found = reached_number(rows, guarantee, 0.9, repeats=many)
            assert reached(rows, guarantee, found + 1, repeats=many) <= 0.1
            assert reached(rows, guarantee, found, repeats=many) > 0.1
    assert isinstance(reached_number([0.5, 0.5], BayesSecurity(0.8), 0.9), NotAssessed)
    for wrong in (1.0, 1.5, -0.1):
        with pytest.raises(InputError, match="`confidence` must be"):
            reached_number([0.5, 0.5], GaussianDP(0.7), wrong)


@HERE
def test_one_by_one_or_by_kinds_it_is_the_same():
    rows, many = np.array([[0.6, 0.4], [0.9, 0.1]]), [7, 5]
    each = np.repeat(rows, many, axis=0)
    for guarantee in (ApproximateDP(1.0, 0.01), GaussianDP(0.7)):
        kinds = reached_tails(rows, guarantee, repeats=many)
        assert kinds == pytest.approx(reached_tails(each, guarantee))
        alike = reached_tails(rows[:1], guarantee, repeats=[12])
        for v in range(14):
            assert reached(rows[:1], guarantee, v, repeats=[12]) == pytest.approx(alike[v])


@HERE
def test_fewer_strengths_reach_less():
    rows = [[0.6, 0.3, 0.1]] * 20
    few, many = (reached_tails(rows, GaussianDP(1.0), steps=k) for k in (16, 400))
    assert (few <= many + 1e-12).all()
    assert few == pytest.approx(many, abs=0.05)


@HERE
def test_the_gaussian_mechanism_has_the_other_guarantees_too():
    """Its Renyi divergence of order a is a mu^2 / 2."""
    rows = [[0.6, 0.4]] * 5
    gaussian = reached_tails(rows, GaussianDP(0.6))
    assert reached_tails(rows, ZeroConcentratedDP(0.18)) == pytest.approx(gaussian)
    assert reached_tails(rows, RenyiDP(4.0, 0.72)) == pytest.approx(gaussian)


@HERE
def test_of_a_threat_it_is_about_those_who_are_guessed():
    danger = threat(values=[0.6, 0.4], targets=30, guesses=20)
    guarantee = ApproximateDP(1.0, 0.01)
    expected = reached([[0.6, 0.4]], guarantee, 15, repeats=[20])
    assert reached_of_threat(danger, guarantee, 15) == expected
    number = reached_number([[0.6, 0.4]], guarantee, 0.9, repeats=[20])
    assert reached_number_of_threat(danger, guarantee, 0.9) == number
    for other in (threat(prior=0.5, targets=3), threat(values=[0.5, 0.3, 0.2], within=1)):
        assert isinstance(reached_of_threat(other, guarantee, 1), NotAssessed)
        assert isinstance(reached_number_of_threat(other, guarantee, 0.9), NotAssessed)
