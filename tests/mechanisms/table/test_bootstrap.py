"""Rows drawn with replacement: how many of the people are there, and how often."""

import numpy as np
import pytest

from narcissus.mechanisms import Bootstrap


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
