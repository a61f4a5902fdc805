"""A network fine-tuned on a secret: gradients by differences, clipping one by one, guarantees."""

import math

import numpy as np
import pytest
from scipy import special

from narcissus.bounds import optimum
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.extraction.fine_tune import FineTune, PublicNetwork, clipped_sums
from narcissus.extraction.secrets import PosteriorGuess, PublishedGuess
from narcissus.game import Game
from narcissus.success.relations import NamesSecret
from narcissus.worlds import Secret

PRIOR = np.array([0.5, 0.3, 0.2])


def loss(context, follows, weights):
    inner, outer, bias = weights
    logits = np.tanh(context @ inner) @ outer + bias
    return special.logsumexp(logits) - logits[follows]


def by_differences(context, follows, weights):
    """Give the gradient of one document, each weight moved by itself."""
    found = []
    for place, part in enumerate(weights):
        gradient = np.zeros_like(part)
        for index in np.ndindex(part.shape):
            moved = [[w.copy() for w in weights] for _ in range(2)]
            moved[0][place][index] += 1e-6
            moved[1][place][index] -= 1e-6
            gradient[index] = (
                loss(context, follows, moved[0]) - loss(context, follows, moved[1])
            ) / 2e-6
        found.append(gradient)
    return found


@pytest.mark.parametrize("clip", [0.3, 100.0])
def test_sums_are_those_of_gradients_clipped_one_by_one(clip):
    rng = np.random.default_rng(1)
    contexts, follows = rng.normal(size=(4, 3)), rng.integers(0, 3, size=(2, 4))
    weights = [rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 1, 3))]
    found = clipped_sums(contexts, follows, weights, clip)
    norms = []
    for model in range(2):
        own = [weights[0][model], weights[1][model], weights[2][model, 0]]
        total = [np.zeros_like(part) for part in own]
        for context, what in zip(contexts, follows[model], strict=True):
            gradient = by_differences(context, what, own)
            norm = math.sqrt(sum((part**2).sum() for part in gradient))
            norms.append(norm)
            for place, part in enumerate(gradient):
                total[place] += part * min(1, clip / norm)
        for ours, theirs in zip(found, total, strict=True):
            assert np.allclose(ours[model].reshape(theirs.shape), theirs, atol=1e-7)
    assert min(norms) < 0.3 < max(norms) < 100


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_what_holds_is_two_norms_a_step(neighbours):
    asked = FineTune(4.0, steps=20, learning_rate=0.1, neighbours=neighbours)
    mechanism = asked.trained_on(PRIOR)
    factor = 1 if neighbours == "replace-one" else 2
    assert mechanism.training.guarantee.mu == pytest.approx(factor * asked.accounted.mu)
    assert mechanism.training.guarantee.adjacency == "replace-one"


def test_networks_start_from_the_prior_and_learn_the_secret():
    mechanism = FineTune(math.inf, steps=40, learning_rate=0.2).trained_on(PRIOR)
    assert np.abs(special.softmax(mechanism.start) - PRIOR).max() < 0.1
    secrets = np.arange(3)
    logits = mechanism.release(secrets, np.random.default_rng(0))
    assert (logits.argmax(axis=1) == secrets).all()
    assert mechanism.values == 3
    noisy = FineTune(1.0, steps=3, learning_rate=0.2).trained_on(PRIOR)
    assert noisy.training.noise > 0 == noisy.without_noise().training.noise
    still = FineTune(math.inf, steps=1, learning_rate=1e-12).trained_on(PRIOR)
    assert np.allclose(still.release(secrets, np.random.default_rng(0)), still.start)


def test_many_networks_are_trained_in_parts_each_by_itself():
    """The secret of one network moves no other, and all parts are there."""
    mechanism = FineTune(math.inf, steps=3, learning_rate=0.1).trained_on(PRIOR)
    secrets = np.random.default_rng(2).integers(0, 3, 501)
    logits = mechanism.release(secrets, np.random.default_rng(0))
    alone = mechanism.release(np.arange(3), np.random.default_rng(0))
    assert np.allclose(logits, alone[secrets])


def test_attacks_stay_below_the_bound_and_beat_the_guess():
    """False-alarm rate 1e-6 for each limit."""
    mechanism = FineTune(12.0, steps=15, learning_rate=0.05, documents=4).trained_on(PRIOR)
    game = Game(Secret(PRIOR), mechanism, NamesSecret(3))
    rng = np.random.default_rng(4)
    secrets = game.world.draw(2000, rng).data
    release = mechanism.release(secrets, rng)
    limit = float(optimum(PRIOR, mechanism.training.guarantee)[0])
    for attack in (PublishedGuess(), PosteriorGuess(1000).prepare(game)):
        hits = int((attack.attempt(release, None, rng) == secrets).sum())
        found = clopper_pearson(hits, 2000, confidence=1 - 2e-6)
        assert found.low <= limit
    assert found.low > 0.5  # the last one knows the training
    assert limit < 0.999


def test_the_network_is_the_same_for_the_same_question():
    one, other = (PublicNetwork.drawn(PRIOR, 5, 4) for _ in range(2))
    assert (one.contexts == other.contexts).all()
    assert one.contexts.shape == (5, 4)
    assert one.follows.shape == (4,)


@pytest.mark.parametrize("options", [{"documents": 0}, {"hidden": 0}, {"steps": 0}])
def test_what_is_refused(options):
    with pytest.raises(InputError, match=next(iter(options))):
        FineTune(1.0, **options)
