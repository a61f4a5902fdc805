"""Attacks on averages, by hand."""

from __future__ import annotations

import numpy as np

from narcissus.attacks import (
    Majority,
    Subtraction,
)
from narcissus.mechanisms import (
    ExactAverage,
)
from narcissus.worlds import (
    Uniform,
)


def test_majority_and_subtraction_do_what_they_say():
    rng = np.random.default_rng(6)
    data = Uniform(5, 6).draw(20, rng).data
    average = ExactAverage().release(data, rng)
    assert (Majority().attempt(average, None, rng) == (data.mean(axis=1) >= 0.5)).all()
    assert (Subtraction().attempt(average, data[:, :4], rng) == data[:, 4]).all()
