"""How many targets are reconstructed, at most: against binomials, and every count tried."""

from __future__ import annotations

import sys
from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from scipy import integrate, stats

from narcissus.bounds import (
    THEOREMS,
    Limit,
    ThreatToPeople,
    at_most,
    best,
    bounds_on,
    domination,
    exact_match_optimum,
    exact_optimum,
    interpolation,
    interpolation_tails,
    optimum,
    reached,
    reached_number,
    reached_number_of_threat,
    reached_of_threat,
    reached_tails,
    threat,
    threat_of_ranked,
)
from narcissus.bounds.one_target import profile_cost
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import (
    ApproximateDP,
    GaussianDP,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from narcissus.guarantees.base import ProfileGuarantee
from narcissus.priors import Zipf
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
@pytest.mark.one_in(2)
@pytest.mark.repeats(12, 30, "targets")
def test_at_most_is_the_least_count_that_the_tails_allow(guarantee, targets):
    for confidence in (0.5, 0.95):
        danger = threat(values=[0.4, 0.3, 0.3], targets=targets, guesses=targets * 5 // 6)
        found = int(at_most(danger, guarantee, confidence).value)
        assert best(bounds_on(danger, guarantee, found + 1)).value <= 1 - confidence
        assert best(bounds_on(danger, guarantee, found)).value > 1 - confidence


@pytest.mark.parametrize("prior", [0.5, 0.02])
@pytest.mark.repeats(8, 24, "targets")
@pytest.mark.one_in(2)
def test_the_search_with_few_programs_finds_what_all_programs_allow(prior, targets):
    danger = threat(prior=prior, targets=targets)
    for guarantee in (GaussianDP(0.3), GaussianDP(1.2)):
        tails = [best(bounds_on(danger, guarantee, v)).value for v in range(targets + 2)]
        for allowed in (0.05, 1e-6):
            least = next(v for v in range(targets + 1) if tails[v + 1] <= allowed)
            assert at_most(danger, guarantee, 1 - allowed).value == least


@pytest.mark.parametrize("guarantee", [PureDP(1.0), GaussianDP(0.1), GaussianDP(1.0)])
@pytest.mark.parametrize("prior", [0.02, 0.5])
@pytest.mark.one_in(2)
def test_the_theorem_that_is_named_says_it(guarantee, prior):
    danger = threat(prior=prior, targets=40, inseparable=0.01)
    found = at_most(danger, guarantee, 0.95)
    said = THEOREMS[found.id].bound(danger, guarantee, int(found.value) + 1)
    assert said.value <= 0.05
    assert (found.theorem, found.assumptions) == (said.theorem, said.assumptions)
    assert found.quantity == "number of 40 targets that are reconstructed, with confidence 0.95"
    # the program is named where the closed forms do not say as much
    cheap = best(bounds_on(danger, guarantee, int(found.value) + 1, expensive=False))
    assert (found.id == "swap-program") == (cheap.value > 0.05)


def test_all_may_fall_where_nothing_is_proved():
    found = at_most(threat(prior=0.9, targets=3), GaussianDP(5.0), 0.95)
    assert (found.value, found.id, found.theorem) == (3, "", "every target may be reconstructed")
    # whoever guesses nothing, or wants no confidence, is told nothing falls
    assert at_most(threat(prior=0.9, targets=3, guesses=0), GaussianDP(5.0), 0.95).value == 0
    assert at_most(threat(prior=0.9, targets=3), GaussianDP(5.0), 0.0).value == 0
    with pytest.raises(InputError, match="confidence"):
        at_most(threat(prior=0.9, targets=3), GaussianDP(5.0), 1.0)


AT_MOST = sys.modules["narcissus.bounds.at_most"]  # the room has a function of that name


@pytest.fixture
def programs(monkeypatch):
    """The counts that were asked of the program, and at how many points of the profile."""
    asked, solve = [], AT_MOST.swap_program

    def counted(*args, epsilons):
        asked.append((args[2], epsilons.size))
        return solve(*args, epsilons=epsilons)

    monkeypatch.setattr(AT_MOST, "swap_program", counted)
    return asked


def test_no_program_where_it_adds_nothing_or_is_too_large(programs, monkeypatch):
    monkeypatch.setattr(AT_MOST, "LARGEST_PROGRAM", 30)
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
def test_one_strength_for_all_targets():
    mu, n, v, p = 0.8, 20, 15, 0.6

    def inside(loss):
        o = max(p, 1 / (1 + np.exp(-abs(loss))))
        return stats.norm.pdf(loss, mu**2 / 2, mu) * stats.binom.sf(v - 1, n, o)

    whole = integrate.quad(inside, -12, 12, points=[-0.4055, 0, 0.4055], limit=400)[0]
    found = reached_tails([[p, 1 - p]] * n, GaussianDP(mu))[v]
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


class Unheard(ProfileGuarantee):
    """A guarantee from elsewhere."""

    def profile(self, epsilon):
        return np.clip(np.maximum(0.1, -np.expm1(epsilon)), 0.0, 1.0)

    def describe(self):
        return "what a newspaper says"


def test_of_other_guarantees_none_is_known():
    found = reached([[0.5, 0.5]], Unheard(), 1)
    assert isinstance(found, NotAssessed)
    assert "newspaper" in str(found)
    assert isinstance(reached_tails([[0.5, 0.5]], Unheard()), NotAssessed)
    assert isinstance(reached_number([0.5, 0.5], Unheard(), 0.9), NotAssessed)
    assert reached([[0.5, 0.5]], PureDP(1.0), 0) == 1
    assert reached([[0.5, 0.5]], ApproximateDP(1.0, 0.1), 5) == 0


@HERE
def test_the_number_is_the_least_that_is_not_exceeded():
    for guarantee in (ApproximateDP(1.0, 0.01), GaussianDP(0.7)):
        for rows, many in (([[0.6, 0.4]], [30]), ([[0.6, 0.4], [0.5, 0.5]], [20, 10])):
            found = reached_number(rows, guarantee, 0.9, repeats=many)
            assert reached(rows, guarantee, found + 1, repeats=many) <= 0.1
            assert reached(rows, guarantee, found, repeats=many) > 0.1
    for wrong in (1.0, 1.5, -0.1):
        with pytest.raises(InputError, match="`confidence` must be"):
            reached_number([0.5, 0.5], GaussianDP(0.7), wrong)


@HERE
@pytest.mark.parametrize("guarantee", [ApproximateDP(1.0, 0.01), GaussianDP(0.7)])
def test_one_by_one_or_by_kinds_it_is_the_same(guarantee):
    rows, many = np.array([[0.6, 0.4], [0.9, 0.1]]), [7, 5]
    kinds = reached_tails(rows, guarantee, repeats=many)
    assert kinds == pytest.approx(reached_tails(np.repeat(rows, many, axis=0), guarantee))
    alike = reached_tails(rows[:1], guarantee, repeats=[12])
    each = [reached(rows[:1], guarantee, v, repeats=[12]) for v in range(14)]
    if isinstance(guarantee, ApproximateDP):
        assert each == pytest.approx(alike)
    assert (np.array(each) >= alike * (1 - 1e-9)).all()  # a law for each number
    split = [reached(rows[[0, 0]], guarantee, v, repeats=[5, 7]) for v in range(14)]
    assert split == pytest.approx(each, rel=1e-6)
    few = reached_tails(rows, guarantee, repeats=many, steps=16)
    assert (few <= kinds + 1e-12).all()
    assert few == pytest.approx(kinds, abs=0.05)


@HERE
def test_the_gaussian_mechanism_has_the_other_guarantees_too():
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


SLACK = 1e-6  # the solver's tolerance
KINDS = [PureDP(1.0), ApproximateDP(1.0, 0.01), GaussianDP(0.7)]


@pytest.mark.parametrize(
    "guarantee", [PureDP(0.7), ApproximateDP(0.5, 0.05), ApproximateDP(2, 0.01)]
)
@pytest.mark.one_in(2)
@pytest.mark.repeats(4, 8)
def test_nothing_is_below_the_best_of_all_mechanisms(guarantee, repeats):
    rng = np.random.default_rng(5)
    for _ in range(repeats):
        priors = rng.dirichlet([1.0, 1.0, 0.5], size=2)
        people = ThreatToPeople(priors)
        for v in (1, 2):
            best = exact_optimum(priors, guarantee, v).value
            found = people.tail(guarantee, v).value
            assert found >= best - SLACK
            if isinstance(guarantee, PureDP):
                assert found <= best + SLACK
        # the mean of what each can reach alone is reached: it is no less
        alone = np.mean([exact_optimum(row, guarantee).value for row in priors])
        assert people.mean(guarantee).value == pytest.approx(alone, abs=2e-6)


@pytest.mark.parametrize("guarantee", KINDS)
def test_each_person_is_limited_alone_and_in_the_order_given(guarantee):
    priors = np.array([[0.5, 0.5, 0], [0.2, 0.3, 0.5], [0.5, 0.5, 0], [1.0, 0, 0]])
    people = ThreatToPeople(priors)
    assert people.n == 4
    np.testing.assert_allclose(people.prior, [0.5, 0.5, 0.5, 1.0])
    people.success(guarantee)[:] = 0  # what is kept for the guarantee is not the caller's
    found = people.success(guarantee)
    alone = [float(optimum(row, guarantee)[0]) for row in priors]
    np.testing.assert_allclose(found, alone, atol=1e-9)
    assert people.success(PureDP(4.0))[0] > found[0]
    gained = people.advantage(guarantee)
    assert gained[3] == 0
    np.testing.assert_allclose(gained[:3], 2 * found[:3] - 1, atol=1e-12)
    assert people.mean(guarantee).value == pytest.approx(np.mean(alone), abs=1e-9)


@pytest.mark.parametrize("guarantee", KINDS)
@pytest.mark.one_in(2)
def test_the_count_is_no_worse_than_other_theorems_say(guarantee):
    priors = np.random.default_rng(1).dirichlet([2.0, 1.0, 1.0], size=40)
    people = ThreatToPeople(priors)
    tails = people.tails(guarantee)
    assert tails.shape == (42,)
    assert (np.diff(tails) <= 0).all()
    for v in (0, 15, 25, 35, 40, 41):
        found = people.tail(guarantee, v)
        assert found.value <= tails[v]
        assert found.value <= domination(priors, guarantee, v).value * (1 + 1e-9)
        if v and not isinstance(guarantee, PureDP):
            assert found.value <= interpolation(priors, guarantee, v).value * (1 + 1e-9)
    number = people.at_most(guarantee, 0.95)
    v = int(number.value)
    assert people.tail(guarantee, v + 1).value <= 0.05 < people.tail(guarantee, v).value
    assert "40 people" in number.quantity
    assert any("independent" in said for said in number.assumptions)


def test_many_people_are_counted_at_points_chosen_by_some_of_them():
    priors = np.random.default_rng(2).dirichlet([2.0, 1.0], size=600)
    guarantee = GaussianDP(0.5)
    people = ThreatToPeople(np.concatenate([priors] * 2))
    assert people.n > 1000
    number = int(people.at_most(guarantee, 0.95).value)
    tails = people.tails(guarantee, 0.05)
    assert tails[number + 1] <= 0.05 < tails[number]
    for epsilon in guarantee.tangents(6):  # no point that was not tried shows less
        costs = [profile_cost(priors, guarantee, float(epsilon))[k] for k in (0, 1)]
        assert interpolation_tails(*(np.tile(c, 2) for c in costs))[number] > 0.05
    exact = exact_match_optimum(priors, 1.0).mean()
    assert people.at_most(PureDP(1.0), 0.5).value == pytest.approx(1200 * exact, abs=3)


def test_where_nothing_is_proved_it_is_said():
    people = ThreatToPeople([[1.0, 0.0], [0.9, 0.1]])
    found = people.at_most(PureDP(9.0), 0.95)
    assert found.value == 2
    assert found.theorem == "everybody may be reconstructed"
    assert people.tail(PureDP(9.0), 3).value == 0
    assert people.tail(PureDP(9.0), 0).value == 1


def test_what_is_no_people_is_refused(monkeypatch):
    with pytest.raises(InputError, match="row 1"):
        ThreatToPeople([[0.5, 0.5], [0.5, 0.4]])
    with pytest.raises(InputError, match="confidence"):
        ThreatToPeople([[0.5, 0.5], [0.6, 0.4]]).at_most(PureDP(1.0), 1.0)
    with pytest.raises(InputError, match="replace-one"):
        ThreatToPeople([[0.5, 0.5]]).tails(PureDP(1.0, adjacency="add-remove"))
    monkeypatch.setattr(AT_MOST, "MOST_PEOPLE", 2)
    with pytest.raises(TooLargeError, match="3 people, at most 2"):
        ThreatToPeople([[0.5, 0.5]] * 3)


def test_some_mechanism_reaches_what_it_says_and_no_more_than_is_proved(monkeypatch):
    priors, guarantee = np.random.default_rng(4).dirichlet([3.0, 1.0], size=12), GaussianDP(0.8)
    people = ThreatToPeople(priors)
    tails = reached_tails(priors, guarantee)
    for v in (5, 9, 12):
        found = people.reached(guarantee, v)
        assert found >= tails[v] * (1 - 1e-9)
        assert found <= people.tail(guarantee, v).value
    most = people.reached_number(guarantee, 0.9)
    assert most >= int(np.argmax(tails[1:] <= 0.1))
    assert people.reached(guarantee, most) > 0.1 >= people.reached(guarantee, most + 1)
    assert most <= people.at_most(guarantee, 0.9).value
    monkeypatch.setattr(AT_MOST, "MOST_REACHED", 11)
    for none in (people.reached(guarantee, 5), people.reached_number(guarantee, 0.9)):
        assert "up to 11 people" in none.reason


@pytest.mark.parametrize(
    ("row", "guarantee"),
    [
        ([0.5, 0.5], GaussianDP(0.5)),
        ([0.7, 0.2, 0.1], ApproximateDP(0.5, 1e-3)),
        ([0.7, 0.2, 0.1], PureDP(0.5)),
        ([0.4, 0.3, 0.3], ProfileCurve((0.0, 0.5, 1.0), (0.3, 0.1, 0.01))),
    ],
)
@pytest.mark.one_in(2)
def test_one_threat_has_one_limit_however_it_is_said(row, guarantee):
    n = 12
    rng = np.random.default_rng(1)
    ways = [
        threat(values=row, targets=n),
        threat(values=row[::-1], targets=n),
        threat(values=[*row, 0.0], targets=n),
        threat(values=row, within=0, targets=n),
        threat(values=row, success=np.eye(len(row)), targets=n),
        ThreatToPeople([row] * n),
        ThreatToPeople([rng.permutation([*row, 0.0]) for _ in range(n)]),
    ]
    if row == [0.5, 0.5]:
        ways.append(threat(prior=0.5, exact_match=True, targets=n))
        ways.append(threat_of_ranked(Zipf.of(1e-12, 2), targets=n))

    def said(danger) -> dict[str, float]:
        if isinstance(danger, ThreatToPeople):
            return {
                "success": danger.mean(guarantee).value,
                "tail": danger.tail(guarantee, 9).value,
                "at most": danger.at_most(guarantee, 0.9).value,
                "kept": Limit(at_most=10, confidence=0.9).kept(danger, guarantee),
            }
        return {
            "success": best(bounds_on(danger, guarantee)).value,
            "tail": best(bounds_on(danger, guarantee, 9)).value,
            "at most": at_most(danger, guarantee, 0.9).value,
            "kept": Limit(at_most=10, confidence=0.9).kept(danger, guarantee),
        }

    first = said(ways[0])
    for way in ways[1:]:
        assert said(way) == pytest.approx(first, rel=1e-7, abs=1e-12)


def test_people_with_one_best_guess_are_no_worse_than_their_likeliest_guess_proves():
    rows = [[0.5, 0.5, 0.0]] * 10 + [[0.5, 0.3, 0.2]] * 10
    people = ThreatToPeople(rows)
    for guarantee in (GaussianDP(0.5), ApproximateDP(0.3, 1e-3)):
        same = threat(prior=0.5, inseparable=0.38, targets=20)
        assert people.tail(guarantee, 14).value <= best(bounds_on(same, guarantee, 14)).value
        assert people.at_most(guarantee, 0.9).value <= at_most(same, guarantee, 0.9).value
