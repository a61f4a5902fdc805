"""From sampled people to their population: fair games and tails by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus.bounds import PoissonBinomial
from narcissus.errors import InputError
from narcissus.evidence import (
    Envelope,
    PeopleSums,
    enclosed_limits,
    estimated_tail,
    narrowest_limits,
    population_mean_upper,
    population_tail,
    upper_priors,
)
from narcissus.evidence.population import OF_PEOPLE

UNIT = st.floats(0, 1)


def log_capital(trials, mean, hurdle, everybody):
    """The bets after every trial, person by person: the plain form of the theorem."""
    total, squares, seen, capital, path = 0.5, 0.25, 1, 0.0, []
    for trial in trials:
        guess = total / seen
        stake = min(0.9, math.sqrt(2 * hurdle / (everybody * squares / seen)))
        psi = -math.log(1 - stake) - stake
        capital += sum(stake * (mean - x) - psi * (x - guess) ** 2 for x in trial)
        squares += sum((x - guess) ** 2 for x in trial)
        total += sum(trial)
        seen += len(trial)
        path.append(capital)
    return path


def upper(trials, confidence=0.95):
    sums, squares = ([sum(x**p for x in trial) for trial in trials] for p in (1, 2))
    counts = [len(trial) for trial in trials]
    return population_mean_upper(sums, squares, counts, confidence=confidence)


def test_the_inequality_behind_the_limit():
    y, s = np.meshgrid(np.linspace(-1, 1, 2001), np.linspace(0, 0.9, 91))
    assert (np.exp(s * y - (-np.log1p(-s) - s) * y**2) <= 1 + s * y + 1e-12).all()


@pytest.mark.states("Waudby-Smith and Ramdas 2023", "Theorem 2")
@pytest.mark.parametrize("replace", [True, False], ids=["independent", "rows"])
@pytest.mark.parametrize("hurdle", [0.1, 1.0, 4.0])
@pytest.mark.parametrize(
    "population", [[0.0, 0.1, 0.9, 1.0], [0.2, 0.2, 0.3, 0.9], [0.0, 0.0, 0.0, 1.0]]
)
def test_the_mean_of_the_population_is_no_better_than_a_fair_game(population, hurdle, replace):
    mean = float(np.mean(population))
    pairs = [p for p in itertools.product(range(4), repeat=2) if replace or p[0] != p[1]]
    capitals = [
        log_capital([[population[i] for i in pair] for pair in both], mean, hurdle, 4)[-1]
        for both in itertools.product(pairs, repeat=2)
    ]
    assert np.mean(np.exp(capitals)) <= 1 + 1e-12


@given(st.lists(st.lists(UNIT, max_size=6), min_size=1, max_size=6).filter(any))
def test_the_upper_limit_is_where_the_capital_meets_the_hurdle(trials):
    found = upper(trials, confidence=0.9)
    people = [x for trial in trials for x in trial]
    assert found.low is None
    assert found.trials == len(people)
    assert found.value == pytest.approx(np.mean(people), rel=1e-9, abs=0)
    assert found.value <= found.high <= 1
    some = [trial for trial in trials if trial]
    at = [max(log_capital(some, found.high + e, math.log(10), len(people))) for e in (-1e-7, 1e-7)]
    if found.high < 1:
        assert at[1] >= math.log(10)
    if found.high > found.value + 1e-6:
        assert at[0] < math.log(10)


@pytest.mark.states("Hoeffding 1956", "Theorem 4")
@given(st.lists(UNIT, min_size=2, max_size=5), st.integers(1, 4))
def test_the_tail_of_a_population_by_enumeration(population, people):
    limit = population_tail(float(np.mean(population)), people)
    for draw in (itertools.product, itertools.permutations):
        repeat = {"repeat": people} if draw is itertools.product else {"r": people}
        if draw is itertools.permutations and people > len(population):
            continue
        tables = [PoissonBinomial(np.array(p)).tails() for p in draw(population, **repeat)]
        assert (np.mean(tables, axis=0) <= limit + 1e-12).all()


def test_independent_people_make_it_binomial():
    tails = population_tail(0.3, 40, spent=0.01)
    above = np.arange(42) >= 13
    assert tails[above][:-1] == pytest.approx(stats.binom.sf(np.arange(12, 40), 40, 0.3) + 0.01)
    assert (tails[~above] == 1).all()
    assert tails[-1] == 0
    assert (np.diff(tails) <= 0).all()
    assert (population_tail(1.0, 5) == [1, 1, 1, 1, 1, 1, 0]).all()
    assert population_tail(0.0, 3).tolist() == [1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"sums": [[1.0]]}, "one number a trial"),
        ({"squares": [0.5, 0.5]}, "one number a trial"),
        ({"counts": [2, 2]}, "one number a trial"),
        ({"counts": 1.5}, "counts"),
        ({"counts": 0}, "counts"),
        ({"sums": [2.5]}, "sums"),
        ({"sums": [1.0, 2.5], "squares": [0.7, 0.7]}, "sums"),
        ({"sums": [1.0, 1.0], "squares": [0.7, 0.4]}, "squares"),
        ({"sums": [1.0, 1.0], "squares": [0.7, 0.7], "counts": [2, 1.5]}, "counts"),
        ({"sums": [-0.5]}, "sums"),
        ({"sums": [np.nan]}, "sums"),
        ({"squares": [0.4]}, "squares"),
        ({"squares": [1.1]}, "squares"),
        ({"confidence": 1.0}, "confidence"),
    ],
)
def test_bad_input_is_refused(bad, said):
    with pytest.raises(InputError, match=said):
        population_mean_upper(**{"sums": [1.0], "squares": [0.7], "counts": 2, **bad})
    for wrong, name in (((1.5, 3), "mean"), ((0.5, 0), "people")):
        with pytest.raises(InputError, match=name):
            population_tail(*wrong)
    with pytest.raises(InputError, match="spent"):
        population_tail(0.5, 3, spent=-0.1)
    with pytest.raises(TypeError, match="attempts"):  # there is no default
        upper_priors([3], 50, error=0.05)  # pyright: ignore[reportCallIssue]
    assert Envelope(np.arange(60.0)).cut(7).trials.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert upper([[0.3]]).high == 1


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


def test_no_more_is_claimed_than_any_valid_method_could():
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


def test_estimated_priors_use_all_limits_at_once():
    limits = upper_priors([3, 0, 50], 50, error=0.03, attempts=1)
    assert limits == pytest.approx([stats.beta.isf(0.01, 4, 47), 1 - 0.01 ** (1 / 50), 1], rel=1e-9)
    several = upper_priors([3, 0, 50], 50, error=0.03, attempts=5)
    assert several[0] == pytest.approx(stats.beta.isf(0.002, 4, 47), rel=1e-9)
    assert upper_priors([0, 1], 1, error=0.1, attempts=1).tolist() == pytest.approx([0.95, 1.0])

    def tail(delta, v, attempts):
        return estimated_tail([3] * 20, 50, 1.0, delta, v, error=0.01, attempts=attempts).value

    at_limits = stats.beta.isf(0.01 / 20, 4, 47)
    fall = math.e * at_limits / (1 + (math.e - 1) * at_limits)
    truth = stats.binom.sf(14, 20, fall) + 0.01
    assert tail(0.0, 15, 1) == pytest.approx(truth, rel=1e-9)
    assert tail(1e-4, 15, 1) == pytest.approx(truth + 20e-4, rel=1e-9)
    assert tail(0.0, 15, 9) > truth
    assert tail(0.0, 21, 1) == 0
    for hits, samples in [
        ([60], 50), ([2.5], 50), ([2], 50.5), ([-1], 50), ([0], 0), ([[1]], 50),
        ([1, 11], [10, 10]), ([1, 0.5], 10), ([0, 0], [1, 0]),
    ]:  # fmt: skip
        with pytest.raises(InputError, match="hits"):
            upper_priors(hits, samples, error=0.05, attempts=1)


@pytest.mark.coverage_claim
@pytest.mark.parametrize(("values", "samples"), [(10, 30), (10, 100), (4, 20)])
def test_limits_for_every_attempt_survive_an_attacker_who_picks_the_rarest(values, samples):
    rng = np.random.default_rng(31)
    repeats, error = 4000, 0.05
    counts = rng.multinomial(samples, np.full(values, 1 / values), repeats).min(axis=1)
    seen = np.arange(samples + 1)
    one, several = (
        np.array([upper_priors([h], samples, error=error, attempts=a)[0] for h in seen])
        for a in (1, values)
    )
    assert (several[counts] < 1 / values).sum() <= stats.binom.isf(1e-6, repeats, error)
    assert (one[counts] < 1 / values).mean() > 2 * error  # the test has power
