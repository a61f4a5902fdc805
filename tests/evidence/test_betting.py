"""The gamblers: exact supermartingales by enumeration, and an independent plain loop."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narcissus.evidence import advantage_limits, mean_limits
from narcissus.evidence.betting import plug_in, usual

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
    """Every sequence of five trials: the mean capital is one, and it is never negative.

    So neither may the stakes look ahead, nor the largest loss be understated.
    """
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
    """Claims just inside are kept, just outside refused, by the plain loop at half the error."""
    rng = np.random.default_rng(4)
    h, f = rng.binomial(20, 0.7, 40) / 20, rng.binomial(20, 0.4, 40) / 20
    found = mean_limits(h, confidence=0.8, people=20)
    gamblers = plug_in(h, np.ones(40), middle=0.5, tempers=usual(20), hurdle=HURDLE)
    for limit, sign in ((found.low, -1), (found.high, 1)):
        for claim, refused in ((limit + sign * 1e-6, True), (limit - sign * 1e-6, False)):
            loss = claim if sign < 0 else 1 - claim
            path = average_capital(gamblers, -sign * (h - claim), loss)
            assert (max(path) >= 2 / 0.2) == refused
    found = advantage_limits(h, f, confidence=0.8, people=20)
    gamblers = plug_in(h - f, 1 - f, middle=0.0, tempers=usual(20), hurdle=HURDLE)
    for limit, sign in ((found.low, -1), (found.high, 1)):
        for claim, refused in ((limit + sign * 1e-6, True), (limit - sign * 1e-6, False)):
            loss = 1.0 if sign < 0 else 1 - claim
            path = average_capital(gamblers, -sign * (h - f - claim * (1 - f)), loss)
            assert (max(path) >= 2 / 0.2) == refused


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
@settings(max_examples=60, deadline=None)
def test_what_is_refused_has_no_gaps(trials, people):
    """The capital falls with the claim, so bisection finds the only edge."""
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
