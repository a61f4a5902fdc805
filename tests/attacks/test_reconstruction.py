"""Bits are reconstructed from counts with little noise, and not from counts with much."""

import itertools

import numpy as np
import pytest

from narcissus.attacks import AskEach, ExhaustiveReconstruction, LinearReconstruction
from narcissus.attacks.base import Conversation
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.mechanisms import CountQueries, Identity, SparseVector
from narcissus.success.relations import Hamming
from narcissus.worlds import Bits


def shares(mechanism, attack, n=64, trials=8, seed=1):
    """Return the share of bits that are named rightly, for each trial."""
    rng = np.random.default_rng(seed)
    world = Bits(n)
    ready = attack.prepare(Game(world, mechanism, Hamming(0.05)))
    found = []
    for data in world.draw(trials, rng).data:
        talk = Conversation(mechanism.answers(data, rng), mechanism.questions)
        found.append((ready.converse(talk, None, rng.spawn(1)[0]) == data).mean())
    return np.array(found)


@pytest.mark.parametrize(
    ("attack", "questions"),
    [(LinearReconstruction(), 256), (LinearReconstruction(224, "linear-program"), 256)],
)
@pytest.mark.one_in(2)
def test_all_but_a_few_bits_where_the_noise_is_small(attack, questions):
    """The root of 64 is 8: noise of up to 1."""
    assert (shares(CountQueries(questions, error=1), attack) >= 0.95).all()


@pytest.mark.parametrize("method", ["least-squares", "linear-program"])
@pytest.mark.parametrize("noise", [{"error": 24}, {"epsilon": 1.0}, {"mu": 1.0}])
@pytest.mark.one_in(3)
def test_not_where_it_is_large(method, noise):
    """Of the order of the root of n, times three, and of differential privacy."""
    attack = LinearReconstruction(128, method)
    found = shares(CountQueries(128, **noise), attack, trials=8)
    assert (found < 0.95).all()
    assert found.mean() < 0.8


def test_exact_counts_give_everything_and_nothing_more_is_asked_than_said():
    assert (shares(CountQueries(96), LinearReconstruction()) == 1).all()
    mechanism = CountQueries(1000)
    talk = Conversation(mechanism.answers(np.ones(4, np.uint8), np.random.default_rng(0)), 1000)
    ready = LinearReconstruction().prepare(Game(Bits(4), mechanism, Hamming(0.1)))
    assert ready.converse(talk, None, np.random.default_rng(1)).tolist() == [1] * 4
    assert talk.questions == 64  # sixteen for each bit


def test_absolute_deviations_do_not_mind_single_lies():
    """One answer of ten is off by a lot; squares would spread that over all bits."""

    class Liar:
        questions = 200

        def answers(self, data, rng):
            question = yield None
            while True:
                lie = 40 * (rng.random() < 0.1)
                question = yield int(data @ question) + lie

    by = {m: shares(Liar(), LinearReconstruction(200, m), n=32, trials=6)
          for m in ("least-squares", "linear-program")}  # fmt: skip
    assert (by["linear-program"] == 1).all()
    assert by["least-squares"].mean() < 0.97


class Worst:
    """Answers that an adversary picks within the error: those of another data set, where it may."""

    def __init__(self, other, error):
        self.other, self.error, self.questions = other, error, 10**6

    def answers(self, data, rng):
        question = yield None
        while True:
            right, wrong = int(data @ question), int(self.other @ question)
            question = yield int(np.clip(wrong, right - self.error, right + self.error))


@pytest.mark.parametrize("error", [0, 1])
def test_what_fits_all_subsets_has_at_most_four_times_the_error_wrong(error):
    """For every data set of five bits and the worst answers towards every other."""
    n = 5
    ready = ExhaustiveReconstruction().prepare(Game(Bits(n), CountQueries(9), Hamming(0.1)))
    worst = 0
    for pair in itertools.product(itertools.product((0, 1), repeat=n), repeat=2):
        data, other = np.array(pair, dtype=np.int64)
        if data.sum() % 3:  # a third of them
            continue
        talk = Conversation(Worst(other, error).answers(data, None))
        wrong = int((ready.converse(talk, None, np.random.default_rng(0)) != data).sum())
        worst = max(worst, wrong)
        assert wrong <= 4 * error
    assert worst == 0 if error == 0 else worst >= 2  # the adversary does something


def test_all_subsets_are_some_of_them_where_fewer_are_answered():
    found = shares(CountQueries(60), ExhaustiveReconstruction(), n=8, trials=10)
    assert (found == 1).all()


def test_asked_one_by_one_sparse_vector_without_end_gives_the_bits():
    assert shares(SparseVector(1.0, questions=1600, algorithm="chen"), AskEach(), 8).mean() > 0.85
    assert shares(SparseVector(1.0, questions=1600), AskEach(), 8, 40).mean() < 0.75
    assert (shares(CountQueries(16), AskEach(), 8) == 1).all()
    assert shares(CountQueries(5), AskEach(), 8, 60).mean() == pytest.approx(10.5 / 16, abs=0.12)


def test_other_games_are_refused():
    for attack in (LinearReconstruction(), ExhaustiveReconstruction(), AskEach()):
        with pytest.raises(InputError, match="`count-queries` or `sparse-vector`"):
            attack.prepare(Game(Bits(4), Identity(), Hamming(0.1)))
    with pytest.raises(InputError, match="take `linear-reconstruction`"):
        ExhaustiveReconstruction().prepare(Game(Bits(15), CountQueries(5), Hamming(0.1)))
    for wrong in (lambda: LinearReconstruction(0), lambda: AskEach(0)):
        with pytest.raises(InputError, match="at least 1"):
            wrong()
    with pytest.raises(InputError, match="method"):
        LinearReconstruction(method="guess")


def test_more_questions_than_are_answered_are_refused():
    game = Game(Bits(4), CountQueries(15), Hamming(0.1))
    assert AskEach(1).prepare(game).n == 4
    with pytest.raises(InputError, match="`repeat` of the attack `ask-each` makes 16 questions"):
        AskEach(2).prepare(game)
    with pytest.raises(InputError, match="makes 16 questions, and the mechanism answers 15"):
        LinearReconstruction(16).prepare(game)
