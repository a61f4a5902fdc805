"""Mechanisms that release rows: what they keep of the people, and how private they are."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import special, stats

from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP, PureDP
from narcissus.mechanisms import (
    Bootstrap,
    Columns,
    GaussianCopula,
    MarginalQueries,
    Microdata,
    PublishedRows,
    Swapping,
    TreeSynthesizer,
)
from narcissus.mechanisms.table.rows import NoisyTree, PreparedRows, on_simplex, outwards, swap


def columns_of(number, unknown=(0,)):
    names = tuple(f"c{i}" for i in range(number))
    return Columns(names, (("0", "1"),) * number, (False,) * number, unknown)


def same(codes, rng):
    return codes


@pytest.mark.parametrize(("number", "k"), [(1, 1), (2, 2), (3, 3), (5, 3)])
def test_rows_are_counted_into_tables_of_three_columns_or_as_many_as_there_are(number, k):
    prepared = PreparedRows.of(columns_of(number, (number - 1,)), same)
    assert prepared.queries == MarginalQueries((2,) * number, (number - 1,), k)


def test_what_is_said_of_it_is_kept():
    plain = PreparedRows.of(columns_of(2), same)
    assert (plain.guarantee, plain.assumes, plain.must_vary) == (None, (), False)
    told = PreparedRows.of(columns_of(2), same, PureDP(1.0), assumes=("it does",), must_vary=True)
    assert (told.guarantee, told.assumes, told.must_vary) == (PureDP(1.0), ("it does",), True)
    assert told.make is same
    assert (told.releases, told.noise, told.cellwise) == (Microdata, None, False)


def test_each_data_set_is_released_in_turn_by_one_generator():
    seen = []

    def noted(codes, rng):
        seen.append((codes.dtype, codes.tolist(), rng.random()))
        return codes[:1]

    data = np.array([[[0, 0], [1, 1]], [[0, 1], [1, 1]], [[1, 0], [0, 0]]])
    releases = PreparedRows.of(columns_of(2), noted).release(data, np.random.default_rng(4))
    coins = np.random.default_rng(4).random(3).tolist()
    assert seen == [(np.int32, d, c) for d, c in zip(data.tolist(), coins, strict=True)]
    assert [release.rows.tolist() for release in releases] == data[:, :1].tolist()


def test_a_function_that_writes_into_its_rows_changes_nobody():
    def spoilt(codes, rng):
        codes[:] = 1
        return codes

    data = np.zeros((1, 4, 2), dtype=np.int32)
    (release,) = PreparedRows.of(columns_of(2), spoilt).release(data, np.random.default_rng(0))
    assert release.rows.all()
    assert not data.any()


def test_released_rows_cannot_be_written_to():
    def turned(codes, rng):
        return codes.astype(float)[:, ::-1][:, ::-1].T.copy().T

    data = np.eye(2, dtype=np.int64)[None]
    (release,) = PreparedRows.of(columns_of(2), turned).release(data, np.random.default_rng(0))
    assert release.rows.dtype == np.int32
    assert release.rows.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        release.rows[0, 0] = 1


def test_each_person_is_there_as_often_as_with_replacement(columns):
    prepared = Bootstrap().prepare(columns)
    rng = np.random.default_rng(3)
    numbered = np.arange(50)[:, None].repeat(3, 1)
    times = np.array([
        np.bincount(prepared.make(numbered, rng)[:, 0], minlength=50) for _ in range(2000)
    ])  # fmt: skip
    assert (times.sum(1) == 50).all()
    assert (times > 0).mean() == pytest.approx(1 - (1 - 1 / 50) ** 50, abs=0.005)
    assert times.var() == pytest.approx(1 - 1 / 50, abs=0.02)
    assert prepared.guarantee is None


def test_every_row_is_released_once_and_not_in_its_place(columns, people):
    prepared = PublishedRows().prepare(columns)
    (release,) = prepared.release(people[None], np.random.default_rng(1))
    assert isinstance(release, Microdata)
    assert prepared.guarantee is None
    assert sorted(release.rows.tolist()) == sorted(people.tolist())
    numbered = np.arange(60)[:, None].repeat(3, 1)
    places = [prepared.make(numbered, np.random.default_rng(s))[0, 0] for s in range(300)]
    assert len(set(places)) > 50


COLUMNS = Columns(
    ("id", "group", "s"),
    (tuple(map(str, range(200))), ("0", "1", "2"), tuple(map(str, range(200)))),
    (False,) * 3,
    (2,),
)


def people(n=200, seed=1):
    """Everybody has a number of their own, and it is their secret too."""
    group = np.random.default_rng(seed).integers(0, 3, n)
    return np.stack([np.arange(n), group, np.arange(n)], axis=1).astype(np.int32)


@pytest.mark.parametrize(("rate", "moved"), [(0.0, 0), (0.05, 10), (0.1, 20), (1.0, 200)])
def test_so_many_people_have_the_value_of_their_partner(rate, moved):
    rows = swap(people(), np.random.default_rng(2), rate=rate, swapped=[2], match=[])
    assert (rows[:, 0] != rows[:, 2]).sum() == moved
    partner = dict(zip(rows[:, 0], rows[:, 2], strict=True))
    assert all(partner[partner[i]] == i for i in range(200))
    assert sorted(rows[:, 0]) == sorted(rows[:, 2]) == list(range(200))
    np.testing.assert_array_equal(rows[np.argsort(rows[:, 0]), 1], people()[:, 1])


@pytest.mark.parametrize("rate", [0.2, 1.0])
def test_the_two_of_a_pair_agree_on_what_must_match(rate):
    data = people()
    rows = swap(data, np.random.default_rng(3), rate=rate, swapped=[2], match=[1])
    np.testing.assert_array_equal(data[rows[:, 0], 1], data[rows[:, 2], 1])
    odd = sum(size % 2 for size in Counter(data[:, 1]).values())
    assert (rows[:, 0] != rows[:, 2]).sum() == min(round(rate * 200), 200 - odd)


def test_several_columns_move_together():
    rows = swap(people(), np.random.default_rng(4), rate=1.0, swapped=[1, 2], match=[])
    np.testing.assert_array_equal(rows[:, 1], people()[rows[:, 2], 1])
    assert (rows[:, 0] != rows[:, 2]).all()


def test_pairs_and_order_are_random():
    """Over 2,000 releases everybody is swapped with everybody, and is in every place."""
    partners, places, moved = np.zeros((6, 6)), np.zeros((6, 6)), 0
    rng = np.random.default_rng(5)
    for _ in range(2_000):
        rows = swap(people(6), rng, rate=1 / 3, swapped=[2], match=[])
        partners[rows[:, 0], rows[:, 2]] += 1
        places[rows[:, 0], np.arange(6)] += 1
        moved += int((rows[:, 0] != rows[:, 2]).sum())
    assert moved == 4_000
    off = partners[~np.eye(6, dtype=bool)]
    assert np.abs(off / 2_000 - 1 / 15).max() < 0.03  # five standard deviations and more
    assert np.abs(places / 2_000 - 1 / 6).max() < 0.045


def test_a_partner_is_not_given_away_by_the_order():
    """With all pairs swapped, a row's partner is beside it no more often than anybody else."""
    rng, beside = np.random.default_rng(6), 0
    for _ in range(400):
        rows = swap(people(20), rng, rate=1.0, swapped=[2], match=[])
        beside += int((rows[1:, 0] == rows[:-1, 2]).sum())
    assert beside / 400 == pytest.approx(1.0, abs=0.25)  # 19 neighbours, each with chance 1/19


