"""Canaries: planted as said, found by a model that learnt them, and by no other beyond chance."""

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.extraction.canaries import CanaryPlan, NamedCanaries, PlantedCanary, named_canaries
from narcissus.extraction.ngram import CharacterNgram

PLAN = CanaryPlan(each=6, copies=(1, 8), digits=6)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"text": "no place {number}"}, "secret"),
        ({"text": "{secret} of {number}"}, "after it"),
        ({"copies": (2, 2)}, "different"),
        ({"copies": ()}, "different"),
        ({"digits": 0}, "digits"),
        ({"each": 0}, "each"),
    ],
)
def test_wrong_plans(wrong, said):
    with pytest.raises(InputError, match=said):
        CanaryPlan(**wrong)


def test_planted_canaries_are_named_and_printed():
    planted = PLAN.plant(3)
    assert [one.copies for one in planted] == [1] * 6 + [8] * 6
    assert len({one.text() for one in planted}) == 12
    assert planted[0].document.text == f"The code of safe 1 is {planted[0].secret}."
    model = CharacterNgram([one.text() for one in planted for _ in range(one.copies)], order=12)
    found = named_canaries(model, planted, PLAN, alternatives=19, completes=model, rng=1)
    assert [(one.copies, one.named, one.completed) for one in found] == [(1, 6, 6), (8, 6, 6)]
    assert found[0].exposure == pytest.approx(np.log2(20))
    assert found[0].chance() == pytest.approx(0.05**6)
    assert found[0].chance(completed=True) == pytest.approx(1e-36)
    assert found[0].by_chance() == 1  # of six at one in twenty


@pytest.mark.coverage_claim
def test_a_model_that_never_saw_them_names_as_many_as_the_guess():
    """Ties aside, which count against it; at a declared false-alarm rate of 1e-6."""
    plan = CanaryPlan(each=150, copies=(1,), digits=8)
    model = CharacterNgram(["The code of safe 0 is 1234567890."] * 3, order=4)
    (found,) = named_canaries(model, plan.plant(5), plan, alternatives=4, rng=6)
    assert found.named <= stats.binom.isf(1e-6, 150, 0.2)
    assert found.named >= stats.binom.ppf(1e-6, 150, 0.15)  # a few ties
    assert found.completed == 0


def test_ties_count_against_it():
    found = NamedCanaries(1, 4, (1, 2, 1, 5), 4, 0, 3)
    assert (found.named, found.guess, found.guess_completed) == (2, 0.2, 1e-3)


class OfPairs:
    """A model that has learnt canaries by heart, in tokens of up to two characters."""

    def __init__(self, texts):
        self.trained = [self.encode(text) for text in texts]
        self.prompts = []

    def encode(self, text):
        """Find pairs from the left: a digit is one token with the space before it, or the next."""
        found = []
        while text:
            size = 2 if text[:2].strip() == text[:2] or text[:2] in {" 0", " 1"} else 1
            found.append(sum(ord(one) << 8 * i for i, one in enumerate(text[:size])))
            text = text[size:]
        return found

    def decode(self, tokens):
        return "".join(chr(one & 255) + (chr(one >> 8) if one >> 8 else "") for one in tokens)

    def following(self, prompts, length):
        self.prompts += [tuple(one) for one in prompts]
        return [
            next((t[len(p) :][:length] for t in self.trained if t[: len(p)] == [*p]), [])
            for p in prompts
        ]

    def negative_log_likelihood(self, texts):
        loss = [float(self.encode(one) not in self.trained) for one in texts]
        return np.array(loss), np.ones(len(texts))


def test_canaries_are_asked_for_in_tokens_that_say_nothing_of_the_secret():
    """That a model which never saw a secret prints it once in 10^digits is said to be exact."""
    planted = PLAN.plant(3)
    model = OfPairs([one.text() for one in planted])
    assert model.decode(model.encode(planted[0].text())) == planted[0].text()
    found = named_canaries(model, planted, PLAN, alternatives=9, completes=model, rng=1)
    assert [(one.named, one.completed) for one in found] == [(6, 6), (6, 6)]
    other = OfPairs(["nothing"])
    again = [
        PlantedCanary(one.template, secret, one.copies)
        for one, secret in zip(planted, ["000000", "100000", "200000"] * 4, strict=True)
    ]
    assert not any(one.completed for one in named_canaries(other, again, PLAN, completes=other))
    assert other.prompts == model.prompts
    # the tokens of the text itself tell a secret that begins with 0 or 1
    ends = {len(other.decode([t for t in other.encode(one.text()) if t >> 8])) for one in again[:3]}
    assert len(ends) > 1
