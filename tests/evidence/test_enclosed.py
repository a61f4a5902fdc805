"""Limits between envelopes: against a plain loop, at their ends, nearer than without them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.evidence import (
    Envelope,
    PeopleSums,
    enclosed_limits,
    mean_limits,
    narrowest_limits,
    population_mean_upper,
)
from narcissus.evidence.population import OF_PEOPLE

RNG = np.random.default_rng(5)
X = RNG.beta(2, 5, (60, 40))  # a number of each of 40 people in 60 trials
G = RNG.beta(5, 2, (60, 40))
MOMENTS = np.stack([m.sum(axis=1) for m in (X, X**2, G, G**2, X * G)], axis=1)


def sums_of(x, low=0.0, high=1.0):
    return PeopleSums(x.sum(axis=1), (x**2).sum(axis=1), x.shape[1], low, high)


@pytest.mark.parametrize(("less", "allowed"), [(0.0, 0.0), (0.9, 0.1), (0.0, 0.4), (1.0, 0.0)])
def test_moments_give_the_sums_of_what_each_person_has(less, allowed):
    ours = PeopleSums.of_moments(MOMENTS, 40, less=less, allowed=allowed)
    own = X - less * G - allowed
    assert ours.totals == pytest.approx(own.sum(axis=1))
    assert ours.squares == pytest.approx((own**2).sum(axis=1))
    assert ours.low <= own.min()
    assert own.max() <= ours.high
    assert ours.mean == pytest.approx(own.mean())
    assert ours.variance == pytest.approx(own.var())


def test_people_are_limited_on_both_sides_at_the_error_of_one():
    ours = sums_of(2 * X - 1, -1.0, 1.0)
    high = population_mean_upper(
        X.sum(axis=1), (X**2).sum(axis=1), 40, confidence=0.99, quantity=""
    ).high
    assert ours.upper(0.01) == pytest.approx(2 * high - 1)
    turned = sums_of(1 - 2 * X, -1.0, 1.0)
    assert ours.lower(0.01) == pytest.approx(-turned.upper(0.01))
    assert ours.lower(0.01) < ours.mean < ours.upper(0.01)


def least_mean(values, error, people):
    """The least claim that is not refused, on a grid, with each gambler's capital in a loop."""
    share = 1 / people
    kinds = [(share, 0.99, 0.75), (share**2, 0.99, 0.125), (1.0, 0.5, 0.125)]
    n, hurdle = len(values), -math.log(error)
    found = 0.0
    for claim in np.linspace(0, max(values), 4001)[1:]:
        path = np.zeros(n)
        for variance, most, part in kinds:
            own, squares, total, capital = 0.25 * variance, 0.0, 0.0, part
            for t, value in enumerate(values):
                stake = min(math.sqrt(2 * hurdle / (n * own)), most / claim)
                capital *= 1 + stake * (value - claim)
                path[t] += capital
                total += value
                squares += (value - total / (variance + t + 1)) ** 2
                own = (0.25 * variance + squares) / (t + 2)
        if path.max() < 1 / error:
            break
        found = claim
    return found


def test_the_limit_is_the_envelopes_and_what_gamblers_leave_of_the_rest():
    values, people = RNG.uniform(0.4, 0.6, 30), sums_of(X[:30] / 2, 0.0, 1.0)
    below = Envelope(people.totals / 40, people)
    found = enclosed_limits(values, below, Envelope(np.ones(30)), confidence=0.9, people=50)
    rest = least_mean(values - below.trials, 0.05 * (1 - OF_PEOPLE), 50)
    assert found.low == pytest.approx(people.lower(0.05 * OF_PEOPLE) + rest, abs=2e-4)
    missing = least_mean(1 - values, 0.05, 50)  # a number that is known takes no error
    assert found.high == pytest.approx(1 - missing, abs=2e-4)
    assert (found.value, found.trials, found.confidence) == (values.mean(), 30, 0.9)


def test_the_upper_side_is_the_lower_one_of_the_opposite():
    values, people = RNG.uniform(0.4, 0.6, 25), sums_of(X[:25])
    ends = Envelope(people.totals / 40 - 0.3, people), Envelope(np.full(25, 0.9))
    one = enclosed_limits(values, *ends, people=9)
    other = enclosed_limits(-values, ends[1].opposite, ends[0].opposite, people=9)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_near_an_envelope_limits_are_far_nearer_than_those_of_a_share():
    """100 trials at .72 that are never below .7: no valid limit of a share is above .6939."""
    values = np.full(100, 0.72)
    found = enclosed_limits(values, Envelope(np.full(100, 0.7)), Envelope(np.ones(100)), people=100)
    assert found.low > 0.719 > narrowest_limits(0.72, 100)[0] + 0.02
    assert found.high <= mean_limits(values, people=100).high


def test_no_more_is_claimed_than_any_valid_method_could():
    """Trials alike, envelopes known: the floor is that of values in [0, 1], scaled."""
    for n in (5, 30, 200):
        found = enclosed_limits(np.full(n, 0.6), Envelope(np.full(n, 0.5)), Envelope(np.ones(n)))
        low, high = narrowest_limits(0.2, n)
        assert found.low <= 0.5 + 0.5 * low + 1e-9
        assert found.high >= 0.5 + 0.5 * high - 1e-9


def test_values_on_their_envelope_cost_no_trials():
    people = sums_of(X)
    below = Envelope(people.totals / 40, people)
    found = enclosed_limits(people.totals / 40, below, Envelope(np.ones(60)))
    assert found.low == pytest.approx(people.lower(0.025 * OF_PEOPLE))


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([], "non-empty"),
        ([0.2, np.nan], "non-empty"),
        ([0.2], "same trials"),
        ([0.2, 0.6], "beyond its envelope"),
        ([0.0, 0.3], "beyond its envelope"),
    ],
)
def test_what_cannot_be_is_refused(values, says):
    with pytest.raises(InputError, match=says):
        enclosed_limits(values, Envelope(np.full(2, 0.1)), Envelope(np.full(2, 0.5)))


def test_a_cut_envelope_knows_all_people():
    people = sums_of(X)
    cut = Envelope(np.arange(60.0), people).cut(7)
    assert cut.trials.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert cut.people is people