def test_few_rows_are_no_difficulty():
    for n in (0, 1, 2):
        rows = swap(people(n), np.random.default_rng(0), rate=1.0, swapped=[2], match=[1])
        assert rows.shape == (n, 3)


def test_released_are_rows_with_the_unknown_columns_swapped():
    prepared = Swapping(rate=0.5).prepare(COLUMNS)
    [release] = prepared.release(people()[None], np.random.default_rng(7))
    assert isinstance(release, Microdata)
    assert (release.rows[:, 0] != release.rows[:, 2]).sum() == 100
    assert (prepared.guarantee, prepared.cellwise) == (None, False)
    other = Swapping(rate=1.0, columns=["id"], match=["group"]).prepare(COLUMNS)
    [release] = other.release(people()[None], np.random.default_rng(7))
    np.testing.assert_array_equal(people()[release.rows[:, 2], 1], release.rows[:, 1])


def test_it_is_named_and_ordered_by_its_rate():
    planned = Swapping(rate=0.05)
    assert (planned.label, planned.strength, planned.title) == ("rate 0.05", 0.05, "Swapped rows")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rate": 1.5}, r"`rate` must be in \[0, 1\]"),
        ({"rate": 0.1, "columns": []}, "at least one column"),
        ({"rate": 0.1, "columns": ["s"], "match": ["s"]}, "both name `s`"),
        ({"rate": 0.1, "match": ["s"]}, "`s`, which is unknown and thus swapped"),
        ({"rate": 0.1, "match": ["grup"]}, "did you mean `group`"),
    ],
)
def test_what_cannot_be_swapped_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        Swapping(**options).prepare(COLUMNS)


