"""Cells found by steps are the cells that people fall into."""

import numpy as np
import pytest

from narcissus.attacks.table.places import ColumnSteps
from narcissus.mechanisms import ChosenQueries, MarginalQueries
from narcissus.mechanisms.patterns import Grouping

SIZES = (3, 2, 4, 3)
COARSE = ChosenQueries(
    SIZES,
    (2, 1, 3),
    ((0, 2), (1, 4), (1, 2, 3), (4,), (4,)),
    coarse=(Grouping(2, (0, 0, 1, 2)),),
)


@pytest.mark.parametrize(
    "queries",
    [MarginalQueries(SIZES, (1, 2, 3), 3), MarginalQueries(SIZES, (3, 1), 2), COARSE],
)
def test_steps_lead_to_the_cells_of_the_tables(queries):
    rng = np.random.default_rng(0)
    people = np.stack([rng.integers(0, s, 9) for s in SIZES], axis=1).astype(np.int32)
    known = people.copy()
    known[:, list(queries.unknown)] = 0
    release = rng.random(queries.cells)
    steps = ColumnSteps(queries, queries.bases(known), release)
    expected = release[queries.cells_of(people)]
    for i in range(9):
        cells = steps.cells(i, people[i, list(queries.unknown)])
        assert (steps.released[cells] == expected[i]).all()
    # a change of one column moves a person by the difference of its steps, in its tables only
    before = steps.cells(0, np.zeros(len(queries.unknown), dtype=int))
    for c in range(len(queries.unknown)):
        one = np.zeros(len(queries.unknown), dtype=int)
        one[c] = 1
        moved = steps.cells(0, one) - before
        assert (moved[steps.tables[c]] == steps.steps[c][1]).all()
        assert not np.delete(moved, steps.tables[c]).any()
