"""Documents recovered beside those recovered anyway: the rule is the same, the limits hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus.errors import InputError
from narcissus.extraction.ngram import CharacterNgram
from narcissus.extraction.recovered import (
    completed_documents,
    printed_stretches,
    prompt_ends,
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


class ByHeart:
    """A model that has learnt documents by heart as the tokens that they were trained on.

    Its tokens are pieces of up to three characters that are found as a tokenizer of byte pairs
    finds them, longest first, so that the end of a text that is cut is other tokens.
    ``spaced``: its decoder drops a space in front, as SentencePiece's does.
    """

    def __init__(self, documents, *, pieces, spaced=False):
        self.pieces = sorted({*pieces, *"".join(documents)}, key=len, reverse=True)
        self.spaced = spaced
        self.trained = [self.encode(one) for one in documents]
        self.prompts = []

    def encode(self, text):
        text, found = " " * self.spaced + text, []
        while text:
            number, piece = next(
                (i, one) for i, one in enumerate(self.pieces) if text.startswith(one)
            )
            found.append(number)
            text = text[len(piece) :]
        return found

    def decode(self, tokens):
        text = "".join(self.pieces[one] for one in tokens)
        return text.removeprefix(" ") if self.spaced else text

    def following(self, prompts, length):
        self.prompts += [self.decode(one) for one in prompts]
        return [
            next((t[len(p) :][:length] for t in self.trained if t[: len(p)] == [*p]), [])
            for p in prompts
        ]


LETTERS = ["the thin man at the inn has 81920 hats", "at noon the other one has none at all, he"]
PIECES = ["the", "th", "he", "in", " t", " at", "81", "192", "at", "on", "one", " h", "ha", "s "]


@given(
    pieces=st.lists(st.sampled_from(PIECES), unique=True),
    spaced=st.booleans(),
    window=st.integers(1, 12),
    cut=st.integers(3, 24),  # by which the two differ
    in_tokens=st.booleans(),
)
def test_what_is_learnt_by_heart_is_completed_wherever_the_prompt_is_cut(
    pieces, spaced, window, cut, in_tokens
):
    model = ByHeart(LETTERS, pieces=pieces, spaced=spaced)
    said = {"prompt": min(cut, 8)} if in_tokens else {"prefix": cut}
    assert completed_documents(model, LETTERS, window=window, **said).all()
    # nothing is told to it that is not known, and no more left out than a part of a token
    ends = prompt_ends(model, LETTERS, prompt=min(cut, 8)) if in_tokens else [cut] * 2
    for text, told, end in zip(LETTERS, model.prompts, ends, strict=True):
        assert text.startswith(told)
        assert end - 3 < len(told) <= end
    model.trained = [model.encode(one[::-1]) for one in LETTERS]
    assert not completed_documents(model, LETTERS, window=window, **said).any()


def test_a_prompt_of_tokens_ends_between_two_characters():
    """As with bytes: a character of several tokens is known as a whole or not at all."""

    class Bytes(ByHeart):
        def encode(self, text):
            return [*text.encode()]

        def decode(self, tokens):
            return bytes(tokens).decode(errors="replace")

    texts = ["a\u00e9\u20ac\U0001f600 and what comes after it"]
    model = Bytes(texts, pieces=[])
    ends = [prompt_ends(model, texts, prompt=count)[0] for count in range(1, 12)]
    assert ends == [1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 5]
    for prompt in range(1, 12):
        assert completed_documents(model, texts, prompt=prompt, window=9).all()
    for prefix in range(1, 6):
        model.prompts.clear()
        assert completed_documents(model, texts, prefix=prefix, window=9).all()
        assert model.prompts == [texts[0][:prefix]]


def test_a_text_that_its_tokens_do_not_tell_is_not_completed():
    class Nothing(ByHeart):
        def decode(self, tokens):
            return ""

    assert not completed_documents(Nothing(LETTERS, pieces=[]), LETTERS, prefix=3, window=4).any()
