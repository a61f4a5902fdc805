"""Predicates, against loops."""

from collections import Counter
from math import comb

import numpy as np
import pytest

from narcissus.synthetic import read_files
from narcissus.synthetic.assess import SUBSETS, isolated, kinds_of_predicates, singled_out


@pytest.fixture
def files(people):
    return read_files(people(60, 1), people(50, 2), people(40, 3))


def values(files, rows, columns):
    return [tuple(row) for row in files.table.codes[rows][:, columns].tolist()]


SETS = [((0,), False), ((0, 1), False), ((1, 2, 3), False)]


def test_a_person_is_singled_out_by_what_one_row_has_and_nobody_in_the_crowd(files):
    people, crowd = files.rows("real")[:30], files.rows("real")[30:]
    found = singled_out(files, SETS, people, crowd)
    expected = np.zeros(30, bool)
    for columns, _ in SETS:
        rows = Counter(values(files, files.rows("synthetic"), columns))
        around = set(values(files, crowd, columns))
        here = values(files, people, columns)
        expected |= [rows[value] == 1 and value not in around for value in here]
    assert found.tolist() == expected.tolist()
    assert 0 < expected.sum() < 30


def test_who_is_in_the_crowd_may_be_there_once(files):
    crowd = files.rows("real")
    found = singled_out(files, SETS, crowd, crowd, inside=True)
    around = {columns: Counter(values(files, crowd, columns)) for columns, _ in SETS}
    for won, person in zip(found, files.table.codes[crowd].tolist(), strict=True):
        alone = [
            around[columns][tuple(person[j] for j in columns)] == 1
            and values(files, files.rows("synthetic"), columns).count(
                tuple(person[j] for j in columns)
            )
            == 1
            for columns, _ in SETS
        ]
        assert won == any(alone)


def test_predicates_are_counted_that_hold_for_one_of_each_side(files):
    first, second = files.rows("real")[:40], files.rows("control")
    crowd = files.rows("real")[40:]
    totals = np.zeros(3, int)
    for columns, _ in SETS:
        rows = Counter(values(files, files.rows("synthetic"), columns))
        around = set(values(files, crowd, columns))
        ours, theirs = (Counter(values(files, side, columns)) for side in (first, second))
        for value, times in rows.items():
            if times == 1 and value not in around:
                totals += [1, ours[value] == 1, theirs[value] == 1]
    found = isolated(files, SETS, first, second, crowd)
    assert (found.predicates, found.first, found.second) == tuple(totals)


def test_kinds_take_one_to_all_columns(files, people):
    kinds = kinds_of_predicates(files, np.random.default_rng(1))
    assert list(kinds) == ["1 column", "2 columns", "3 columns", "4 columns"]
    assert [len(kinds[name]) for name in kinds] == [comb(4, size) for size in (1, 2, 3, 4)]
    wide = people(50, 1)
    wide = wide.assign(**{f"c{i}": wide["town"] for i in range(8)}, x=np.arange(50) * 1.5)
    more = wide.iloc[np.repeat(np.arange(50), 5)].assign(x=np.arange(250) * 1.5)
    kinds = kinds_of_predicates(read_files(more, wide), np.random.default_rng(1))
    assert all(len(sets) <= SUBSETS for sets in kinds.values())
    assert kinds["7 columns, numbers in groups"] == [(c, True) for c, _ in kinds["7 columns"]]
