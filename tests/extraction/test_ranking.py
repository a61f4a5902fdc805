"""The ranking attack, against planted secrets."""

import math

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.files import DataSet, Pool
from narcissus.extraction.ngram import CharacterNgram, TrainedNgram, perplexity
from narcissus.extraction.ranking import (
    Memorises,
    RankingAttack,
    extracted_count,
    lead_over_shadows,
    memorised,
    rank_samples,
)
from narcissus.game import Game, play

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


def test_memorises_counts_different_stretches():
    data = [DataSet(b"the quick brown fox\nunique phrase here")] * 3
    outputs = [b"x the quick\nso unique phrase", b"x the quick\ny the quick", b"nothing of it"]
    for at_least, held in ((1, [True, True, False]), (2, [True, False, False])):
        relation = Memorises(at_least, window=9)
        assert relation.holds(data, outputs, None).tolist() == held
    assert not Memorises(1, window=9).holds([DataSet(b"the quick\n" * 2)], [b"the quick"], None)[0]
