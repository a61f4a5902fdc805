"""What tables with changed cells share: which tables, and how they are released."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import Columns, ProtectedCounts, Rounding
from narcissus.mechanisms.table.rounding import RoundedTo

COLUMNS = Columns(
    names=("a", "b", "c", "s"),
    labels=(("0", "1"),) * 4,
    ordered=(False,) * 4,
    unknown=(3,),
)
HALF = {"half": {"of": "a", "groups": {"all": ["0", "1"]}}}


def test_tables_are_all_of_three_columns_or_as_said():
    assert Rounding(base=5).queries_of(COLUMNS).k == 3
    assert Rounding(base=5, k=2).queries_of(COLUMNS).k == 2
    few = Columns(("a", "s"), (("0", "1"),) * 2, (False,) * 2, (1,))
    assert Rounding(base=5).queries_of(few).k == 2
    listed = Rounding(base=5, sets=[["s"], ["half", "s"]], coarser=HALF).queries_of(COLUMNS)
    assert listed.sets == ((3,), (4, 3))
    assert Rounding(base=5, k=2).tables == "2-way tables"
    assert Rounding(base=5).tables == "3-way tables"
    assert Rounding(base=5, sets=[["s"]]).tables == "tables"


def test_each_data_set_is_released_as_protected_counts_that_nobody_can_change():
    prepared = Rounding(base=3, k=1).prepare(COLUMNS)
    data = np.zeros((2, 5, 4), dtype=np.int64)
    data[1, :2, 3] = 1
    first, second = prepared.release(data, np.random.default_rng(0))
    assert isinstance(first, prepared.releases)
    assert prepared.releases is ProtectedCounts
    assert (first.rule, first.queries) == (RoundedTo(3), prepared.queries)
    assert first.cellwise
    np.testing.assert_array_equal(first.cells, [6, 0])
    np.testing.assert_array_equal(second.cells, [3, 3])
    assert (prepared.guarantee, prepared.noise) == (None, None)
    with pytest.raises(ValueError, match="read-only"):
        first.cells[0] = 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": 2, "sets": [["s"]]}, "instead of `k`"),
        ({"sets": []}, "at least one table"),
        ({"k": 0}, "`k` must be at least 1"),
        ({"coarser": HALF}, "named by `sets`"),
    ],
)
def test_two_ways_to_say_which_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        Rounding(base=5, **options)
