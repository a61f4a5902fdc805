"""Suppression and rounding together, held to every data set that prints the very same tables."""

import csv
import itertools

import numpy as np
import pytest

from narcissus.counts import Publication, audit_tables

ROWS, COLUMNS = ("North", "South"), ("ill", "well")


def sums(finest):
    """All counts of a table of 2 by 2 with its margins, of vectors of finest counts."""
    a, b, c, d = np.asarray(finest).T
    return np.stack([a, b, a + b, c, d, c + d, a + c, b + d, a + b + c + d], axis=-1)


def printed(counts, below, base):
    """What a publisher prints who marks small counts, and rounds the others half up."""
    near = base * ((2 * counts + base) // (2 * base))
    return np.where((counts > 0) & (counts < below), -1, near)


def audited(folder, shown, below, base):
    labels = [(row, column) for row in (*ROWS, "*") for column in (*COLUMNS, "*")]
    with (folder / "t.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["area", "state", "count"])
        out.writerows([*about, "x" if n < 0 else n] for about, n in zip(labels, shown, strict=True))
    declared = Publication(texts_tell_nothing=True, below=below, rounded=str(base), no_zeros=True)
    return audit_tables(declared.read([folder / "t.csv"]), declared.structure).cells


@pytest.mark.parametrize("seed", range(60))
def test_an_unmarked_number_is_not_a_small_one(seed, tmp_path):
    rng = np.random.default_rng(seed)
    below, base = int(rng.integers(2, 7)), int(rng.choice([2, 3, 4, 5, 10]))
    finest = rng.multinomial(int(rng.integers(0, 15)), rng.dirichlet(np.full(4, 0.7)))
    shown = printed(sums(finest), below, base)
    if (shown >= 0).all():
        pytest.skip("nothing is marked")
    every = sums(list(itertools.product(range(20), repeat=4)))
    is_small = (every > 0) & (every < below)
    is_near = 2 * np.abs(every - shown) <= base  # a half may go either way
    alike = every[np.where(shown < 0, is_small, ~is_small & is_near).all(axis=1)]
    for cell, low, high in zip(
        audited(tmp_path, shown, below, base), alike.min(axis=0), alike.max(axis=0), strict=True
    ):
        assert cell.low <= low <= high <= cell.high
        assert (cell.low, cell.high) == (low, high) or not cell.exact
        assert cell.exact, (cell, low, high)
