"""All conversations written out, against brute force over every way to ask and to try."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from narcissus import Game, load_study, play, profile
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import PureDP, optimal_composition
from narcissus.knowledge import Told
from narcissus.mechanisms import (
    AdaptiveComposition,
    CountQueries,
    Parallel,
    PublicKey,
    RandomizedResponse,
    SparseVector,
    through_channel,
)
from narcissus.profiles import write_out
from narcissus.profiles.conversations import MOST, conversations
from narcissus.study.shipped import shipped_study
from narcissus.success.relations import FirstBit, Hamming, NamesSecret, Prefix
from narcissus.worlds import Bits, Pairs, Secret

PAIR = Pairs([[[0], [1]]])


def random_parts(rng, secrets, outputs=2, parts=2):
    return [
        through_channel(rng.dirichlet(np.ones(outputs), secrets).tolist()) for _ in range(parts)
    ]


def brute_force(parts, prior, fresh, epsilon):
    """Try every strategy of two questions, then the best attempt for each conversation."""
    rows = [part.matrix.dense for part in parts]
    best = 0.0
    number = range(len(parts))
    for first in number:
        for second in itertools.product(number, repeat=rows[first].shape[1]):
            gain = 0.0
            for a, then in enumerate(second):
                for b in range(rows[then].shape[1]):
                    mass = prior * rows[first][:, a] * rows[then][:, b]
                    against = fresh(mass)
                    gain += max(0.0, float((mass - math.exp(epsilon) * against).max()))
            best = max(best, gain)
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_backward_induction_finds_the_best_strategy(seed, epsilon):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(3))
    parts = random_parts(rng, 3, parts=3)
    game = Game(Secret(prior), AdaptiveComposition(parts, 2), NamesSecret(3))
    expected = brute_force(parts, prior, lambda mass: mass.sum() * prior, epsilon)
    assert write_out(game).delta(epsilon) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_over_a_pair_the_other_data_set_is_the_fresh_one(seed):
    parts = random_parts(np.random.default_rng(seed), 2, outputs=3)
    game = Game(PAIR, AdaptiveComposition(parts, 2), FirstBit())
    expected = brute_force(parts, np.array([0.5, 0.5]), lambda mass: mass[::-1], 0.3)
    assert write_out(game).delta(0.3) == pytest.approx(expected, abs=1e-12)


def test_questions_that_depend_on_answers_get_more_than_any_fixed_ones():
    """Which half, then which of that half; fixed, the second question is about one half only."""
    study = load_study(shipped_study("interactive-adaptive").path)
    game = study.settings.build().game
    adaptive = write_out(game).rates(-math.inf)[0]
    fixed = [
        write_out(Game(game.world, Parallel(pair), game.relation)).rates(-math.inf)[0]
        for pair in itertools.product(game.mechanism.parts, repeat=2)
    ]
    assert adaptive == pytest.approx(0.81)
    assert max(fixed) == pytest.approx(0.63)


def test_one_part_often_is_the_same_as_all_at_once():
    part = RandomizedResponse(0.7)
    asked = Game(Bits(2), AdaptiveComposition([part], 3), Prefix())
    at_once = Game(Bits(2), Parallel([part] * 3), Prefix())
    for epsilon in (0.0, 0.5, 1.2):
        assert write_out(asked).delta(epsilon) == pytest.approx(write_out(at_once).delta(epsilon))


@pytest.mark.states("Kairouz, Oh and Viswanath 2015", "Theorem 3.3")
@pytest.mark.parametrize("questions", [1, 2, 3])
def test_optimal_composition_is_reached_and_not_exceeded(questions):
    """By randomized response, against every adaptive attacker; other parts stay below."""
    points = [0.0, 0.5, 1.0, 2.0]
    allowed = optimal_composition(1.0, questions).profile(points)
    parts = [RandomizedResponse(1.0), RandomizedResponse(0.5)]
    exact = write_out(Game(PAIR, AdaptiveComposition(parts, questions), FirstBit()))
    np.testing.assert_allclose(exact.deltas(points), allowed, atol=1e-12)
    weaker = through_channel([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    below = write_out(Game(PAIR, AdaptiveComposition([weaker], questions), FirstBit()))
    assert (below.deltas(points) <= allowed + 1e-12).all()


@pytest.mark.parametrize(
    "mechanism",
    [
        SparseVector(1.0, 1, 4, 2),
        SparseVector(1.0, 1, 4, 2, "dwork-roth"),
        CountQueries(2, epsilon=1.0),
    ],
)
def test_private_conversations_have_at_most_the_profile_of_their_privacy(mechanism):
    points = [0.0, 0.3, 0.7, 1.0]
    exact = write_out(Game(PAIR, mechanism, FirstBit()))
    assert (exact.deltas(points) <= PureDP(1.0).profile(points) + 1e-12).all()


def test_the_best_attacker_plays_as_written_out(within):
    game = Game(PAIR, SparseVector(1.0, 1, 5, 1, "stoddard"), FirstBit())
    exact = write_out(game)
    for epsilon in (0.0, 1.0):
        success, baseline = exact.rates(epsilon)
        one = play(game, exact.attacker(epsilon), trials=3000, stop=False, rng=3).attackers[0]
        assert one.failed == 0
        assert within(int(one.scores.success.sum()), 3000, success)
        assert within(int(one.scores.baseline.sum()), 3000, baseline)


def test_what_is_told_decides_what_is_asked(within):
    """Two bits, one of them told: the attacker asks for the other, and knows both."""
    game = Game(Bits(2), CountQueries(1), Prefix(), side=Told(lambda data: int(data[0])))
    exact = write_out(game)
    assert exact.rates(-math.inf)[0] == pytest.approx(1)
    assert write_out(Game(Bits(2), CountQueries(1), Prefix())).rates(-math.inf)[0] == 0.75
    one = play(game, exact.attacker(0.0), trials=300, stop=False, rng=4).attackers[0]
    assert one.success.value == 1


def test_other_baselines_are_of_the_best_questions_too():
    exact = write_out(Game(Bits(2), CountQueries(1), Prefix()))
    assert exact.robust(0.0) == pytest.approx((0.75 - 0.25, 0.25))
    assert exact.beyond(0.25) == pytest.approx(0.75)
    assert exact.beyond(0.2) == 0


def test_what_is_too_large_or_not_written_is_refused():
    with pytest.raises(TooLargeError, match="allow fewer questions"):
        write_out(Game(PAIR, SparseVector(1.0, 1, 30, 30), FirstBit()), limit=2000)
    with pytest.raises(TooLargeError, match="more than 50 conversations about 2 data sets"):
        conversations(SparseVector(1.0, 1, 5, 5), PAIR.sets[0], 100)
    assert MOST < 10**5
    with pytest.raises(InputError, match="the mechanism PublicKey cannot be written out"):
        write_out(Game(PAIR, PublicKey(), FirstBit()))
    with pytest.raises(InputError, match="about 6 bits are not written out"):
        write_out(Game(Bits(6), CountQueries(1), Hamming(0.1)))


def test_the_profile_is_that_of_the_best_questions():
    found = profile(Game(PAIR, SparseVector(1.0, 1, 3), FirstBit()), [0.0, 1.0])
    assert found.delta[0] > 0.05
    assert found.delta[1] == 0
