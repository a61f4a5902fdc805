"""The noisy tree: its accounting against exact neighbours, and what it keeps of the people."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import special

from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP
from narcissus.mechanisms import Columns, TreeSynthesizer
from narcissus.mechanisms.table.tree_mst import NoisyTree, on_simplex, outwards


def table(sizes):
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
    prepared = TreeSynthesizer(epsilon=2.0, delta=1e-6).prepare(table((2, 3, 4)))
    assert float(prepared.guarantee.profile(2.0)) == pytest.approx(1e-6, rel=1e-6)
    assert prepared.guarantee.adjacency == "replace-one"
    assert TreeSynthesizer(epsilon=math.inf).prepare(table((2, 3))).guarantee is None


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
    """Give the exact chance of each first edge and each second one, of three columns."""
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
    prepared = TreeSynthesizer(epsilon=math.inf).prepare(table((3, 3, 3)))
    shares = [np.bincount(codes[:, c], minlength=3) / 4000 for c in range(3)]
    assert set(prepared.make.choose(codes, shares, rng)) == {(0, 2), (1, 2)}
    (release,) = prepared.release(codes[None], rng)
    for pair in ((0, 1), (0, 2), (1, 2)):
        made, true = counts(release.rows, (3, 3, 3), pair), counts(codes, (3, 3, 3), pair)
        assert np.abs(made - true).max() < 4 * math.sqrt(4000 * 0.3)


def test_values_that_no_parent_has_shown_do_not_break_the_sampling():
    prepared = TreeSynthesizer(epsilon=0.01).prepare(table((7, 2, 9, 5)))
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
