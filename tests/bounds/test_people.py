"""Many people with a prior each, against all mechanisms and against single people."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import (
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
    threat,
    threat_of_ranked,
)
from narcissus.bounds.at_most import reached_tails
from narcissus.bounds.one_target import profile_cost
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import ApproximateDP, GaussianDP, ProfileCurve, PureDP
from narcissus.priors import Zipf
from narcissus.results import NotAssessed

SLACK = 1e-6  # the solver's tolerance
KINDS = [PureDP(1.0), ApproximateDP(1.0, 0.01), GaussianDP(0.7)]


@pytest.mark.parametrize(
    "guarantee", [PureDP(0.7), ApproximateDP(0.5, 0.05), ApproximateDP(2, 0.01)]
)
def test_nothing_is_below_the_best_of_all_mechanisms(guarantee):
    rng = np.random.default_rng(5)
    for _ in range(8):
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
    found = people.success(guarantee)
    alone = [float(optimum(row, guarantee)[0]) for row in priors]
    np.testing.assert_allclose(found, alone, atol=1e-9)
    gained = people.advantage(guarantee)
    assert gained[3] == 0
    np.testing.assert_allclose(gained[:3], 2 * found[:3] - 1, atol=1e-12)
    assert people.mean(guarantee).value == pytest.approx(np.mean(alone), abs=1e-9)


@pytest.mark.parametrize("guarantee", KINDS)
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
    """The same people many times over: the tables hold, and come near those of all points."""
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


def test_what_is_kept_belongs_to_its_guarantee():
    people = ThreatToPeople([[0.5, 0.5], [0.7, 0.3]])
    found = people.success(PureDP(1.0))
    found[:] = 0
    assert people.success(PureDP(1.0)).min() > 0.7
    assert people.success(PureDP(2.0)).min() > people.success(PureDP(1.0)).min()
    assert people.mean(PureDP(1.0)).value == people.success(PureDP(1.0)).mean()


def test_where_nothing_is_proved_it_is_said():
    people = ThreatToPeople([[1.0, 0.0], [0.9, 0.1]])
    found = people.at_most(PureDP(9.0), 0.95)
    assert found.value == 2
    assert found.theorem == "every one may fall"
    assert people.tail(PureDP(9.0), 3).value == 0
    assert people.tail(PureDP(9.0), 0).value == 1


def test_what_is_no_people_is_refused(monkeypatch):
    with pytest.raises(InputError, match="row 1"):
        ThreatToPeople([[0.5, 0.5], [0.5, 0.4]])
    with pytest.raises(InputError, match="replace-one"):
        ThreatToPeople([[0.5, 0.5]]).tails(PureDP(1.0, adjacency="add-remove"))
    monkeypatch.setattr("narcissus.bounds.people.MOST_PEOPLE", 2)
    with pytest.raises(TooLargeError, match="3 people, at most 2"):
        ThreatToPeople([[0.5, 0.5]] * 3)


def test_some_mechanism_reaches_what_it_says_and_no_more_than_is_proved(monkeypatch):
    priors = np.random.default_rng(4).dirichlet([3.0, 1.0], size=12)
    people = ThreatToPeople(priors)
    tails = reached_tails(priors, GaussianDP(0.8))
    for v in (5, 9, 12):
        found = people.reached(GaussianDP(0.8), v)
        assert found == pytest.approx(tails[v], rel=1e-9)
        assert found <= people.tail(GaussianDP(0.8), v).value
    most = people.reached_number(GaussianDP(0.8), 0.9)
    assert most == int(np.argmax(tails[1:] <= 0.1))
    assert most <= people.at_most(GaussianDP(0.8), 0.9).value
    monkeypatch.setattr("narcissus.bounds.people.MOST_REACHED", 11)
    for none in (people.reached(GaussianDP(0.8), 5), people.reached_number(GaussianDP(0.8), 0.9)):
        assert isinstance(none, NotAssessed)
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
def test_one_threat_has_one_limit_however_it_is_said(row, guarantee):
    """The input of a stranger: 68, 77 and 92 of 100 by a prior, 70, 80 and 94 by its rows."""
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
