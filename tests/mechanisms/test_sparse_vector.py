"""Sparse vector: six published algorithms, their privacy exactly, and what they answer."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from narcissus.attacks.conversation import Conversation, ConversationOverError
from narcissus.errors import InputError
from narcissus.guarantees import PureDP
from narcissus.mechanisms import SparseVector
from narcissus.mechanisms.patterns_asked import all_patterns
from narcissus.mechanisms.sparse_vector import PUBLISHED
from narcissus.profiles.write_out import conversations

PAIR = np.array([[0], [1]], dtype=np.uint8)


def loss(mechanism, data=PAIR):
    """Give the largest privacy loss of any conversation, every question and answer tried."""
    matrix = conversations(mechanism, data, 3_000_000).channel.matrix.toarray()
    likely = (matrix > 1e-11).any(axis=0)  # what is rarer than rounding says nothing
    with np.errstate(divide="ignore"):
        return float(np.abs(np.diff(np.log(matrix[:, likely]), axis=0)).max())


@pytest.mark.parametrize("algorithm", [n for n, how in PUBLISHED.items() if how.private])
@pytest.mark.parametrize(("positives", "questions"), [(1, 5), (2, 5), (3, 4)])
def test_what_is_private_is_as_private_as_it_says(algorithm, positives, questions):
    """Whatever is asked, each question after the earlier answers."""
    mechanism = SparseVector(1.0, 1, questions, positives, algorithm)
    promised = mechanism.promise(PAIR).epsilon
    found = loss(mechanism)
    assert 0.2 * promised < found <= promised + 1e-9
    assert promised == (1 + 6 * positives) / 4 if algorithm == "lee-clifton" else promised == 1


@pytest.mark.parametrize("threshold", [0, 1, 2])
def test_two_records_of_which_one_differs(threshold):
    data = np.array([[1, 0], [1, 1]], dtype=np.uint8)
    assert loss(SparseVector(1.0, threshold, 3), data) <= 1


@pytest.mark.parametrize(
    ("algorithm", "questions", "more"),
    [("roth", 4, 1.9), ("stoddard", 2, math.inf), ("chen", 6, 1.3), ("lee-clifton", 5, 1.5)],
)
def test_what_is_broken_loses_more_than_its_epsilon(algorithm, questions, more):
    """Lyu, Su and Li 2017: three lose without limit, Lee and Clifton's more than it says."""
    positives = 1 if algorithm == "roth" else 2
    assert loss(SparseVector(1.0, 1, questions, positives, algorithm)) >= more


def test_what_is_broken_loses_more_with_each_question():
    """Algorithm 3 half its epsilon each; Algorithm 6 ever more."""
    roth = [loss(SparseVector(1.0, 1, questions, 1, "roth")) for questions in (1, 2, 3)]
    assert roth == pytest.approx([0.5, 1.0, 1.5], abs=1e-6)
    chen = [loss(SparseVector(1.0, 1, questions, 1, "chen")) for questions in (1, 3, 5)]
    assert chen[0] + 0.3 < chen[1] < chen[2] - 0.3
    assert SparseVector(1.0, algorithm="chen").promise(PAIR) is None


@pytest.mark.parametrize("algorithm", ["standard", "dwork-roth", "lee-clifton", "chen"])
def test_chances_are_those_of_a_plain_sum_over_the_noise(algorithm):
    """Two noises summed over by loops, for the answers no, yes, no to three questions."""
    mechanism, epsilon = SparseVector(2.0, 1, 3, 2, algorithm), 2.0
    share = 0.25 if algorithm == "lee-clifton" else 0.5
    scale = {"dwork-roth": 2}.get(algorithm, 1) / (share * epsilon)
    noisy = {"standard": 4, "dwork-roth": 4}.get(algorithm, 1) / ((1 - share) * epsilon)

    def chance(z, scale):
        a = math.exp(-1 / scale)
        return (1 - a) / (1 + a) * a ** abs(z)

    def yes(count, rho):
        return math.fsum(chance(z, noisy) for z in range(-250, 251) if count + z >= 1 + rho)

    questions = [(1,), (-1,), (1,)]
    for row, bit in enumerate((0, 1)):
        counts = [bit, 1 - bit, bit]
        reach = range(-120, 121)
        first = {rho: (1 - yes(counts[0], rho)) * yes(counts[1], rho) for rho in reach}
        last = {rho: 1 - yes(counts[2], rho) for rho in reach}
        if algorithm == "dwork-roth":  # the threshold is noisy anew after the yes
            expected = math.fsum(chance(r, scale) * first[r] for r in reach)
            expected *= math.fsum(chance(r, scale) * last[r] for r in reach)
        else:
            expected = math.fsum(chance(r, scale) * first[r] * last[r] for r in reach)
        weights = mechanism.begin(PAIR)
        for question, answer in zip(questions, (0, 1, 0), strict=True):
            weights = dict(mechanism.advance(weights, PAIR, question))[answer]
        assert weights[row].sum() == pytest.approx(expected, rel=1e-9)


