"""Rules earn on samples that they have not seen, and never more than there is."""

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels.estimators import portfolio
from narcissus.channels.paid_ahead import MIXED, Gained, LogScore, paid_ahead
from narcissus.channels.prior_draws import EXHAUSTED, Draws, draw
from narcissus.channels.samples import samples
from narcissus.observer import SILENT

ROWS = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
PRIOR = np.array([0.3, 0.7])


def drawn(size, seed=0):
    rng = np.random.default_rng(seed)
    secret = rng.integers(2, size=size)
    shown = (rng.random(size)[:, None] > ROWS.cumsum(axis=1)[secret]).sum(axis=1)
    data = samples(secret, shown)
    return data, draw(data, PRIOR, rng, most=size)


def test_what_is_earned_comes_near_the_best_of_any_rule():
    data, draws = drawn(20_000)
    gain = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
    score = LogScore(PRIOR, np.zeros(2, dtype=bool))
    payoffs = [Gained(np.eye(2)), Gained(gain), score]
    paid = paid_ahead(data, portfolio(None, data), draws, payoffs, PRIOR, SILENT)
    best = [
        ch.bayes_vulnerability(ROWS, PRIOR),
        ch.g_vulnerability(ROWS, gain, PRIOR),
        ch.shannon_leakage(ROWS, PRIOR) * np.log(2),
    ]
    for found, most in zip(paid, best, strict=True):
        error = found.values.std() / np.sqrt(len(found.values))
        assert most - 6 * error - 0.01 < found.values.mean() < most + 5 * error


def test_a_rule_does_not_see_the_sample_it_is_paid_for():
    """Outputs that never repeat: whoever learned from its own sample would be right always."""
    rng = np.random.default_rng(4)
    data = samples(rng.integers(2, size=1000), np.arange(1000).astype(str))
    half = np.array([0.5, 0.5])
    draws = draw(data, half, rng, most=1000)
    score = LogScore(half, np.zeros(2, dtype=bool))
    payoffs = [Gained(np.eye(2)), score]
    right, told = paid_ahead(data, portfolio(None, data), draws, payoffs, half, SILENT)
    assert right.values.mean() == pytest.approx(0.5, abs=0.1)
    assert told.values.mean() <= 0.01


def test_labels_without_samples_earn_the_least():
    data = samples(np.repeat([0, 1], 50), np.repeat([0, 1], 50))
    draws = Draws(np.arange(0), np.array([0, 1] * 60), np.full(120, EXHAUSTED))
    draws.drawn[:100] = np.stack([np.arange(50), np.arange(50, 100)], axis=1).ravel()
    half = np.array([0.5, 0.5])
    payoffs = [Gained(np.eye(2)), LogScore(half, np.zeros(2, dtype=bool))]
    right, told = paid_ahead(data, portfolio(None, data), draws, payoffs, half, SILENT)
    assert (right.values[-20:] == 0).all()
    assert (right.values[-40:-20] == 1).all()
    assert told.values[-20:] == pytest.approx(np.log(min(MIXED)))


def test_scarce_secrets_are_believed_as_before():
    prior, beliefs = np.array([0.5, 0.3, 0.2]), np.array([[0.8, 0.1, 0.1]])
    score = LogScore(prior, np.array([False, False, True]))
    assert (score(beliefs, np.array([2])) == 0).all()
    spent = sum(np.exp(score(beliefs, np.array([s]))) * prior[s] for s in range(3))
    assert spent == pytest.approx(1.0)  # a distribution, whatever the share
    assert score.without(np.array([2, 0])).tolist() == [0.0, np.log(min(MIXED))]
