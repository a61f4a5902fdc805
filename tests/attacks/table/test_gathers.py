"""Sums over people's cells, and over the people of a cell, against doing it cell by cell."""

import numpy as np
import pytest

from narcissus.attacks.table import Targets
from narcissus.attacks.table import gathers as room
from narcissus.attacks.table.gathers import Gathers
from narcissus.mechanisms import Grouping, MarginalQueries
from narcissus.success import exact_match

LISTED = (
    ((0, 2), (3, 1), (2,), (2, 0), (3,), (1,), (0,), (4, 0), (0, 1, 3), (3, 1)),
    (Grouping(2, (0, 1, 1)), Grouping(1, (0, 0, 1))),
)
WORLDS = [
    pytest.param((2, 3, 2, 4), (0,), 3, id="one unknown"),
    pytest.param((2, 3, 2, 4), (1,), 1, id="one unknown, k 1"),
    pytest.param((2, 3, 2, 2, 3), (4, 0), 3, id="two unknown"),
    pytest.param((2, 3, 2, 2), (0, 1, 3), 4, id="three unknown, k 4"),
    pytest.param((2, 3, 3), (2,), LISTED, id="one unknown, listed"),
    pytest.param((2, 3, 3), (2, 0), LISTED, id="two unknown, listed"),
]
WAYS = [
    pytest.param({}, id="as it is"),
    pytest.param({"LIMITS": (1,)}, id="not merged"),
    pytest.param({"LIMITS": (6,)}, id="in small groups"),
    pytest.param({"LIMITS": (10**6,)}, id="in one group"),
    pytest.param({"RANGE": 0}, id="keys sorted"),
    pytest.param({"BLOCK": 9}, id="in blocks"),
    pytest.param({"NARROW": 0}, id="sums one by one"),
]


def of_types(worlds, sizes, unknown, k, people=30, seed=1):
    """Draw people, most of whom are like others."""
    rng = np.random.default_rng(seed)
    targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k)
    prior = rng.dirichlet(np.ones(targets.queries.values), 2)[rng.integers(0, 2, people)]
    return Targets(targets.queries, targets.codes, prior, targets.success), secrets, rng


def incidence(worlds, targets):
    """Tell which cell each value of each person falls into: (n, values, cells), 0, 1, 2 ..."""
    n, values = targets.prior.shape
    found = np.zeros((n, values, targets.queries.cells))
    for value in range(values):
        cells = targets.queries.cells_of(worlds.complete(targets, np.full(n, value)))
        for person, own in enumerate(cells):
            np.add.at(found[person, value], own, 1)
    return found


def test_no_two_tables_share_a_cell(worlds):
    targets, _, _ = of_types(worlds, (2, 3, 3), (2,), LISTED)
    assert incidence(worlds, targets).max() == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("sizes", "unknown", "k"), WORLDS)
def test_both_maps_against_cells_one_by_one(worlds, monkeypatch, sizes, unknown, k, way):
    for name, value in way.items():
        monkeypatch.setattr(room, name, value)
    targets, _, rng = of_types(worlds, sizes, unknown, k)
    gathers, cells = Gathers(targets), incidence(worlds, targets)
    assert gathers.types.number < 30
    np.testing.assert_array_equal(np.sort(gathers.cells), np.flatnonzero(cells.any(axis=(0, 1))))

    vector = rng.normal(size=len(gathers.cells))
    raised = gathers.raised(vector)
    found = np.concatenate(
        [
            gathers.queries.spread(gathers.gathered(block, raised))
            for block in range(len(gathers.blocks))
        ]
    )
    np.testing.assert_allclose(found[gathers.types.of], cells[..., gathers.cells] @ vector)

    weights = rng.random((gathers.types.number, targets.queries.values))
    sums = gathers.nothing()
    for index, block in enumerate(gathers.blocks):
        gathers.scatter(index, sums, gathers.summed(weights[block]))
    expected = np.einsum("tv,tvc->c", weights, cells[gathers.types.first])
    np.testing.assert_allclose(gathers.lowered(sums), expected[gathers.cells])


def test_many_tables_are_looked_up_in_few():
    """105 tables of an unknown column and two others become at most 21, where people are many."""
    sizes = (5, 4, 9, 3, 2, 2, 2, 2, 2, 2, 9, 18, 5, 4, 24, 8)
    rng = np.random.default_rng(3)
    codes = np.stack([rng.integers(0, s, 20_000) for s in sizes], axis=1).astype(np.int32)
    queries = MarginalQueries(sizes, (9,), 3)
    targets = Targets(queries, codes, np.full((20_000, 2), 0.5), exact_match((2,)))
    gathers = Gathers(targets)
    assert gathers.reads <= 21 * gathers.types.number * 2
    assert queries.tables == 105
