"""The search for the pair of rows with the least overlap."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from narcissus.channels import KaryRandomizedResponse, beta_star, pairwise
from narcissus.channels import _search as search

from .conftest import random_channel


def exact(rows):
    """beta* and its pair in rational arithmetic."""
    rows = [[Fraction(float(x)) for x in row] for row in rows]
    return min(
        (sum(map(min, rows[a], rows[b])), (a, b))
        for a, b in itertools.combinations(range(len(rows)), 2)
    )


@pytest.mark.states("Chatzikokolakis et al. 2023", "section VII-B")
@pytest.mark.states("Narcissus theory", "6.1")
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.one_in(4)
def test_every_search_finds_the_exact_minimum_of_tiny_overlaps(loops, seed):
    # Overlaps spread over 30 orders of magnitude, where one minus a distance knows nothing.
    rng = np.random.default_rng(seed)
    n, m = 40, 9
    rows = 10.0 ** -rng.uniform(0, 30, (n, m))
    rows[np.arange(n), rng.integers(m, size=n)] += 1
    rows /= rows.sum(axis=1, keepdims=True)
    value, pair = exact(rows)
    order = np.arange(n)
    everyone = {
        "spread": None,
        "order": order,
        "reach": np.ones(n),
        "value": 2.0,
        "observer": search.SILENT,
    }
    for found in (
        search.least_overlap(rows),
        search._all_subsets(rows, order),
        search._all_blocks(rows, **everyone),
        search._all_sparse(sparse.csr_array(rows), **everyone),
    ):
        assert found[0] == pytest.approx(float(value), rel=1e-13, abs=0)
        assert found[1] == pair


def test_pairs_with_nothing_in_common_and_identical_rows(loops):
    rows = np.zeros((700, 50))
    rows[np.arange(700), np.arange(700) % 50] = 1
    assert beta_star(rows).value == 0
    same = np.tile(np.random.default_rng(0).dirichlet(np.ones(30)), (600, 1))
    assert beta_star(same).value == pytest.approx(1, rel=1e-15)


def test_rows_off_by_the_tolerance_are_not_pruned_wrongly():
    rng = np.random.default_rng(5)
    rows = random_channel(rng, 400, 30)
    rows[:, 0] += rng.uniform(-9e-10, 9e-10, 400)
    rows = np.abs(rows)
    found = beta_star(rows)
    values = [np.minimum(a, b).sum() for a, b in itertools.combinations(rows, 2)]
    assert found.value == pytest.approx(min(values), rel=1e-13)


def test_sparse_and_dense_agree(monkeypatch):
    rng = np.random.default_rng(3)
    rows = random_channel(rng, 120, 60, 0.2)
    rows[rows < 0.02] = 0
    rows /= rows.sum(axis=1, keepdims=True)
    dense = beta_star(rows)
    assert dense.value > 0 or (pairwise(rows) == 0).any()
    rows[:, 0] = 0.3  # nobody disjoint
    rows[:, 1:] *= 0.7 / rows[:, 1:].sum(axis=1, keepdims=True)
    dense = beta_star(rows)
    monkeypatch.setattr(search, "least_overlap", search.least_overlap)
    compact = sparse.csr_array(rows)
    keys = search._radii(compact, None)
    order = np.argsort(-keys, kind="stable")
    found = search._all_sparse(
        compact, spread=None, order=order, reach=keys[order], value=2.0, observer=search.SILENT
    )
    assert found[0] == pytest.approx(dense.value, rel=1e-13)
    assert beta_star(compact).value == pytest.approx(dense.value, rel=1e-14)


def test_spread_moves_the_pair(loops):
    rng = np.random.default_rng(8)
    rows = random_channel(rng, 300, 25)
    spread = rng.uniform(0, 0.3, 300) ** 2
    value, pair = search.least_overlap(rows, spread=spread)
    table = pairwise(rows) - np.sqrt(spread[:, None] + spread)
    np.fill_diagonal(table, np.inf)
    assert value == pytest.approx(table.min(), rel=1e-12)
    assert table[pair] == pytest.approx(table.min(), rel=1e-12)


def test_the_result_does_not_depend_on_the_number_of_cores(monkeypatch):
    rows = random_channel(np.random.default_rng(1), 1500, 40)
    many = beta_star(rows)
    monkeypatch.setattr(search, "workers", lambda: 1)
    assert beta_star(rows) == many


def test_randomized_response_is_settled_by_the_certificate(monkeypatch):
    monkeypatch.setattr(search, "_radii", lambda *a: pytest.fail("went beyond the certificate"))
    mechanism = KaryRandomizedResponse(300, 2)
    assert beta_star(mechanism.channel()).value == pytest.approx(mechanism.beta_star, rel=1e-13)


@pytest.fixture
def compiled():
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    from narcissus.channels import _compiled

    return _compiled


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("outputs", [1, 7, search.CHUNK + 3])
def test_pairs_of_rows(outputs):
    rng = np.random.default_rng(outputs)
    left, right = rng.random((9, outputs)), rng.random((6, outputs))
    overlap = np.minimum(left[:, None], right[None]).sum(axis=2)
    excess = np.maximum(left[:, None] - right[None], 0).sum(axis=2)
    assert np.allclose(search.pair_block(left, right), overlap, rtol=1e-12)
    assert np.allclose(search.pair_block(left, right, kind="excess"), excess, rtol=1e-12)


@pytest.mark.usefixtures("loops")
def test_subsets():
    rows = np.random.default_rng(1).dirichlet(np.ones(5), 8)
    found = search.subset_minima(rows)
    for bits in itertools.product((0, 1), repeat=5):
        index = sum(bit << k for k, bit in enumerate(bits))
        assert found[index] == pytest.approx((rows @ np.array(bits)).min(), abs=1e-15)


@pytest.mark.parametrize(("rows", "width"), list(itertools.product((1, 3, 4, 5, 8, 9), repeat=2)))
def test_tiles_and_what_is_left_over_add_to_what_is_there(rows, width, compiled):
    rng = np.random.default_rng(10 * rows + width)
    a, b, begun = rng.random((rows, 7)), rng.random((width, 7)), rng.random((rows, width))
    sums = {
        compiled.overlap: np.minimum(a[:, None], b[None]).sum(axis=2),
        compiled.excess: np.maximum(a[:, None] - b[None], 0).sum(axis=2),
    }
    for loop, expected in sums.items():
        out = begun.copy()
        loop(a, b, out)
        assert np.allclose(out, begun + expected, rtol=1e-13, atol=0)


def test_a_tiny_overlap_keeps_its_relative_accuracy(compiled):
    """Sums of non-negative terms: nothing is lost beside a large one that is not there."""
    a, b, out = np.array([[1.0, 1e-30]]), np.array([[0.0, 1.0]]), np.zeros((1, 1))
    compiled.overlap(a, b, out)
    assert out[0, 0] == pytest.approx(1e-30, rel=1e-14, abs=0)


@pytest.mark.parametrize("first", range(5))
def test_subsets_by_enumeration_however_they_are_split(first, compiled):
    rows = np.random.default_rng(first).dirichlet(np.ones(4), 6)
    best = np.full((2 ** (4 - first), 2**first), 0.9)
    compiled.subsets(rows, best)
    for bits in itertools.product((0, 1), repeat=4):
        low = sum(bit << k for k, bit in enumerate(bits[:first]))
        high = sum(bit << k for k, bit in enumerate(bits[first:]))
        least = min(0.9, (rows @ np.array(bits)).min())  # what was there is kept where it is less
        assert best[high, low] == pytest.approx(least, abs=1e-15)


def test_no_overlap_is_not_the_least_where_pairs_are_known_within_limits():
    """With limits a pair without overlap may stand above one that is hardly known."""
    one = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.4, 0.6]]
    # the first two are farthest out, known exactly, and have nothing in common
    other = [[5, 5, 0, 0, 0, 0], [0, 0, 5, 5, 0, 0], [2, 0, 2, 0, 6, 0], [0, 2, 0, 2, 0, 6]]
    other += 5 * [[0, 0, 0, 0, 10, 0], [0, 0, 0, 0, 0, 10]]
    for rows, spread in (
        (np.array(one), np.array([1e-9, 1e-9, 4.0, 4.0])),
        (np.array(other) / 10, np.array([0.0, 0.0, 0.15**2, 0.15**2, *[0.0] * 10])),
    ):
        value, pair = search.least_overlap(rows, spread=spread)
        each = {
            (i, j): np.minimum(rows[i], rows[j]).sum() - np.sqrt(spread[i] + spread[j])
            for i in range(len(rows)) for j in range(i)
        }  # fmt: skip
        assert value == pytest.approx(min(each.values()))
        assert each[max(pair), min(pair)] == pytest.approx(value)
