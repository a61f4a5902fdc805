"""Bets and limits that may be looked at after every trial."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus.errors import InputError
from narcissus.evidence import (
    Bets,
    advantage_limits,
    anytime_limits,
    difference_limits,
    mean_limits,
    narrowest_limits,
)
from narcissus.evidence.betting import LADDER, plug_in, usual


@given(
    st.lists(st.sampled_from([-1.5, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=30),
    st.integers(0, 29),
)
def test_capital_is_the_mean_of_products_however_it_is_fed(values, cut):
    capital = np.mean([np.prod([1 + s / 1.5 * v for v in values]) for s in LADDER])
    whole = Bets(-1.5).update(values)
    parts = Bets(-1.5)
    pieces = np.concatenate([parts.update(values[:cut]), parts.update(values[cut:])])
    counted = Bets(-1.5).add_counts(*np.unique(values, return_counts=True))
    assert math.exp(whole[-1]) == pytest.approx(capital, rel=1e-9)
    assert pieces == pytest.approx(whole, rel=1e-9, abs=1e-12)
    assert counted == pytest.approx(whole[-1], rel=1e-9, abs=1e-12)


@pytest.mark.coverage_claim
@pytest.mark.parametrize("rate", [0.02, 0.3, 0.5])
def test_limits_cover_when_the_run_stops_as_soon_as_it_looks_good(rate):
    rng = np.random.default_rng(int(rate * 1000))
    runs, length, miss = 1500, 300, 0
    hurdle = math.log(2 / 0.1)
    for _ in range(runs):
        values = (rng.random(length) < rate).astype(float)
        above = Bets(-rate).update(values - rate).max()
        below = Bets(rate - 1).update(rate - values).max()
        miss += max(above, below) >= hurdle
    assert miss <= stats.binom.isf(1e-6, runs, 0.1)


def test_limits_are_those_of_the_capital():
    values = np.r_[np.ones(30), np.zeros(70)]
    limits = anytime_limits(values, confidence=0.9)
    hurdle = math.log(2 / 0.1)
    for claim, sign in ((limits.low, 1), (limits.high, -1)):
        inside, outside = claim + sign * 1e-6, claim - sign * 1e-6
        for point, refused in ((inside, False), (outside, True)):
            bets = Bets(-point) if sign == 1 else Bets(point - 1)
            assert (bets.update(sign * (values - point))[-1] >= hurdle) == refused


def test_limits_at_the_ends_and_small_rates():
    none, every = anytime_limits(np.zeros(500)), anytime_limits(np.ones(500))
    assert none.low == 0
    assert 0 < none.high < 0.02
    assert every.high == 1
    assert 0.98 < every.low < 1
    rare = anytime_limits(np.full(2000, 1e-5))
    assert 0 < rare.low <= 1e-5 <= rare.high < 0.01


@pytest.mark.parametrize("value", [1e-200, 1e-290, 1e-299, 1e-305])
def test_values_whose_products_are_too_small_for_a_float(value):
    low = anytime_limits(np.full(500, value)).low
    assert low == 0 if value < 1e-298 else 0.9 * value < low < value


@pytest.mark.parametrize("bad", [[], [[0.5]], [2.0], [math.nan]])
@pytest.mark.parametrize("limits", [anytime_limits, mean_limits])
def test_bad_values_are_refused(limits, bad):
    with pytest.raises(InputError, match="values"):
        limits(bad)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Bets(0.0), "lowest"),
        (lambda: mean_limits([0.5], people=0), "people"),
        (lambda: mean_limits([0.5], people=1.5), "people"),
        (lambda: difference_limits([0.5], [0.5, 0.5]), "same trials"),
        (lambda: difference_limits([0.5], [-0.5]), "others"),
        (lambda: advantage_limits([0.5], [0.5, 0.5]), "same trials"),
        (lambda: advantage_limits([0.5], [1.5]), "baselines"),
        (lambda: advantage_limits([0.5], [0.5], people=0), "people"),
    ],
)
def test_what_does_not_fit_is_refused(call, said):
    with pytest.raises(InputError, match=said):
        call()


HURDLE = math.log(2 / 0.2)
# Trials (share, baseline) with their chances; the first two fixed, the rest anything.
WORLDS = [
    ([(0.0, 0.0), (1.0, 0.0), (0.5, 1.0)], [0.5, 0.2, 0.3]),
    ([(0.9, 0.9), (0.05, 0.0), (1.0, 0.3)], [0.45, 0.45, 0.1]),
    ([(0.0, 0.9), (1.0, 0.0), (0.2, 0.2)], [0.7, 0.1, 0.2]),
]


def average_capital(gamblers, payoffs, loss):
    """The capital after every trial, by a plain loop."""
    path, each = [], [1.0] * len(gamblers.stakes)
    for t, payoff in enumerate(payoffs):
        for g in range(len(each)):
            bet = min(gamblers.stakes[g, t], gamblers.boldness[g, 0] / loss)
            each[g] *= 1 + bet * payoff
        path.append(sum(each) / len(each))
    return path


@pytest.mark.states("Waudby-Smith and Ramdas 2023", "Theorem 3")
@pytest.mark.parametrize("people", [1, 3, 100])
@pytest.mark.parametrize("world", WORLDS)
def test_a_true_claim_is_a_fair_game(world, people):
    outcomes, chances = world
    shares, fair = np.array(outcomes).T
    mean = float(np.dot(chances, shares))
    base = float(np.dot(chances, fair))
    advantage = (mean - base) / (1 - base)
    expected = np.zeros(4)
    refused = np.zeros(4)
    for which in itertools.product(range(len(outcomes)), repeat=5):
        chance = math.prod(chances[w] for w in which)
        h, f = shares[list(which)], fair[list(which)]
        about_mean = plug_in(h, np.ones(5), middle=0.5, tempers=usual(people), hurdle=HURDLE)
        about_gain = plug_in(h - f, 1 - f, middle=0.0, tempers=usual(people), hurdle=HURDLE)
        bets = [
            (about_mean, h - mean, mean),
            (about_mean, mean - h, 1 - mean),
            (about_gain, h - f - advantage * (1 - f), 1.0),
            (about_gain, 1 - h - (1 - advantage) * (1 - f), 1 - advantage),
        ]
        for k, (gamblers, payoffs, loss) in enumerate(bets):
            path = average_capital(gamblers, payoffs, loss)
            assert min(path) > 0
            expected[k] += chance * path[-1]
            refused[k] += chance * gamblers.refuse(payoffs, loss)
            assert gamblers.refuse(payoffs, loss) == (math.log(max(path)) >= HURDLE)
    assert expected == pytest.approx(1, rel=1e-9)
    assert (refused <= 0.1).all()


def test_the_limits_are_those_that_the_public_functions_give():
    rng = np.random.default_rng(4)
    h, f = rng.binomial(20, 0.7, 40) / 20, rng.binomial(20, 0.4, 40) / 20
    of_mean = plug_in(h, np.ones(40), middle=0.5, tempers=usual(20), hurdle=HURDLE)
    of_gain = plug_in(h - f, 1 - f, middle=0.0, tempers=usual(20), hurdle=HURDLE)
    for found, gamblers, payoff, most in [
        (mean_limits(h, confidence=0.8, people=20), of_mean, lambda c: h - c, lambda c: c),
        (
            advantage_limits(h, f, confidence=0.8, people=20),
            of_gain,
            lambda a: h - f - a * (1 - f),
            lambda _: 1.0,
        ),
    ]:
        for limit, sign in ((found.low, -1), (found.high, 1)):
            for claim, refused in ((limit + sign * 1e-6, True), (limit - sign * 1e-6, False)):
                loss = most(claim) if sign < 0 else 1 - claim
                path = average_capital(gamblers, -sign * payoff(claim), loss)
                assert (max(path) >= 2 / 0.2) == refused
    assert mean_limits(h) == mean_limits(h, people=1) != mean_limits(h, people=2)


@pytest.mark.states("Waudby-Smith and Ramdas 2023", "Equation 26")
def test_stakes_follow_the_paper_and_the_bold_gambler_starts_with_less():
    values = np.array([0.6, 0.7, 0.65, 0.8])
    gamblers = plug_in(values, np.ones(4), middle=0.5, tempers=usual(25), hurdle=2.0)
    assert gamblers.stakes.shape == (2, 4)
    assert gamblers.boldness.tolist() == [[0.9], [0.99]]
    for row, share in zip(gamblers.stakes, (1.0, 1 / 25), strict=True):
        variance, squares, total = 0.25 * share, 0.0, 0.5 * share
        for t, value in enumerate(values):
            assert row[t] == pytest.approx(math.sqrt(2 * 2.0 / (4 * variance)))
            total += value
            squares += (value - total / (share + t + 1)) ** 2
            variance = (0.25 * share + squares) / (t + 2)
    assert plug_in(values, np.ones(4), middle=0.5, tempers=usual(1), hurdle=2.0).stakes.shape == (
        1,
        4,
    )


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30),
    st.sampled_from([1, 7, 100]),
)
def test_what_is_refused_has_no_gaps(trials, people):
    h, f = np.array(trials).T
    gamblers = plug_in(h - f, 1 - f, middle=0.0, tempers=usual(people), hurdle=0.3)
    low = [gamblers.refuse(h - f - a * (1 - f), 1.0) for a in np.linspace(-1, 1, 21)]
    high = [gamblers.refuse(1 - h - b * (1 - f), b) for b in np.linspace(1e-9, 2, 21)]
    about_mean = plug_in(h, np.ones_like(h), middle=0.5, tempers=usual(people), hurdle=0.3)
    mean = [about_mean.refuse(h - m, m) for m in np.linspace(1e-9, 1, 21)]
    edge = about_mean.refused_up_to(lambda m: h - m, lambda m: m, 0.0, 1.0)
    assert edge == 0 or about_mean.refuse(h - edge, edge)  # limits err outwards
    for refused in (low, high, mean):
        assert refused == sorted(refused, reverse=True)


@pytest.mark.parametrize("values", [[0.0] * 60 + [1.0] * 60, [1.0] * 60 + [0.0] * 60])
def test_a_drifting_run_keeps_its_mean(values):
    limits = mean_limits(values)
    assert limits.low <= limits.value <= limits.high


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60))
def test_limits_mirror(values):
    ours, mirrored = mean_limits(values), mean_limits([1 - v for v in values])
    assert ours.low == pytest.approx(1 - mirrored.high, abs=1e-9)
    assert ours.high == pytest.approx(1 - mirrored.low, abs=1e-9)


def test_the_bold_gambler_brings_the_upper_side_near():
    reach: dict[int, list[tuple[float, float]]] = {1: [], 100: []}
    for seed in range(60):
        values = np.random.default_rng(seed).binomial(100, 0.87, 100) / 100
        for people, found in reach.items():
            limits = mean_limits(values, people=people)
            found.append((limits.value - limits.low, limits.high - limits.value))
    plain, bold = np.mean(reach[1], axis=0), np.mean(reach[100], axis=0)
    assert plain[1] == pytest.approx(0.0142, abs=3e-4)
    assert bold[1] < 0.0096
    assert bold[0] < plain[0] - 0.001


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.sampled_from([1, 10, 1000]))
def test_no_limits_are_nearer_than_valid_ones_can_be(values, people):
    alike = mean_limits(np.full(len(values), values[0]), people=people)
    low, high = narrowest_limits(alike.value, len(values))
    assert alike.low <= low + 1e-9
    assert alike.high >= high - 1e-9


UNIT = st.floats(0, 1)


@given(st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=40))
def test_exchanging_the_two_turns_the_limits_round(trials):
    first, second = np.array(trials).T
    ours, theirs = difference_limits(first, second), difference_limits(second, first)
    assert -1 <= ours.low <= ours.value <= ours.high <= 1
    assert ours.value == pytest.approx((first - second).mean(), abs=1e-12)
    assert ours.low == pytest.approx(-theirs.high, abs=1e-9)


def test_it_is_the_mean_of_what_is_moved_to_the_unit_interval():
    rng = np.random.default_rng(6)
    first, second = rng.random(50), rng.random(50)
    ours = difference_limits(first, second, confidence=0.9, people=7)
    moved = mean_limits((first - second + 1) / 2, confidence=0.9, people=7)
    assert ours.low == pytest.approx(2 * moved.low - 1)
    assert ours.high == pytest.approx(2 * moved.high - 1)
    assert (ours.confidence, ours.trials) == (0.9, 50)


@given(st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=40), st.sampled_from([1, 50]))
def test_the_limits_hold_the_estimate_and_stay_in_range(trials, people):
    won, fair = np.array(trials).T
    found = advantage_limits(won, fair, people=people)
    assert -1 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize(
    ("won", "fair", "value", "low", "high"),
    [
        (1.0, 0.2, 1.0, None, 1.0),
        (0.0, 0.9, -1.0, -1.0, -1.0),  # an advantage of -9 counts as -1
        (0.5, 1.0, 0.0, -1.0, 0.0),  # nothing was left to gain
        (1.0, 1.0, 0.0, -1.0, 1.0),  # and all was gained: nothing is known
        (0.3, 0.3, 0.0, None, None),
    ],
)
def test_ends(won, fair, value, low, high):
    found = advantage_limits(np.full(300, won), np.full(300, fair), people=100)
    assert found.value == pytest.approx(value, abs=1e-12)
    for limit, expected, sign in ((found.low, low, -1), (found.high, high, 1)):
        if expected is None:
            assert 0 < sign * (limit - value) < 0.1
        else:
            assert limit == pytest.approx(expected, abs=1e-9)
