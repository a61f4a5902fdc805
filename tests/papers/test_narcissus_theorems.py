"""Theorems of Cohen et al. 2024 as exact checks on small worlds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import sparse

from narcissus import Game, profile
from narcissus.mechanisms import Parallel, RandomizedResponse, ReleaseChannel, Sha256
from narcissus.profiles import write_out
from narcissus.profiles.proofs import from_privacy, private_delta
from narcissus.success.relations import FirstBit, OneOfPair, Own, Pinned, Prefix, SameImage
from narcissus.worlds import Bits, Finite, Neighbours, Pairs


class Table:
    """A mechanism on data sets of one record, given by its channel."""

    def __init__(self, rows):
        self.rows = np.asarray(rows, dtype=float)

    def channel(self, data):
        return ReleaseChannel(
            np.arange(self.rows.shape[1]), sparse.csr_array(self.rows[data[:, 0].astype(int)])
        )

    def outcomes(self, n):
        return self.rows.shape[1]


def hockey_stick(p, q, epsilon):
    return float(np.maximum(np.asarray(p) - math.exp(epsilon) * np.asarray(q), 0).sum())


def random_channel(rng, outputs=4):
    return rng.dirichlet(np.ones(outputs), size=2)


PAIR = Pairs([[[0], [1]]])


@pytest.mark.states("Cohen et al. 2024", "Theorem A.4")
@pytest.mark.parametrize("seed", range(8))
def test_theorem_a4_privacy_is_resilience_for_every_relation(seed):
    """(1) for all 16 relations on one pair; (2) the proof's relation breaks at delta / 2."""
    rng = np.random.default_rng(seed)
    rows = random_channel(rng)
    epsilon = float(rng.uniform(0, 1))
    delta = max(hockey_stick(*rows, epsilon), hockey_stick(*rows[::-1], epsilon))
    mechanism = Table(rows)
    for zero, one in itertools.product(range(4), repeat=2):
        # A relation is which of two attempts fit S_0, and which fit S_1: two bits each.
        if zero == one == 0:
            continue

        def relation(data, z, zero=zero, one=one):
            return bool(((zero, one)[int(data[0])] >> z) & 1)

        game = Game(PAIR, mechanism, Own(relation, attempts=[0, 1]))
        assert write_out(game).delta(epsilon) <= delta + 1e-12
    sticks = [hockey_stick(*rows, epsilon), hockey_stick(*rows[::-1], epsilon)]
    zero = 0 if sticks[0] >= sticks[1] else 1
    worst = Game(PAIR, mechanism, OneOfPair(1, zero=zero))
    assert write_out(worst).delta(epsilon) == pytest.approx(delta / 2, abs=1e-12)


@pytest.mark.states("Cohen et al. 2024", "Theorem A.4")
def test_theorem_a4_on_all_neighbours_of_randomized_response():
    game = Game(Neighbours(3), RandomizedResponse(1.0), Prefix())
    assert profile(game, 1.0).delta[0] == pytest.approx(0, abs=1e-15)
    assert profile(game, 0.9).delta[0] > 1e-3
    bound = from_privacy(game, 0.9)
    assert bound is not None
    assert profile(game, 0.9).delta[0] <= bound.value
    assert bound.value == pytest.approx(private_delta(0.9, (1.0, 0.0)))


@pytest.mark.states("Cohen et al. 2024", "Theorem E.1")
@pytest.mark.parametrize("seed", range(8))
def test_theorem_e1_uniform_pair(seed):
    """DP gives the same parameters; without it, resilience breaks at the paper's tilde values."""
    rng = np.random.default_rng(100 + seed)
    rows = random_channel(rng)
    epsilon = float(rng.uniform(0, 1))
    sticks = [hockey_stick(*rows, epsilon), hockey_stick(*rows[::-1], epsilon)]
    delta, zero = max(sticks), int(np.argmax(sticks))
    world = Finite([[0], [1]])
    for number in range(1, 6):
        game = Game(world, Table(rows), OneOfPair(number, zero=zero))
        assert write_out(game).delta(epsilon) <= delta + 1e-12
    weaker = -math.log((1 + math.exp(-epsilon)) / 2)
    less = delta * math.exp(-epsilon) / 4
    game = Game(world, Table(rows), OneOfPair(1, zero=zero))
    assert write_out(game).deltas([weaker])[0] >= less - 1e-12
    bound = from_privacy(Game(world, RandomizedResponse(1.0), Prefix()), 0.5)
    assert bound is not None
    assert "E.1" in bound.theorem


@pytest.mark.states("Cohen et al. 2024", "Theorem B.5")
def test_theorem_b5_baseline_of_a_function_is_its_spread():
    """For any attacker the baseline is at most the largest image's chance; unbounded ones win."""
    function = Sha256(5)
    game = Game(Bits(8), function, SameImage(function))
    result = profile(game, 0.0)
    images = function.channel(Bits(8).enumerate().data).matrix
    spread = np.asarray(images.sum(axis=0)).ravel() / 256
    assert result.success[0] == pytest.approx(1)
    assert result.baseline[0] == pytest.approx((spread**2).sum())
    assert result.baseline[0] <= spread.max()
    assert result.exact.fixed.max() == pytest.approx(spread.max())


