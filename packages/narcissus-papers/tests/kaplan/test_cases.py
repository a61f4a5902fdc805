"""Releases that the statements have in common."""

from __future__ import annotations

import numpy as np

from narcissus.mechanisms import ExactAverage, Parity
from narcissus.worlds import Uniform
from narcissus_papers.kaplan.cases import parities, sums


def test_releases_are_those_of_the_mechanisms():
    rng = np.random.default_rng(1)
    for data in Uniform(3, 4).draw(20, rng).data:
        rows = tuple(map(tuple, data.tolist()))
        assert sums(rows) == tuple((3 * ExactAverage().release(data[None], rng)[0]).round())
        assert parities(rows) == tuple(
            sorted(map(tuple, Parity().release(data[None], rng)[0].tolist()))
        )
