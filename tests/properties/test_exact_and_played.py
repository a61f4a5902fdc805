"""Random small worlds: the exact attacker, played, lands within limits of its exact success."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from narcissus import Game, play, profile
from narcissus.knowledge import KnownRows
from narcissus.mechanisms import (
    Constant,
    CountingQuery,
    ExactAverage,
    Identity,
    Parallel,
    RandomizedResponse,
    Subsample,
)
from narcissus.success import Resilience
from narcissus.success.relations import Isolates, Member, Pinned, Prefix, RandomRow
from narcissus.worlds import Bits, Finite, Pairs, Records

rates = st.floats(0.05, 0.95)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def distributions(draw, size):
    weights = draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    return [w / sum(weights) for w in weights[:-1]] + [
        1 - sum(w / sum(weights) for w in weights[:-1])
    ]


@st.composite
def games(draw):
    bits = draw(st.booleans())
    if bits:
        n = draw(st.integers(2, 4))
        world = Bits(n, [draw(rates) for _ in range(n)])
        mechanism = draw(
            st.sampled_from(
                [
                    ExactAverage(),
                    CountingQuery(0.3),
                    RandomizedResponse(0.7),
                    Subsample(2),
                    Identity(),
                    Constant(),
                    Parallel([ExactAverage(), RandomizedResponse(0.4)]),
                ]
            )
        )
        relation = draw(st.sampled_from([Pinned(1), Pinned(2), Prefix(), Prefix(1)]))
        side = draw(st.sampled_from([None, KnownRows(1)]))
    else:
        kind = draw(st.sampled_from(["records", "finite", "pairs"]))
        if kind == "records":
            world = Records(draw(st.integers(2, 3)), draw(distributions(3)))
        elif kind == "finite":
            world = Finite(
                [[0, 1], [1, 1], [2, 0]],
                [draw(distributions(3)), draw(distributions(3))],
                draw(distributions(2)),
            )
        else:
            world = Pairs([[[0, 1], [1, 1]], [[2, 2], [0, 2]]], draw(distributions(2)))
        mechanism = draw(
            st.sampled_from([ExactAverage(), RandomizedResponse(0.7, 3), Subsample(1), Identity()])
        )
        relation = draw(st.sampled_from([Member(), RandomRow(), Isolates(), Prefix()]))
        side = None
    return Game(world, mechanism, relation, side=side)


@given(games(), st.sampled_from([0.0, 0.4, 1.0]), seeds)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_exact_attacker_played_is_within_limits_of_the_exact_numbers(game, epsilon, seed):
    """Limits at 1 - 1e-8, 60 worlds with two limits each: false alarm rate near 1e-6."""
    exact = profile(game, epsilon)
    run = play(
        game,
        exact.attacker(epsilon),
        Resilience(epsilon),
        trials=2000,
        confidence=1 - 1e-8,
        stop=False,
        rng=seed,
    )
    one = run.attackers[0]
    assert one.success.low - 1e-9 <= exact.success[0] <= one.success.high + 1e-9
    assert one.baseline.low - 1e-9 <= exact.baseline[0] <= one.baseline.high + 1e-9
    gain = exact.success[0] - math.exp(epsilon) * exact.baseline[0]
    assert math.isclose(gain, exact.delta[0], abs_tol=1e-12)


@given(games())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_profiles_fall_are_convex_and_start_below_one(game):
    points = np.linspace(0, 2, 9)
    delta = np.asarray(profile(game, points).delta)
    assert (delta >= 0).all()
    assert (delta <= 1 + 1e-12).all()
    assert (np.diff(delta) <= 1e-12).all()
    # A maximum of straight lines in e^epsilon is convex there.
    factors = np.exp(points)
    slopes = np.diff(delta) / np.diff(factors)
    assert (np.diff(slopes) >= -1e-9).all()


@given(games(), st.sampled_from([0.0, 0.5]))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_releasing_less_is_never_worse(game, epsilon):
    nothing = Game(game.world, Constant(), game.relation, side=game.side)
    assert profile(nothing, epsilon).delta[0] <= profile(game, epsilon).delta[0] + 1e-12
