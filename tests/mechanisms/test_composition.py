"""Mechanisms side by side."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus.mechanisms import (
    Identity,
    Parallel,
    RandomizedResponse,
)


def test_parallel_channel_multiplies():
    parts = Parallel([RandomizedResponse(0.5), RandomizedResponse(1.0)])
    channel = parts.channel(np.array([[0], [1]]))
    matrix = np.asarray(channel.matrix.todense())
    assert matrix.sum(axis=1) == pytest.approx([1, 1])
    keep = [1 / (1 + math.exp(-e)) for e in (0.5, 1.0)]
    assert matrix.max() == pytest.approx(keep[0] * keep[1])
    assert parts.privacy(np.zeros((1, 1))) == (1.5, 0)
    assert Parallel([Identity()]).privacy(np.zeros((1, 1))) is None
