"""Profiles by sampling: lower limits of the exact one, and what is not sampled."""

from __future__ import annotations

import cloudpickle
import pytest

from narcissus import Game, profile, sampled_profile
from narcissus.errors import InputError, TooLargeError
from narcissus.game import executor
from narcissus.game.executor import Serial
from narcissus.knowledge import KnownRows
from narcissus.mechanisms import (
    AdaptiveComposition,
    Constant,
    CountingQuery,
    Identity,
    RandomizedResponse,
)
from narcissus.success.relations import Pinned, Prefix
from narcissus.worlds import Bits, Pairs, RandomNeighbours


def counting(n, p):
    return Game(Bits(n, p), CountingQuery(), Pinned(1))


def test_sampled_profile_is_a_lower_limit_of_the_exact_one():
    game = counting(30, 0.2)
    exact = profile(game, [0.0, 0.5])
    for seed in range(5):
        # Ten limits at 1 - 1e-7: false alarm rate of this test 1e-6.
        sampled = sampled_profile(
            game, [0.0, 0.5], draws=500, trials=20_000, confidence=1 - 1e-7, rng=seed
        )
        for estimate, truth in zip(sampled, exact.delta, strict=True):
            assert estimate.low <= truth
            assert estimate.high is None
        assert sampled[0].low > 0.3 * exact.delta[0] > 0


def test_the_estimate_is_what_the_learned_attacker_gains():
    """All data sets among those drawn: it is the best attacker, and gains the exact delta."""
    game = counting(6, 0.4)
    truth = profile(game, 0.3).delta[0]
    (found,) = sampled_profile(game, 0.3, draws=3000, trials=40_000, rng=5)
    assert found.value == pytest.approx(truth, abs=5 / 40_000**0.5)
    assert found.low < found.value
    assert found.low > truth - 10 / 40_000**0.5
    assert (found.confidence, found.trials, found.high) == (0.95, 40_000, None)
    assert found.quantity == "delta at epsilon 0.3"
    assert "no upper limit" in found.why


def test_nothing_is_gained_where_nothing_is_released():
    for estimate in sampled_profile(
        Game(Bits(4), Constant(), Prefix()), [0.0, 1.0], draws=50, trials=500, rng=1
    ):
        assert estimate.low == 0
        assert estimate.value <= 0.1


def test_numbers_follow_from_the_seed_and_the_point():
    game = Game(Bits(40), RandomizedResponse(0.5), Pinned(1))
    told = {"draws": 40, "trials": 300, "limit": 10**9}
    small = Game(Bits(6), RandomizedResponse(1.0), Pinned(1))
    one, two = (sampled_profile(small, [0.0, 0.4], rng=7, **told) for _ in range(2))
    assert one == two
    assert sampled_profile(small, 0.0, rng=7, **told) == one[:1]
    assert sampled_profile(small, [0.0, 0.4], rng=8, **told) != one
    with pytest.raises(TooLargeError):  # its releases are too many to write out
        sampled_profile(game, 0.0, rng=7, **told)


def test_what_is_not_sampled_is_refused():
    game = counting(6, 0.4)
    for told, said in [
        ({"draws": 1}, "draws"),
        ({"draws": 1_000_001}, "draws"),
        ({"confidence": 1.0}, "confidence"),
        ({"confidence": 0.0}, "confidence"),
    ]:
        with pytest.raises(InputError, match=said):
            sampled_profile(game, 0.0, rng=1, **told)
    side = Game(Bits(3), Identity(), Prefix(), side=KnownRows(2))
    with pytest.raises(InputError, match="side information"):
        sampled_profile(side, 0.0, rng=1)
    with pytest.raises(TooLargeError):
        sampled_profile(game, 0.0, draws=100, limit=10, rng=1)
    sampled_profile(game, 0.0, draws=2, trials=10, rng=1)


def test_who_plays_does_not_change_a_digit(monkeypatch):
    monkeypatch.setattr(executor, "WORTH_SENDING", -1.0)
    others = Backwards()
    told = {"draws": 40, "trials": 300, "rng": 7}
    points = [0.0, 0.4, 1.0]
    found = sampled_profile(counting(6, 0.4), points, executor=others, **told)
    assert others.keys == ["1", "2"]
    assert found == sampled_profile(counting(6, 0.4), points, **told)


class Backwards(Serial):
    """Ends with the last key first; a job reaches it as bytes."""

    def __init__(self):
        self.keys = []

    def play(self, job, keys, observer=None):
        self.keys += keys
        yield from super().play(cloudpickle.loads(cloudpickle.dumps(job)), list(keys)[::-1])


def test_a_pair_is_learned_from_together():
    """The fresh data set is the other one, and not any of those drawn."""
    parts = [RandomizedResponse(1.0), RandomizedResponse(0.5)]
    game = Game(Pairs([[[0], [1]]]), AdaptiveComposition(parts, 3), Prefix())
    (truth,) = profile(game, 1.0).delta
    (found,) = sampled_profile(game, 1.0, draws=50, trials=800, confidence=1 - 1e-6, rng=1)
    assert 0 < found.low <= truth < found.low + 0.3
    drawn = Game(RandomNeighbours(6), CountingQuery(), Prefix())
    with pytest.raises(TooLargeError, match="sample fewer"):
        sampled_profile(drawn, 0.0, draws=500, limit=1000, rng=1)
