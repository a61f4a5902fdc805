"""Relations by hand, and their exact baselines against play."""

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
    Pinned,
    Prefix,
    RandomRow,
    TablePredicate,
)
from narcissus.worlds import (
    Bits,
    Records,
    Uniform,
)


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
    table = TablePredicate(np.array([0, 1, 2]), np.array([[True, False, True]]))
    assert Isolates().holds(np.array([[0, 1, 1]]), table, rng)[0]
    assert not Isolates().holds(np.array([[0, 2, 1]]), table, rng)[0]
    assert RandomRow().probability(np.array([[0, 2, 1]]), table)[0] == pytest.approx(2 / 3)
    assert not Isolates().holds(np.array([[0, 1]]), [None], rng)[0]
    with pytest.raises(InputError, match="predicates"):
        Isolates().holds(np.array([[0, 1]]), np.array([1]), rng)
