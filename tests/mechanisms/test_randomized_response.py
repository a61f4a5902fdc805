"""Randomized response: its channel against play."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus.mechanisms import (
    RandomizedResponse,
)


def test_randomized_response_channel_and_play_agree(within):
    mechanism = RandomizedResponse(1.0, values=3)
    data = np.array([[0, 2]])
    channel = mechanism.channel(data)
    rows = np.asarray(channel.matrix.todense())[0]
    assert rows.sum() == pytest.approx(1)
    played = mechanism.release(np.tile(data, (60_000, 1)), np.random.default_rng(1))
    for release, rate in zip(channel.releases, rows, strict=True):
        assert within(int((played == release).all(axis=1).sum()), len(played), rate)
    assert rows.max() / rows.min() == pytest.approx(math.exp(2.0))
