"""Sets of counts against every count tried in turn."""

import numpy as np
import pytest
from scipy import stats

from narcissus.attacks.table.propagation import LIMIT, CountSets, runs_of

RULES = ["rounded", "random", "withheld"]


def published(worlds, name, counts, seed=0):
    return worlds.rules[name].publish(counts.astype(float), np.random.default_rng(seed))


def chance(rule, cells, counts):
    return np.exp(rule.log_likelihood(np.asarray(cells), np.asarray(counts, dtype=float)))


@pytest.mark.parametrize("name", RULES)
def test_runs_are_the_counts_that_the_rule_allows(worlds, name):
    counts = np.array([[0, 3, 4], [9, 1, 0], [2, 2, 12]])
    rule, people = worlds.rules[name], counts.sum(axis=1)
    cells = published(worlds, name, counts)
    runs = runs_of(rule, cells, people)
    for number, cell in enumerate(cells.ravel()):
        every = np.arange(people[number // 3] + 1)
        wanted = chance(rule, cell, every)
        found = np.zeros(every.size)
        for place in np.flatnonzero(runs.cell == number):
            found[runs.low[place] : runs.high[place] + 1] += runs.weight[place]
        np.testing.assert_allclose(found, wanted / wanted.max(), atol=1e-12)


@pytest.mark.parametrize("name", RULES)
def test_two_cells_are_one_count(worlds, name):
    """Both cells of a group say something of one number, and what they say is multiplied."""
    counts = np.array([[5, 2], [1, 0], [0, 8]])
    rule, people = worlds.rules[name], counts.sum(axis=1)
    cells = published(worlds, name, counts)
    runs = runs_of(rule, cells, people)
    for g, (zero, one) in enumerate(cells):
        every = np.arange(people[g] + 1)
        wanted = chance(rule, one, every) * chance(rule, zero, people[g] - every)
        found = np.zeros(every.size)
        for place in np.flatnonzero(runs.cell == g):
            found[runs.low[place] : runs.high[place] + 1] += runs.weight[place]
        np.testing.assert_allclose(found, wanted / wanted.max(), atol=1e-12)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("name", RULES)
def test_log_odds_against_the_sum_over_counts(worlds, name, size):
    """The others' count is a normal distribution cut into whole numbers."""
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 9, (12, size))
    counts[0] = 0
    counts[0, 0] = 1  # somebody alone
    rule, people = worlds.rules[name], counts.sum(axis=1)
    keep = people > 0
    counts, people = counts[keep], people[keep]
    cells = published(worlds, name, counts)
    evidence = CountSets.of(rule, cells, people)
    width = 1 if size == 2 else size
    mean = np.maximum(counts[:, -width:] + rng.normal(0, 1, (len(people), width)), 0)
    deviation = rng.uniform(0.5, 2, mean.shape)
    found = evidence.log_odds(np.arange(len(people)), mean, deviation)
    for g, total in enumerate(people):
        others = np.arange(total)
        for v in range(width):
            law = stats.norm(mean[g, v], deviation[g, v])
            mass = law.cdf(others + 0.5) - law.cdf(others - 0.5)
            full = np.arange(total + 1)
            column = v + size - width
            says = chance(rule, cells[g, column], full)
            if size == 2:
                says = says * chance(rule, cells[g, 0], total - full)
            else:  # a cell leaves at most what the least of the others does
                least = [
                    [full[chance(rule, cells[g, w], full) > 0][k] for w in range(size) if w != v]
                    for k in (0, -1)
                ]
                says = says * (full <= total - sum(least[0])) * (full >= total - sum(least[1]))
            with np.errstate(divide="ignore"):
                wanted = np.log(mass @ says[1:]) - np.log(mass @ says[:-1])
            assert found[g, v] == pytest.approx(np.clip(wanted, -LIMIT, LIMIT), abs=1e-6)


def test_what_no_count_explains_says_nothing(worlds):
    """A release that contradicts its rule: no information, and no error."""
    cells = np.array([[7.0, 7.0, 7.0]])  # no multiples of three
    evidence = CountSets.of(worlds.rules["rounded"], cells, np.array([9]))
    odds = evidence.log_odds(np.zeros(1, dtype=int), np.full((1, 3), 3.0), np.ones((1, 3)))
    np.testing.assert_allclose(odds, 0, atol=1e-3)


def test_beliefs_far_from_the_release_still_pull(worlds):
    """Six deviations are enough: finite, and in the right direction."""
    cells = np.array([[30.0, 3.0, 6.0]])
    evidence = CountSets.of(worlds.rules["rounded"], cells, np.array([39]))
    nobody = np.zeros(1, dtype=int)
    far = evidence.log_odds(nobody, np.array([[1e3, -1e3, 6.0]]), np.ones((1, 3)))
    assert -LIMIT <= far[0, 0] < -4
    assert 4 < far[0, 1] <= LIMIT
