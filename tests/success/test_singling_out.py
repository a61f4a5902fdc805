"""Predicate singling out: the weights that predicates can have, and the best of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from narcissus import Game
from narcissus.mechanisms import Constant, ExactAverage
from narcissus.profiles import write_out_family
from narcissus.study.game.kind import exactly
from narcissus.success import SinglingOut
from narcissus.success.relations import Isolates
from narcissus.success.singling_out import achievable
from narcissus.success.statements import Scores
from narcissus.worlds import Bits, MonaLisa, Records, Tardos, Uniform
from narcissus.worlds.base import Law

QUARTERS = Records(3, [0.25] * 4)


def least(world, mechanism, **options):
    game = Game(world, mechanism, Isolates())
    statement = SinglingOut(world.n, **{"w_max": 1.0, **options})
    found = exactly(write_out_family(game), statement, [0.0])
    assert found is not None
    return found.least


def test_three_records_of_four_values_with_their_average():
    """Weights are quarters, and 1/3 is none: .75 less .421875, not less the continuous .444444."""
    prepared = SinglingOut(3, 1.0).prepare(Game(QUARTERS, ExactAverage(), Isolates()))
    assert prepared.baseline(1.0) == pytest.approx(0.421875, abs=1e-15)
    assert SinglingOut(3, 1.0).baseline(1.0) == pytest.approx(4 / 9)
    assert least(QUARTERS, ExactAverage()) == pytest.approx(0.328125, abs=1e-15)


def test_nothing_released_helps_nobody_at_any_weight():
    for w_max in (0.1, 0.25, 0.3, 1.0):
        assert least(QUARTERS, Constant(), w_max=w_max) == 0


def test_the_best_weight_is_sought_among_those_that_there_are():
    game = Game(Records(4, [0.55, 0.45]), Constant(), Isolates())
    statement = SinglingOut(4, 1.0).prepare(game)
    chance = {w: 4 * w * (1 - w) ** 3 for w in (0.45, 0.55)}
    assert statement.baseline(0.44) == 0
    assert statement.baseline(0.5) == pytest.approx(chance[0.45])
    assert statement.baseline(np.array([0.55, 1.0])) == pytest.approx([chance[0.45]] * 2)
    assert statement.weights == pytest.approx([0.0, 0.45, 0.55, 1.0])
    assert SinglingOut(1, 1.0).prepare(Game(Bits(1), Constant(), Isolates())).baseline(1.0) == 1


@pytest.mark.parametrize("chances", [[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1], [1 / 3] * 3])
def test_achievable_weights_are_the_sums_of_all_subsets(chances):
    sums = [
        sum(part) for k in range(len(chances) + 1) for part in itertools.combinations(chances, k)
    ]
    found = achievable(Law(np.arange(len(chances)), np.array(chances)))
    assert found is not None
    assert len(found) == len({round(s, 9) for s in sums})
    for one in sums:
        assert np.abs(found - one).min() < 1e-12


def test_many_equal_values_are_counted_not_listed_one_by_one():
    found = achievable(Uniform(2, 10).law)
    assert found == pytest.approx(np.arange(1025) / 1024)
    mona = achievable(MonaLisa(2, 6, 0.5).law)
    assert mona is not None
    assert len(mona) == 2 * 64
    assert achievable(None) is None
    uneven = np.random.default_rng(1).dirichlet(np.ones(30))
    assert achievable(Law(np.arange(30), uneven)) is None


def test_laws_are_those_of_records_that_are_alike():
    assert Bits(3, [0.1, 0.2, 0.3]).law is None
    assert Records(2, [[0.5, 0.5], [0.1, 0.9]]).law is None
    assert Uniform(2, 20).law is None
    assert not hasattr(Tardos(4, 2, 2), "law")
    for world in (Bits(3, 0.2), Records(2, [0.5, 0.3, 0.2]), Uniform(2, 3, 2), MonaLisa(2, 3, 0.2)):
        law = world.law
        assert law is not None
        assert law.chances.sum() == pytest.approx(1)
        rows = world.draw(20_000, np.random.default_rng(1)).data[:, 0].reshape(20_000, -1)
        values = law.values.reshape(len(law.values), -1)
        shares = [(rows == value).all(axis=1).mean() for value in values]
        assert shares == pytest.approx(law.chances, abs=5 * 0.5 / np.sqrt(20_000))


def prepared(world, **options):
    statement = SinglingOut(world.n, **{"w_max": 1.0, **options})
    return statement.prepare(Game(world, Constant(), Isolates()))


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("delta", [0.0, 0.25])
def test_there_is_a_test_for_each_weight_of_what_isolates_so_lightly(epsilon, delta):
    """Four values alike: weights are quarters, and a predicate of the weight itself is light."""
    statement = prepared(QUARTERS, w_max=0.5, epsilon=epsilon, delta=delta)
    assert statement.weights.tolist() == [0, 0.25, 0.5]
    weight = np.array([0.0, 0.25, 0.25, 0.5, 0.5 * (1 + 1e-13), 0.75, np.nan])
    success = np.array([1, 1, 0, 1, 1, 1, 1], dtype=bool)
    scores = Scores(success, np.zeros(7), 0, weight)
    for test, w, light in zip(
        statement.tests(scores),
        (0, 0.25, 0.5),
        ([1, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0], [1, 1, 0, 1, 1, 0, 0]),
        strict=True,
    ):
        best = max(3 * v * (1 - v) ** 2 for v in (0, 0.25, 0.5) if v <= w)
        limit = np.exp(epsilon) * best + delta
        assert test.values == pytest.approx(np.array(light) - limit)


def test_weights_are_those_that_there_are_or_a_logarithmic_grid():
    many = prepared(Uniform(2, 10), w_max=0.5, points=20)
    assert len(many.weights) == 20
    assert (many.weights[0], many.weights[-1]) == (pytest.approx(0.5e-9), 0.5)
    steps = np.diff(np.log(many.weights))
    assert steps == pytest.approx(np.full(19, steps[0]))
    assert prepared(Uniform(2, 10), w_max=0.5, points=1).weights.tolist() == [0.5]
    enough = prepared(QUARTERS, w_max=0.75, points=4)
    assert enough.weights.tolist() == [0, 0.25, 0.5, 0.75]
    assert len(prepared(QUARTERS, w_max=0.75, points=3).weights) == 3
    assert SinglingOut(3, 0.4, points=1).weights.tolist() == [0.4]
    # .1 + .2 is above .3 by rounding, and light all the same
    tenths = prepared(Records(2, [0.1, 0.2, 0.7]), w_max=0.3)
    assert tenths.weights == pytest.approx([0, 0.1, 0.2, 0.3])
    assert tenths.baseline(0.3) == pytest.approx(2 * 0.3 * 0.7)


def test_weights_are_one_where_they_differ_by_rounding_relatively():
    """A weight of 1e-14 is not 0, though their difference is less than a rounded sum's."""
    found = achievable(Law(np.arange(2), np.array([1e-14, 1 - 1e-14])))
    assert found == pytest.approx([0, 1e-14, 1], abs=1e-20)
    sums = achievable(Law(np.arange(3), np.array([0.1, 0.2, 0.7])))
    assert sums == pytest.approx([0, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9, 1])
    assert sums.max() <= 1
    counts = np.array([2, 13, 19, 16, 10, 15])  # over 75, their rounded sum is above 1
    assert achievable(Law(np.arange(6), counts / 75)).max() == 1
    never = achievable(Law(np.arange(3), np.array([0.5, 0.5, 0.0])))
    assert never.tolist() == [0, 0.5, 1]


