"""The limit of mutual information rests on one inequality about posteriors, and it covers."""

import numpy as np
import pytest
from scipy import special, stats

from narcissus import channels as ch
from narcissus.channels.sampled_measures import information_high, moments, seeming_information


@pytest.mark.states("Narcissus theory", "6.15")
@pytest.mark.parametrize("secrets", [2, 3, 8])
def test_no_posterior_has_larger_moments(secrets):
    """Of random priors and posteriors, hill-climbed from the worst."""
    rng = np.random.default_rng(secrets)
    for _ in range(6):
        prior = rng.dirichlet(np.ones(secrets))
        power, slope, most = moments(float(prior.min()))
        places = rng.integers(slope.shape[1], size=40)

        def excess(p, places=places, power=power, slope=slope, most=most, prior=prior):
            told = special.rel_entr(p, prior).sum()
            moment = (p ** (1 - power) * prior**power).sum(axis=1, keepdims=True)
            return np.nanmax(moment + slope[:, places] * told - most[:, places])

        tried = [prior, *np.eye(secrets), *rng.dirichlet(np.full(secrets, 0.5), 100)]
        best = max(tried, key=excess)
        for step in np.geomspace(0.3, 1e-4, 60):
            near = best * np.exp(step * rng.normal(size=secrets))
            best = max(best, near / near.sum(), key=excess)
        assert excess(best) <= 1e-12


def test_another_secret_than_the_rarest_would_be_caught():
    """The test above has power: moments of a secret that is not the rarest are exceeded."""
    prior = np.array([0.1, 0.9])
    power, slope, most = moments(0.9)
    p = np.array([0.6, 0.4])
    told = special.rel_entr(p, prior).sum()
    moment = (p ** (1 - power) * prior**power).sum(axis=1, keepdims=True)
    assert np.nanmax(moment + slope * told - most) > 0.01


@pytest.mark.states("Narcissus theory", "6.15")
@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.2, 0.8]])
def test_it_covers_however_the_samples_are_read(prior):
    """The samples seem to tell more than they do; misses at most a fifth, false alarm 1e-6."""
    rows = np.array([[0.6, 0.3, 0.1], [0.3, 0.3, 0.4]])
    truth = ch.shannon_leakage(rows, prior) * np.log(2)
    rng, misses, runs, size = np.random.default_rng(2), 0, 300, 60
    for _ in range(runs):
        secret = rng.choice(2, size, p=prior)
        shown = (rng.random(size)[:, None] > rows.cumsum(axis=1)[secret]).sum(axis=1)
        data = ch.samples(secret, shown, fewest=1)
        total = seeming_information(data, np.array(prior))
        density = np.log(rows / (np.array(prior) @ rows))[secret, shown].sum()
        assert total >= density - 1e-9
        misses += information_high(density, size, min(prior), 0.2) < truth
    assert misses <= stats.binom.isf(1e-6, runs, 0.2)


def test_it_is_near_where_nothing_leaks_and_never_above_the_most_there_can_be():
    assert information_high(0.0, 2000, 0.5, 0.025) < 0.01
    assert information_high(0.1 * 20_000, 20_000, 0.25, 0.025) < 0.11
    assert information_high(5.0, 10, 0.5, 0.025) == pytest.approx(np.log(2))
