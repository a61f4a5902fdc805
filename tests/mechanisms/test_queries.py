"""Any list of tables against explicit counting, and against the k-way tables that it contains."""

import tracemalloc
from itertools import combinations
from math import prod

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import ChosenQueries, Grouping, MarginalQueries

SIZES = (2, 4, 3, 5)
COARSE = (Grouping(1, (0, 0, 1, 1)), Grouping(3, (2, 0, 1, 0, 2)))  # columns 4 and 5
SETS = ((0, 3), (5, 0), (3,), (1, 3, 2), (4, 5, 2), (0, 3), (2, 0), (1, 5), (5,), (4,))
UNKNOWN = [(3,), (1,), (3, 1), (1, 2, 3)]


def people(rng, n=40):
    return np.stack([rng.integers(0, s, n) for s in SIZES], axis=1).astype(np.int32)


def wide(codes):
    """Append the coarser columns, value by value."""
    more = [[grouping.groups[v] for v in codes[:, grouping.of]] for grouping in COARSE]
    return np.column_stack([codes, *more])


def touching(unknown):
    """The listed tables with an unknown column, coarser versions included."""
    reached = {*unknown, *(4 + j for j, g in enumerate(COARSE) if g.of in unknown)}
    return [s for s in SETS if set(s) & reached]


@pytest.mark.parametrize("unknown", UNKNOWN)
def test_cells_are_the_counts_of_the_listed_tables(unknown):
    codes = people(np.random.default_rng(1))
    queries = ChosenQueries(SIZES, unknown, SETS, coarse=COARSE)
    sizes = (*SIZES, 2, 3)
    sets = touching(unknown)
    assert queries.tables == len(SETS)  # those that are not laid out are released as well
    assert queries.cells == sum(prod(sizes[c] for c in s) for s in sets)
    theirs = [
        np.histogramdd(wide(codes)[:, s], bins=[np.arange(sizes[c] + 1) - 0.5 for c in s])[
            0
        ].ravel()
        for s in sets
    ]
    counts = queries.counts(codes)
    np.testing.assert_array_equal(np.sort(counts), np.sort(np.concatenate(theirs)))
    # Two records share exactly the cells of the tables on whose columns they agree.
    cells = queries.cells_of(codes)
    for i, j in combinations(range(12), 2):
        shared = sum(all(wide(codes)[i, c] == wide(codes)[j, c] for c in s) for s in sets)
        assert np.intersect1d(cells[i], cells[j]).size == shared


@pytest.mark.parametrize("unknown", UNKNOWN)
def test_people_share_the_tables_on_whose_known_columns_they_agree(unknown):
    codes = people(np.random.default_rng(2), 15)
    queries = ChosenQueries(SIZES, unknown, SETS, coarse=COARSE)
    total = sum(queries.shared(codes))
    hidden = {*unknown, *(4 + j for j, g in enumerate(COARSE) if g.of in unknown)}
    for i in range(15):
        for j in range(15):
            agree = sum(
                all(wide(codes)[i, c] == wide(codes)[j, c] for c in set(s) - hidden)
                for s in touching(unknown)
            )
            assert total[i, j] == agree


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("unknown", UNKNOWN)
def test_the_list_of_all_k_way_tables_is_laid_out_as_they_are(unknown, k):
    codes = people(np.random.default_rng(3), 12)
    every = tuple(combinations(range(4), k))
    listed, all_of_them = ChosenQueries(SIZES, unknown, every), MarginalQueries(SIZES, unknown, k)
    assert listed.cells == all_of_them.cells
    np.testing.assert_array_equal(listed.cells_of(codes), all_of_them.cells_of(codes))
    for one, other in zip(listed.shared(codes), all_of_them.shared(codes), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_all_patterns_say_is_added_up():
    rng = np.random.default_rng(4)
    queries = ChosenQueries(SIZES, (1, 2, 3), SETS, coarse=COARSE)
    split = queries.split(np.arange(queries.values))
    parts = [rng.random((2, 6, pattern.size)) for pattern in queries.patterns]
    total = sum(
        part[..., pattern.values(split)]
        for part, pattern in zip(parts, queries.patterns, strict=True)
    )
    np.testing.assert_allclose(queries.spread(parts), total)


def test_arrays_are_views_of_the_tables():
    codes = people(np.random.default_rng(5))
    queries = ChosenQueries(SIZES, (3,), ((2, 0, 3), (5, 1), (3,)), coarse=COARSE)
    counts = queries.counts(codes)
    arrays = list(queries.arrays(counts))
    assert sorted(a.shape for a in arrays) == [(2, 3, 5), (4, 3), (5,)]
    for array, s in ((a, s) for a in arrays for s in ((0, 2, 3), (1, 5), (3,))):
        if array.ndim == len(s):
            for place in np.ndindex(array.shape):
                assert array[place] == (wide(codes)[:, s] == place).all(axis=1).sum()
        assert np.shares_memory(array, counts)


def test_without_groups_of_its_own_a_coarser_column_is_the_column():
    """Groups of one value each give the numbers of the column itself."""
    codes = people(np.random.default_rng(6))
    same = Grouping(3, (0, 1, 2, 3, 4))
    grouped = ChosenQueries(SIZES, (3,), ((0, 4),), coarse=(same,))
    plain = ChosenQueries(SIZES, (3,), ((0, 3),))
    np.testing.assert_array_equal(grouped.counts(codes), plain.counts(codes))


@pytest.mark.parametrize(
    ("sets", "coarse", "said"),
    [
        (((),), (), "columns below 4"),
        (((0, 4),), (), "columns below 4"),
        (((3, 3),), (), "twice"),
        (((3, 4),), (Grouping(3, (0, 0, 0, 1, 1)),), "twice"),
        (((3,),), (Grouping(3, (0, 0, 1)),), "5 groups"),
        (((0, 1),), (), "unknown column"),
        ((), (), "unknown column"),
    ],
)
def test_what_is_no_table_is_refused(sets, coarse, said):
    with pytest.raises(InputError, match=said):
        ChosenQueries(SIZES, (3,), sets, coarse=coarse)


@pytest.mark.parametrize("block", [1, 7, 1000])
@pytest.mark.parametrize("unknown", UNKNOWN)
def test_blocks_of_people_are_counted_as_all_at_once(monkeypatch, unknown, block):
    monkeypatch.setattr("narcissus.mechanisms.queries.BLOCK", block)
    codes = people(np.random.default_rng(4))
    queries = ChosenQueries(SIZES, unknown, SETS, coarse=COARSE)
    cells = queries.cells_of(codes)
    plain = np.bincount(cells.ravel(), minlength=queries.cells)
    np.testing.assert_array_equal(queries.counts(codes), plain)
    for pattern, base in zip(queries.patterns, queries.bases(codes), strict=True):
        split = codes[:, list(unknown)]
        assert ((base >= pattern.offsets) & (base[:, :-1] < pattern.offsets[1:])).all()
        here = base + pattern.values(split)[:, None]
        assert np.isin(here, cells).all()


def test_counting_holds_little_however_many_the_tables_are():
    """An array of people times tables would be 91 MB here, and the old way held four."""
    sizes = (2,) * 16
    codes = np.random.default_rng(5).integers(0, 2, (100_000, 16)).astype(np.int32)
    queries = MarginalQueries(sizes, (3,), 3)
    assert queries.patterns[0].tables == 105
    tracemalloc.start()
    counts = queries.counts(codes)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert counts.sum() == 105 * 100_000
    assert peak < 10_000_000
