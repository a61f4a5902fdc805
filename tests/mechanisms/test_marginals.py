"""Noisy marginals: tables and sensitivities by brute force, calibration by mpmath."""

from itertools import combinations, product
from math import prod

import mpmath
import numpy as np
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.mechanisms import (
    GaussianNoise,
    LaplaceNoise,
    MarginalQueries,
    NoisyMarginals,
    NoNoise,
)

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
