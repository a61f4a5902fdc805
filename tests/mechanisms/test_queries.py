"""Any list of tables against explicit counting, and releases of them with noise."""

import tracemalloc
from itertools import combinations, product
from math import prod

import mpmath
import numpy as np
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.mechanisms import (
    ChosenQueries,
    GaussianNoise,
    Grouping,
    LaplaceNoise,
    MarginalQueries,
    NoisyMarginals,
    NoNoise,
)

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


SETS_PATTERNS = ((0, 3), (5, 0), (1, 3, 2), (4, 5, 2), (2, 0), (1, 5), (2, 1, 5, 0))


QUERIES = ChosenQueries(SIZES, (1, 2, 3), SETS_PATTERNS, coarse=COARSE)


VALUES = list(product(range(4), range(3), range(5)))


def groups_of(pattern, value):
    """The entry of the pattern's table that a joint value falls into."""
    own = [value[c] for c in pattern.columns]
    return tuple(
        v if g is None else g.groups[v] for v, g in zip(own, pattern.groupings, strict=True)
    )


def test_there_is_a_pattern_for_each_choice_of_unknown_columns_and_groups():
    found = {(p.columns, p.shape, p.tables) for p in QUERIES.patterns}
    assert found == {
        ((2,), (5,), 1),
        ((2,), (3,), 1),
        ((1,), (3,), 1),
        ((0, 1, 2), (4, 3, 5), 1),
        ((0, 1, 2), (2, 3, 3), 1),
        ((0, 1, 2), (4, 3, 3), 1),
        ((0, 2), (4, 3), 1),
    }


@pytest.mark.parametrize("pattern", QUERIES.patterns)
def test_values_sums_and_spreads_follow_the_groups(pattern):
    """A sum is over the joint values in a cell; spreading is its transpose."""
    rng = np.random.default_rng(4)
    places = [groups_of(pattern, value) for value in VALUES]
    numbers = [int(np.ravel_multi_index(place, pattern.shape)) for place in places]
    np.testing.assert_array_equal(pattern.values(np.array(VALUES)), numbers)
    assert set(numbers) == set(range(pattern.size))
    joint = rng.random((2, 6, len(VALUES)))
    expected = np.zeros((2, 6, pattern.size))
    for value, number in enumerate(numbers):
        expected[..., number] += joint[..., value]
    np.testing.assert_allclose(pattern.sum_to(joint), expected)
    part = rng.random((2, 6, pattern.size))
    shown = np.broadcast_to(pattern.spread(part), (2, 6, *QUERIES.unknown_shape))
    np.testing.assert_array_equal(shown.reshape(2, 6, -1), part[..., numbers])
    assert pattern.whole == (numbers == list(range(len(VALUES))))
    assert pattern.sum_to(joint[:, :0]).shape == (2, 0, pattern.size)


SHAPES = [
    ((2, 3, 2), (1,), 1),
    ((2, 3, 2), (1,), 2),
    ((2, 3, 2), (1,), 3),
    ((2, 3, 2, 2), (3, 0), 2),
    ((2, 3, 2, 2), (0, 1, 2), 3),
    ((2, 3, 2), (0, 1, 2), 2),
]


def column_sets(sizes, unknown, k):
    return [c for c in combinations(range(len(sizes)), k) if set(c) & set(unknown)]


@pytest.mark.states("Swanberg et al. 2025", "section 6")
@pytest.mark.states("Narcissus theory", "9")
@pytest.mark.parametrize(("sizes", "unknown", "k"), SHAPES)
def test_cells_are_the_counts_of_all_tables(sizes, unknown, k):
    """The same multiset of tables as np.histogramdd makes, and one-to-one cells."""
    rng = np.random.default_rng(1)
    codes = np.stack([rng.integers(0, s, 40) for s in sizes], axis=1).astype(np.int32)
    queries = MarginalQueries(sizes, unknown, k)
    sets = column_sets(sizes, unknown, k)
    assert queries.tables == len(sets)
    assert queries.cells == sum(prod(sizes[c] for c in s) for s in sets)
    ours = queries.counts(codes)
    theirs = [
        np.histogramdd(codes[:, s], bins=[np.arange(sizes[c] + 1) - 0.5 for c in s])[0].ravel()
        for s in sets
    ]
    np.testing.assert_array_equal(np.sort(ours), np.sort(np.concatenate(theirs)))
    # Two records share exactly the cells of the tables on whose columns they agree.
    cells = queries.cells_of(codes)
    for i, j in combinations(range(12), 2):
        shared = sum(all(codes[i, c] == codes[j, c] for c in s) for s in sets)
        assert np.intersect1d(cells[i], cells[j]).size == shared


