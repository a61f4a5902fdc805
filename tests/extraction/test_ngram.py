"""n-gram models against counting by hand."""

import math
from collections import Counter

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.files import DataSet
from narcissus.extraction.ngram import CharacterNgram, TrainedNgram, model_prior


def by_hand(training, text, order):
    """Witten-Bell from the definition, one character at a time."""
    alphabet = len(set("".join(training))) + 2
    total = 0.0
    for i, character in enumerate(text):
        chance = 1 / alphabet
        for k in range(order):
            context = ("\0" * order + text[:i])[-k:] if k else ""
            followers = Counter()
            for document in training:
                padded = "\0" * order + document + "\0"
                for j in range(order, len(padded)):
                    if padded[j - k : j] == context:
                        followers[padded[j]] += 1
            n, kinds = sum(followers.values()), len(followers)
            if n:
                chance = (followers[character] + kinds * chance) / (n + kinds)
        total -= math.log(chance)
    return total


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_likelihood_by_hand(order):
    training = ["banana", "bandana", "cab", "b"]
    model = CharacterNgram(training, order=order)
    texts = ["banana", "cabana", "xyz", "b", "nab"]
    sums, tokens = model.negative_log_likelihood(texts)
    assert tokens.tolist() == [len(t) for t in texts]
    assert np.allclose(sums, [by_hand(training, t, order) for t in texts], rtol=1e-12)


def test_samples_follow_the_model():
    """Frequencies of the first two characters against their probabilities."""
    model = CharacterNgram(["ab", "ac", "ba", "abc"], order=2)
    n = 20_000
    drawn = Counter(t[:2] for t in model.sample(n, 5, rng=3) if len(t) >= 2)
    for pair in ("ab", "ac", "ba", "bc"):
        p = math.exp(-model.negative_log_likelihood([pair])[0][0])
        # 4.9 standard deviations: a false alarm once in a million
        assert abs(drawn[pair] / n - p) < 4.9 * math.sqrt(p * (1 - p) / n)


def test_the_mechanism_trains_on_the_records():
    models = TrainedNgram(3).release([DataSet(b"abc\nabd"), DataSet(b"zz")], None)
    text = ["abd"]
    direct = CharacterNgram(["abc", "abd"], order=3).negative_log_likelihood(text)
    assert models[0].negative_log_likelihood(text) == direct
    assert models[1].alphabet == ["z"]


@pytest.mark.states("Swanberg et al. 2025", "section 5.1")
def test_priors_from_a_model():
    model = CharacterNgram(["call anna", "call anna", "call bob"], order=5)
    prior = model_prior(model, ["anna", "bob", "eve"], template="call {}")
    assert math.isclose(prior.sum(), 1)
    assert prior[0] > prior[1] > prior[2]
    flat = model_prior(model, ["anna", "bob", "eve"], template="call {}", weight="perplexity")
    assert flat.max() < prior.max()
    with pytest.raises(InputError, match="place"):
        model_prior(model, ["a"], template="call")


def test_bad_models():
    with pytest.raises(InputError, match="text"):
        CharacterNgram([""])
    with pytest.raises(InputError, match="too high"):
        CharacterNgram(["abc"], order=40)
    with pytest.raises(InputError, match="empty"):
        CharacterNgram(["abc"]).negative_log_likelihood([""])
