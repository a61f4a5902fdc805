"""The exact profile against brute force in rational numbers, and against reference values."""

from __future__ import annotations

import itertools
import math
import sys
from itertools import product

import cloudpickle
import numpy as np
import pytest

from narcissus import Game, memorized_information, play, profile, sampled_profile, smallest
from narcissus.attacks import Posterior
from narcissus.errors import InputError, TooLargeError
from narcissus.game import executor
from narcissus.game.executor import Serial
from narcissus.knowledge import Hidden, KnownRows, Told
from narcissus.mechanisms import (
    AdaptiveComposition,
    Constant,
    CountingQuery,
    ExactAverage,
    Identity,
    Parallel,
    Parity,
    RandomizedResponse,
    Subsample,
    XorHalf,
    published_cut,
)
from narcissus.profiles import write_out
from narcissus.profiles.profile import Bayes
from narcissus.success import Resilience
from narcissus.success.relations import Member, OneOfPair, Pinned, Prefix, RandomRow
from narcissus.worlds import Bits, Finite, Neighbours, Pairs, RandomNeighbours, Records, Uniform


def counting(n, p, tau=0.0):
    return Game(Bits(n, p), CountingQuery(tau), Pinned(1))


@pytest.mark.states("Narcissus theory", "2")
def test_counting_query_without_cut_reference_values():
    """Narcissus theory 2: worst delta(1) over all priors, and its closed form."""
    for n, p, expected in ((100, 0.0021534, 1.01828e-3), (2100, 1.027e-4, 4.854e-5)):
        got = profile(counting(n, p), 1.0).delta[0]
        assert got == pytest.approx(expected, rel=1e-5 if n == 100 else 1e-4)
        assert got == pytest.approx(p * (1 - math.e * (1 - (1 - p) ** n)), rel=1e-9)
    rates = np.geomspace(1e-4, 0.5, 400)
    worst = max(profile(counting(100, float(p)), 1.0).delta[0] for p in rates)
    assert worst == pytest.approx(1.01828e-3, rel=1e-3)


@pytest.mark.states("Cohen et al. 2025", "Appendix A")
def test_published_cut_is_far_larger_than_needed():
    """Cohen et al. 2025, Appendix A at epsilon 1, delta 0.01, n 2100; theory 2."""
    gamma, tau = published_cut(1, 0.01, 2100)
    assert gamma == pytest.approx(8.36533, abs=1e-5)
    assert tau == pytest.approx(0.247389, abs=1e-6)
    rates = [*np.geomspace(1e-4, 0.5, 50), *(1 - np.geomspace(1e-4, 0.5, 12))]
    worst = max(profile(counting(2100, float(p), tau), 1.0).delta[0] for p in rates)
    assert 0 <= worst < 1e-90
    with pytest.raises(InputError, match="tau <= 1/4"):
        published_cut(1, 0.01, 500)


class Ahead(Serial):
    """Plays all keys before it gives the first, as workers may."""

    def __init__(self):
        self.keys = []

    def play(self, job, keys, observer=None):
        self.keys += keys
        yield from list(super().play(job, list(keys)))[::-1]


def test_the_smallest_does_not_depend_on_who_writes_the_games_out(monkeypatch):
    monkeypatch.setattr(executor, "WORTH_SENDING", -1.0)
    monkeypatch.setattr(sys.modules[smallest.__module__], "TOGETHER", 3)
    asked = []

    def games(tau):
        asked.append(tau)
        if tau > 0.5:
            raise InputError("too large")
        return counting(100, 0.0021534, tau)

    cuts = [0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.6]
    told = {"epsilon": 1.0, "delta": 1e-6}
    others = Ahead()
    found = smallest(games, cuts, executor=others, **told)
    assert (found.value, found.tried) == (0.05, 6)
    assert asked == cuts[:6]  # some at a time
    assert others.keys == ["1", "2"] * 2
    assert found == smallest(games, cuts, **told)
    # one that is refused matters where nothing before it is enough
    assert smallest(games, [0, 0.05, 0.6], executor=others, **told).value == 0.05
    with pytest.raises(InputError, match="too large"):
        smallest(games, [0, 0.6, 0.05], executor=others, **told)


@pytest.mark.states("Cohen et al. 2025", "Appendix A")
def test_smallest_cut_meets_the_target_and_the_one_before_does_not():
    rates = [float(p) for p in np.geomspace(1e-3, 0.5, 60)]
    target = 1e-5

    def games(tau):
        return [counting(100, p, tau) for p in rates]

    cuts = [k / 100 for k in range(51)]
    found = smallest(games, cuts, epsilon=1.0, delta=target)
    assert found.value is not None
    assert found.delta <= target
    before = cuts[cuts.index(found.value) - 1]
    assert max(profile(game, 1.0).delta[0] for game in games(before)) > target
    assert smallest(games, [0.0], epsilon=1.0, delta=1e-9).value is None


