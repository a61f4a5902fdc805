"""Labels drawn from a prior use up samples, each once, blind to outputs."""

import numpy as np
import pytest

from narcissus.channels.prior_draws import EXHAUSTED, Draws, draw, how_many, with_prior
from narcissus.channels.samples import samples
from narcissus.errors import InputError


def test_each_sample_is_used_once_for_a_label_of_its_own():
    rng = np.random.default_rng(0)
    data = samples(rng.permutation(np.repeat([0, 1], [992, 8])), rng.normal(size=1000), fewest=1)
    data, prior = with_prior(data, {"0": 0.97, "1": 0.02, "2": 0.01})
    found = draw(data, prior, rng, most=1000)
    used = found.drawn[found.drawn != EXHAUSTED]
    assert np.array_equal(np.sort(np.r_[used, found.spare]), np.arange(1000))
    assert (data.secret[used] == found.labels[found.drawn != EXHAUSTED]).all()
    each = np.bincount(data.secret, minlength=3)
    lacking = np.bincount(found.labels[found.drawn == EXHAUSTED], minlength=3)
    assert (lacking == np.maximum(0, np.bincount(found.labels) - each)).all()
    assert lacking[1] > 0
    assert lacking[2] > 0


def test_samples_that_are_set_aside_are_not_drawn():
    rng, aside = np.random.default_rng(2), np.arange(0, 200, 3)
    data = samples(np.repeat([0, 1], 100), np.zeros(200))
    found = draw(data, np.array([0.5, 0.5]), rng, most=200, aside=aside)
    assert np.isin(aside, found.spare).all()
    assert not np.isin(aside, found.drawn).any()
    assert len(np.unique(found.drawn[found.drawn != EXHAUSTED])) > 90


def test_scarce_are_those_that_lack_samples_for_more_than_a_tenth_of_their_labels():
    labels = np.repeat([0, 1, 2], 20)
    found = np.arange(60)
    found[[19, 37, 38, 39]] = EXHAUSTED
    assert Draws(np.arange(0), labels, found).scarce(4).tolist() == [False, True, False, False]


def test_labels_are_drawn_from_the_prior_whatever_the_samples():
    rng = np.random.default_rng(1)
    data = samples(np.repeat([0, 1], [900, 100]), np.zeros(1000))
    labels = np.concatenate(
        [draw(data, np.array([0.7, 0.3]), rng, most=1000).labels for _ in range(50)]
    )
    assert labels.mean() == pytest.approx(0.3, abs=5 * np.sqrt(0.21 / len(labels)))


def test_so_many_labels_that_few_lack_a_sample_or_that_it_costs_less_than_it_gives():
    assert 800 < how_many(np.array([500, 500]), np.array([0.5, 0.5]), 1000) < 1000
    assert how_many(np.array([900, 100]), np.array([0.5, 0.5]), 1000) < 300
    each, prior = np.array([1000] * 99 + [10]), np.full(100, 0.01)
    assert how_many(each, prior, 100_000) > 50_000  # one rare secret is not worth the others


def test_a_prior_may_name_secrets_without_samples_but_not_fewer():
    data = samples(["a", "b"] * 20, [0, 1] * 20)
    wider, weights = with_prior(data, {"b": 0.5, "a": 0.3, "c": 0.2})
    assert wider.names == ("a", "b", "c")
    assert weights.tolist() == [0.3, 0.5, 0.2]
    with pytest.raises(InputError, match="lacks the secret 'b'"):
        with_prior(data, {"a": 1.0})
    with pytest.raises(InputError, match="3 probabilities for 2 secrets"):
        with_prior(data, [0.3, 0.3, 0.4])
