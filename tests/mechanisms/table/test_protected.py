"""Tables with changed cells against changes by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus.errors import InputError
from narcissus.mechanisms import Columns, ProtectedCounts, RandomRounding, Rounding, Suppression
from narcissus.mechanisms.table.protected import (
    RandomlyRoundedTo,
    RoundedTo,
    WithheldBelow,
    withhold_more,
)

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


COLUMNS_ROUNDING = Columns(("a", "s"), (("0", "1"), ("0", "1", "2")), (False,) * 2, (1,))


def by_hand(count, base):
    """The nearest multiple, of two equally near the upper."""
    multiples = range(0, count + 2 * base, base)
    return max(multiples, key=lambda m: (-abs(m - count), m))


@pytest.mark.parametrize("base", [1, 2, 3, 4, 5, 10])
def test_cells_are_the_nearest_multiples_halves_up(base):
    counts = np.arange(100.0)
    expected = [by_hand(c, base) for c in range(100)]
    np.testing.assert_array_equal(RoundedTo(base).rounded(counts), expected)


@pytest.mark.parametrize("base", [1, 4, 5])
def test_the_likelihood_is_one_where_a_count_is_rounded_so(base):
    rule, counts = RoundedTo(base), np.arange(31.0)
    cells = np.arange(-5.0, 40.0)[:, None]
    found = rule.log_likelihood(cells, counts)
    expected = [
        [0.0 if by_hand(int(c), base) == cell else -math.inf for c in counts] for cell in cells
    ]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.exp(found).sum(axis=0), 1)  # a distribution of the cell


def test_released_are_rounded_counts():
    codes = np.random.default_rng(1).integers(0, [2, 3], (1, 50, 2))
    prepared = Rounding(base=5, k=2).prepare(COLUMNS_ROUNDING)
    [release] = prepared.release(codes, np.random.default_rng(2))
    counts = prepared.queries.counts(codes[0].astype(np.int32))
    assert (release.cells != counts).any()
    np.testing.assert_array_equal(release.cells, [by_hand(int(c), 5) for c in counts])
    assert (release.rule.log_likelihood(release.cells, counts) == 0).all()
    assert prepared.cellwise
    assert prepared.guarantee is None


COLUMNS_RANDOM_ROUNDING = Columns(("a", "s"), (("0", "1"), ("0", "1")), (False,) * 2, (1,))


@pytest.mark.parametrize("base", [1, 2, 3, 5, 10])
def test_the_chances_are_of_the_two_neighbours_and_unbiased(base):
    counts = np.arange(41.0)
    cells = np.arange(0.0, 60.0)[:, None]
    chance = np.exp(RandomlyRoundedTo(base).log_likelihood(cells, counts))
    np.testing.assert_allclose(chance.sum(axis=0), 1)
    np.testing.assert_allclose((cells * chance).sum(axis=0), counts, atol=1e-12)
    possible = chance > 0
    assert (np.abs(cells - counts)[possible] < base).all()
    assert (np.broadcast_to(cells, possible.shape)[possible] % base == 0).all()


@pytest.mark.coverage_claim
def test_released_cells_have_these_chances():
    """30,000 cells of a count: exact binomial test, false alarm 1e-6 each."""
    prepared = RandomRounding(base=5, k=1).prepare(COLUMNS_RANDOM_ROUNDING)
    rng = np.random.default_rng(3)
    people = np.zeros((30_000, 12, 2), dtype=np.int32)
    people[:, :3, 1] = 1
    cells = np.array([r.cells for r in prepared.release(people, rng)])
    rule = prepared.rule
    for place, count in ((0, 9.0), (1, 3.0)):
        values, times = np.unique(cells[:, place], return_counts=True)
        assert values.tolist() == [5 * (count // 5), 5 * (count // 5) + 5]
        chance = np.exp(rule.log_likelihood(values, np.float64(count)))
        assert stats.binomtest(int(times[1]), 30_000, chance[1]).pvalue > 1e-6
    # Cells are drawn independently of each other.
    assert (
        stats.fisher_exact(
            [[np.sum((cells[:, 0] == a) & (cells[:, 1] == b)) for a in (5, 10)] for b in (0, 5)]
        ).pvalue
        > 1e-6
    )
    assert prepared.cellwise
    assert prepared.guarantee is None


COLUMNS_SUPPRESSION = Columns(
    ("a", "b", "s"), (("0", "1", "2"), ("0", "1", "2", "3"), ("0", "1")), (False,) * 3, (2,)
)


def lines(table):
    """Every line of a table: the places that differ in one axis alone."""
    for axis in range(table.ndim):
        if table.shape[axis] > 1:
            rest = table.shape[:axis] + table.shape[axis + 1 :]
            for place in np.ndindex(*rest):
                yield tuple([*place[:axis], slice(None), *place[axis:]])


@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("threshold", [1, 2, 5])
def test_counts_below_the_threshold_are_withheld(threshold, zeros):
    rule = WithheldBelow(threshold, zeros)
    counts = np.arange(12.0)
    withheld = [c < threshold and (c > 0 or not zeros) for c in range(12)]
    np.testing.assert_array_equal(rule.small(counts), withheld)
    cells = np.array([*range(12), math.nan])[:, None]
    found = np.exp(rule.log_likelihood(cells, counts))
    for c in range(12):
        expected = np.zeros(13)
        expected[12 if withheld[c] else c] = 1
        np.testing.assert_array_equal(found[:, c], expected)


def test_with_more_withheld_any_count_may_be():
    rule = WithheldBelow(3, others=True)
    assert (rule.log_likelihood(np.array([np.nan]), np.arange(9.0)) == 0).all()
    assert rule.log_likelihood(np.array([2.0]), np.array([2.0])) == -math.inf
    assert rule.log_likelihood(np.array([4.0]), np.array([4.0, 5.0])).tolist() == [0, -math.inf]


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
    st.integers(2, 6),
    st.integers(0, 2**32 - 1),
)
def test_no_line_has_a_single_withheld_cell(shape, threshold, seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(4.0, shape).astype(float)
    small = WithheldBelow(threshold).small(counts)
    table = np.where(small, np.nan, counts)
    withhold_more(table)
    withheld = np.isnan(table)
    assert (withheld | ~small).all()  # what was withheld stays
    np.testing.assert_array_equal(table[~withheld], counts[~withheld])
    for line in lines(table):
        assert withheld[line].sum() != 1
    if not any(small[line].sum() == 1 for line in lines(table)):
        np.testing.assert_array_equal(withheld, small)  # nothing more than needed


def test_the_smallest_of_a_line_is_withheld_an_empty_one_last():
    row = np.array([9.0, np.nan, 0.0, 7.0, 7.0])
    withhold_more(row)
    np.testing.assert_array_equal(row, [9, np.nan, 0, np.nan, 7])
    row = np.array([0.0, np.nan, 0.0])
    withhold_more(row)
    np.testing.assert_array_equal(row, [np.nan, np.nan, 0])
    alone = np.array([[np.nan]])
    withhold_more(alone)
    assert np.isnan(alone).all()


@pytest.mark.parametrize("secondary", [False, True])
def test_released_tables(secondary):
    codes = np.random.default_rng(2).integers(0, [3, 4, 2], (1, 90, 3))
    planned = Suppression(threshold=4, secondary=secondary)
    prepared = planned.prepare(COLUMNS_SUPPRESSION)
    [release] = prepared.release(codes, np.random.default_rng(0))
    [table] = prepared.queries.arrays(release.cells)
    counts = np.zeros((3, 4, 2))
    np.add.at(counts, tuple(codes[0].T), 1)
    small = (counts > 0) & (counts < 4)
    assert small.any()
    assert np.isnan(table[small]).all()
    more = np.isnan(table) & ~small
    assert more.any() == secondary
    assert not secondary or all(np.isnan(table[line]).sum() != 1 for line in lines(table))
    np.testing.assert_array_equal(table[~np.isnan(table)], counts[~np.isnan(table)])
    # The rule holds the truth possible, and is exact for each cell only without more withheld.
    true = prepared.queries.counts(codes[0].astype(np.int32))
    assert (release.rule.log_likelihood(release.cells, true) == 0).all()
    assert prepared.cellwise == release.cellwise == (not secondary)
    assert prepared.guarantee is None


@pytest.mark.parametrize(
    ("planned", "label", "strength", "title"),
    [
        (Rounding(base=5.0), "base 5", 5.0, "Rounded 3-way tables"),
        (Rounding(base=5.0, k=2), "base 5", 5.0, "Rounded 2-way tables"),
        (RandomRounding(base=3.0), "base 3", 3.0, "Randomly rounded 3-way tables"),
        (Suppression(threshold=9.0, k=2), "threshold 9", 9.0, "2-way tables without small cells"),
        (Suppression(threshold=10, sets=[["s"]], secondary=True), "threshold 10", 10.0,
         "Tables without small cells and others that would tell them"),
    ],
)  # fmt: skip
def test_they_are_named_and_ordered_by_their_level(planned, label, strength, title):
    assert (planned.label, planned.strength, planned.title) == (label, strength, title)


@pytest.mark.parametrize(
    ("rule", "title"),
    [
        (RoundedTo(5), "rounded to multiples of 5"),
        (RandomlyRoundedTo(3), "randomly rounded to multiples of 3, without bias"),
        (WithheldBelow(5), "withheld where counts are 1 to 4"),
        (WithheldBelow(5, zeros=False, others=True),
         "withheld where counts are 0 to 4, and others so that they cannot be computed"),
    ],
)  # fmt: skip
def test_rules_say_what_was_done(rule, title):
    assert rule.title == title


@pytest.mark.parametrize(
    ("made", "options", "said"),
    [
        (Rounding, {"base": 0}, "`base`"),
        (Rounding, {"base": 2.5}, "`base`"),
        (Rounding, {"base": -5}, "`base`"),
        (RandomRounding, {"base": 2.5}, "`base`"),
        (Suppression, {"threshold": 0.5}, "`threshold`"),
        (Rounding, {"base": 5, "k": 2, "sets": [["s"]]}, "replaces `k`"),
        (Rounding, {"base": 5, "sets": []}, "at least one table"),
        (Rounding, {"base": 5, "k": 0}, "`k` must be at least 1"),
        (Rounding, {"base": 5, "coarser": HALF}, "named by `sets`"),
    ],
)
def test_what_is_no_level_or_names_tables_twice_is_refused(made, options, said):
    with pytest.raises(InputError, match=said):
        made(**options)
