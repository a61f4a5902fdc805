"""Risks and uniques: against sums, sdcMicro's tests, and populations that are known."""

import numpy as np
import pytest
import scipy

from narcissus.disclosure import (
    individual_risk,
    key_classes,
    population_uniques,
)
from narcissus.disclosure.measures import risk_of_people


@pytest.mark.parametrize("f", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("share", [0.01, 0.2, 0.7, 0.99])
def test_the_risk_is_the_mean_of_one_over_a_negative_binomial(f, share):
    more = np.arange(200_000)
    mean = (scipy.stats.nbinom.pmf(more, f, share) / (f + more)).sum()
    risk = float(individual_risk(np.array([f]), np.array([f / share]))[0])
    assert mean * (1 - 1e-6) <= risk <= mean * (1 if f < 3 else 1.12) + 1e-6


def test_the_risk_of_everybody_is_that_of_a_draw_among_equals():
    assert individual_risk(np.array([1, 4]), np.array([1, 4])).tolist() == [1, 0.25]
    nearly = individual_risk(np.array([1, 2, 4]), np.array([1.0001, 2.0001, 4.0001]))
    assert nearly == pytest.approx([1, 0.5, 0.25], abs=1e-3)
    assert individual_risk(np.array([3]), np.array([2.0])) == pytest.approx(1 / 3)


def test_a_household_is_found_by_any_of_its_people():
    classes = key_classes(np.array([[0], [1], [1], [0], [2]]), units=np.array([0, 0, 0, 1, 2]))
    risk = risk_of_people(classes, np.array([0.5, 0.2, 1.0]))
    assert risk == pytest.approx([1 - 0.5 * 0.8, 0.5, 1])


def zipf(g):
    return g.zipf(1.5, 60_000)


POPULATIONS = {
    "zipf": zipf,
    "even": lambda g: g.integers(0, 60_000, 60_000),
    "crowded": lambda g: g.integers(0, 25_000, 60_000),
    "log-normal": lambda g: np.exp(g.normal(8, 2, 60_000)).astype(int),
    "columns": lambda g: np.minimum(g.geometric(0.4, (60_000, 8)), 9) @ 10 ** np.arange(8),
    "half rare": lambda g: np.where(
        g.random(60_000) < 0.5, g.integers(0, 100, 60_000), g.integers(100, 90_000, 60_000)
    ),
}


def sampled(name, share, g):
    """Return the estimate, and how many people of a sample are unique in its population."""
    people = np.unique(POPULATIONS[name](g), return_inverse=True)[1]
    some = g.choice(len(people), round(share * len(people)), replace=False)
    sizes = np.bincount(people[some])
    truth = int((np.bincount(people)[people[some]] == 1).sum())
    return population_uniques(sizes[sizes > 0], len(people)), truth


@pytest.mark.parametrize("share", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.one_in(3)
def test_population_uniques_are_within_a_factor_of_two(name, share):
    found, truth = sampled(name, share, np.random.default_rng(5))
    assert truth / 2 <= found <= 2 * truth


@pytest.mark.nightly
@pytest.mark.parametrize("name", POPULATIONS)
def test_population_uniques_are_within_a_factor_of_two_in_many_samples(name):
    g = np.random.default_rng(11)
    tries = [sampled(name, share, g) for share in (0.1, 0.2, 0.4, 0.6, 0.9) for _ in range(6)]
    assert sum(truth / 2 <= found <= 2 * truth for found, truth in tries) >= len(tries) - 1


def test_the_truth_about_uniques_is_not_told_by_the_risk_model():
    """Weights alone would call a person of two unique with chance .1: here nearly all are."""
    g = np.random.default_rng(3)
    sizes = np.bincount(np.unique(g.integers(0, 10**7, 6_000), return_inverse=True)[1])
    found = population_uniques(sizes, 60_000)
    assert found is None or found > 0.8 * (sizes == 1).sum()


def test_uniques_are_not_estimated_from_little():
    sizes = np.array([1] * 100 + [2] * 40)
    assert population_uniques(sizes, 2_000) is None
    assert population_uniques(np.array([1] * 9 + [2] * 40), 200) is None
    assert population_uniques(np.ones(300, int), 600) is None
    assert population_uniques(sizes, 180) == 100
    assert 0 < population_uniques(sizes, 400) < 100
