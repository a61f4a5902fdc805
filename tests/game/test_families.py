"""Families of distributions: every member is judged, the worst is named, the level is shared."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from narcissus import Game, memorized_information, play, profile, sampled_profile, smallest
from narcissus.attacks import FixedGuess, ReleasedRow
from narcissus.errors import InputError, TooLargeError
from narcissus.knowledge import KnownRows
from narcissus.mechanisms import Constant, CountingQuery, Identity, RandomizedResponse
from narcissus.profiles import Bayes, write_out, write_out_family
from narcissus.profiles.proofs import LEAST, from_lemmas, from_privacy, hamming_limit, parity_limit
from narcissus.success import Resilience
from narcissus.success.relations import OneOfPair, Own, Pinned, Prefix
from narcissus.worlds import (
    Bits,
    Family,
    Finite,
    Neighbours,
    Pairs,
    RandomNeighbours,
    Superset,
    Tardos,
    members,
)

SPLIT = [[[0, 0], [0, 1]], [[1, 1], [0, 1]], [[1, 0], [1, 1]]]


def test_what_holds_on_average_over_pairs_fails_for_one_of_them():
    """The numbers of the defect: the mixture needs 9/256, the family 1."""
    count = CountingQuery(0.0)
    drawn = profile(Game(RandomNeighbours(8), count, Prefix()), 1.0)
    each = profile(Game(Neighbours(8), count, Prefix()), 1.0)
    assert drawn.delta[0] == pytest.approx(9 / 256)
    assert drawn.member == ("",)
    assert each.delta[0] == pytest.approx(1)
    assert each.member[0].startswith("pair 1, [0, 0, 0, 0, 0, 0, 0, 0] and [1, 0,")
    assert "for each of 1,024 distributions" in str(each)
    assert each.to_dict()["worst"] == list(each.member)


def test_pairs_are_a_family_unless_they_are_drawn():
    listed, drawn = Pairs(SPLIT), Pairs(SPLIT, [0.2, 0.3, 0.5])
    assert len(members(listed)) == 3
    assert members(drawn) == {"": drawn}
    assert members(Pairs(SPLIT[:1])).keys() == {""}
    with pytest.raises(InputError, match="not drawn from"):
        listed.draw(3, np.random.default_rng(0))
    with pytest.raises(InputError, match="not drawn from"):
        listed.enumerate()
    assert "on average" in drawn.scope
    assert len(members(Neighbours(3))) == 12
    assert len(members(RandomNeighbours(3))) == 1


def test_a_prior_over_distributions_is_called_an_average_over_them():
    prior = Finite([[0], [1]], [[1.0, 0.0], [0.5, 0.5]], [0.9, 0.1])
    assert prior.scope == "this prior, on average over the 2 natures"
    assert Finite([[0], [1]]).scope == "this one distribution"
    assert "on average" in Superset(2, 3, 4).scope


def test_a_family_may_hold_families_and_equal_parts():
    family = Family([Bits(2), Neighbours(2), Bits(2), Neighbours(2)])
    assert len(family.members) == 2 * (1 + 4)
    assert next(iter(family.members)) == "Bits(n=2, rate=0.5)"
    assert "Bits(n=2, rate=0.5) (part 3)" in family.members
    with pytest.raises(InputError, match="at least one world"):
        Family([])


def test_profile_of_a_family_names_the_worst_rate_at_each_epsilon():
    rates = [0.002, 0.05, 0.5]
    family = Family([Bits(60, rate) for rate in rates])
    game = Game(family, CountingQuery(), Pinned(1))
    found = profile(game, [0.0, 1.0])
    alone = [profile(Game(Bits(60, r), CountingQuery(), Pinned(1)), [0.0, 1.0]) for r in rates]
    for place in (0, 1):
        deltas = [one.delta[place] for one in alone]
        assert found.delta[place] == max(deltas)
        assert f"rate={rates[int(np.argmax(deltas))]}" in found.member[place]
    assert found.member[0] != found.member[1]
    assert found.delta_at(0.3) == max(one.delta_at(0.3) for one in alone)
    assert found.epsilon_at(1e-3) == max(one.epsilon_at(1e-3) for one in alone)
    assert found.data_sets == sum(one.data_sets for one in alone)
    assert found.curve()[0]["member"] == found.member[0]
    best = smallest(
        lambda tau: Game(family, CountingQuery(tau), Pinned(1)), [0.0], epsilon=1, delta=1
    )
    assert best.delta == found.delta[1]
    run = play(game, found.attacker(0.0), Resilience(0.0), trials=300, rng=1)
    assert run.members == 3


def test_what_is_of_one_distribution_refuses_a_family():
    game = Game(Pairs(SPLIT), Identity(), Prefix())
    for wrong in (
        lambda: write_out(game),
        lambda: sampled_profile(game, 0.0),
        lambda: memorized_information(game.world, Identity()),
    ):
        with pytest.raises(InputError, match="family"):
            wrong()
    with pytest.raises(TooLargeError, match="first 2 of 3 distributions"):
        write_out_family(game, limit=3)
    with pytest.raises(InputError, match="not defined for the world Pairs"):
        Game(Family([Bits(3), Pairs(SPLIT)]), Identity(), Prefix(), side=KnownRows(1))


def test_a_relation_that_is_about_some_pairs_only_is_no_mistake():
    """`R_1` needs a data set that starts with zero; of some pairs neither does."""
    game = Game(Neighbours(2), CountingQuery(), OneOfPair(1))
    assert profile(game, 0.0).delta[0] == pytest.approx(0.5)
    never = Game(Neighbours(2), CountingQuery(), Own(lambda s, z: False, attempts=[0]))
    with pytest.raises(InputError, match="never true"):
        profile(never, 0.0)


def test_play_names_the_member_that_is_violated():
    """One pair of three is told apart by its first record; the others never are."""

    def relation(data, attempt):
        return int(data[0]) == attempt

    def first(release):
        return int(release[0])

    from narcissus.attacks import OwnAttack

    game = Game(Pairs(SPLIT), Identity(), Own(relation))
    run = play(game, OwnAttack(first), Resilience(0.0, 0.2), trials=900, rng=5)
    assert run.outcome == "violates"
    assert run.members == 3
    assert run.member == "pair 2, [1, 1] and [0, 1]"
    assert run.member in str(run)
    assert run.attackers[0].success.value == 1
    assert run.attackers[0].baseline.value == 0
    # three distributions share the level of each limit, and both rates halve it
    assert run.attackers[0].success.confidence == pytest.approx(1 - 0.05 / 3 / 2)


def test_trials_are_shared_and_workers_would_see_the_same_blocks():
    game = Game(Pairs(SPLIT), Constant(), Prefix())
    run = play(game, FixedGuess([0, 0]), Resilience(0.0, 0.9), trials=100, stop=False, rng=1)
    assert run.trials in (33, 34)
    few = play(game, FixedGuess([0, 0]), Resilience(0.0, 0.9), trials=1, stop=False, rng=1)
    assert few.trials == 1


def test_members_of_a_family_have_random_numbers_of_their_own():
    pair = SPLIT[0]
    game = Game(Pairs([pair, pair]), RandomizedResponse(1.0), Prefix())
    seen = {}

    def keep(player, keys):
        for key in keys:
            seen[key] = player(key)
            yield seen[key]

    play(game, ReleasedRow("all"), Resilience(0, 1), trials=200, stop=False, rng=3, through=keep)
    one, other = seen["batch/0/100/0"], seen["batch/0/100/1"]
    assert (one["0/success"] != other["0/success"]).any()


@pytest.mark.coverage_claim
def test_a_family_of_true_statements_is_refuted_no_more_often_than_said():
    """20 pairs at the edge of the statement, 300 runs at 70%; false-alarm rate 1e-6.

    Each pair is a fair coin for the attacker, success and baseline alike, so the statement at
    epsilon 0 and delta 0 is true with equality. Without the level shared among the pairs most
    runs would call it violated.
    """
    pairs = [[[0, k], [1, k]] for k in range(20)]
    game = Game(Pairs(pairs), Constant(), Prefix(1))
    wrong = sum(
        play(game, FixedGuess([0]), Resilience(), trials=20 * 60, confidence=0.7, rng=seed).outcome
        == "violates"
        for seed in range(300)
    )
    assert wrong <= stats.binom.ppf(1 - 1e-6, 300, 0.3)


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


class Promising(Identity):
    """A mechanism of the user's own that promises what it does not keep."""

    def privacy(self, data):
        return 0.1, 0.0


