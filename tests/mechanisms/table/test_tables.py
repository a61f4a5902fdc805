"""A chosen list of noisy tables: how many count, and what is released."""

from itertools import product

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import Columns, Marginals, Tables

COLUMNS = Columns(
    names=("a", "b", "s"),
    labels=(("0", "1"), ("0", "1", "2"), ("0", "1")),
    ordered=(False,) * 3,
    unknown=(2,),
)
COARSER = {"half": {"of": "b", "groups": {"low": ["0", "1"], "high": ["2"]}}}


def test_all_tables_count_for_the_level_those_of_known_columns_included():
    """Over all pairs of records, replacing one moves the five tables by at most sqrt(10) in L2."""
    planned = Tables(sets=[["a", "s"], ["s"], ["s"], ["half"], ["a"]], coarser=COARSER, mu=0.7)
    prepared = planned.prepare(COLUMNS)
    assert prepared.queries.tables == 5
    assert prepared.guarantee.mu == pytest.approx(0.7)
    records = np.array(list(product(range(2), range(3), range(2))))
    every = np.column_stack([records, records[:, 1] // 2])
    sets = [(0, 2), (2,), (2,), (3,), (0,)]
    moved = [
        sum(2 for s in sets if any(one[c] != other[c] for c in s))
        for one in every
        for other in every
    ]
    scale = planned.noise_of(5).scale
    assert np.sqrt(max(moved)) / scale == pytest.approx(0.7)
    assert prepared.queries.cells_of(records).shape == (12, 3)  # three are laid out


def test_a_table_that_is_listed_twice_has_noise_of_its_own():
    codes = np.array([[0, 1, 1], [1, 2, 0], [1, 1, 1]], dtype=np.int32)
    prepared = Tables(sets=[["s"], ["s"]], scale=2.0).prepare(COLUMNS)
    [release] = prepared.release(codes[None], np.random.default_rng(1))
    first, second = prepared.queries.arrays(release.cells)
    assert first.shape == second.shape == (2,)
    assert (first != second).all()
    exact = Tables(sets=[["s"], ["s"]], scale=0.0).prepare(COLUMNS)
    [release] = exact.release(codes[None], np.random.default_rng(1))
    np.testing.assert_array_equal(release.cells, [1, 2, 1, 2])
    assert exact.guarantee is None


def test_listing_all_marginals_is_releasing_them():
    codes = np.random.default_rng(3).integers(0, 2, (1, 20, 3)).astype(np.int32)
    listed = Tables(sets=[["a", "b"], ["a", "s"], ["b", "s"]], scale=3.0).prepare(COLUMNS)
    all_of_them = Marginals(k=2, scale=3.0).prepare(COLUMNS)
    one, other = (m.release(codes, np.random.default_rng(4))[0] for m in (listed, all_of_them))
    np.testing.assert_array_equal(one.cells, other.cells)
    # But [a, b] is released as well, and counts.
    assert (listed.guarantee.mu / all_of_them.guarantee.mu) ** 2 == pytest.approx(3 / 2)


def test_it_is_named_and_ordered_by_its_level():
    made = [Tables(sets=[["s"]], epsilon=e) for e in (1.0, 0.5)]
    assert [m.label for m in made] == ["ε = 1", "ε = 0.5"]
    assert made[0].strength < made[1].strength
    assert made[0].title == "Noisy tables"
    assert made[0].point(made[0].prepare(COLUMNS).guarantee) == (1.0, 1e-5)


def test_what_is_no_plan_is_refused():
    with pytest.raises(InputError, match="at least one table"):
        Tables(sets=[], epsilon=1.0)
    with pytest.raises(InputError, match="exactly one"):
        Tables(sets=[["s"]])