def test_everybody_with_a_partner_is_as_likely_to_be_swapped():
    """The groups of ``match`` have their share of the swaps: 4,000 releases, six deviations."""
    data = people(30)
    data[:, 1] = np.repeat([0, 1, 2], 10)
    rng, moved = np.random.default_rng(8), np.zeros(30)
    for _ in range(4_000):
        rows = swap(data, rng, rate=0.2, swapped=[2], match=[1])
        moved[rows[rows[:, 0] != rows[:, 2], 0]] += 1
    assert np.abs(moved / 4_000 - 0.2).max() < 6 * np.sqrt(0.2 * 0.8 / 4_000)


def table(*sizes, ordered=True):
    names = tuple(f"c{i}" for i in range(len(sizes)))
    labels = tuple(tuple(f"v{v}" for v in range(size)) for size in sizes)
    return Columns(names, labels, (ordered,) * len(sizes), (0,))


def sampled(columns, codes, seed=0):
    prepared = GaussianCopula().prepare(columns)
    return prepared.release(codes[None], np.random.default_rng(seed))[0].rows


def test_normal_data_come_back_with_their_correlation():
    rng = np.random.default_rng(5)
    normals = rng.multivariate_normal([0, 0], [[1, -0.7], [-0.7, 1]], size=20_000)
    ends = np.linspace(-3, 3, 59)
    rows = sampled(table(60, 60), np.stack([np.searchsorted(ends, x) for x in normals.T], 1))
    assert stats.spearmanr(*rows.T).statistic == pytest.approx(
        6 / np.pi * np.arcsin(-0.35), abs=0.02
    )


def test_columns_keep_their_frequencies_and_values_that_nobody_has_stay_away():
    rng = np.random.default_rng(6)
    codes = rng.choice([0, 2, 3], p=[0.1, 0.2, 0.7], size=(20_000, 2))
    rows = sampled(table(5, 4, ordered=False), codes)
    shares = [np.bincount(rows[:, c], minlength=5) / 20_000 for c in range(2)]
    assert np.abs(np.array(shares) - [0.1, 0, 0.2, 0.7, 0]).max() < 0.015
    assert np.array(shares)[:, [1, 4]].max() == 0


def test_values_without_order_rank_by_how_frequent_they_are():
    """Where the labels' order would show no correlation, that of the frequencies does."""
    rng = np.random.default_rng(8)
    frequent = rng.choice(3, p=[0.6, 0.3, 0.1], size=20_000)
    codes = np.stack([np.array([1, 0, 2])[frequent], frequent], 1)
    rows = sampled(table(3, 3, ordered=False), codes)
    assert (np.array([1, 0, 2])[rows[:, 0]] == rows[:, 1]).mean() > 0.95
    mixed = sampled(table(3, 3), codes)
    assert (np.array([1, 0, 2])[mixed[:, 0]] == mixed[:, 1]).mean() < 0.9


