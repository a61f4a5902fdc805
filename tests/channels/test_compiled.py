"""The compiled loops by themselves: every size around their tile of four, against NumPy's sums."""

import itertools

import numpy as np
import pytest

pytest.importorskip("numba", reason="the extra `fast` is not installed")

from narcissus.channels import _compiled


@pytest.mark.parametrize(("rows", "width"), list(itertools.product((1, 3, 4, 5, 8, 9), repeat=2)))
def test_tiles_and_what_is_left_over_add_to_what_is_there(rows, width):
    rng = np.random.default_rng(10 * rows + width)
    a, b, begun = rng.random((rows, 7)), rng.random((width, 7)), rng.random((rows, width))
    sums = {
        _compiled.overlap: np.minimum(a[:, None], b[None]).sum(axis=2),
        _compiled.excess: np.maximum(a[:, None] - b[None], 0).sum(axis=2),
    }
    for loop, expected in sums.items():
        out = begun.copy()
        loop(a, b, out)
        assert np.allclose(out, begun + expected, rtol=1e-13, atol=0)


def test_a_tiny_overlap_keeps_its_relative_accuracy():
    """Sums of non-negative terms: nothing is lost beside a large one that is not there."""
    a, b, out = np.array([[1.0, 1e-30]]), np.array([[0.0, 1.0]]), np.zeros((1, 1))
    _compiled.overlap(a, b, out)
    assert out[0, 0] == pytest.approx(1e-30, rel=1e-14, abs=0)


@pytest.mark.parametrize("first", range(5))
def test_subsets_by_enumeration_however_they_are_split(first):
    rows = np.random.default_rng(first).dirichlet(np.ones(4), 6)
    best = np.full((2 ** (4 - first), 2**first), 0.9)
    _compiled.subsets(rows, best)
    for bits in itertools.product((0, 1), repeat=4):
        low = sum(bit << k for k, bit in enumerate(bits[:first]))
        high = sum(bit << k for k, bit in enumerate(bits[first:]))
        least = min(0.9, (rows @ np.array(bits)).min())  # what was there is kept where it is less
        assert best[high, low] == pytest.approx(least, abs=1e-15)
