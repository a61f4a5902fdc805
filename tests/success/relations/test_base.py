"""What every relation offers, and a user's own."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.success.relations import (
    AnyOf,
    AtLeast,
    CloseAndUnique,
    FirstBit,
    Hamming,
    Isolates,
    Member,
    Own,
    Pinned,
    Prefix,
    RandomRow,
    TablePredicate,
)
from narcissus.success.relations.base import distinct_rows, needs_rows, table, take
from narcissus.worlds import Bits, Records, Uniform


@pytest.mark.parametrize(
    ("relation", "world", "attempt"),
    [
        (Pinned(2), Bits(5, [0.1, 0.9, 0.5, 0.3, 0.7]), [[0, 3], [1, 0]]),
        (Prefix(2), Bits(4, [0.1, 0.9, 0.5, 0.3]), [0, 1]),
        (Member(), Records(3, [0.5, 0.3, 0.2]), 2),
        (Member(), Uniform(3, 2, 3), [0, 2]),
        (Hamming(0.25), Uniform(3, 8), [0, 1, 0, 1, 0, 1, 0, 1]),
    ],
    ids=["pinned", "prefix", "member", "rows", "hamming"],
)
def test_exact_baselines_match_play(within, relation, world, attempt):
    rng = np.random.default_rng(13)
    data = world.draw(40_000, rng).data
    many = np.tile(np.asarray(attempt), (len(data), *[1] * np.ndim(attempt)))
    rate = float(relation.baseline(world, many[:1])[0])
    assert within(int(relation.holds(data, many, rng).sum()), len(data), rate)


def test_relations_by_hand():
    rng = np.random.default_rng(0)
    data = np.array([[[0, 0], [10, 10], [11, 10]]])
    assert Member().holds(data, np.array([[10, 10]]), rng)[0]
    assert not Member().holds(data, np.array([[10, 0]]), rng)[0]
    unique = CloseAndUnique(close=1.5, unique=5)
    assert unique.holds(data, np.array([[1, 1]]), rng)[0]
    assert not unique.holds(data, np.array([[10, 10]]), rng)[0]  # its neighbour is close
    three = [np.array([[0, 0], [11, 10], [5, 5]])]
    assert AtLeast(2).holds(data, three, rng)[0]
    assert not AtLeast(3).holds(data, three, rng)[0]
    assert AtLeast(3, close=1.0).holds(data, three, rng)[0]
    assert not AtLeast(1).holds(data, [np.empty((0, 2))], rng)[0]
    lists = [np.array([[5, 5], [0, 0]])]
    assert AnyOf(Member()).holds(data, lists, rng)[0]
    assert not AnyOf(Member(), 2).holds(data, lists, rng)[0]
    assert FirstBit().holds(np.array([[1, 0]]), np.array([1]), rng)[0]
    bits = np.array([[[0, 1, 1, 0], [1, 1, 1, 1]]])
    assert Hamming(0.25).holds(bits, np.array([[1, 1, 1, 0]]), rng)[0]
    assert not Hamming(0.2).holds(bits, np.array([[1, 1, 1, 0]]), rng)[0]
    some = TablePredicate(np.array([0, 1, 2]), np.array([[True, False, True]]))
    assert Isolates().holds(np.array([[0, 1, 1]]), some, rng)[0]
    assert not Isolates().holds(np.array([[0, 2, 1]]), some, rng)[0]
    assert RandomRow().probability(np.array([[0, 2, 1]]), some)[0] == pytest.approx(2 / 3)
    assert not Isolates().holds(np.array([[0, 1]]), [None], rng)[0]


def test_distinct_rows_are_records_of_any_shape():
    data = np.array([[1, 0], [1, 2]])
    assert distinct_rows(data).tolist() == [0, 1, 2]
    rows = np.array([[[1, 0], [1, 2]], [[1, 0], [0, 0]]])
    assert distinct_rows(rows).tolist() == [[0, 0], [1, 0], [1, 2]]
    assert distinct_rows(rows[:, :, None]).tolist() == [[[0, 0]], [[1, 0]], [[1, 2]]]


def test_entries_are_taken_from_any_batch():
    class Batch:
        def take(self, index):
            return [10 * i for i in index]

    index = np.array([2, 0])
    assert take(np.array([5, 6, 7]), index).tolist() == [7, 5]
    assert take(["a", "b", "c"], index) == ["c", "a"]
    assert take(Batch(), index) == [20, 0]


def test_a_table_has_a_row_for_each_guess_and_a_column_for_each_data_set():
    """By its probability where a relation has coins of its own."""
    data = np.array([[0, 1], [1, 1], [0, 0]])
    guesses = np.array([[0], [1]])
    found = table(Prefix(1), data, guesses, np.array([1, 0, 1]))
    assert found.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    ones = TablePredicate(np.array([0, 1]), np.array([[False, True]]))
    assert table(RandomRow(), data, ones, np.array([0])).tolist() == [[0.5, 1, 0]]


def test_rows_of_attributes_are_arrays_of_three_axes():
    rows = np.zeros((2, 3, 1))
    assert needs_rows("x", rows) is rows
    for wrong in (np.zeros((2, 3)), np.zeros((2, 3, 1, 1)), [[1]]):
        with pytest.raises(InputError, match="the relation `x` needs rows of attributes"):
            needs_rows("x", wrong)


RNG = np.random.default_rng(0)
DATA = np.array([[0], [1], [2]])


@pytest.mark.parametrize(
    ("answer", "held"),
    [
        (True, True),
        (False, False),
        (np.True_, True),
        (np.False_, False),
        (1, True),
        (0, False),
        (np.int8(1), True),
        (np.array(True), True),
        (np.array(0), False),
    ],
)
def test_what_is_true_or_false(answer, held):
    assert Own(lambda data, attempt: answer).holds(DATA, [1, 2, 3], RNG).tolist() == [held] * 3


@pytest.mark.parametrize(
    "answer",
    [2, -1, 1.0, "yes", None, np.int8(2), np.float64(1), np.array([True]), np.array(2), []],
)
def test_anything_else_is_refused(answer):
    def mine(data, attempt):
        return answer

    with pytest.raises(
        InputError, match=r"the relation `mine` must return true or false.*\(attempt 7"
    ):
        Own(mine).holds(DATA, [7, 8, 9], RNG)


def test_each_data_set_meets_its_own_attempt_and_none_is_no_attempt():
    relation = Own(lambda data, attempt: int(data[0]) == attempt)
    assert relation.holds(DATA, [0, None, 5], RNG).tolist() == [True, False, False]
    with pytest.raises(ValueError, match="shorter"):
        relation.holds(DATA, [0, 1], RNG)


def test_what_the_function_raises_names_it():
    class Broken:
        def __call__(self, data, attempt):
            raise KeyError("lost")

    with pytest.raises(
        InputError, match=r"the relation `Broken` raised KeyError: 'lost' \(attempt 3\)"
    ):
        Own(Broken()).holds(DATA, [3, 3, 3], RNG)


def test_an_exact_answer_needs_the_attempts():
    assert Own(lambda data, attempt: True, (4, 5)).guesses(DATA) == [4, 5]
    with pytest.raises(InputError, match="needs the list of all attempts"):
        Own(lambda data, attempt: True).guesses(DATA)
