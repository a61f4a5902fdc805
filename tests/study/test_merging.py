"""Groups are merged until no number of few people is shown, or follows from what is."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.study.merging import least_difference, merge, numbered, tells_of_fewer

SIZES = st.lists(st.integers(0, 30), min_size=1, max_size=8)


@given(SIZES, st.integers(1, 15))
def test_no_group_is_of_few_nor_follows_from_the_total_and_the_others(sizes, least):
    sizes = np.array(sizes)
    parts = merge(sizes, least)
    if not parts:
        assert any(0 < size < least for size in sizes)  # else nothing would have been taken away
        return
    assert sorted(group for part in parts for group in part) == list(range(len(sizes)))
    shown = [sizes[list(part)].sum() for part in parts]
    assert all(size == 0 or size >= least for size in shown)
    for part in parts:  # a merged group has at least two: by subtraction none is told alone
        assert len(part) == 1 or sum(sizes[group] > 0 for group in part) >= 2
    small = {group for group, size in enumerate(sizes) if 0 < size < least}
    together = [part for part in parts if len(part) > 1]
    assert not small or small <= set(together[0])


@pytest.mark.parametrize(
    ("sizes", "least", "parts"),
    [
        ([40, 3, 0, 25, 12], 10, ((0,), (2,), (3,), (1, 4))),
        ([40, 6, 6, 25], 10, ((0,), (3,), (1, 2))),
        ([40, 3], 10, ()),
        ([3, 3, 3], 10, ()),
        ([1, 1, 50], 1, ((0,), (1,), (2,))),
        ([10, 10], 10, ((0,), (1,))),
    ],
)
def test_merged_by_hand(sizes, least, parts):
    assert merge(np.array(sizes), least) == parts


def by_all_cuts(table):
    """Fewest people, above none, on whom sums over groups of rows and of columns differ."""
    a, b = table.shape
    found = np.inf
    for rows in product([0, 1], repeat=a):
        for columns in product([0, 1], repeat=b):
            apart = np.not_equal.outer(rows, columns)
            cut = table[apart].sum()
            if cut > 0:
                found = min(found, cut)
    return found


@given(st.integers(1, 3), st.integers(1, 4), st.data())
def test_the_least_difference_is_that_over_all_unions_of_groups(a, b, data):
    cells = data.draw(
        st.lists(st.sampled_from([0, 0, 1, 2, 7, 20]), min_size=a * b, max_size=a * b)
    )
    table = np.array(cells).reshape(a, b)
    expected, found = by_all_cuts(table), least_difference(table)
    # where two groups are the same people, taking one from nothing leaves them: no difference
    same = [
        table[i, j]
        for i, j in np.argwhere(table)
        if table[i].sum() == table[:, j].sum() == table[i, j]
    ]
    assert found == expected or (expected in same and found > expected)


def test_one_person_between_two_divisions_is_found():
    district = np.array([0] * 30 + [1] * 20)
    school = np.array([0] * 31 + [1] * 19)  # one of the second district goes to the first school
    assert tells_of_fewer(school, [district], 10)
    assert not tells_of_fewer(district.copy(), [district], 10)
    assert not tells_of_fewer(None, [district], 10)
    mixed = np.arange(50) % 2
    assert not tells_of_fewer(mixed, [district], 10)


def test_numbers_of_what_is_shown():
    assert numbered(((0,), (2,), (1, 3)), 4).tolist() == [0, 2, 1, 2]
