"""Documents recovered beside those recovered anyway: the rule is the same, the limits hold."""

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.extraction.ngram import CharacterNgram
from narcissus.extraction.recovered import (
    completed_documents,
    printed_stretches,
    recovered_documents,
)


def test_a_stretch_counts_by_the_documents_of_all_sides():
    sides = [["abcdef", "xxcdxx"], ["qqcdqq", "abcd"]]
    found = printed_stretches(["zabcdz"], sides, window=2, k=2)
    # "cd" is in four documents, "ab" and "bc" in two
    assert [side.tolist() for side in found.documents()] == [[True, False], [False, True]]
    assert found.sides("zabz") == {0, 1}
    assert found.sides("cd") == set()
    rare = printed_stretches(["zabcdz"], sides, window=2, k=1)
    assert not any(side.any() for side in rare.documents())
    every = printed_stretches(["zabcdz"], sides, window=2, k=4)
    assert all(side.all() for side in every.documents())


def test_the_rule_treats_sides_alike():
    """Which side a document is on changes nothing about whether it counts."""
    rng = np.random.default_rng(5)
    texts = ["".join(rng.choice(list("ab"), 9)) for _ in range(40)]
    texts = list(dict.fromkeys(texts))
    printed = ["".join(rng.choice(list("ab"), 30)) for _ in range(5)]
    one = printed_stretches(printed, [texts[:20], texts[20:]], window=6, k=2).documents()
    other = printed_stretches(printed, [texts[20:], texts[:20]], window=6, k=2).documents()
    assert one[0].tolist() == other[1].tolist()
    assert one[1].tolist() == other[0].tolist()
    assert one[0].any()


def test_documents_are_completed_by_a_model_that_learnt_them():
    texts = ["the first of all letters, 81920", "a second one that says 55512 only"]
    model = CharacterNgram([texts[0]] * 3, order=7)
    found = completed_documents(model, texts, prefix=8, window=20)
    assert found.tolist() == [True, False]
    assert completed_documents(model, [], prefix=8, window=20).tolist() == []
    with pytest.raises(InputError, match="28 characters"):
        completed_documents(model, ["short"], prefix=8, window=20)


def test_numbers_of_a_comparison():
    trained, fresh = np.arange(50) < 10, np.arange(100) < 3
    found = recovered_documents(trained, fresh, np.arange(50) < 1)
    assert (found.documents, found.recovered, found.share) == (50, 10, 0.2)
    assert found.fresh.value == 0.03
    assert found.reference.value == 0.02
    value, low, high = found.gain
    assert value == pytest.approx(0.17)
    assert low == pytest.approx(0.2 - found.fresh.high)
    assert high == pytest.approx(0.2 - found.fresh.low)
    wanted = stats.fisher_exact([[10, 40], [3, 97]], alternative="greater").pvalue
    assert found.chance == pytest.approx(wanted)


def test_without_fresh_documents_nothing_is_said_of_the_gain():
    found = recovered_documents(np.ones(3, dtype=bool), np.zeros(0, dtype=bool))
    assert found.gain is None
    assert found.chance is None
    assert found.share == 1


@pytest.mark.coverage_claim
def test_the_chance_is_a_p_value_and_limits_of_the_gain_cover(within):
    """Documents that a release is independent of: the gain's limits hold its mean."""
    rng = np.random.default_rng(8)
    runs, alarms, missed = 2000, 0, 0
    for _ in range(runs):
        rate = 0.3
        found = recovered_documents(rng.random(30) < rate, rng.random(40) < rate)
        alarms += found.chance <= 0.05
        _, low, high = found.gain
        missed += not low <= found.share - rate <= high
    assert alarms <= stats.binom.isf(1e-6, runs, 0.05)
    assert missed <= stats.binom.isf(1e-6, runs, 0.05)
