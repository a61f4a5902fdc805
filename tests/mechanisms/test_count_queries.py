"""Counts of one's own choice: their chances, their privacy exactly, their refusals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from narcissus.attacks.conversation import Conversation, ConversationOverError
from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP, PureDP
from narcissus.mechanisms import CountQueries
from narcissus.mechanisms.patterns_asked import all_patterns

DATA = np.array(list(itertools.product((0, 1), repeat=3)), dtype=np.uint8)


def asked(mechanism, data, questions, rng):
    talk = Conversation(mechanism.answers(np.asarray(data), rng), mechanism.questions)
    return [talk.ask(question) for question in questions]


def test_exact_counts_are_counts():
    rng = np.random.default_rng(0)
    assert asked(CountQueries(2), [1, 1, 0], [(1, 1, 1), (-1, 0, -1)], rng) == [2, 1]


@pytest.mark.parametrize("noise", [{}, {"error": 2}, {"epsilon": 1.5}])
@pytest.mark.parametrize("question", [(1, 0, 0), (1, -1, 1)])
def test_answers_have_the_chances_that_are_written_out(within, noise, question):
    mechanism, rng, trials = CountQueries(2, **noise), np.random.default_rng(1), 4000
    found = mechanism.advance(mechanism.begin(DATA), DATA, question)
    chances = {answer: weights[:, 0] for answer, weights in found}
    assert sum(chances.values()) == pytest.approx(np.ones(len(DATA)))
    for place in (0, 5):
        heard = [asked(mechanism, DATA[place], [question], rng)[0] for _ in range(trials)]
        assert set(heard) <= {a for a, c in chances.items() if c[place] > 0}
        for answer, chance in chances.items():
            assert within(heard.count(answer), trials, float(chance[place]))


@pytest.mark.parametrize("questions", [1, 2])
def test_the_whole_conversation_is_as_private_as_it_says(questions):
    """Every neighbouring pair, every question, each answer: exactly, and no less than needed."""
    mechanism = CountQueries(questions, epsilon=1.0)
    worst = 0.0
    for left, right in itertools.combinations(range(len(DATA)), 2):
        if (DATA[left] != DATA[right]).sum() != 1:
            continue
        for question in all_patterns(3):
            for _, weights in mechanism.advance(mechanism.begin(DATA), DATA, question):
                worst = max(worst, abs(math.log(weights[left, 0] / weights[right, 0])))
    assert worst == pytest.approx(1 / questions)
    assert mechanism.promise(DATA) == PureDP(1.0)


def test_cutting_an_answer_to_what_a_count_can_be_loses_nothing():
    """Beyond either end all answers have the same ratios: the cut is a sufficient statistic."""
    mechanism = CountQueries(1, epsilon=0.7)
    counts, far = np.arange(4), np.arange(-5, 9)
    whole = mechanism.noise.at(far - counts[:, None])
    below, above = whole[:, far <= 0], whole[:, far >= 3]
    np.testing.assert_allclose(
        below / below[0], np.tile(below[:, [0]] / below[0, 0], below.shape[1])
    )
    np.testing.assert_allclose(
        above / above[0], np.tile(above[:, [0]] / above[0, 0], above.shape[1])
    )


def test_gaussian_noise_has_the_size_that_its_privacy_asks_for():
    mechanism, rng = CountQueries(16, mu=2.0), np.random.default_rng(3)
    heard = np.array([asked(mechanism, [1, 0, 1], [(1, 1, 1)], rng)[0] for _ in range(4000)])
    assert heard.mean() == pytest.approx(2, abs=6 * 2 / math.sqrt(4000))
    assert heard.std() == pytest.approx(2, rel=0.08)  # sqrt(16) / 2
    assert mechanism.promise(DATA) == GaussianDP(2.0)
    with pytest.raises(InputError, match="Gaussian noise have no list of answers"):
        mechanism.begin(DATA)


def test_nothing_is_promised_without_privacy_and_it_ends():
    for mechanism in (CountQueries(2), CountQueries(2, error=5)):
        assert mechanism.promise(DATA) is None
    mechanism = CountQueries(1)
    with pytest.raises(ConversationOverError):
        asked(mechanism, [1], [(1,), (1,)], None)
    assert mechanism.worth_asking(DATA, [("q", 1)]) == ()
    assert len(mechanism.worth_asking(DATA, [])) == 26


def test_wrong_options_are_refused():
    for wrong in ({"questions": 0}, {"questions": 2, "error": -1}, {"questions": 2, "epsilon": 0.0},
                  {"questions": 2, "mu": -1.0}):  # fmt: skip
        with pytest.raises(InputError):
            CountQueries(**wrong)
    with pytest.raises(InputError, match="three kinds of noise; give one"):
        CountQueries(2, error=1, epsilon=1.0)