def test_a_promise_of_the_users_own_mechanism_is_an_assumption():
    bound = from_privacy(Game(Neighbours(2), Promising(), Prefix()), 0.2)
    assert bound is not None
    assert "as it promises itself" in bound.assumptions[0]


def test_a_tail_below_the_least_float_is_no_zero():
    """Lemma 3.5 at sizes where the tail is 1e-900: at most the least float, not at most 0."""
    assert hamming_limit(100, 40_000, 0.04) >= LEAST > 0
    assert parity_limit(100, 40_000, 0.04) >= LEAST > 0
    from narcissus.mechanisms import ExactAverage
    from narcissus.success.relations import Hamming

    bound = from_lemmas(Game(Tardos(1000, 40_000, 100), ExactAverage(), Hamming(0.04)))
    assert bound is not None
    assert bound.value > 0
    two = Family([Tardos(400, 400, 40), Tardos(400, 100, 40)])
    worst = from_lemmas(Game(two, ExactAverage(), Hamming(0.04)))
    assert worst is not None
    assert worst.value == hamming_limit(40, 100, 0.04)


def test_largest_success_is_that_of_the_likeliest_attempt():
    """At epsilon 1 the count gains nothing, though naming a zero is right 99.8 times in 100."""
    found = profile(Game(Bits(100, 0.002), CountingQuery(0.2), Pinned(1)), 1.0)
    assert found.success[0] < 1e-30
    assert found.delta[0] < 1e-30
    assert found.best_success == pytest.approx(0.998)
    assert math.isclose(found.exact.rates(-math.inf)[0], found.best_success)
    assert isinstance(profile(Game(Neighbours(2), Identity(), Prefix()), 0.0).attacker(), Bayes)


def test_a_delta_that_underflows_is_not_written_as_zero():
    """The published cut at rate 1/4: the least delta is near 1e-372."""
    found = profile(Game(Bits(2100, 0.25), CountingQuery(0.247389), Pinned(1)), 1.0)
    assert found.delta == (0.0,)
    assert "<1e-12" in str(found)
