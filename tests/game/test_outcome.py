"""What is kept of a block comes back as it was; failures are counted and the first are named."""

import math

import numpy as np
import pytest
from scipy import stats

from narcissus import Game
from narcissus._random import child
from narcissus.attacks import OwnAttack, ReleasedRow
from narcissus.evidence import anytime_limits, clopper_pearson, mean_limits
from narcissus.game.block import Seat, Sources, play_block
from narcissus.game.outcome import BlockScores, Play, gap_limits, packed, remarks, summary, unpacked
from narcissus.mechanisms import Identity
from narcissus.success import Resilience
from narcissus.success.relations import Prefix
from narcissus.success.statements import Scores
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


def attacked(success, baseline, made=None, name="one", stopped=False, fresh=1):
    count = len(success)
    scores = Scores(
        np.asarray(success, dtype=bool),
        np.asarray(baseline, dtype=float),
        fresh,
        np.full(count, np.nan),
        None if made is None else np.asarray(made, dtype=bool),
    )
    return summary(name, [BlockScores(scores, 0, [])], 0.8, stopped=stopped)


def test_a_relation_that_never_held_is_remarked_if_it_held_for_nobody():
    nothing, won = attacked([0, 0], [0, 0]), attacked([1, 0], [0, 0])
    by_chance = attacked([0, 0], [0, 0.5], fresh=0)
    assert "the relation never held" in remarks([nothing])[0]
    assert "the relation never held" in remarks([nothing, nothing])[0]
    for others in ([won], [by_chance], [nothing, won], [by_chance, nothing]):
        assert remarks(others) == []
    silent = attacked([0, 0], [0, 0], made=[0, 0], name="silent")
    assert remarks([won, silent]) == ["silent made no attempt in any trial"]
    assert (silent.attempts, won.attempts) == (0, 2)


@pytest.mark.parametrize("stopped", [True, False])
def test_each_rate_has_half_of_the_error_and_the_method_that_allows_for_stopping(stopped):
    rng = np.random.default_rng(1)
    success = rng.random(200) < 0.7
    for fresh, baseline in ((0, rng.random(200) / 2), (1, rng.random(200) < 0.3)):
        found = attacked(success, baseline, stopped=stopped, fresh=fresh)
        for rate, seen in ((found.success, success), (found.baseline, baseline)):
            values = np.asarray(seen, dtype=float)
            if stopped:
                expected = anytime_limits(values, confidence=0.9)
            elif rate is found.success or fresh == 1:
                expected = clopper_pearson(int(values.sum()), 200, confidence=0.9)
            else:
                expected = mean_limits(values, confidence=0.9)
            assert (rate.low, rate.high) == (expected.low, expected.high)
            assert rate.value == pytest.approx(values.mean())
            assert rate.confidence == pytest.approx(0.9)


def test_no_more_than_twenty_failures_are_kept(block):
    one = unpacked(packed(block), 1)
    assert len(one.failures) == 20
    both = summary("some", [one, one.moved(80)], 0.9, stopped=False)
    assert both.failures == one.failures


def test_a_run_is_told_in_a_line_and_in_full():
    run = Play("violates", Resilience(0.0, 0.5), 0.95, 100, 7, 3.0, 0.25, [attacked([1], [0])], 1,
               ["a remark"], "pair 2", 3)  # fmt: skip
    assert repr(run) == "Play('violates', trials=100, refuted=0.25)"
    lines = str(run).splitlines()
    assert run.statement.words() in lines[0]
    assert "of 3 distributions, the numbers are those of pair 2" in lines[1]
    assert lines[-1] == "a remark"
    for rate in (run.attackers[0].success, run.attackers[0].baseline):
        assert f"one: {rate}" in lines
    alone = Play("violates", Resilience(0.0, 0.5), 0.95, 100, 7, 3.0, 0.25, [], 1)
    assert "distributions" not in str(alone)
    assert alone.members == 1


def test_what_was_said_survives_the_store_and_is_that_of_the_first_block():
    class Echo:
        interactive = True

        def answers(self, data, rng):
            question = yield "hello"
            while True:
                question = yield (question, int(data[0]))

    def attack(talk, known, rng):
        if rng.random() < 0.5:
            raise ValueError("no")
        return [talk.ask(b"bit")[1], talk.ask(None)[1]]

    seat = Seat("", Game(Bits(2), Echo(), Prefix()), {"own": OwnAttack(attack)})
    first, second = (play_block(seat, k, 0, size=20, streams=streams) for k in (0, 1))
    told = first.turns["own"].attempts.transcripts
    assert [one.trial for one in told] == [0, 1, 2]
    assert unpacked(packed(first), 0).transcripts == told
    assert "0/transcripts" not in packed(second)
    assert unpacked(packed(second), 0).transcripts == []
    blocks = [unpacked(packed(one), 0) for one in (first, second)]
    blocks = [blocks[0].moved(0), blocks[1].moved(20)]
    assert summary("own", blocks, 0.95, stopped=False).transcripts == told


def scores(success, baseline):
    none = np.full(len(success), np.nan)
    return Scores(np.asarray(success, dtype=bool), np.asarray(baseline, dtype=float), 0, none)


@pytest.mark.parametrize("stopped", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 3.0])
def test_the_gap_is_success_less_so_many_times_the_baseline(epsilon, stopped):
    """Limits on the scale [-e^epsilon, 1], by the method that allows for stopping or not."""
    rng = np.random.default_rng(2)
    success, baseline = rng.random(300) < 0.6, rng.random(300) * 0.2
    found = gap_limits(scores(success, baseline), epsilon, confidence=0.9, stopped=stopped)
    factor = math.e**epsilon
    gain = success - factor * baseline
    assert found.value == pytest.approx(gain.mean())
    assert (found.trials, found.confidence) == (300, 0.9)
    method = anytime_limits if stopped else mean_limits
    limits = method((gain + factor) / (1 + factor), confidence=0.9)
    assert found.low == pytest.approx(limits.low * (1 + factor) - factor)
    assert found.high == pytest.approx(limits.high * (1 + factor) - factor)
    assert found.method == limits.method
    assert -factor <= found.low < found.value < found.high <= 1
    assert f"e^{epsilon:g}" in found.quantity


@pytest.mark.coverage_claim
def test_limits_cover_as_often_as_they_say():
    """Success .5 and baseline .3 at epsilon ln 2: a gap of -.1; 200 runs at 80%, alarm 1e-6."""
    rng, missed = np.random.default_rng(3), 0
    for _ in range(200):
        drawn = scores(rng.random(60) < 0.5, rng.random(60) < 0.3)
        found = gap_limits(drawn, math.log(2), confidence=0.8, stopped=False)
        missed += not found.low <= -0.1 <= found.high
    assert missed <= stats.binom.isf(1e-6, 200, 0.2)


def test_an_epsilon_too_large_for_limits_to_say_anything_has_none():
    drawn = scores([True] * 5, [0.0] * 5)
    assert gap_limits(drawn, math.log(99_000), confidence=0.9, stopped=False) is not None
    for epsilon in (math.log(101_000), 100.0, 1e4):
        assert gap_limits(drawn, epsilon, confidence=0.9, stopped=False) is None


def test_a_baseline_above_one_by_rounding_is_no_error():
    found = gap_limits(scores([False] * 9, [1 + 1e-12] * 9), 1.0, confidence=0.9, stopped=False)
    assert found.low == pytest.approx(-math.e)