@pytest.mark.states("Cohen et al. 2024", "Theorem B.8", "Theorem B.12")
@pytest.mark.parametrize("seed", range(5))
def test_theorems_b8_and_b12_resilience_is_twice_the_advantage(seed):
    """For one bit, success and baseline add up to one, so delta(0) = 2 (success - 1/2)."""
    rows = random_channel(np.random.default_rng(200 + seed))
    result = profile(Game(PAIR, Table(rows), FirstBit()), 0.0)
    best = np.maximum(rows[0], rows[1]).sum() / 2
    assert result.success[0] == pytest.approx(best)
    assert result.success[0] + result.baseline[0] == pytest.approx(1)
    assert result.delta[0] == pytest.approx(2 * (best - 0.5))


@pytest.mark.states("Cohen et al. 2024", "Theorem C.2")
@pytest.mark.parametrize("number", range(1, 6))
def test_theorem_c2_composition(number):
    """At epsilon 0 the deltas add up: the paper's factor 2 is not needed (theory 2)."""
    rng = np.random.default_rng(300 + number)
    for _ in range(10):
        tables = [Table(random_channel(rng)) for _ in range(3)]
        alone = [write_out(Game(PAIR, t, OneOfPair(number))).delta(0.0) for t in tables]
        whole = write_out(Game(PAIR, Parallel(tables), OneOfPair(number))).delta(0.0)
        assert max(alone) - 1e-12 <= whole <= sum(alone) + 1e-12
        distances = [np.abs(t.rows[0] - t.rows[1]).sum() / 2 for t in tables]
        share = 1.0 if number == 2 else 0.5
        assert alone == pytest.approx([share * d for d in distances])


@pytest.mark.states("Cohen et al. 2024", "Theorem C.2")
@pytest.mark.parametrize("number", range(1, 6))
def test_theorem_c2_holds_at_every_epsilon_and_for_fresh_data_of_any_prior(number):
    """Epsilons and deltas add up (theory 2.1): beside another data set, and beside a fresh one."""
    rng, some = np.random.default_rng(310 + number), 0
    for _ in range(20):
        tables = [Table(random_channel(rng)) for _ in range(3)]
        each, chance = rng.exponential(0.3, 3), float(rng.uniform(0.05, 0.95))
        fresh = Finite([[0], [1]], [chance, 1 - chance])
        for world, abstain in ((PAIR, True), (PAIR, False), (fresh, True)):
            parts = [Game(world, table, OneOfPair(number)) for table in tables]
            whole = Game(world, Parallel(tables), OneOfPair(number))
            alone = [
                max(0.0, write_out(one, abstain=abstain).delta(float(epsilon)))
                for one, epsilon in zip(parts, each, strict=True)
            ]
            together = write_out(whole, abstain=abstain).delta(float(each.sum()))
            assert together <= sum(alone) + 1e-12
            some += together > 1e-3
    assert some > 10  # not only where nothing is gained


@pytest.mark.states("Cohen et al. 2024", "Example C.1")
@pytest.mark.parametrize("bits", [1, 3])
def test_example_c1_counterexample(bits):
    from narcissus.mechanisms import XorHalf

    world, relation = Bits(2 * bits), Prefix(bits)
    second, xor = XorHalf("second"), XorHalf("xor")
    assert profile(Game(world, second, relation), 0.0).delta[0] == pytest.approx(0, abs=1e-15)
    assert profile(Game(world, xor, relation), 0.0).delta[0] == pytest.approx(0, abs=1e-15)
    both = profile(Game(world, Parallel([second, xor]), relation), 0.0)
    assert both.delta[0] == pytest.approx(1 - 2.0**-bits)


@pytest.mark.states("Cohen et al. 2024", "Example 1.8")
@pytest.mark.parametrize("k", [1, 2, 4])
def test_example_1_8_no_k_of_n_bits_are_pinned_more_often_than_2_to_the_minus_k(k):
    """Without a release: every attempt against every data set, the places in every order."""
    n = 4
    data = np.array(list(itertools.product((0, 1), repeat=n)))
    relation, rng = Pinned(k), np.random.default_rng(0)
    for places in itertools.permutations(range(n), k):
        for entries in itertools.product((0, 1), repeat=k):
            attempt = np.array([places, entries])
            hits = relation.holds(data, np.repeat(attempt[None], len(data), axis=0), rng)
            assert hits.mean() == 2**-k
            assert relation.baseline(Bits(n), attempt[None])[0] == 2**-k
    assert len(relation.guesses(data)) == math.comb(n, k) * 2**k