@pytest.mark.parametrize(("sizes", "unknown", "k"), SHAPES)
def test_sensitivity_over_all_neighbours(sizes, unknown, k):
    """Replacing one record by any other: at most sqrt(2 M) in L2 and 2 M in L1, and attained."""
    queries = MarginalQueries(sizes, unknown, k)
    records = np.array(list(product(*map(range, sizes))), dtype=np.int32)
    counts = np.array([queries.counts(r[None]) for r in records])
    change = counts[:, None] - counts[None]
    assert np.sqrt((change**2).sum(axis=2)).max() == pytest.approx(np.sqrt(2 * queries.tables))
    assert np.abs(change).sum(axis=2).max() == 2 * queries.tables


@pytest.mark.states("Dong, Roth and Su 2022", "Theorem 1")
@pytest.mark.parametrize("marginals", [1, 36, 105, 560])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.1, 1e-9), (10.0, 1e-5)])
def test_gaussian_calibration_against_mpmath(epsilon, delta, marginals):
    """delta of the release at epsilon, by 50 digits, is the delta asked for."""
    noise = GaussianNoise.for_epsilon(epsilon, delta, marginals)
    with mpmath.workdps(50):
        mu = mpmath.sqrt(2 * marginals) / mpmath.mpf(noise.scale)
        phi = mpmath.ncdf
        found = phi(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * phi(-mu / 2 - epsilon / mu)
        assert float(found) == pytest.approx(delta, rel=1e-9, abs=0)


@pytest.mark.states("Narcissus theory", "9")
def test_the_figures_of_the_theory():
    """Section 9: mu 0.268 at (1, 1e-5); ACS M = 105, sigma 54.1; FIRE M = 36, sigma 31.7."""
    acs = MarginalQueries((2,) * 16, (3,), 3)
    fire = MarginalQueries((2,) * 10, (0,), 3)
    assert (acs.tables, fire.tables) == (105, 36)
    for queries, sigma in ((acs, 54.1), (fire, 31.7)):
        noise = GaussianNoise.for_epsilon(1.0, 1e-5, queries.tables)
        assert noise.scale == pytest.approx(sigma, abs=0.05)
        assert noise.guarantee(queries.tables).mu == pytest.approx(0.268, abs=5e-4)


@pytest.mark.parametrize("epsilon", [0.3, 5.0])
def test_laplace_is_pure_dp_on_every_release(epsilon):
    """The density ratio of the whole release between any neighbours is at most e^epsilon."""
    sizes, unknown, k = (2, 2, 2), (0,), 2
    queries = MarginalQueries(sizes, unknown, k)
    noise = LaplaceNoise.for_epsilon(epsilon, queries.tables)
    assert noise.guarantee(queries.tables).epsilon == pytest.approx(epsilon)
    records = np.array(list(product(*map(range, sizes))), dtype=np.int32)
    counts = np.array([queries.counts(r[None]) for r in records])
    rng = np.random.default_rng(3)
    worst = 0.0
    for release in [*rng.normal(0, 3, (200, queries.cells)), *counts, *(10 * counts)]:
        logs = -np.abs(release - counts).sum(axis=1) / noise.scale
        worst = max(worst, logs.max() - logs.min())
    assert worst <= epsilon * (1 + 1e-12)
    assert worst == pytest.approx(epsilon)  # at a release of exact counts of distant records


def test_release_is_counts_plus_noise_of_the_seed():
    queries = MarginalQueries((2, 3), (1,), 2)
    codes = np.array([[0, 1], [1, 2], [1, 2]], dtype=np.int32)
    [exact] = NoisyMarginals(queries, NoNoise()).release(codes[None], rng=1)
    np.testing.assert_array_equal(exact.cells, queries.counts(codes))
    noisy = NoisyMarginals(queries, GaussianNoise(3.0))
    first, second = (noisy.release(np.stack([codes, codes[::-1]]), rng=1) for _ in range(2))
    other = noisy.release(codes[None], rng=2)
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.cells, two.cells)
        assert (one.queries, one.noise) == (queries, GaussianNoise(3.0))
    assert (first[0].cells != other[0].cells).all()
    assert (first[0].cells != first[1].cells).all()  # noise of its own for each data set


def test_nobody_can_change_what_was_released():
    queries = MarginalQueries((2, 3), (1,), 2)
    [counts] = NoisyMarginals(queries, NoNoise()).release(np.zeros((1, 3, 2), dtype=np.int32))
    with pytest.raises(ValueError, match="read-only"):
        counts.cells[0] = 1


@pytest.mark.parametrize(
    ("sizes", "unknown", "k", "names"),
    [
        ((2, 2), (), 1, "unknown"),
        ((2, 2), (2,), 1, "unknown"),
        ((2, 2), (0, 0), 1, "unknown"),
        ((2, 2), (0,), 3, "k"),
        ((2, 2), (0,), 0, "k"),
    ],
)
def test_impossible_shapes_are_refused(sizes, unknown, k, names):
    with pytest.raises(InputError, match=f"`{names}`"):
        MarginalQueries(sizes, unknown, k)


def test_too_many_cells_are_refused_with_their_size():
    with pytest.raises(TooLargeError, match=r"800,000,000 cells \(6\.4 GB\)"):
        MarginalQueries((20_000, 20_000, 20_000), (0,), 2)
