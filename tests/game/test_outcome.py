"""What is kept of a block comes back as it was; failures are counted and the first are named."""

import numpy as np
import pytest

from narcissus import Game
from narcissus._random import child
from narcissus.attacks import OwnAttack, ReleasedRow
from narcissus.game.block import Seat, Sources, play_block
from narcissus.game.outcome import packed, remarks, summary, unpacked
from narcissus.mechanisms import Identity
from narcissus.success.relations import Prefix
from narcissus.worlds import Bits


def streams(number, place):
    return Sources(child(1, number), child(2, number), lambda turn, name: child(3, number, turn))


def failing(release, known, rng):
    if release[0]:
        raise ValueError("a one")
    return release


@pytest.fixture
def block():
    attacks = {"all": ReleasedRow("all"), "some": OwnAttack(failing)}
    return play_block(
        Seat("", Game(Bits(5), Identity(), Prefix()), attacks), 0, 0, size=80, streams=streams
    )


def test_scores_survive_the_store(block):
    arrays = packed(block)
    assert all(not array.dtype.hasobject for array in arrays.values())
    for place, turn in enumerate(block.turns.values()):
        back = unpacked(arrays, place)
        np.testing.assert_array_equal(back.scores.success, turn.success)
        np.testing.assert_array_equal(back.scores.baseline, turn.baseline)
        np.testing.assert_array_equal(back.scores.made, turn.attempts.made)
        assert back.scores.fresh == turn.fresh
        assert np.isnan(back.scores.weight).all()
        assert back.failed == len(turn.attempts.failures)
        assert back.failures == turn.attempts.failures[:20]
    assert unpacked(arrays, 1).failed > 20


def test_blocks_are_put_together_with_failures_counted_from_the_start(block):
    one = unpacked(packed(block), 1)
    both = summary("some", [one, one.moved(80)], 0.9, stopped=False)
    assert both.failed == 2 * one.failed
    assert both.success.trials == 160
    assert both.success.confidence == pytest.approx(0.95)
    assert both.success.value == one.scores.success.mean()
    assert both.attempts == 2 * int(one.scores.made.sum())
    assert [f.trial for f in one.moved(80).failures] == [f.trial + 80 for f in one.failures]
    assert f"failed on {both.failed} of 160 trials" in remarks([both])[0]
    assert remarks([summary("all", [unpacked(packed(block), 0)], 0.9, stopped=False)]) == []
