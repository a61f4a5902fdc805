"""What lemmas and promises prove, and numbers at the end of the floats."""

from __future__ import annotations

import pytest

from narcissus import Game, profile
from narcissus.mechanisms import CountingQuery, Identity, RandomizedResponse
from narcissus.profiles.closed_forms.near import LEAST, limit_given_rows
from narcissus.profiles.proofs import from_lemmas, from_privacy, parity_limit
from narcissus.success.relations import Pinned, Prefix
from narcissus.worlds import (
    Bits,
    Family,
    Neighbours,
    Pairs,
    Tardos,
)


class Promising(Identity):
    """A mechanism of the user's own that promises what it does not keep."""

    def privacy(self, data):
        return 0.1, 0.0


def test_privacy_proves_a_family_by_its_worst_member():
    promised = RandomizedResponse(0.7)
    bound = from_privacy(Game(Neighbours(2), promised, Prefix()), 0.2)
    assert bound is not None
    assert bound.assumptions == ()
    exact = profile(Game(Neighbours(2), promised, Prefix()), 0.2).delta[0]
    assert bound.value == pytest.approx(exact, abs=1e-12)  # Theorem A.4 is tight here
    far = Pairs([[[0, 0], [0, 1]], [[0, 0], [1, 1]]])
    assert from_privacy(Game(far, promised, Prefix()), 0.2) is None
    study = from_privacy(Game(Neighbours(2), promised, Prefix()), 0.2, (0.1, 0.0))
    assert study is not None
    assert study.assumptions == (
        "the mechanism is (0.1, 0)-differentially private, replace-one, as [privacy] says",
    )


def test_a_promise_of_the_users_own_mechanism_is_an_assumption():
    bound = from_privacy(Game(Neighbours(2), Promising(), Prefix()), 0.2)
    assert bound is not None
    assert "as it promises itself" in bound.assumptions[0]


def test_a_tail_below_the_least_float_is_no_zero():
    """Lemma 3.5 at sizes where the tail is 1e-900: at most the least float, not at most 0."""
    assert limit_given_rows(100, 40_000, 0.04) >= LEAST > 0
    assert parity_limit(100, 40_000, 0.04) >= LEAST > 0
    from narcissus.mechanisms import ExactAverage
    from narcissus.success.relations import Hamming

    bound = from_lemmas(Game(Tardos(1000, 40_000, 100), ExactAverage(), Hamming(0.04)))
    assert bound is not None
    assert bound.value > 0
    two = Family([Tardos(400, 400, 40), Tardos(400, 100, 40)])
    worst = from_lemmas(Game(two, ExactAverage(), Hamming(0.04)))
    assert worst is not None
    assert worst.value == limit_given_rows(40, 100, 0.04)


def test_a_delta_that_underflows_is_not_written_as_zero():
    """The published cut at rate 1/4: the least delta is near 1e-372."""
    found = profile(Game(Bits(2100, 0.25), CountingQuery(0.247389), Pinned(1)), 1.0)
    assert found.delta == (0.0,)
    assert "<1e-12" in str(found)


def told_game(share=0.5, noise=0.1, relation=None, mechanism=None, side=None, d=5000):
    """A game with side information in which surprisal decides what counts."""
    from narcissus.knowledge import Candidates
    from narcissus.mechanisms import NoisyAverage
    from narcissus.success.relations import Member

    return Game(
        Tardos(2000, d, 20),
        mechanism or NoisyAverage(noise),
        relation or Member(),
        side=side or Candidates(),
        surprisal=share,
    )


@pytest.mark.states("Kaplan et al. 2025", "Lemma 4.8", "Definition 4.11")
def test_surprisal_is_proved_whatever_the_attacker_knows():
    from narcissus.knowledge import KnownRows, Rates
    from narcissus.mechanisms import ExactAverage
    from narcissus.success.relations import Hamming

    for side in (None, KnownRows(19), Rates()):
        bound = from_lemmas(told_game(side=side))
        assert bound is not None
        assert 0 < bound.value <= LEAST  # 2^-1107
        assert (bound.id, bound.assumptions) == ("kaplan-4.8", ())
    small = from_lemmas(told_game(d=200))
    assert small is not None
    assert small.value == pytest.approx(2**-40.1553, rel=1e-4)
    near = from_lemmas(told_game(d=200, relation=Hamming(0.04)))
    assert near is not None
    assert near.value == pytest.approx(2**-3.9919, rel=1e-4)
    assert from_lemmas(told_game(share=None)) is None  # candidates win without surprisal
    assert from_lemmas(told_game(mechanism=ExactAverage())) is None


def test_what_the_users_own_knowledge_says_of_surprisal_is_an_assumption():
    from narcissus.knowledge import Candidates

    class Mine(Candidates):
        """Knowledge of the user's own."""

    bound = from_lemmas(told_game(side=Mine()))
    assert bound is not None
    assert len(bound.assumptions) == 1
    assert "how surprising" in bound.assumptions[0]