@pytest.mark.states("Cohen et al. 2024", "Definition 2.2")
def test_membership_profile_is_the_total_variation_advantage():
    """Theorem 2.3 of Cohen et al. 2024, with the advantage computed from both experiments."""
    chances = [0.5, 0.3, 0.2]
    game = Game(Records(3, chances), ExactAverage(), RandomRow())
    joint, apart = {}, {}
    for rows in itertools.product(range(3), repeat=3):
        mass = math.prod(chances[v] for v in rows)
        y = sum(rows)
        for row in rows:
            joint[y, row] = joint.get((y, row), 0) + mass / 3
        for other in range(3):
            apart[y, other] = apart.get((y, other), 0) + mass * chances[other]
    keys = set(joint) | set(apart)
    advantage = sum(abs(joint.get(k, 0) - apart.get(k, 0)) for k in keys) / 2
    assert profile(game, 0.0).delta[0] == pytest.approx(advantage, abs=1e-12)


def test_identity_with_distinct_data_sets_and_constant_release():
    identity = profile(Game(Bits(3), Identity(), Prefix()), [0.0, 1.0])
    assert identity.delta == pytest.approx([7 / 8, 1 - math.e / 8])
    constant = profile(Game(Bits(3), Constant(), Prefix()), [0.0, 1.0])
    assert constant.delta == pytest.approx([0, 0], abs=1e-15)


@pytest.mark.states("Narcissus theory", "2")
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0])
def test_fixed_pair_gives_half_the_hockey_stick_divergence(epsilon):
    """Theory 2: half one direction for R_1, half the sum of both for R_2."""
    privacy = 1.0
    keep = 1 / (1 + math.exp(-privacy))
    stick = max(0.0, keep - math.exp(epsilon) * (1 - keep))
    world = Pairs([[[0], [1]]])
    halves = {1: 0.5, 2: 1.0}
    for number, share in halves.items():
        game = Game(world, RandomizedResponse(privacy), OneOfPair(number))
        assert profile(game, epsilon).delta[0] == pytest.approx(share * stick, abs=1e-12)


def test_side_information_splits_the_world():
    """Three bits, the first two known, their sum released: the third is known too."""
    game = Game(Bits(3), ExactAverage(), Prefix(), side=KnownRows(2))
    assert profile(game, 0.0).delta[0] == pytest.approx(0.5)
    told = Game(Bits(3), ExactAverage(), Prefix(), side=Told(lambda s: int(s[0]) + 2 * int(s[1])))
    assert profile(told, 0.0).delta[0] == pytest.approx(0.5)
    with pytest.raises(InputError, match="cannot be written out"):
        write_out(Game(Bits(3), object(), Prefix()))


def test_meta_prior_carries_nature_in_the_baseline():
    """Two natures, each of one data set: a fresh data set is the same one, nothing is gained."""
    world = Finite([[0], [1]], [[1.0, 0.0], [0.0, 1.0]])
    assert profile(Game(world, Identity(), Prefix()), 0.0).delta[0] == 0
    plain = Finite([[0], [1]])
    assert profile(Game(plain, Identity(), Prefix()), 0.0).delta[0] == pytest.approx(0.5)
    known = Game(world, Identity(), Prefix(), side=Hidden())
    assert profile(known, 0.0).delta[0] == 0


def test_subsample_channel_matches_play():
    game = Game(Records(3, [0.5, 0.3, 0.2]), Subsample(2), Member())
    result = profile(game, [0.5])
    played = play(game, result.attacker(0.5), Resilience(0.5), trials=20_000, stop=False, rng=3)
    one = played.attackers[0]
    assert one.success.low <= result.success[0] <= one.success.high
    assert one.baseline.low <= result.baseline[0] <= one.baseline.high


def test_epsilon_at_inverts_the_profile():
    result = profile(counting(20, 0.3), [0.0, 1.0])
    epsilon = result.epsilon_at(0.01)
    assert result.delta_at(epsilon) <= 0.01 < result.delta_at(epsilon - 1e-6)
    assert result.epsilon_at(1.0) == 0
    assert write_out(Game(Bits(2), Identity(), Prefix())).epsilon(0.0) == pytest.approx(math.log(4))


@pytest.mark.states("Kaplan et al. 2025", "Definition 1.1")
def test_memorized_information_of_known_mechanisms():
    assert memorized_information(Uniform(2, 4), Parity()) == pytest.approx(4.0)
    assert memorized_information(Bits(3), Identity()) == pytest.approx(3.0)
    assert memorized_information(Bits(3), Constant()) == 0
    keep = 1 / (1 + math.exp(-1))
    capacity = 1 + keep * math.log2(keep) + (1 - keep) * math.log2(1 - keep)
    assert memorized_information(Bits(2), RandomizedResponse(1.0)) == pytest.approx(2 * capacity)
    natures = Finite([[0], [1]], [[1.0, 0.0], [0.0, 1.0]])
    assert memorized_information(natures, Identity()) == 0  # all of it is about Nature


