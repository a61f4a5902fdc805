"""From sampled people to their population: fair games and tails by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from narcissus.bounds import PoissonBinomial
from narcissus.errors import InputError
from narcissus.evidence import population_mean_upper, population_tail

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
    """Fan, Grama and Liu 2015: exp(s y - psi(s) y^2) <= 1 + s y for y of at least -1."""
    y, s = np.meshgrid(np.linspace(-1, 1, 2001), np.linspace(0, 0.9, 91))
    assert (np.exp(s * y - (-np.log1p(-s) - s) * y**2) <= 1 + s * y + 1e-12).all()


@pytest.mark.states("Waudby-Smith and Ramdas 2023", "Theorem 2")
@pytest.mark.parametrize("replace", [True, False], ids=["independent", "rows"])
@pytest.mark.parametrize("hurdle", [0.1, 1.0, 4.0])
@pytest.mark.parametrize(
    "population", [[0.0, 0.1, 0.9, 1.0], [0.2, 0.2, 0.3, 0.9], [0.0, 0.0, 0.0, 1.0]]
)
def test_the_mean_of_the_population_is_no_better_than_a_fair_game(population, hurdle, replace):
    """All ways of drawing two trials of two of four people: the mean capital is at most one."""
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


def test_many_people_make_it_near():
    """Within 1.6 of the normal limit, where shares of 100 trials would be ten times as far."""
    normal, reach = 1.645 * 0.2 / 100, []
    for seed in range(20):
        values = np.random.default_rng(seed).beta(2, 3, (100, 100))
        reach.append(upper(values).high - values.mean())
    assert normal < np.mean(reach) < 1.6 * normal
    assert upper([[0.3]]).high == 1


@pytest.mark.states("Hoeffding 1956", "Theorem 4")
@given(st.lists(UNIT, min_size=2, max_size=5), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_the_tail_of_a_population_by_enumeration(population, people):
    """The people's own tails, averaged over all ways of drawing them, are never above."""
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


def test_bad_input_is_refused():
    for bad, name in (
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
    ):
        with pytest.raises(InputError, match=name):
            population_mean_upper(**{"sums": [1.0], "squares": [0.7], "counts": 2, **bad})
    with pytest.raises(InputError, match="mean"):
        population_tail(1.5, 3)
    with pytest.raises(InputError, match="people"):
        population_tail(0.5, 0)
    with pytest.raises(InputError, match="spent"):
        population_tail(0.5, 3, spent=-0.1)
