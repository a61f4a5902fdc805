"""Functions of the data that the attacker is told: fresh data given what they said."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus import Game, play
from narcissus.attacks import ReleasedRow
from narcissus.errors import InputError
from narcissus.knowledge import Told
from narcissus.mechanisms import Identity
from narcissus.success.relations import Member
from narcissus.worlds import Bits, Finite, Tardos

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
    ("total", "n", "expected"),
    [(4, 2, 0.7763703704), (10, 3, 0.5424491329), (30, 5, 0.3016985741)],
)
def test_reference_values_of_fresh_data_given_bits(total, n, expected):
    assert baseline_of_first_bits(total, n, 3) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("total", "n", "d", "bits", "trials"),
    [(4, 2, 40, 3, 10_000), (10, 3, 40, 3, 6_000), (30, 5, 40, 3, 16_000), (4, 1, 3, 2, 30_000)],
)
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
