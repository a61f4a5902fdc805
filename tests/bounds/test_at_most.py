"""How many targets fall, at most: against binomials in whole numbers, and every count tried."""

from __future__ import annotations

import sys
from fractions import Fraction
from math import comb, log

import pytest

from narcissus.bounds import THEOREMS, at_most, best, bounds_on, threat
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP


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