def test_twenty_different_chances_are_summed_and_more_are_not():
    chances = np.random.default_rng(1).dirichlet(np.ones(21))
    twenty = np.append(chances[:19], chances[19:].sum())
    found = achievable(Law(np.arange(20), twenty))
    assert found is not None
    assert len(found) > 2**19
    assert achievable(Law(np.arange(21), chances)) is None


def test_without_a_law_every_weight_is_possible():
    statement = SinglingOut(4, 1.0)
    for w in (0.0, 0.1, 0.25):
        assert statement.baseline(w) == pytest.approx(4 * w * (1 - w) ** 3)
    for w in (0.3, 1.0):
        assert statement.baseline(w) == pytest.approx(0.75**3)
    assert SinglingOut(1, 1.0).baseline(np.array([0.2, 1.0])).tolist() == [0.2, 1.0]
    one = prepared(Records(1, [0.25] * 4))
    assert one.baseline(np.array([0.3, 1.0])).tolist() == [0.25, 1.0]
    # two rows cannot both be isolated by a predicate that always holds
    assert prepared(Records(2, [1.0])).baseline(1.0) == 0


def test_statements_that_were_prepared_can_be_compared():
    assert prepared(QUARTERS) == prepared(QUARTERS)
    assert prepared(QUARTERS) != prepared(QUARTERS, delta=0.1)
