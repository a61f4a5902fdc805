"""d-privacy by all pairs; the Kantorovich distance on a line is that of the cumulative sums."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError

LINE = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
A = [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]]


@pytest.mark.states("Narcissus theory", "6.6")
def test_epsilon_of_a_metric():
    assert ch.metric_epsilon(A, LINE) == pytest.approx(math.log(4), rel=1e-14)
    assert ch.metric_epsilon(A, np.ones((3, 3))) == pytest.approx(ch.local_dp_epsilon(A), rel=1e-14)
    assert ch.metric_epsilon([[1, 0], [0.5, 0.5]], 1 - np.eye(2)) == math.inf
    assert ch.metric_epsilon([A[0], A[0]], np.zeros((2, 2))) == 0
    assert ch.metric_epsilon(A, np.zeros((3, 3))) == math.inf
    geometric = ch.Geometric(4, 0.7).channel()
    far = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    assert ch.metric_epsilon(geometric, far) == pytest.approx(0.7, rel=1e-9)
    with pytest.raises(InputError, match="3 x 3"):
        ch.metric_epsilon(A, np.eye(2))


@pytest.mark.states("Narcissus theory", "6.6")
def test_moving_one_distribution_into_another():
    assert ch.kantorovich([0.5, 0.3, 0.2], [0.1, 0.2, 0.7], LINE) == pytest.approx(0.9)
    rng = np.random.default_rng(0)
    for _ in range(5):
        p, q = rng.dirichlet(np.ones(6), 2)
        places = np.sort(rng.random(6))
        far = np.abs(np.subtract.outer(places, places))
        line = np.abs(np.cumsum(p - q)[:-1]) @ np.diff(places)
        assert ch.kantorovich(p, q, far) == pytest.approx(line, abs=1e-9)
    with pytest.raises(InputError, match="3 and 2 places"):
        ch.kantorovich([0.5, 0.3, 0.2], [0.5, 0.5], LINE)


def test_qif_measures_the_same():
    qif = pytest.importorskip("qif", reason="qif, the peer that is compared with, is not installed")
    rng = np.random.default_rng(5)
    rows, places = rng.dirichlet(np.ones(4), 3), np.array([0.0, 1.0, 2.5])
    far = np.abs(np.subtract.outer(places, places))

    def distance(i, j):
        return float(far[i, j])

    theirs = qif.measure.d_privacy.smallest_epsilon(rows, distance)
    assert ch.metric_epsilon(rows, far) == pytest.approx(theirs, rel=1e-9)
    p, q = rng.dirichlet(np.ones(3), 2)
    assert ch.kantorovich(p, q, far) == pytest.approx(qif.metric.kantorovich(distance)(p, q))
