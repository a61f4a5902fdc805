"""Naive Bayes by histograms: shapes that Gaussians do not see."""

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels.estimators import NaiveBayes
from narcissus.channels.samples import samples


def heavy(rng, size):
    secret = rng.integers(2, size=size)
    return secret, rng.standard_t(2, size=(size, 5)) + 0.8 * secret[:, None]


def two_peaks(rng, size):
    """Mean, variance and correlations as those of noise."""
    secret = rng.integers(2, size=size)
    peaks = rng.choice([-0.9, 0.9], size=(size, 4)) + 0.436 * rng.normal(size=(size, 4))
    return secret, np.where(secret[:, None] == 1, peaks, rng.normal(size=(size, 4)))


@pytest.mark.parametrize(("leak", "most"), [(heavy, 0.62), (two_peaks, 0.68)])
def test_heavy_tails_and_peaks_are_found(leak, most):
    secret, output = leak(np.random.default_rng(1), 4_000)
    found = ch.estimate(secret, output, rng=1, estimators="naive-bayes")
    assert found.beta_star.high < most
    blind = ch.estimate(secret, output, rng=1, estimators="templates-each")
    assert blind.beta_star.high > found.beta_star.high + 0.1


def test_scores_are_the_products_of_shares():
    data = samples([0] * 60 + [1] * 40, [0] * 45 + [1] * 15 + [0] * 10 + [1] * 30)
    scores = NaiveBayes().fit(data, np.arange(100))(np.array([0, 1]))
    smooth = np.array([[45.5, 10.5], [15.5, 30.5]]) / (np.array([60, 40]) + 0.5 * 4)
    expected = smooth * [0.6, 0.4]
    assert np.allclose(scores / scores.sum(axis=1, keepdims=True),
                       expected / expected.sum(axis=1, keepdims=True))  # fmt: skip


def test_a_secret_that_was_not_learned_is_never_said():
    data = samples([0, 1, 2] * 20, np.arange(60.0))
    chosen = np.flatnonzero(data.secret < 2)
    assert (NaiveBayes().fit(data, chosen)(np.arange(60))[:, 2] == 0).all()