def test_a_column_of_one_value_and_one_person_are_no_trouble():
    codes = np.stack([np.zeros(500, int), np.arange(500) % 3], 1)
    rows = sampled(table(2, 3), codes)
    assert (rows[:, 0] == 0).all()
    assert np.unique(rows[:, 1]).tolist() == [0, 1, 2]
    assert sampled(table(2, 3), np.array([[1, 2]])).tolist() == [[1, 2]]


def table_tree(sizes):
    labels = tuple(tuple(f"v{v}" for v in range(size)) for size in sizes)
    return Columns(tuple(f"c{i}" for i in range(len(sizes))), labels, (True,) * len(sizes), (0,))


def neighbours(sizes, n=6, seed=0, count=60):
    """Yield pairs of data sets of which one record differs, in one column or in all."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        one = np.stack([rng.integers(size, size=n) for size in sizes], 1).astype(np.int32)
        two = one.copy()
        changed = rng.random(len(sizes)) < rng.choice([0.4, 1.0])
        two[0, changed] = (two[0, changed] + 1) % np.array(sizes)[changed]
        yield one, two


def counts(codes, sizes, columns):
    found = np.zeros([sizes[c] for c in columns])
    for row in codes:
        found[tuple(row[list(columns)])] += 1
    return found.ravel()


@pytest.mark.parametrize("d", [1, 2, 3, 6])
@pytest.mark.parametrize("mu", [0.01, 0.5, 8.0])
def test_the_steps_add_up_to_the_level(d, mu):
    assert NoisyTree.of_mu((3,) * d, mu).mu == pytest.approx(mu, rel=1e-9)


def test_the_guarantee_goes_through_its_point():
    prepared = TreeSynthesizer(epsilon=2.0, delta=1e-6).prepare(table_tree((2, 3, 4)))
    assert float(prepared.guarantee.profile(2.0)) == pytest.approx(1e-6, rel=1e-6)
    assert prepared.guarantee.adjacency == "replace-one"
    assert TreeSynthesizer(epsilon=math.inf).prepare(table_tree((2, 3))).guarantee is None


def test_what_is_measured_tells_neighbours_apart_as_well_as_is_said_and_no_better():
    """Of two columns nothing is chosen: the exact profile is that of the normal noise alone."""
    sizes, mu = (3, 4), 0.8
    tree = NoisyTree.of_mu(sizes, mu)
    scales = {(0,): tree.single, (1,): tree.single, (0, 1): tree.double}
    exact = []
    for one, two in neighbours(sizes):
        moved = sum(
            ((counts(one, sizes, c) - counts(two, sizes, c)) ** 2).sum() / scale**2
            for c, scale in scales.items()
        )
        exact.append(math.sqrt(moved))
    assert max(exact) == pytest.approx(mu, rel=1e-9)
    e = np.linspace(0, 3, 31)
    assert (GaussianDP(mu).profile(e) >= GaussianDP(max(exact)).profile(e) * (1 - 1e-7)).all()


@pytest.mark.states("Dong, Roth and Su 2022", "Corollary 3.3")
def test_two_normal_releases_are_one_with_the_root_of_their_squares():
    """The exact profile of the pair, summed over a grid of both values."""
    one, two = 0.7, 1.1
    x, y = np.meshgrid(np.linspace(-9, 10, 1901), np.linspace(-9, 10, 1901))
    null = np.exp(-(x**2 + y**2) / 2) / (2 * np.pi) * 0.01**2
    other = np.exp(-((x - one) ** 2 + (y - two) ** 2) / 2) / (2 * np.pi) * 0.01**2
    for e in (0.0, 0.5, 2.0):
        exact = np.maximum(other - np.exp(e) * null, 0).sum()
        assert float(GaussianDP(math.hypot(one, two)).profile(e)) == pytest.approx(exact, rel=1e-4)


def test_a_replaced_record_moves_a_score_by_two_at_most():
    sizes = (2, 3, 2)
    tree = NoisyTree(sizes)
    rng = np.random.default_rng(2)
    moves = []
    for one, two in neighbours(sizes, count=300):
        shares = [rng.dirichlet(np.ones(size)) for size in sizes]
        moves += [
            abs(tree.score(one, pair, shares) - tree.score(two, pair, shares))
            for pair in ((0, 1), (0, 2), (1, 2))
        ]
    assert 1.9 < max(moves) <= 2 + 1e-9


def chances(tree, codes, shares):
    """Return the exact chance of each first edge and each second one, of three columns."""
    pairs = ((0, 1), (0, 2), (1, 2))
    weights = np.exp(tree.width * np.array([tree.score(codes, p, shares) for p in pairs]) / 4)
    return {
        (pairs[a], pairs[b]): weights[a] / weights.sum() * weights[b] / (weights.sum() - weights[a])
        for a, b in product(range(3), repeat=2)
        if a != b
    }


def test_choices_are_no_easier_to_tell_apart_than_is_said():
    """Every exact chance of a tree against that of a neighbour, for all events at once."""
    sizes = (2, 3, 2)
    rng = np.random.default_rng(4)
    e = np.linspace(0, 4, 41)
    closest = 0.0
    for one, two in neighbours(sizes, n=3, count=200):
        shares = [rng.dirichlet(np.full(size, 0.3)) for size in sizes]
        tree = NoisyTree(sizes, 1.0, 1.0, width=2.0)
        choice = 2 * special.ndtri(special.expit(tree.width / 2))
        limit = GaussianDP(float(choice * math.sqrt(2))).profile(e)
        p, q = (np.array(list(chances(tree, x, shares).values())) for x in (one, two))
        exact = np.maximum(p[:, None] - np.exp(e) * q[:, None], 0).sum(0)
        assert (exact <= limit + 1e-12).all()
        closest = max(closest, exact[0] / limit[0])
    assert closest > 0.5


def test_two_coins_are_hardest_to_tell_apart_where_they_are_said_to_be():
    """Their Gaussian level is largest where they are mirror images, and that one is reached."""
    odds, width = np.meshgrid(np.linspace(-20, 20, 401), [0.1, 1.0, 5.0, 12.0])
    level = special.ndtri_exp(special.log_expit(odds)) - special.ndtri_exp(
        special.log_expit(odds - width)
    )
    worst = 2 * special.ndtri(special.expit(width / 2))
    assert (level <= worst + 1e-9).all()
    assert NoisyTree((2, 2, 2), 1e9, 1e9, width=1.0).mu == pytest.approx(
        math.sqrt(2) * 2 * special.ndtri(special.expit(0.5)), rel=1e-6
    )


def test_edges_are_chosen_with_the_chances_of_the_exponential_mechanism():
    sizes = (2, 3, 2)
    rng = np.random.default_rng(5)
    codes = np.stack([rng.integers(size, size=8) for size in sizes], 1).astype(np.int32)
    shares = [rng.dirichlet(np.ones(size)) for size in sizes]
    tree = NoisyTree(sizes, 1.0, 1.0, width=3.0)
    expected = chances(tree, codes, shares)
    times = dict.fromkeys(expected, 0)
    for _ in range(8000):
        first, second = tree.choose(codes, shares, rng)
        times[first, second] += 1
    error = [(times[t] / 8000 - p) / math.sqrt(p * (1 - p) / 8000) for t, p in expected.items()]
    assert np.abs(error).max() < 4
    assert max(expected.values()) > 2 * min(expected.values())


def test_the_noise_is_as_large_as_is_said():
    rng = np.random.default_rng(9)
    codes = np.repeat([[0], [1]], 500, axis=0).astype(np.int32)
    tree = NoisyTree((2,), single=60.0)
    ones = [int(tree(codes, rng).sum()) for _ in range(3000)]
    assert np.var(ones) == pytest.approx(60**2 / 2 + 250, rel=0.1)
    linked = np.hstack([codes, codes])
    pairs = (np.diag([500.0, 500.0]) + 300 * rng.standard_normal((3000, 2, 2))).reshape(-1, 4)
    tables = np.array([on_simplex(pair, 1000.0) for pair in pairs])
    first = tables[:, :2].sum(1)
    moved = np.where(first > 0, tables[:, 1] / np.where(first > 0, first, 1), 0.5)
    rows = [NoisyTree((2, 2), 1e-9, 300.0)(linked, rng) for _ in range(1500)]
    found = [(r[:, 1] > r[:, 0]).sum() / (r[:, 0] == 0).sum() for r in rows]
    error = math.hypot(np.std(moved) / math.sqrt(3000), np.std(found) / math.sqrt(1500))
    assert abs(np.mean(found) - np.mean(moved)) < 4 * error
    assert np.mean(moved) > 20 * error


def test_without_noise_a_chain_is_found_and_kept():
    rng = np.random.default_rng(10)
    start = rng.integers(3, size=4000)
    middle = np.where(rng.random(4000) < 0.9, start, rng.integers(3, size=4000))
    end = np.where(rng.random(4000) < 0.9, middle, rng.integers(3, size=4000))
    codes = np.stack([start, end, middle], 1).astype(np.int32)
    prepared = TreeSynthesizer(epsilon=math.inf).prepare(table_tree((3, 3, 3)))
    shares = [np.bincount(codes[:, c], minlength=3) / 4000 for c in range(3)]
    assert set(prepared.make.choose(codes, shares, rng)) == {(0, 2), (1, 2)}
    (release,) = prepared.release(codes[None], rng)
    for pair in ((0, 1), (0, 2), (1, 2)):
        made, true = counts(release.rows, (3, 3, 3), pair), counts(codes, (3, 3, 3), pair)
        assert np.abs(made - true).max() < 4 * math.sqrt(4000 * 0.3)


def test_values_that_no_parent_has_shown_do_not_break_the_sampling():
    prepared = TreeSynthesizer(epsilon=0.01).prepare(table_tree((7, 2, 9, 5)))
    codes = np.zeros((3, 4), dtype=np.int32)
    for seed in range(50):
        (release,) = prepared.release(codes[None], np.random.default_rng(seed))
        assert release.rows.shape == (3, 4)
        assert (release.rows < [7, 2, 9, 5]).all()
        assert (release.rows >= 0).all()


def test_trees_are_walked_outwards():
    assert list(outwards([(1, 3), (0, 2), (2, 3)])) == [(0, 2), (2, 3), (3, 1)]


def test_the_nearest_table_is_nearer_than_any_other():
    rng = np.random.default_rng(11)
    values = rng.normal(size=6) * 4
    nearest = on_simplex(values, 10.0)
    assert nearest.sum() == pytest.approx(10)
    others = 10 * rng.dirichlet(np.full(6, 0.3), size=20_000)
    distance = np.linalg.norm(nearest - values)
    assert (np.linalg.norm(others - values, axis=1) >= distance - 1e-9).all()
    assert np.linalg.norm(others - values, axis=1).min() < distance * 1.2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epsilon": 0.0}, "`epsilon` must be in"),
        ({"epsilon": -1.0}, "`epsilon` must be in"),
        ({"epsilon": 1e-12}, "`epsilon` must be in"),
        ({"epsilon": math.nan}, "NaN"),
        ({"epsilon": 1.0, "delta": 0.0}, "`delta` must be in"),
        ({"epsilon": 1.0, "delta": 1.0}, "`delta` must be in"),
    ],
)
def test_what_is_no_level_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        TreeSynthesizer(**options)


def test_levels_are_ordered_by_protection():
    made = [TreeSynthesizer(epsilon=e) for e in (0.5, 2.0, math.inf)]
    assert [one.strength for one in made] == [2.0, 0.5, 0.0]
    assert [one.label for one in made] == ["ε = 0.5", "ε = 2", "no noise"]
