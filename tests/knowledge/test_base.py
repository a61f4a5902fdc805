"""What the attacker is told: fresh data given it, surprisal, and worlds that it does not fit."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from narcissus import Game, play
from narcissus.attacks import ReleasedRow
from narcissus.errors import InputError
from narcissus.knowledge import Candidates, Hidden, Hiding, KnownRows, Rates, Told
from narcissus.mechanisms import Identity
from narcissus.success.relations import Member, Prefix
from narcissus.worlds import Bits, Draw, Finite, Pairs, Superset, Tardos, Uniform
from narcissus.worlds.base import bernoulli


def test_side_information_refuses_worlds_it_cannot_condition_on():
    for side, world in (
        (Candidates(), Bits(4)),
        (Hidden(), Bits(4)),
        (Hiding(10), Bits(4)),
        (KnownRows(2), Pairs([[[0], [1]]])),
    ):
        with pytest.raises(InputError, match="not defined for the world"):
            Game(world, Identity(), Prefix(), side=side)
    with pytest.raises(InputError, match="at most 4"):
        Game(Bits(4), Identity(), Prefix(), side=KnownRows(5))
    noise = np.random.default_rng(0)
    with pytest.raises(InputError, match="not random"):
        Game(Bits(4), Identity(), Prefix(), side=Told(lambda s: noise.random()))


def test_nature_of_tardos_is_the_population_in_random_order(within):
    world, rng = Tardos(12, 60, 3), np.random.default_rng(2)
    draw = world.draw(3000, rng)
    side = Hidden()
    known = side.reveal(world, draw, rng)
    assert known.shape == (3000, 12, 60)
    inside = (draw.data[:, :, None] == known[:, None]).all(axis=3)
    assert inside.any(axis=2).all()
    first = inside[:, 0].argmax(axis=1)
    for place in range(12):
        assert within(int((first == place).sum()), 3000, 1 / 12)
    fresh = side.fresh(world, draw, known, rng)
    assert (fresh[:, :, None] == known[:, None]).all(axis=3).any(axis=2).all()
    assert (side.reveal(world, draw, rng) == known).all()  # Nature stays what it is
    everybody = Tardos(3, 60, 3)
    order = Hidden().reveal(everybody, everybody.draw(200, rng), rng)
    assert order.shape == (200, 3, 60)


def test_rates_are_the_rates_and_nothing_else():
    world, rng = Tardos(12, 5, 3), np.random.default_rng(3)
    draw = world.draw(10, rng)
    assert (Rates().reveal(world, draw, rng) == draw.nature.rates).all()
    with pytest.raises(InputError, match="`rates` is not defined for the world Superset"):
        Game(Superset(2, 3, 4), Identity(), Member(), side=Rates())


def test_a_pair_is_no_nature():
    """What stands for it in a draw is the other data set, from which the released one follows."""
    with pytest.raises(InputError, match="`nature` is not defined for the world Pairs"):
        Game(Pairs([[[0], [1]]]), Identity(), Member(), side=Hidden())


def test_surprisal_of_the_last_row_counts_unless_it_repeats_another(within):
    """Additions B: at share 1 the last row counts unless it repeats a known one, 1 - (2/3)^d."""
    for d, rate in ((2, 0.5556), (3, 0.7037)):
        world, rng, side = Tardos(5, d, 2), np.random.default_rng(7), KnownRows(1)
        draw = world.draw(30_000, rng)
        last = np.full(30_000, 1)
        told = side.surprisal(world, draw, draw.data[:, :1], last)
        counted = told >= world.surprisal(draw, last) - 1e-9
        repeats = (draw.data[:, 0] == draw.data[:, 1]).all(axis=1)
        assert (counted == ~repeats).all()
        assert rate == pytest.approx(1 - (2 / 3) ** d, abs=1e-4)
        assert within(int(counted.sum()), 30_000, 1 - (2 / 3) ** d)


def test_surprisal_of_long_rows_does_not_underflow():
    """At d = 5,000 the chances are far below the smallest float; one bit is left of a candidate."""
    world, rng, side = Tardos(2000, 5000, 20), np.random.default_rng(8), Candidates()
    draw = world.draw(40, rng)
    known = side.reveal(world, draw, rng)
    named = (draw.data[:, :, None] == known[:, None]).all(axis=3)
    only = np.flatnonzero(named.any(axis=1).sum(axis=1) == 1)
    assert len(only) > 30
    for trial in only:
        index = np.array([int(named[trial].any(axis=1).argmax())])
        some, pair = draw.take(np.array([trial])), known[[trial]]
        assert side.surprisal(world, some, pair, index) == pytest.approx(1.0)
        assert side.surprisal(world, some, pair, (index + 1) % 20)[0] > 1000


def test_a_world_that_draws_in_its_own_way_says_how_rows_are_kept():
    """All bits are one coin: whoever knows the first knows all, which `Bits` does not know."""

    class OneCoin(Bits):
        def draw(self, trials, rng):
            return Draw(np.repeat(rng.integers(0, 2, (trials, 1)), self.n, axis=1))

    class Kept(OneCoin):
        def fresh_given_rows(self, draw, rows, rng):
            return draw.data

    class Named(Bits):
        pass

    with pytest.raises(InputError, match=r"OneCoin draws in its own way, .*`fresh_given_rows"):
        KnownRows(1).check(OneCoin(3))
    for world in (Kept(3), Named(3), Bits(3)):
        KnownRows(1).check(world)


@pytest.mark.states("Kaplan et al. 2025", "Example 1.5")
def test_superset_worlds_and_lists(within):
    rng = np.random.default_rng(11)
    world = Superset(5, 40, 30, trivial=0.5)
    draw = world.draw(300, rng)
    zero = (draw.data == 0).all(axis=2)
    assert within(int(zero.sum()), zero.size, 0.5)
    listed = (draw.data[:, :, None] == draw.nature[:, None]).all(axis=3).any(axis=2)
    assert (listed | zero).all()
    uniform = Uniform(4, 40)
    draw = uniform.draw(300, rng)
    side = Hiding(50)
    known = side.reveal(uniform, draw, rng)
    assert known.shape == (300, 50, 40)
    inside = (draw.data[:, :, None] == known[:, None]).all(axis=3).any(axis=2)
    assert inside.all()
    first = (known[:, :1] == draw.data[:, :1]).all(axis=(1, 2))
    assert first.mean() < 0.2  # the order is random
    fresh = side.fresh(uniform, draw, known, rng)
    again = (fresh[:, :, None] == draw.data[:, None]).all(axis=3).any(axis=(1, 2))
    assert within(int(again.sum()), 300, 1 - math.comb(46, 4) / math.comb(50, 4))


def test_candidates_condition_on_the_pair(within):
    world = Tardos(10, 300, 3)
    rng = np.random.default_rng(8)
    draw = world.draw(4000, rng)
    side = Candidates()
    pair = side.reveal(world, draw, rng)
    among = (draw.data[:, :, None] == pair[:, None]).all(axis=3).any(axis=1)
    assert among.any(axis=1).all()
    same = (pair[:, 0] == pair[:, 1]).all(axis=1)
    assert within(int(same.sum()), 4000, 1 / 10)
    fresh = side.fresh(world, draw, pair, rng)
    inside = (fresh[:, :, None] == pair[:, None]).all(axis=3).any(axis=1)
    assert inside.any(axis=1).all()
    # S and T have the same law given the pair, so both rows are in equally often.
    assert within(int(inside[~same].all(axis=1).sum()), int((~same).sum()), 2 / 9)
    assert within(int(among[~same].all(axis=1).sum()), int((~same).sum()), 2 / 9)


def test_surprisal_of_candidates_by_enumeration_of_who_is_who():
    """Rows as labels: P(v = a | K, the others), counted over all samples and pairs.

    With 400 bits people have rows of their own, so that bits are as good as labels.
    """
    total, n = 7, 3
    weights: dict = {}
    for sample in itertools.combinations(range(total), n):
        for inside, other in itertools.product(sample, range(total)):
            for pair in ((inside, other), (other, inside)):
                for v in sample:
                    others = tuple(x for x in sample if x != v)
                    key = (pair, others)
                    weights.setdefault(key, {})
                    weights[key][v] = weights[key].get(v, 0) + 1
    alone = weights[(0, 1), (2, 3)]
    assert alone[0] / sum(alone.values()) == pytest.approx(0.5)
    company = weights[(0, 1), (1, 3)]
    assert company[0] / sum(company.values()) == pytest.approx(2 / (total - n + 2))
    twins = weights[(0, 0), (1, 2)]
    assert twins[0] / sum(twins.values()) == 1
    outside = weights[(0, 1), (0, 1)]  # K among the others: any of the rest
    assert outside[2] / sum(outside.values()) == pytest.approx(1 / (total - n + 1))
    world = Tardos(total, 400, n)
    rng = np.random.default_rng(9)
    draw = world.draw(200, rng)
    side, first, last = Candidates(), np.zeros(200, dtype=int), np.full(200, 2)
    stranger = bernoulli(rng, draw.nature.rates, (200, 400))
    pair = np.stack([draw.data[:, 0], stranger], axis=1)
    assert side.surprisal(world, draw, pair, first) == pytest.approx(1.0)
    both = np.stack([draw.data[:, 0], draw.data[:, 1]], axis=1)
    told = side.surprisal(world, draw, both, first)
    assert told == pytest.approx(math.log2((total - n + 2) / 2))
    same = np.stack([draw.data[:, 0], draw.data[:, 0]], axis=1)
    assert side.surprisal(world, draw, same, first) == pytest.approx(0.0)
    # A row outside K is a stranger to K: as surprising as it was, and as it is nobody's double
    # a little more, by the chance that the last row is none of the candidates.
    plain = world.surprisal(draw, last)
    assert side.surprisal(world, draw, same, last) == pytest.approx(plain)
    assert side.surprisal(world, draw, both, last) == pytest.approx(plain)
    # With one candidate among the others the other one may be the last row, or else has told
    # something about the rates.
    bits = side.surprisal(world, draw, pair, last)
    ones = draw.data[:, :2].sum(axis=1) + stranger
    chance = np.where(draw.data[:, 2] == 1, ones + 1, n + 1 - ones) / (n + 2)
    expected = math.log2((total - n + 2) / (total - n)) - np.log2(chance).sum(axis=1)
    assert bits == pytest.approx(expected)


def test_candidates_stay_in_the_population(within):
    """The second candidate is found in fresh samples although nobody sampled it before."""
    world, rng = Tardos(6, 80, 2), np.random.default_rng(4)
    draw = world.draw(4000, rng)
    side = Candidates()
    pair = side.reveal(world, draw, rng)
    twins = (pair[:, 0] == pair[:, 1]).all(axis=1)
    assert within(int(twins.sum()), 4000, 1 / 6)
    fresh = side.fresh(world, draw, pair, rng)
    there = (fresh[:, :, None] == pair[:, None]).all(axis=3).any(axis=1)
    assert there.any(axis=1).all()
    both = there[~twins].all(axis=1)
    assert within(int(both.sum()), len(both), 1 / 5)  # (n - 1) / (N - 1)


ALARM = 1e-6


def test_told_side_information_conditions_and_gives_up():
    world, rng = Bits(6), np.random.default_rng(8)
    draw = world.draw(50, rng)
    side = Told(lambda s: int(s.sum()))
    known = side.reveal(world, draw, rng)
    fresh = side.fresh(world, draw, known, rng)
    assert fresh.sum(axis=1).tolist() == known
    impatient = Told(lambda s: s.tobytes(), tries=1)
    with pytest.raises(InputError, match=r"contradicts.*tries"):
        impatient.fresh(Bits(60), Bits(60).draw(5, rng), [b"never"] * 5, rng)


def told_bits(total, bits):
    """Give ``B_t(N)`` of additions B, by its recursion: all terms are positive."""
    if bits == 0:
        return 1.0 if total else 0.0
    return sum(told_bits(k, bits - 1) for k in range(total + 1)) / (total + 1)


def baseline_of_first_bits(total, n, bits):
    """Give the baseline of identity when the first bits of row 1 are told, for many columns.

    Narcissus theory, additions B: ``M + (1 - M)(n - 1)/(N - 1)``.
    """
    same = 2**bits * told_bits(total, bits) / total
    return same + (1 - same) * (n - 1) / (total - 1)


@pytest.mark.parametrize(
    ("total", "n", "expected"), [(4, 2, 0.7763703704), (10, 3, 0.5424491329), (30, 5, 0.3016985741)]
)
def test_reference_values_of_fresh_data_given_bits(total, n, expected):
    assert baseline_of_first_bits(total, n, 3) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("total", "n", "d", "bits", "trials"),
    [(4, 2, 40, 3, 10_000), (10, 3, 40, 3, 6_000), (30, 5, 40, 3, 16_000), (4, 1, 3, 2, 30_000)],
)
@pytest.mark.one_in(3)
def test_fresh_data_given_bits_come_from_the_same_population(within, total, n, d, bits, trials):
    """A search that forgets the population gives .740, .509, .275 and .8257."""
    side = Told(lambda data: data[0, :bits].tobytes())
    # Equal rows of different people: at most (2/3)^40 a pair at d = 40, exact at d = 3.
    exact = 0.847778 if d == 3 else baseline_of_first_bits(total, n, bits)
    game = Game(Tardos(total, d, n), Identity(), Member(), side=side)
    scores = play(game, ReleasedRow(), trials=trials, stop=False, rng=1).attackers[0].scores
    assert scores.success.all()
    assert within(round(scores.baseline.sum()), trials, exact)


def test_a_true_statement_with_own_side_information_is_not_refuted():
    """It was, in 12 of 12 seeds: identity, N = 4, n = 2, success 1 <= e^.25 x .776 + .01."""
    from narcissus.success import Resilience

    game = Game(
        Tardos(4, 40, 2), Identity(), Member(), side=Told(lambda data: data[0, :3].tobytes())
    )
    claim = Resilience(epsilon=0.26, delta=0.0)  # e^.26 x .7764 = 1.0069
    assert math.exp(0.26) * baseline_of_first_bits(4, 2, 3) >= 1
    for seed in range(3):
        run = play(game, ReleasedRow(), claim, trials=4000, confidence=1 - ALARM / 3, rng=seed)
        assert run.outcome == "no violation found"


def test_functions_of_the_data_may_toss_coins_and_look_at_nature(within):
    world, rng = Finite([[0], [1], [2]], [[0.5, 0.5, 0], [0, 0.5, 0.5]]), np.random.default_rng(5)
    draw = world.draw(2000, rng)
    side = Told(lambda data, rng, nature: (int(nature), bool(rng.random() < 0.3)))
    side.check(world)
    known = side.reveal(world, draw, rng)
    assert [one for one, _ in known] == draw.nature.tolist()
    assert within(sum(coin for _, coin in known), 2000, 0.3)
    fresh = side.fresh(world, draw, known, rng)
    assert ((fresh[:, 0] == 0) <= (draw.nature == 0)).all()
    with pytest.raises(InputError, match="worlds with a meta-prior"):
        side.check(Bits(3))
    with pytest.raises(InputError, match="cannot be written out"):
        side.label(world.enumerate())


def test_the_search_for_fresh_data_is_capped_and_says_so():
    world, rng = Tardos(50, 20, 3), np.random.default_rng(6)
    draw = world.draw(20, rng)
    side = Told(lambda data: data.tobytes(), tries=5)
    with pytest.raises(InputError, match=r"none of 5 led to .*raise `tries`"):
        side.fresh(world, draw, side.reveal(world, draw, rng), rng)
    with pytest.raises(InputError, match="`tries` must be at least 1"):
        Told(len, tries=0)