@pytest.mark.states("Cohen et al. 2024", "Example C.1")
def test_xor_halves_together_leak_all():
    """Cohen et al. 2024, Example C.1."""
    alone = [profile(Game(Bits(6), XorHalf(p), Prefix(3)), 0.0).delta[0] for p in ("second", "xor")]
    assert alone == pytest.approx([0, 0], abs=1e-15)
    both = Game(Bits(6), Parallel([XorHalf("second"), XorHalf("xor")]), Prefix(3))
    assert profile(both, 0.0).delta[0] == pytest.approx(1 - 2**-3)


def test_posterior_is_the_best_attacker_of_a_count():
    game = counting(25, 0.3)
    for epsilon in (0.0, 0.7):
        best = profile(game, epsilon)
        played = play(game, Posterior(epsilon), trials=30_000, stop=False, rng=1).attackers[0]
        assert played.success.low <= best.success[0] <= played.success.high
        assert played.baseline.low <= best.baseline[0] <= played.baseline.high


def test_results_read_well():
    members = profile(Game(Records(2, [0.5, 0.3, 0.2]), ExactAverage(), RandomRow()), 0.0)
    assert any(row["release"] == 2.0 and row["attempt"] == [2] for row in members.table(0.0))
    result = profile(counting(10, 0.3), [0.0, 1.0])
    assert "PROVED" in str(result)
    assert result.to_dict()["delta"] == list(result.delta)
    assert len(result.to_frame()) == 2
    assert result.grade == "proved"
    assert result.plot() is not None
    assert "\n" not in repr(result)


def entropy(chances):
    return -sum(p * math.log2(p) for p in chances if p > 0)


@pytest.mark.parametrize("rate", [0.5, 0.1])
def test_a_count_tells_its_entropy(rate):
    """The count is a function of the data: what it tells is its own entropy."""
    n = 4
    law = [math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]
    found = memorized_information(Bits(n, rate), CountingQuery())
    assert found == pytest.approx(entropy(law), abs=1e-12)


def test_everything_tells_the_entropy_of_the_data_given_nature():
    """Averaged over two natures, each with its own law of three data sets."""
    laws, chances = [[0.2, 0.3, 0.5], [0.9, 0.1, 0.0]], [0.25, 0.75]
    world = Finite([[0, 1], [1, 1], [0, 0]], laws, chances)
    expected = sum(w * entropy(law) for w, law in zip(chances, laws, strict=True))
    assert memorized_information(world, Identity()) == pytest.approx(expected, abs=1e-12)


def test_a_noisy_channel_tells_less():
    """Against the sum over the joint law of data and release."""
    rates, world, mechanism = [0.2, 0.5, 0.9], Bits(3, [0.2, 0.5, 0.9]), RandomizedResponse(1.0)
    data = np.array(list(product([0, 1], repeat=3)))
    law = np.prod(np.where(data == 1, rates, 1 - np.array(rates)), axis=1)
    flipped = (data[:, None] != data[None]).sum(axis=2)
    keep = math.e / (1 + math.e)
    joint = law[:, None] * keep ** (3 - flipped) * (1 - keep) ** flipped
    expected = entropy(law) + entropy(joint.sum(axis=0)) - entropy(joint.ravel())
    assert memorized_information(world, mechanism) == pytest.approx(expected, abs=1e-9)


def test_what_is_refused():
    with pytest.raises(TooLargeError, match="at most 100"):
        memorized_information(Uniform(2, 4), Identity(), limit=100)
    with pytest.raises(InputError, match="one distribution"):
        memorized_information(Neighbours(2), Identity())


GAME = Game(Bits(4, 0.3), CountingQuery(), Pinned(1))


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_it_gains_what_no_attacker_exceeds(epsilon):
    """Success less e^epsilon times the baseline, by play: false alarm below 1e-6."""
    trials = 20_000
    scores = play(GAME, Bayes(epsilon), trials=trials, stop=False, rng=3).attackers[0].scores
    gain = scores.success - np.exp(epsilon) * scores.baseline
    best = profile(GAME, [epsilon]).delta[0]
    assert gain.mean() == pytest.approx(best, abs=5 * gain.std() / np.sqrt(trials))


def test_it_must_be_prepared_and_its_options_are_checked():
    with pytest.raises(TypeError, match="prepare"):
        Bayes().attempt(np.zeros((1, 1)), None, np.random.default_rng(0))
    for options in ({"epsilon": -1}, {"limit": 0}):
        with pytest.raises(InputError, match=next(iter(options))):
            Bayes(**options)


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
