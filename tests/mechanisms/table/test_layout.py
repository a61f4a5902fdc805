"""Tables by the names of their columns: what is laid out, and what is refused."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import Columns
from narcissus.mechanisms.table.layout import chosen, k_way

COLUMNS = Columns(
    names=("canton", "age", "sick"),
    labels=(("GE", "VD", "SG", "ZH"), ("1", "2", "3"), ("no", "yes")),
    ordered=(False, True, False),
    unknown=(0, 2),
)
REGION = {"of": "canton", "groups": {"west": ["GE", "VD"], "east": ["ZH", "SG"]}}
OLD = {"of": "age", "groups": {"young": [1, 2.0], "old": ["3"]}}  # numbers, as a file has them


def test_names_become_the_columns_and_groups():
    sets = [["sick", "age"], ["region"], ["old", "sick"], ["sick"], ["sick"], ["age"]]
    queries = chosen(COLUMNS, sets, {"region": REGION, "old": OLD})
    assert queries.sets == ((2, 1), (3,), (4, 2), (2,), (2,), (1,))
    assert [(g.of, g.groups) for g in queries.coarse] == [(0, (0, 0, 1, 1)), (1, (0, 0, 1))]
    assert (queries.sizes, queries.unknown, queries.tables) == ((4, 3, 2), (0, 2), 6)
    assert queries.cells == 6 + 2 + 4 + 2 + 2
    frame = COLUMNS.frame(np.array([[0, 2, 1], [3, 0, 1], [1, 2, 0]]))
    tables = [a.tolist() for a in queries.arrays(queries.counts(COLUMNS.codes(frame, of="it")))]
    assert sorted(map(str, tables)) == sorted(
        map(str, ([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0]], [2.0, 1.0], [[0.0, 1.0], [1.0, 1.0]],
                  [1.0, 2.0], [1.0, 2.0]))
    )  # fmt: skip


def test_all_tables_of_so_many_columns():
    assert k_way(COLUMNS, 3).tables == 1
    with pytest.raises(InputError, match=r"`mechanism\.k` is 4, but the table has 3 columns"):
        k_way(COLUMNS, 4)


@pytest.mark.parametrize(
    ("sets", "coarser", "said"),
    [
        ([["sik"]], {}, "`sik`, which is no column of the table; did you mean `sick`"),
        ([[]], {}, "without columns"),
        ([["sick", "sick"]], {}, r"\[sick, sick\], which has a column twice"),
        ([["canton", "region"]], {"region": REGION}, r"\[canton, region\], which has a column"),
        ([["age"]], {}, r"no table with an unknown column \(`canton`, `sick`\)"),
        ([["sick"]], {"age": OLD}, "has the name of a column"),
        ([["sick"]], {"old": {"of": "ag", "groups": {"a": ["1"]}}}, "did you mean `age`"),
        ([["sick"]], {"old": {"of": "age"}}, "must be {of = COLUMN"),
        ([["sick"]], {"old": {"of": "age", "groups": ["1"]}}, "must be {of = COLUMN"),
        ([["sick"]], {"old": {**OLD, "more": 1}}, "must be {of = COLUMN"),
        ([["sick"]], {"old": {"of": "age", "groups": {"a": ["1", "4"]}}}, "no value '4'"),
        ([["sick"]], {"old": {"of": "age", "groups": {"a": ["1"], "b": ["1"]}}}, "'1' twice"),
        ([["sick"]], {"old": {"of": "age", "groups": {"a": ["1"]}}}, "leaves out .*'2', '3'"),
    ],
)
def test_what_names_no_table_is_refused(sets, coarser, said):
    with pytest.raises(InputError, match=said):
        chosen(COLUMNS, sets, coarser)
