"""Data sets from a pool."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.pool import Pool

RNG = np.random.default_rng(1)


def test_lines_without_repetition():
    pool = Pool(list("abcdef"), 4)
    draw = pool.draw(30, RNG)
    assert all(len(set(one.records)) == 4 for one in draw.data)
    seen = {record for one in draw.data for record in one.records}
    assert seen == set("abcdef")
    assert [one.raw for one in pool.fresh(draw, RNG)] != [one.raw for one in draw.data]


def test_rows_with_both_classes():
    rows, labels = np.arange(20.0).reshape(10, 2), [1, -1] * 5
    for one in Pool(rows, 5, labels).draw(20, RNG).data:
        assert one.labels.tolist() == [1, 1, 1, -1, -1]
        assert all(labels[int(row[0]) // 2] == y for row, y in zip(one.rows, one.labels))
    assert Pool(rows, 10).draw(1, RNG).data[0].labels is None


@pytest.mark.parametrize(
    ("records", "size", "labels", "message"),
    [
        (["a"], 2, None, "size"),
        (["a", "b"], 2, [1, -1], "rows of numbers"),
        (np.zeros((4, 1)), 4, [1, 1, 1, -1], "enough of both"),
        (np.zeros((4, 1)), 2, [1, 0, 1, -1], "-1 or 1"),
    ],
)
def test_bad_pools(records, size, labels, message):
    with pytest.raises(InputError, match=message):
        Pool(records, size, labels)
