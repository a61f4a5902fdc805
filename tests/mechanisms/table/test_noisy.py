"""Planned noisy counts: the level of the file is the level of the release, of any tables."""

import math
from itertools import product

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP, PureDP
from narcissus.mechanisms import (
    Columns,
    GaussianNoise,
    LaplaceNoise,
    Marginals,
    NoNoise,
    PlannedCounts,
    Tables,
)
from narcissus.mechanisms.table.base import DEFAULT_DELTA, epsilon_at
from narcissus.mechanisms.table.noisy import chosen, k_way


@pytest.mark.parametrize("tables", [1, 7])
def test_the_noise_has_the_level_whatever_the_number_of_tables(tables):
    pure = Marginals(epsilon=0.5, noise="laplace").noise_of(tables)
    assert pure.guarantee(tables).epsilon == pytest.approx(0.5)
    gaussian = Marginals(mu=0.7).noise_of(tables)
    assert gaussian.guarantee(tables).mu == pytest.approx(0.7)
    both = Marginals(epsilon=1.5, delta=1e-4).noise_of(tables)
    assert float(both.guarantee(tables).profile(1.5)) == pytest.approx(1e-4, rel=1e-6)
    assert Marginals(scale=3.0).noise_of(tables) == GaussianNoise(3.0)
    assert Marginals(scale=3.0, noise="laplace").noise_of(tables) == LaplaceNoise(3.0)


@pytest.mark.parametrize("exact", [{"epsilon": math.inf}, {"mu": math.inf}, {"scale": 0.0}])
def test_no_noise_is_called_so(exact):
    planned = Marginals(**exact)
    assert (planned.label, planned.noise_of(3)) == ("no noise", NoNoise())


def test_labels_name_the_level():
    made = [Marginals(epsilon=0.5), Marginals(mu=2.0), Marginals(scale=10.0)]
    assert [one.label for one in made] == ["ε = 0.5", "μ = 2", "scale = 10"]


def test_the_point_is_on_the_profile():
    guarantee = GaussianDP(1.0)
    epsilon, delta = Marginals(mu=1.0, delta=1e-3).point(guarantee)
    assert delta == 1e-3
    assert float(guarantee.profile(epsilon)) == pytest.approx(1e-3, rel=1e-6)
    assert Marginals(epsilon=2.0).point(guarantee) == (2.0, DEFAULT_DELTA)
    assert epsilon_at(GaussianDP(1e-9), 0.5) is None


def test_a_plan_of_ones_own_has_a_point_too():
    class Own(PlannedCounts):
        k = 2
        label = "mine"

        def noise_of(self, tables):
            return LaplaceNoise(2.0 * tables)

    epsilon, delta = Own().point(PureDP(1.0))
    assert delta == DEFAULT_DELTA
    assert float(PureDP(1.0).profile(epsilon)) == pytest.approx(DEFAULT_DELTA, rel=1e-6)
    assert Own().strength == 2.0
    with pytest.raises(TypeError, match="abstract"):
        PlannedCounts()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "exactly one"),
        ({"epsilon": 1.0, "mu": 1.0}, "exactly one"),
        ({"epsilon": 1e-12}, "`epsilon` must be in"),
        ({"epsilon": math.nan}, "above 0"),
        ({"scale": math.inf}, "finite"),
        ({"scale": -1.0}, "at least 0"),
        ({"epsilon": 1.0, "k": 0}, "`k` must be at least 1"),
        ({"mu": 1.0, "noise": "laplace"}, "Gaussian"),
        ({"epsilon": 1.0, "delta": 0.0}, "laplace"),
        ({"epsilon": 1.0, "delta": 1.0}, r"\[0, 1\)"),
        ({"epsilon": 1.0, "delta": 1e-5, "noise": "laplace"}, "pure DP"),
    ],
)
def test_what_is_not_one_level_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        Marginals(**options)


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


COLUMNS_LAYOUT = Columns(
    names=("canton", "age", "sick"),
    labels=(("GE", "VD", "SG", "ZH"), ("1", "2", "3"), ("no", "yes")),
    ordered=(False, True, False),
    unknown=(0, 2),
)


REGION = {"of": "canton", "groups": {"west": ["GE", "VD"], "east": ["ZH", "SG"]}}


OLD = {"of": "age", "groups": {"young": [1, 2.0], "old": ["3"]}}  # numbers, as a file has them


def test_names_become_the_columns_and_groups():
    sets = [["sick", "age"], ["region"], ["old", "sick"], ["sick"], ["sick"], ["age"]]
    queries = chosen(COLUMNS_LAYOUT, sets, {"region": REGION, "old": OLD})
    assert queries.sets == ((2, 1), (3,), (4, 2), (2,), (2,), (1,))
    assert [(g.of, g.groups) for g in queries.coarse] == [(0, (0, 0, 1, 1)), (1, (0, 0, 1))]
    assert (queries.sizes, queries.unknown, queries.tables) == ((4, 3, 2), (0, 2), 6)
    assert queries.cells == 6 + 2 + 4 + 2 + 2
    frame = COLUMNS_LAYOUT.frame(np.array([[0, 2, 1], [3, 0, 1], [1, 2, 0]]))
    tables = [
        a.tolist() for a in queries.arrays(queries.counts(COLUMNS_LAYOUT.codes(frame, of="it")))
    ]
    assert sorted(map(str, tables)) == sorted(
        map(str, ([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0]], [2.0, 1.0], [[0.0, 1.0], [1.0, 1.0]],
                  [1.0, 2.0], [1.0, 2.0]))
    )  # fmt: skip


def test_all_tables_of_so_many_columns():
    assert k_way(COLUMNS_LAYOUT, 3).tables == 1
    with pytest.raises(InputError, match=r"`mechanism\.k` is 4, but the table has 3 columns"):
        k_way(COLUMNS_LAYOUT, 4)


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
        chosen(COLUMNS_LAYOUT, sets, coarser)
