"""What lemmas and promises prove, and numbers at the end of the floats."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from scipy import stats

from narcissus import Game, profile
from narcissus.guarantees import PureDP
from narcissus.guarantees.base import DECLARED
from narcissus.knowledge import KnownRows
from narcissus.mechanisms import (
    AdaptiveComposition,
    CountingQuery,
    CountQueries,
    ExactAverage,
    Identity,
    RandomizedResponse,
    SparseVector,
    through_channel,
)
from narcissus.profiles import write_out
from narcissus.profiles.closed_forms.average import LEAST, limit_given_rows
from narcissus.profiles.proofs import from_comparison, from_lemmas, from_privacy, parity_limit
from narcissus.success.relations import FirstBit, Hamming, OneOfPair, Pinned, Prefix
from narcissus.worlds import Bits, Family, Neighbours, Pairs, Tardos


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
        *DECLARED,
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


def test_what_a_conversation_guarantees_proves_over_pairs():
    """The guarantee as a whole is used, not an epsilon and a delta of it."""
    pair = Pairs([[[0], [1]]])
    for mechanism in (
        CountQueries(3, epsilon=1.0),
        AdaptiveComposition([RandomizedResponse(0.5)], 4),
        CountQueries(3, mu=1.0),
    ):
        bound = from_privacy(Game(pair, mechanism, FirstBit()), 0.4)
        assert bound.value == pytest.approx(float(mechanism.promise(pair.sets[0]).profile(0.4)))
        assert (bound.assumptions, bound.id) == ((), "cohen-a.4")
        assert "the mechanism has" in bound.theorem
    assert from_privacy(Game(pair, CountQueries(3, error=1), FirstBit()), 0.4) is None
    broken = SparseVector(1.0, algorithm="chen")
    assert from_privacy(Game(pair, broken, FirstBit()), 0.4) is None
    assert from_privacy(Game(pair, broken, FirstBit()), 0.4, (1.0, 0.0)).assumptions


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("gamma", [0.0, 0.34, 0.5])
def test_what_is_guaranteed_limits_how_many_bits_are_named(n, gamma):
    """Against every conversation with one question, exactly; and more privacy limits more."""
    game = Game(Bits(n), CountQueries(1, epsilon=1.0), Hamming(gamma))
    bound = from_lemmas(game)
    exact = write_out(game).rates(-math.inf)[0]
    assert exact <= bound.value + 1e-12
    right = n - int(gamma * n + 1e-9)
    keep = math.e / (1 + math.e)
    assert bound.value <= stats.binom.sf(right - 1, n, keep) + 1e-9  # that of randomized response
    less = from_lemmas(Game(Bits(n), CountQueries(1, epsilon=0.1), Hamming(gamma)))
    assert less.value < bound.value
    guess = stats.binom.sf(right - 1, n, 0.5)
    assert bound.value > guess


def test_asking_for_every_bit_comes_near_it():
    """Each of two bits asked for once, at half of the privacy, is not the best, and no limit."""
    game = Game(Bits(2), CountQueries(2, epsilon=2.0), Hamming(0.0))
    exact = write_out(game).rates(-math.inf)[0]
    assert (math.e / (1 + math.e)) ** 2 < exact < from_lemmas(game).value


def test_nothing_is_proved_of_bits_where_nothing_is_guaranteed_or_known():
    for game in (
        Game(Bits(4), CountQueries(2), Hamming(0.1)),
        Game(Bits(2, [0.3, 0.4]), CountQueries(2, epsilon=1.0), Hamming(0.1)),
        Game(Bits(4, 1.0), CountQueries(2, epsilon=1.0), Hamming(0.1)),
        Game(Bits(4), CountQueries(2, epsilon=1.0), Prefix()),
        Game(Bits(4), RandomizedResponse(1.0), Hamming(0.1)),
        Game(Bits(4), CountQueries(2, epsilon=1.0), Hamming(1.0)),
        Game(Bits(4), CountQueries(2, epsilon=1.0), Hamming(0.1), side=KnownRows(1)),
    ):
        assert from_lemmas(game) is None

    class Claims(CountQueries):
        def promise(self, data):
            return PureDP(0.1)

    bound = from_lemmas(Game(Bits(4), Claims(2), Hamming(0.1)))
    assert "as it promises itself" in bound.assumptions[0]


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.8])
def test_bits_that_are_not_fair_are_limited_too(rate):
    """Against every conversation with one or two questions, exactly."""
    for n, questions, gamma in ((3, 1, 0.0), (3, 1, 0.34), (2, 2, 0.0)):
        game = Game(Bits(n, rate), CountQueries(questions, epsilon=1.0), Hamming(gamma))
        exact = write_out(game).rates(-math.inf)[0]
        assert exact <= from_lemmas(game).value + 1e-12


def test_a_mechanism_that_tells_for_certain_promises_nothing():
    game = Game(Pairs([[[0], [1]]]), through_channel([[1.0, 0.0], [0.0, 1.0]]), OneOfPair(2))
    assert game.mechanism.privacy(game.world.sets[:, 0])[0] == math.inf
    assert from_privacy(game, 1.0) is None


def average_game(side=None, relation=None, looser=None, n=100, d=5000, noise=None):
    """The Tardos prior and an average of it."""
    from narcissus.mechanisms import ExactAverage, NoisyAverage

    mechanism = ExactAverage() if noise is None else NoisyAverage(noise)
    return Game(Tardos(1000, d, n), mechanism, relation, side=side, looser=looser)


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.7", "Definition 3.6")
def test_two_criteria_are_proved_where_they_are_compared():
    from narcissus.profiles.closed_forms.average import two_criteria_limit
    from narcissus.success.relations import Hamming, Member

    game = average_game(relation=Hamming(0.23), looser=Hamming(0.3148), n=10)
    bound = from_comparison(game)
    assert bound is not None
    assert (bound.id, bound.assumptions) == ("kaplan-3.7", ())
    assert bound.value == two_criteria_limit(10, 5000, 1150, 1574) <= 1e-6
    noisy = average_game(relation=Member(), looser=Hamming(0.3), n=10, noise=0.1)
    assert from_comparison(noisy).value < 1e-300
    assert from_lemmas(game).value == 1.0  # no bound on the success: the likelier bits are near
    for other in (
        average_game(relation=Hamming(0.23)),  # one criterion
        average_game(relation=Hamming(0.23), looser=Hamming(0.2)),
        average_game(relation=Hamming(0.23), looser=Prefix()),
        Game(Tardos(1000, 50, 10), Identity(), Hamming(0.1), looser=Hamming(0.3)),
    ):
        assert from_comparison(other) is None


def own_class(base, method, **arguments):
    """Make a class of the user's own of a shipped one, which does something else."""
    made = type("Mine", (base,), {method: lambda *_: None, "__module__": "mine"})
    return made(**arguments)