def talked(mechanism, data, questions, rng):
    talk = Conversation(mechanism.answers(np.asarray(data), rng), mechanism.questions)
    heard = []
    try:
        for question in questions:
            heard.append(talk.ask(question))
    except ConversationOverError:
        pass
    return tuple(heard)


@pytest.mark.parametrize("algorithm", ["standard", "dwork-roth", "lee-clifton", "stoddard", "chen"])
def test_answers_have_the_chances_that_are_written_out(within, algorithm):
    mechanism, rng, trials = SparseVector(2.0, 1, 3, 1, algorithm), np.random.default_rng(4), 3000
    questions = [(1,), (-1,), (1,)]
    tree = conversations(mechanism, PAIR, 10_000).channel
    at = {
        tuple(a for _, a in release): place
        for place, release in enumerate(tree.releases)
        if [q for q, _ in release] == questions[: len(release)]
    }
    matrix = tree.matrix.toarray()
    for row in (0, 1):
        heard = [talked(mechanism, PAIR[row], questions, rng) for _ in range(trials)]
        assert set(heard) <= set(at)
        for answers, place in at.items():
            assert within(heard.count(answers), trials, float(matrix[row, place]))


def test_numbers_are_answered_by_the_third_algorithm(within):
    mechanism, rng, trials = SparseVector(2.0, 1, 1, 1, "roth"), np.random.default_rng(5), 3000
    chances = dict(mechanism.advance(mechanism.begin(PAIR), PAIR, (1,)))
    heard = [talked(mechanism, [1], [(1,)], rng)[0] for _ in range(trials)]
    for number in (1, 2, 3):
        wanted = float(chances["count", number][1].sum()) if number != 1 else None
        if wanted is not None:
            assert within(heard.count(number), trials, wanted)
    assert sum(w.sum(axis=1) for w in chances.values()) == pytest.approx(np.ones(2))


def test_it_ends_after_its_positives_and_its_questions():
    rng = np.random.default_rng(6)
    surely = SparseVector(200.0, 1, 4, 2)
    assert talked(surely, [1], [(1,)] * 4, rng) == (1, 1)
    assert talked(surely, [0], [(1,)] * 9, rng) == (0, 0, 0, 0)
    assert talked(SparseVector(200.0, 1, 4, 2, "chen"), [1], [(1,)] * 9, rng) == (1, 1, 1, 1)
    assert surely.worth_asking(PAIR, [("q", 1), ("q", 0)]) == all_patterns(1)
    assert surely.worth_asking(PAIR, [("q", 1), ("q", 1)]) == ()
    assert surely.worth_asking(PAIR, [("q", 0)] * 4) == ()


def test_all_neighbours_of_two_bits_stay_within_the_promise():
    data = np.array(list(itertools.product((0, 1), repeat=2)), dtype=np.uint8)
    mechanism = SparseVector(1.0, 1, 2)
    matrix = conversations(mechanism, data, 10**6).channel.matrix.toarray()
    for left, right in itertools.combinations(range(4), 2):
        ratio = float(np.abs(np.log(matrix[left] / matrix[right])).max())
        assert ratio <= int((data[left] != data[right]).sum()) + 1e-9
    assert mechanism.promise(data) == PureDP(1.0)


def test_wrong_options_are_refused():
    for wrong in ({"epsilon": 0.0}, {"questions": 0}, {"positives": 0}, {"algorithm": "mine"}):
        with pytest.raises(InputError):
            SparseVector(**{"epsilon": 1.0, **wrong})
