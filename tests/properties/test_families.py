"""Random small games: families against their members, verdicts against what was played."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from narcissus import Game, play, profile
from narcissus.kinds.game.judgement import game_of
from narcissus.kinds.game.kind import KIND, played_game
from narcissus.kinds.game.layout import LAYOUT
from narcissus.kinds.game.numbers import bound_of, criterion_of, exactly
from narcissus.kinds.game.result import GameResult, GameStatement
from narcissus.mechanisms import (
    Constant,
    CountingQuery,
    ExactAverage,
    Identity,
    RandomizedResponse,
    ReleaseChannel,
    Subsample,
)
from narcissus.profiles import Bayes, write_out_family
from narcissus.profiles.proofs import from_privacy
from narcissus.success import FixedBaseline, Resilience, SinglingOut, Threshold
from narcissus.success.relations import Isolates, Member, Own, Pinned, Prefix, RandomRow
from narcissus.worlds import Bits, Family, Pairs, Records

SURE = 1 - 1e-8
seeds = st.integers(0, 2**32 - 1)


class Table:
    """A mechanism on data sets that are single numbers, given by its channel."""

    def __init__(self, rows):
        self.rows = np.asarray(rows, dtype=float)

    def release(self, data, rng):
        steps = self.rows.cumsum(axis=1)[:, :-1]
        return (rng.random(len(data))[:, None] >= steps[data[:, 0]]).sum(axis=1)

    def channel(self, data):
        return ReleaseChannel(
            np.arange(self.rows.shape[1]), sparse.csr_array(self.rows[data[:, 0]])
        )

    def outcomes(self, n):
        return self.rows.shape[1]


def gap_of_a_pair(pair, rows, holds, factor):
    """Give the best attacker's gap on one pair, from the definition alone."""
    total = Fraction(0)
    for y in range(len(rows[0])):
        values = [
            sum(
                rows[pair[coin]][y] * (holds[z][pair[coin]] - factor * holds[z][pair[1 - coin]])
                for coin in (0, 1)
            )
            / 2
            for z in range(len(holds))
        ]
        total += max(Fraction(0), *values)
    return total


@given(seeds, st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(3)]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_family_needs_what_its_worst_member_needs_and_no_less_than_any_mixture(seed, factor):
    rng = np.random.default_rng(seed)
    sets, outputs = 4, 3
    cuts = [sorted(int(x) for x in rng.integers(0, 21, outputs - 1)) for _ in range(sets)]
    rows = [[Fraction(b - a, 20) for a, b in itertools.pairwise([0, *cut, 20])] for cut in cuts]
    holds = [[int(x) for x in rng.integers(0, 2, sets)] for _ in range(3)]
    holds[0][int(rng.integers(sets))] = 1
    pairs = [p for p in itertools.combinations(range(sets), 2) if rng.random() < 0.6] or [(0, 1)]
    assume(any(holds[z][s] for z in range(3) for pair in pairs for s in pair))
    relation = Own(lambda data, z: bool(holds[z][int(data[0])]), attempts=[0, 1, 2])
    listed = [[[a], [b]] for a, b in pairs]
    mechanism = Table([[float(c) for c in row] for row in rows])
    epsilon = math.log(factor)
    deltas = [float(gap_of_a_pair(pair, rows, holds, factor)) for pair in pairs]
    family = profile(Game(Pairs(listed), mechanism, relation), epsilon)
    assert family.delta[0] == pytest.approx(max(deltas), abs=1e-12)
    if len(pairs) > 1 and max(deltas) > 0:
        named = list(Pairs(listed).members).index(family.member[0])
        assert deltas[named] == pytest.approx(max(deltas), abs=1e-12)
    chances = [1 / len(pairs)] * len(pairs)
    mixture = profile(Game(Pairs(listed, chances), mechanism, relation), epsilon)
    assert mixture.delta[0] <= family.delta[0] + 1e-12


@st.composite
def games(draw):
    """Small worlds, some of them families, with mechanisms and relations that fit them."""
    kind = draw(st.sampled_from(["bits", "records", "pairs", "family"]))
    mechanisms = [ExactAverage(), Subsample(1), Identity(), Constant(), RandomizedResponse(0.7, 3)]
    if kind in ("bits", "family"):
        rate = st.floats(0.05, 0.95)
        size = draw(st.integers(2, 3))
        many = draw(st.integers(2, 3)) if kind == "family" else 1
        parts = [Bits(size, draw(rate)) for _ in range(many)]
        world = Family(parts) if kind == "family" else parts[0]
        mechanisms = [CountingQuery(0.3), RandomizedResponse(0.5), *mechanisms[:4]]
        relations = [Pinned(1), Prefix(), Prefix(1), RandomRow()]
    elif kind == "records":
        weights = draw(st.lists(st.integers(1, 9), min_size=3, max_size=3))
        world = Records(2, [w / sum(weights) for w in weights])
        relations = [Member(), RandomRow(), Isolates(), Prefix()]
    else:
        world = Pairs([[[0, 1], [1, 1]], [[2, 2], [0, 2]], [[0, 0], [1, 2]]])
        relations = [Member(), RandomRow(), Prefix()]
    return Game(world, draw(st.sampled_from(mechanisms)), draw(st.sampled_from(relations)))