@pytest.mark.parametrize(
    "part",
    [
        {"mechanism": own_class(ExactAverage, "release")},
        {"relation": own_class(Hamming, "holds", gamma=0.04)},
        {"looser": own_class(Hamming, "holds", gamma=0.306)},
        {"world": own_class(Tardos, "draw", N=10**6, d=5000, n=20)},
    ],
    ids=lambda part: next(iter(part)),
)
def test_nothing_is_proved_of_a_class_derived_from_a_shipped_one(part):
    game = average_game(relation=Hamming(0.04), looser=Hamming(0.306), n=20)
    assert None not in (from_lemmas(game), from_comparison(game))
    own = replace(game, **part)
    assert from_comparison(own) is None
    assert (from_lemmas(own) is None) == ("looser" not in part)  # lemmas are about success alone


@pytest.mark.states("Kaplan et al. 2025", "Definition 4.1")
def test_known_rows_are_in_fresh_data_and_count_for_nothing():
    from narcissus.knowledge import KnownRows, Rates
    from narcissus.success import KeptSurprisal
    from narcissus.success.relations import Hamming

    game = average_game(side=KnownRows(30), relation=Hamming(0.04), n=40, d=400)
    bound = from_comparison(game)
    assert bound is not None
    assert (bound.id, bound.value) == ("kaplan-4.1", limit_given_rows(40, 400, 0.04, 30))
    assert from_lemmas(game) is None  # success at known rows is 1
    # nothing is left to hide, something else is told, or known rows of fresh data do not count
    assert from_comparison(average_game(KnownRows(39), Hamming(0.04), n=40)) is None
    assert from_comparison(average_game(Rates(), Hamming(0.04), n=40)) is None
    both = told_game(KeptSurprisal(0.5, fresh_share=0.5), relation=Hamming(0.04), side=KnownRows(5))
    assert from_comparison(both) is None
    one = told_game(0.5, relation=Hamming(0.04), side=KnownRows(5))
    assert from_comparison(one).value == limit_given_rows(20, 5000, 0.04, 5)


@pytest.mark.states("Kaplan et al. 2025", "Remark 4.5")
def test_variants_of_surprisal_have_the_bounds_of_what_they_ask():
    from narcissus.profiles.closed_forms.average import log2_delta
    from narcissus.success import KeptSurprisal

    plain = from_lemmas(told_game(0.5, d=200))
    bits = from_lemmas(told_game(KeptSurprisal(0.0, bits=60), d=200))
    assert bits.value == pytest.approx(2 ** log2_delta(20, 200, 0.1, 0.0, bits=60), rel=1e-12)
    assert from_lemmas(told_game(KeptSurprisal(0.5, fresh_share=0.1), d=200)).value == plain.value


@pytest.mark.states("Kaplan et al. 2025", "Definition 4.1")
@pytest.mark.parametrize(("total", "d", "n", "known"), [(4, 2, 3, 1), (5, 2, 3, 1), (4, 3, 3, 1)])
@pytest.mark.parametrize("places", [0, 1])
def test_bounds_by_comparison_against_the_exact_best_attacker(total, d, n, known, places):
    """Every attacker of a small population, at several epsilons."""
    from narcissus.knowledge import KnownRows
    from narcissus.mechanisms import ExactAverage
    from narcissus.profiles import write_out
    from narcissus.success.relations import Hamming

    relation = Hamming(places / d)
    game = Game(Tardos(total, d, n), ExactAverage(), relation, side=KnownRows(known))
    deltas = write_out(game).deltas([0.0, 0.5, 3.0])
    assert deltas.max() <= limit_given_rows(n, d, places / d, known) + 1e-12
    assert deltas[0] > 0 or places
