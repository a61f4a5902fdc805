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
from narcissus.evidence.betting import Gamblers

UNIT = st.floats(0, 1)


@pytest.mark.parametrize("replace_rows", [True, False], ids=["independent", "rows"])
@pytest.mark.parametrize(
    "population", [[0.0, 0.1, 0.9, 1.0], [0.2, 0.2, 0.3, 0.9], [0.0, 0.0, 0.0, 1.0]]
)
def test_the_mean_of_the_population_is_a_fair_game(population, replace_rows, monkeypatch):
    """All ways of drawing two trials of two of four people: the mean capital is at most one.

    Independent people: exactly one. Without replacement: less, by Maclaurin's inequality.
    """
    mean = float(np.mean(population))
    capitals = []

    def keep(gambler, payoffs, loss):
        short = 1 - np.array(drawn).ravel()
        assert payoffs(0.25) == pytest.approx(short - 0.25)
        bets = np.minimum(gambler.stakes, gambler.boldness / loss(1 - mean))
        capitals.append(float(np.prod(1 + bets * payoffs(1 - mean))))
        assert (gambler.every, gambler.hurdle) == (2, pytest.approx(math.log(2)))
        return 0.0

    monkeypatch.setattr(Gamblers, "refused_up_to", lambda g, p, loss, *_: keep(g, p, loss))
    pairs = [
        pair
        for pair in itertools.product(range(4), repeat=2)
        if replace_rows or len(set(pair)) == 2
    ]
    for first, second in itertools.product(pairs, repeat=2):
        drawn = [[population[i] for i in first], [population[i] for i in second]]
        population_mean_upper(drawn, confidence=0.5)
    if replace_rows:
        assert np.mean(capitals) == pytest.approx(1)
    else:
        assert np.mean(capitals) < 1 - 1e-9


def test_the_upper_limit_follows_the_plain_loop():
    rng = np.random.default_rng(3)
    values = rng.random((6, 10))
    found = population_mean_upper(values, confidence=0.9)
    assert found.low is None
    assert (found.trials, found.confidence) == (60, 0.9)
    best = {}
    for claim in (found.high - 1e-6, found.high + 1e-6):
        capital, best[claim], seen = 1.0, 0.0, []
        for trial in values:
            total, squares = 0.5, 0.25
            for t in range(0, len(seen), 10):
                total += sum(seen[t : t + 10])
                middle = total / (t + 11)
                squares += sum((v - middle) ** 2 for v in seen[t : t + 10])
            stake = math.sqrt(2 * math.log(10) / (60 * squares / (len(seen) + 1)))
            bet = min(stake, 0.9 / (1 - claim))
            capital *= math.prod(1 + bet * (claim - v) for v in trial)
            best[claim] = max(best[claim], capital)
            seen.extend(trial)
    inside, outside = best.values()
    assert inside < 10 <= outside


def test_many_people_make_it_near():
    """Within 1.6 of the normal limit, where shares of 100 trials would be ten times as far."""
    normal, reach = 1.645 * 0.2 / 100, []
    for seed in range(20):
        values = np.random.default_rng(seed).beta(2, 3, (100, 100))
        reach.append(population_mean_upper(values).high - values.mean())
    assert normal < np.mean(reach) < 1.6 * normal
    assert population_mean_upper([0.3]).high > 0.9


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
    for bad in ([], np.zeros((2, 2, 2)), [[0.5, 1.5]], np.zeros((3, 0))):
        with pytest.raises(InputError, match="values"):
            population_mean_upper(bad)
    with pytest.raises(InputError, match="mean"):
        population_tail(1.5, 3)
    with pytest.raises(InputError, match="people"):
        population_tail(0.5, 0)
    with pytest.raises(InputError, match="spent"):
        population_tail(0.5, 3, spent=-0.1)
