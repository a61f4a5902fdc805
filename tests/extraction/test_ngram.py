"""n-gram models against counting by hand."""

import math
from collections import Counter

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.files import DataSet, Pool
from narcissus.extraction.ngram import (
    CharacterNgram,
    Memorises,
    RankingAttack,
    TrainedNgram,
    extracted_count,
    lead_over_shadows,
    memorised,
    model_prior,
    perplexity,
    rank_samples,
    ranking_attack,
)
from narcissus.game import Game, play


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


RNG = np.random.default_rng(21)
WORDS = ["".join(RNG.choice(list("abcdefghij"), RNG.integers(2, 7))) for _ in range(60)]


def documents(n, rng):
    return [" ".join(rng.choice(WORDS, 12)) for _ in range(n)]


def test_planted_secrets_are_found_and_an_independent_release_gives_nothing():
    rng = np.random.default_rng(2)
    secrets = ["key " + "".join(map(str, rng.integers(0, 10, 40))) for _ in range(5)]
    plain = documents(400, rng)
    data = plain + secrets
    shadows = [
        [*documents(400, rng), "key " + "".join(map(str, rng.integers(0, 10, 40)))]
        for _ in range(19)
    ]
    guilty = CharacterNgram(data, order=8)
    other = CharacterNgram(documents(400, rng), order=3)
    count, p_value, found = extracted_count(
        guilty, data, other=other, samples=2000, length=80, top=50, window=30, shadows=shadows,
        rng=4,
    )  # fmt: skip
    assert sum(any(s in secret for s in found) for secret in secrets) >= 3
    assert p_value == 0.05
    assert count >= 3
    innocent = CharacterNgram(documents(400, rng), order=8)
    count, p_value, _ = extracted_count(
        innocent, data, other=other, samples=2000, length=80, top=50, window=30, shadows=shadows,
        rng=4,
    )  # fmt: skip
    assert p_value > 0.05


@pytest.mark.states("Narcissus theory", "1")
def test_false_alarm_rate_of_the_lead():
    """Under independence the p-value falls to 1/20 at most once in 20, at a declared 1e-6."""
    rng = np.random.default_rng(0)
    scores = rng.poisson(3, (4000, 20))
    alarms = sum(lead_over_shadows(row[0], row[1:].tolist()) <= 0.05 for row in scores)
    assert alarms <= 4000 * 0.05 + 4.9 * math.sqrt(4000 * 0.05 * 0.95)
    assert lead_over_shadows(5.0, [1, 5, 7]) == 0.75


def test_scores_and_duplicates():
    model = CharacterNgram(["aaaa"] * 5 + ["bc"], order=4)
    ranked = rank_samples(model, other=model, samples=500, length=6, rng=1)
    assert len(set(ranked.texts)) == len(ranked.texts) < ranked.drawn
    assert np.allclose(ranked.scores["other"], 1)
    assert all(np.isfinite(s).all() for s in ranked.scores.values())
    assert ranked.top(1, "perplexity") == [min(ranked.texts, key=lambda t: perplexity(model, [t]))]
    with pytest.raises(InputError, match="score"):
        ranked.top(1, "zlip")


def test_memorised():
    docs = ["the quick brown fox", "the quick red dog", "unique phrase here"]
    assert memorised(["x the quick", "so unique phrase", ""], docs, window=9) == ["unique ph"]
    assert memorised(["x the quick"], docs, window=9, k=2) == ["the quick"]
    assert memorised(["ab"], docs, window=9) == []


def test_the_ranking_attack_as_a_game():
    """Lines of random digits, learnt by heart: found in the data, never in a fresh draw."""
    rng = np.random.default_rng(6)
    lines = ["".join(map(str, rng.integers(0, 10, 40))) for _ in range(600)]
    game = Game(Pool(lines, 3), TrainedNgram(8), Memorises(at_least=2, window=30))
    attack = RankingAttack(samples=60, length=60, top=10)
    one = play(game, attack, trials=6, stop=False, rng=1).attackers[0]
    assert one.failed == 0
    assert one.success.value == 1
    assert one.baseline.value <= 0.2  # a line is in a fresh draw once in 200


def test_the_ranking_attack_prints_the_best_samples_and_compares_with_a_public_model():
    """As `rank_samples` orders them; a reference adds a score, and so other lines."""
    rng = np.random.default_rng(7)
    lines = ["".join(map(str, rng.integers(0, 10, 12))) for _ in range(30)]
    model = CharacterNgram(lines, order=4)
    for reference in ([], ["0123456789" * 3]):
        attack = ranking_attack(40, 14, top=3, reference=reference, order=2)
        other = CharacterNgram(reference, order=2) if reference else None
        ranked = rank_samples(model, other=other, samples=40, length=14, rng=5)
        (printed,) = attack.attempt([model], None, np.random.default_rng(5))
        assert printed.decode().split("\n") == ranked.top(3)
        assert ("other" in ranked.scores) == bool(reference)
    assert ranking_attack().other is None


def test_memorises_counts_different_stretches():
    data = [DataSet(b"the quick brown fox\nunique phrase here")] * 3
    outputs = [b"x the quick\nso unique phrase", b"x the quick\ny the quick", b"nothing of it"]
    for at_least, held in ((1, [True, True, False]), (2, [True, False, False])):
        relation = Memorises(at_least, window=9)
        assert relation.holds(data, outputs, None).tolist() == held
    assert not Memorises(1, window=9).holds([DataSet(b"the quick\n" * 2)], [b"the quick"], None)[0]