def judged(game, statement, *, seed, epsilon, privacy=None, trials=1500):
    """Play a game with its best attacker, and judge what is known of it."""
    run = play(
        game, Bayes(epsilon), statement, trials=trials, confidence=SURE, stop=False, rng=seed
    )
    bounds = [from_privacy(game, epsilon)]
    bounds += [] if privacy is None else [from_privacy(game, epsilon, privacy)]
    said = GameStatement(
        name="x", words="", definition="", scope="this", epsilon=epsilon, delta=statement.delta
    )
    result = GameResult(
        statement=said,
        confidence=SURE,
        members=run.members,
        play=played_game(statement, run, stopped=False),
        exact=exactly(write_out_family(game), statement, [epsilon]),
        bounds=tuple(bound_of(bound, "delta") for bound in bounds if bound is not None),
    )
    return game_of(KIND.conclude(KIND.found((criterion_of(statement),), result)))


@given(games(), st.sampled_from([0.0, 0.4, 1.0]), st.sampled_from([0.0, 0.05, 0.3]), seeds)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_what_is_played_never_contradicts_what_is_proved(game, epsilon, delta, seed):
    """60 games at 1 - 1e-8, three kinds of limits: false-alarm rate near 2e-6."""
    case = judged(game, Resilience(epsilon, delta), seed=seed, epsilon=epsilon)
    assert case.contradictions == ()
    assert case.status == ("met" if case.holds else "exceeded")
    assert case.grade == "proved"
    [one] = case.attackers
    gap, worth = one.gap, one.success.value - math.exp(epsilon) * one.fresh.value
    assert gap.low - 1e-9 <= worth <= gap.high + 1e-9
    assert gap.low <= case.exact.profile[0].delta + 1e-9


@given(games(), st.sampled_from([FixedBaseline(0.3, 0.1), Threshold(0.4, 0.3)]), seeds)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_nor_where_the_baseline_is_fixed_or_a_threshold(game, statement, seed):
    case = judged(game, statement, seed=seed, epsilon=statement.epsilon)
    assert case.contradictions == ()


@given(seeds, st.floats(0.1, 0.6), st.sampled_from([0.0, 0.3]))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_a_promise_that_is_not_kept_is_the_verdict(seed, promised, epsilon):
    """Neighbours are told apart by much more than was promised: exactly, and in play."""
    far = promised + 1.5
    game = Game(Pairs([[[0, 1], [1, 1]]]), RandomizedResponse(far), Prefix())
    whole = judged(
        game,
        Resilience(epsilon, 0.9),
        seed=seed,
        epsilon=epsilon,
        privacy=(promised, 0.0),
        trials=4000,
    )
    said = f"the mechanism is ({promised:g}, 0)-differentially private, replace-one"
    _, promise = whole.bounds
    known = whole.result.model_copy(update={"bounds": (promise,)})
    for result in (known, known.model_copy(update={"exact": None})):
        verdict = KIND.conclude(KIND.found(whole.findings.criteria, result))
        assert verdict.status == "contradicted"
        assert said in LAYOUT.verdict(verdict)
        assert verdict.contradictions
        assert not any("false alarm" in text for text in verdict.contradictions)


@st.composite
def laws(draw):
    size = draw(st.integers(2, 4))
    weights = draw(st.lists(st.integers(1, 4), min_size=size, max_size=size))
    return [Fraction(w, sum(weights)) for w in weights]


@given(laws(), st.integers(1, 3), seeds, st.sampled_from([Fraction(1), Fraction(3, 2)]))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_singling_out_against_the_definition(chances, n, seed, factor):
    """Definition 2.4 in rational numbers: all predicates, all weights, all attackers."""
    rng = np.random.default_rng(seed)
    size = len(chances)
    w_max = Fraction(int(rng.integers(1, 13)), 12)
    codes = rng.integers(0, 3, (size,) * n)

    class Coded:
        def release(self, data, rng):
            return codes[tuple(data.T)]

        def channel(self, data):
            from narcissus.mechanisms.base import deterministic

            return deterministic(self.release(data, None))

    predicates = list(itertools.product((0, 1), repeat=size))
    weight = {p: sum(c * h for c, h in zip(chances, p, strict=True)) for p in predicates}
    isolated = {(p, y): Fraction(0) for p in predicates for y in range(3)}
    for rows in itertools.product(range(size), repeat=n):
        mass = math.prod(chances[v] for v in rows)
        for p in predicates:
            if sum(p[v] for v in rows) == 1:
                isolated[p, int(codes[rows])] += mass
    expected = Fraction(0)
    for w in {weight[p] for p in predicates if weight[p] <= w_max}:
        light = [p for p in predicates if weight[p] <= w]
        success = sum(max(isolated[p, y] for p in light) for y in range(3))
        without = max(n * weight[p] * (1 - weight[p]) ** (n - 1) for p in light)
        expected = max(expected, success - factor * without)
    world = Records(n, [float(c) for c in chances])
    game = Game(world, Coded(), Isolates())
    statement = SinglingOut(n, float(w_max), math.log(factor))
    found = exactly(write_out_family(game), statement, [0.0])
    assert found.least == pytest.approx(float(expected), abs=1e-12)
