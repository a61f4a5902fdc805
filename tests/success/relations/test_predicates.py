"""Predicates: what they hold for, how heavy they are, that they isolate, all by enumeration."""

from itertools import product

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.success.relations import Isolates, RandomRow, TablePredicate
from narcissus.success.relations.predicates import as_predicates
from narcissus.worlds import Bits, MonaLisa, Records, Uniform

RNG = np.random.default_rng(0)
WORLDS = [Records(3, [0.5, 0.3, 0.2]), Uniform(2, 2), MonaLisa(3, 1, 0.4), Bits(4, 0.25)]


def test_a_table_of_predicates_is_looked_up_row_by_row():
    support = np.array([[0, 0], [0, 1], [1, 1]])
    holds = RNG.random((40, 3)) < 0.5
    rows = RNG.integers(0, 2, (40, 5, 2))
    said = TablePredicate(support, holds)(rows)
    for t, i in product(range(40), range(5)):
        listed = [k for k, value in enumerate(support) if list(value) == list(rows[t, i])]
        assert said[t, i] == any(holds[t, k] for k in listed)  # [1, 0] is in no list
    numbers = TablePredicate(np.array([1, 3]), np.array([[True, False], [False, True]]))
    assert numbers(np.array([[1, 2, 3], [1, 2, 3]])).tolist() == [
        [True, False, False], [False, False, True]
    ]  # fmt: skip
    assert len(numbers) == 2
    assert numbers.take(np.array([1])).holds.tolist() == [[False, True]]


@pytest.mark.parametrize("world", WORLDS, ids=repr)
def test_weights_and_baselines_of_all_predicates_by_enumeration(world):
    """Weight: over the records of a law; isolating: over all data sets."""
    written = world.enumerate()
    law = written.weight @ written.sample
    every = Isolates().guesses(written.data)
    values = np.unique(written.data.reshape(-1, *written.data.shape[2:]), axis=0)
    np.testing.assert_array_equal(every.support, values)
    assert len({tuple(one) for one in every.holds}) == len(every) == 2 ** len(values)
    weights = every.weight(world)
    isolating, drawn = Isolates().baseline(world, every), RandomRow().baseline(world, every)
    for place in range(len(every)):
        one = every.take(np.full(len(law), place))
        held = one(written.data)
        assert weights[place] == pytest.approx(law @ held[:, 0])
        assert drawn[place] == pytest.approx(law @ RandomRow().probability(written.data, one))
        chance = law @ Isolates().holds(written.data, one, RNG)
        assert isolating[place] == pytest.approx(chance)
        assert chance == pytest.approx(law @ (held.sum(axis=1) == 1))


def test_predicates_of_one_record_each():
    found = RandomRow().guesses(np.array([[3, 1], [1, 0]]))
    assert found.support.tolist() == [0, 1, 3]
    np.testing.assert_array_equal(found.holds, np.eye(3, dtype=bool))


def test_a_world_without_a_law_knows_no_weight():
    every = Isolates().guesses(np.array([[0, 1]]))
    for world in (Bits(2, [0.1, 0.2]), object()):
        assert every.weight(world) is None
        assert Isolates().baseline(world, every) is None
        assert RandomRow().baseline(world, every) is None


def test_at_most_twelve_records_are_put_into_predicates():
    assert len(Isolates().guesses(np.arange(12)[None])) == 2**12
    with pytest.raises(InputError, match=r"13 records make 2\^13 predicates"):
        Isolates().guesses(np.arange(13)[None])


def test_functions_of_a_user_are_predicates():
    rows = np.array([[0, 1, 2], [0, 1, 2], [0, 1, 2]])
    for functions in (
        [lambda row: row == 1, None, lambda row: 0.5],
        (lambda row: row == 1, None, lambda row: 0.5),
    ):
        made = as_predicates(functions)
        assert made(rows).tolist() == [[0, 1, 0], [0, 0, 0], [0.5, 0.5, 0.5]]
        assert len(made) == 3
        assert Isolates().holds(rows, functions, RNG).tolist() == [True, False, False]
        assert Isolates().baseline(Bits(3), functions) is None
        assert RandomRow().baseline(Bits(3), functions) is None
    pairs = as_predicates([lambda row: row[0] < row[1]] * 2)
    assert pairs(np.array([[[0, 1], [1, 0]], [[1, 1], [2, 3]]])).tolist() == [[1, 0], [0, 1]]

    def unknown(rows):
        return np.ones(rows.shape[:2])

    assert RandomRow().baseline(Bits(3), unknown) is None
    assert Isolates().baseline(Bits(3), unknown) is None
    assert as_predicates(made) is made
    for wrong in ([1, 2], np.array([1]), (None, "x"), "x"):
        with pytest.raises(InputError, match="predicates on records"):
            as_predicates(wrong)


def test_a_row_is_drawn_at_random_and_a_probability_is_tossed_for(within):
    """Of the rows 0, 0, 1 a predicate for 1 holds once in three; one that says .3 so often."""
    trials = 20_000
    rows = np.tile([0, 0, 1], (trials, 1))
    for functions, rate in (
        ([lambda row: row == 1] * trials, 1 / 3),
        ([lambda row: 0.3] * trials, 0.3),
    ):
        held = RandomRow().holds(rows, functions, np.random.default_rng(1))
        assert within(int(held.sum()), trials, rate)
    table = TablePredicate(np.array([0, 1]), np.tile([[False, True]], (trials, 1)))
    held = RandomRow().holds(rows, table, np.random.default_rng(2))
    assert within(int(held.sum()), trials, 1 / 3)
