"""Links through the nearest rows, against a loop."""

import numpy as np
import pytest

from narcissus.synthetic import read_files
from narcissus.synthetic.assess import SPLITS, Link, ways_to_link


@pytest.mark.parametrize("is_rare", [False, True])
def test_parts_are_linked_if_both_lead_to_one_row(people, is_rare):
    files = read_files(people(50, 1), people(45, 2))
    found = Link((0, 3), (1, 2), is_rare).links(files, files.rows("real"))
    table, rows = files.table, files.rows("synthetic")

    def nearest(person, columns):
        apart = []
        for row in rows:
            total = 0.0
            for j in columns:
                a, b = table.codes[person, j], table.codes[row, j]
                values = table.values[j]
                total += (a != b) if values is None else abs(values[a] - values[b])
            apart.append(total)
        return {i for i, a in enumerate(apart) if a <= min(apart) + 1e-6}

    expected = []
    for person in files.rows("real"):
        one, other = nearest(person, (0, 3)), nearest(person, (1, 2))
        expected.append(bool(one & other) and (not is_rare or len(one) * len(other) < len(rows)))
    assert found.tolist() == expected
    assert 0 < sum(expected) < 50


@pytest.mark.parametrize("width", [2, 3, 4, 7])
def test_divisions_are_disjoint_and_take_every_column(people, width):
    wide = people(30, 1).assign(a=[0, 1, 2] * 10, b=[0, 1] * 15, c=[1, 0] * 15)
    files = read_files(wide.iloc[:, :width], wide.iloc[::-1, :width])
    ways = ways_to_link(files, None, np.random.default_rng(1))
    splits = {(link.one, link.other) for link in ways.values()}
    assert len(splits) == min(SPLITS, {2: 1, 3: 3, 4: 3, 7: 35}[width])
    assert len(ways) == 2 * len(splits)
    for one, other in splits:
        assert sorted(one + other) == list(range(width))


def test_a_given_division_is_the_only_one(people):
    files = read_files(people(30, 1), people(30, 2))
    ways = ways_to_link(files, ((0,), (2, 3)), np.random.default_rng(1))
    assert list(ways) == ["age with job, town, rare meetings", "age with job, town"]
