"""Relations of rows: near an isolated item, close to several."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import Close, Near
from narcissus.extraction.relations.rows import printed

RNG = np.random.default_rng(34)


def test_rows_are_printed_to_the_last_bit():
    rows = RNG.normal(size=(3, 4)) * 10.0 ** RNG.integers(-9, 9, (3, 4))
    assert (DataSet(printed(rows)).rows == rows).all()


def test_near_relation():
    """Relation (b): only an item far from all others counts; its copies are one item."""
    rows = np.array([[0, 0], [0.5, 0], [10, 10], [10, 10.0]])
    data = DataSet.of_rows(rows)
    relation = Near(radius=1, isolation=3)
    assert relation.counts(data, b"10 9.5")
    assert not relation.counts(data, b"0 0")
    assert not relation.counts(data, b"10 8.9")
    assert not relation.counts(data, b"10 10 10")
    assert not Near(radius=1, isolation=3, merge_copies=False).counts(data, b"10 10")
    members = list(relation.cheap_members(data))
    assert members
    assert all(relation.counts(data, m) for m in members)
    with pytest.raises(InputError, match="below"):
        Near(radius=2, isolation=1)


def test_close_relation():
    """Relation (c)."""
    rows = RNG.normal(size=(6, 20))
    data = DataSet.of_rows(rows)
    noisy = rows[:3] + 0.01 * RNG.normal(size=(3, 20))
    output = "\n".join(",".join(map(str, row)) for row in noisy).encode()
    assert Close(3, radius=0.2).counts(data, output)
    assert not Close(4, radius=0.2).counts(data, output)
    assert Close(3, correlation=0.99).counts(data, output)
    assert not Close(4, correlation=0.99).counts(data, output)
    for relation in (Close(4, radius=0.5), Close(4, correlation=0.95)):
        members = list(relation.cheap_members(data))
        assert members
        assert all(relation.counts(data, m) for m in members)
        exact = len("\n".join(" ".join(map(str, r)) for r in rows[:4]))
        assert min(map(len, members)) < exact / 2
    with pytest.raises(InputError, match="one of"):
        Close(1)
