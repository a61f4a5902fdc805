"""Lower limits under monotone likelihood ratios: half-lines and staircases only."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy import stats

from narcissus import channels as ch
from narcissus.channels.assumed import monotone_risk_low, monotone_security_low
from narcissus.channels.lower_limits import below
from narcissus.channels.samples import samples


@pytest.mark.states("Narcissus theory", "6.10")
@pytest.mark.coverage_claim
@pytest.mark.parametrize(
    "runs", [150, pytest.param(5_000, marks=pytest.mark.nightly)], ids=["few", "many"]
)
@pytest.mark.parametrize("turned", [1, -1])
@pytest.mark.parametrize("numbers", [(80, 80, 80), (200, 60, 40)])
def test_they_cover_for_continuous_outputs(runs, turned, numbers):
    """Misses at most a fifth on each; false alarm one in a million."""
    truth = ch.Gaussian(2, 1).beta_star
    prior = np.array(numbers) / sum(numbers)
    grid = np.linspace(-9, 9, 40_001)
    densities = stats.norm.pdf(grid[:, None] - np.arange(3))
    risk = 1 - (densities * prior).max(axis=1).sum() * (grid[1] - grid[0])
    rng, misses, far = np.random.default_rng([1, *numbers]), np.zeros(2), []
    for _ in range(runs):
        secret = rng.choice(3, sum(numbers), p=prior)
        data = samples(secret, turned * (rng.normal(size=len(secret)) + secret), fewest=1)
        security = monotone_security_low(data, 0, 2, 0.2)
        misses += (security > truth, monotone_risk_low(data, [0, 1, 2], 0.2) > risk)
        far.append(truth - security)
    assert (misses <= stats.binom.isf(1e-6, runs, 0.2)).all()
    assert 0 < np.mean(far) < 0.2


def test_the_staircase_is_the_best_of_all():
    rng = np.random.default_rng(3)
    for _ in range(10):
        secret, output = rng.integers(3, size=60), rng.integers(5, size=60)
        data = samples(secret, output, fewest=1)
        counts = np.zeros((5, 3))
        np.add.at(counts, (output, secret), 1)
        rules = list(combinations_with_replacement(range(3), 5))
        right = max(
            counts[np.arange(5), list(rule)[::step]].sum() for rule in rules for step in (1, -1)
        )
        assert monotone_risk_low(data, [0, 1, 2], 0.1) == below(60 - right, 60, 0.1)


def test_estimate_gives_a_limit_for_continuous_outputs():
    rng = np.random.default_rng(4)
    secret = rng.integers(5, size=3_000)
    output = rng.normal(secret, 2.0)
    found = ch.estimate(secret, output, rng=1, monotone=True, estimators="templates")
    truth = ch.Gaussian(4, 2).beta_star
    assert found.continuous
    assert found.pair == ("0", "4")
    assert truth - 0.1 < found.beta_star.low < truth < found.beta_star.high < truth + 0.1
    assert found.bayes_risk.low > 0.55
    assert not found.beta_star.why
    plain = ch.estimate(secret, output, rng=1, estimators="templates")
    assert plain.beta_star.low is None
    assert "`monotone` gives one" in plain.beta_star.why
