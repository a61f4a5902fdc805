"""Averages: exact in every type of number, and noise of the scale that its privacy asks for."""

import math

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.mechanisms import ExactAverage, NoisyAverage

RNG = np.random.default_rng(0)


def test_the_mean_of_the_rows():
    data = np.array([[[0, 1, 1, 1], [1, 1, 0, 0]]], dtype=np.uint8)
    assert ExactAverage().release(data, RNG).tolist() == [[0.5, 1.0, 0.5, 0.5]]
    assert ExactAverage().release(data[:, 1], RNG).tolist() == [0.5]


@pytest.mark.parametrize("n", [256, 257, 258, 1000])
def test_sums_of_bytes_do_not_overflow(n):
    """257 times 255 is the most that 16 bits hold."""
    data = np.full((1, n, 1), 255, dtype=np.uint8)
    assert ExactAverage().release(data, RNG).tolist() == [[255.0]]


def test_numbers_that_are_no_integers_are_not_cut():
    data = np.array([[[0.25, -1.5], [0.5, 0.25]]])
    assert ExactAverage().release(data, RNG).tolist() == [[0.375, -0.625]]


def test_data_sets_with_the_same_mean_share_a_release():
    data = np.array([[[0], [1], [1]], [[1], [1], [0]], [[0], [0], [1]]])
    written = ExactAverage().channel(data)
    assert sorted(written.releases.ravel()) == pytest.approx([1 / 3, 2 / 3])
    shown = written.releases[written.matrix.toarray().argmax(axis=1), 0]
    assert shown.tolist() == [2 / 3, 2 / 3, 1 / 3]


def test_the_noise_is_laplace_of_scale_one_over_epsilon_n():
    """Kolmogorov-Smirnov with SciPy's distribution, seeded; a scale of 1.05 has p below 1e-16."""
    many = NoisyAverage(0.5).release(np.zeros((50_000, 10, 2)), np.random.default_rng(3)).ravel()
    assert stats.kstest(many, stats.laplace(scale=0.2).cdf).pvalue > 1e-6


@pytest.mark.states("Kaplan et al. 2025", "Theorem 4.7")
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3)])
def test_the_whole_release_is_epsilon_d_private(n, d):
    """One row changes each mean by at most 1/n: the density ratio of Laplace noise, at its worst.

    All zeros against one row of ones reaches the bound, to the left of both means.
    """
    epsilon = 0.7
    mechanism = NoisyAverage(epsilon)
    ones, zeros = np.zeros((1, n, d)), np.zeros((1, n, d))
    ones[0, 0] = 1
    said, delta = mechanism.privacy(ones)
    assert delta == 0
    release = mechanism.release(np.repeat(ones, 4000, axis=0), np.random.default_rng(1))
    noise = stats.laplace(scale=1 / (epsilon * n))
    ratio = sum(noise.logpdf(release - x.mean(axis=1)).sum(axis=1) * s
                for x, s in ((zeros, 1), (ones, -1)))  # fmt: skip
    assert np.abs(ratio).max() <= said + 1e-9
    assert ratio.max() == pytest.approx(epsilon * d)
    assert said == pytest.approx(epsilon * d)


def test_nothing_is_said_of_data_beyond_the_unit_cube():
    assert NoisyAverage(1.0).privacy(np.full((1, 2, 3), 1.01)) is None
    assert NoisyAverage(1.0).privacy(np.full((1, 2, 3), -0.01)) is None
    assert NoisyAverage(1.0).privacy(np.ones((1, 2))) == (1.0, 0.0)
    for wrong in (0.0, -1.0, math.inf):
        with pytest.raises(InputError, match="epsilon"):
            NoisyAverage(wrong)
