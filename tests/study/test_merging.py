"""Groups are merged until no number of few people is shown, or follows from what is."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.study.merging import (
    by_copies,
    least_difference,
    merge,
    merge_sides,
    numbered,
    tells_of_fewer,
)

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


@given(
    st.lists(st.tuples(st.integers(1, 30), *2 * [st.integers(0, 30)]), min_size=1, max_size=8),
    st.integers(1, 15),
)
def test_no_side_of_a_group_is_of_few(counts, least):
    sides = [np.array(side, dtype=float) for side in zip(*counts, strict=True)]
    parts = merge_sides(sides, least)
    shown = [side[list(part)].sum() for part in parts for side in sides]
    assert all(some == 0 or some >= least for some in shown)
    assert sorted(group for part in parts for group in part) == list(
        range(len(counts) * bool(parts))
    )
    if min(min(side) for side in sides) >= least:
        assert len(parts) == len(counts)  # nothing is merged without need


def test_groups_by_copies_hold_enough_on_every_side():
    trained = np.repeat([1, 2, 4, 8], [40, 30, 9, 4])
    fresh = np.repeat([1, 2, 4], [40, 12, 9])
    groups, merged = by_copies([trained, fresh], 10)
    assert groups == [(1,), (2, 4, 8)]
    assert (merged.merged, merged.left_out, merged.people) == ({"number of copies": 3}, (), 83)
    assert by_copies([np.array([1, 2]), np.array([1])], 10)[1].left_out == ("number of copies",)
    assert by_copies([np.ones(50), np.ones(50)], 10) == ([], None)


CUBE = [(0, 0, 0)] * 20 + [(0, 1, 1)] * 20 + [(1, 0, 1)] * 20


@pytest.mark.parametrize(("odd", "told"), [(1, True), (9, True), (10, False), (0, False)])
def test_three_divisions_together_do_not_leave_few(odd, told):
    """The first and the second less the third: whoever is in all three is left alone."""
    a, b, c = np.array(CUBE + [(1, 1, 1)] * odd).T
    for one, other in ((a, b), (a, c), (b, c)):
        assert not tells_of_fewer(one, [other], 10)
    assert tells_of_fewer(c, [a, b], 10) == told


@given(st.lists(st.tuples(*3 * [st.integers(0, 2)]), min_size=30, max_size=60), st.integers(2, 6))
def test_sums_with_small_weights_that_are_about_few_are_found(people, least):
    """Every weighting of the groups by -1, 0 or 1: none may leave fewer than the least."""
    columns = np.array(people).T
    sizes = columns.max(axis=1) + 1
    groups = np.concatenate([np.eye(n)[c] for n, c in zip(sizes, columns, strict=True)], axis=1)
    weights = np.array(list(product((-1, 0, 1), repeat=groups.shape[1])))
    about = (groups @ weights.T != 0).sum(axis=0)
    few = bool(about[about > 0].min() < least)
    told = any(tells_of_fewer(columns[k], list(columns[:k]), least) for k in (1, 2))
    alone = any((n < least) for c in columns for n in np.bincount(c) if n)  # merged before
    assert told or alone or not few
