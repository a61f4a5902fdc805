"""What a statement says where the package is wrong: some claim must fail then."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from narcissus import channels
from narcissus_papers import ITEMS, Given

CHANGES = {
    "up": lambda x: x + 0.03,
    "down": lambda x: max(0.0, x - 0.05),
    "square": lambda x: x * x,
    "flip": lambda x: 1 - x,
    "first away": lambda x: x[1:],
    "told": lambda x: channels.channel(np.eye(len(x.secrets))),
    "turned": lambda x: channels.channel(np.roll(x.dense, 1, axis=1)),
    "no limits": lambda x: replace(x, low=1.0),
}


def changed(result, how):
    """Change a number, or the value of a result."""
    if hasattr(result, "value"):
        return replace(result, value=CHANGES[how](result.value))
    return CHANGES[how](result)


@pytest.fixture
def spoil(monkeypatch):
    """Let a function or property of `narcissus.channels` give what is wrong."""

    def wrong(name, how):
        owner, _, inner = name.rpartition(".")
        if owner:
            kind = getattr(channels, owner)
            right = getattr(kind, inner).fget
            monkeypatch.setattr(kind, inner, property(lambda self: changed(right(self), how)))
        else:
            right = getattr(channels, name)
            monkeypatch.setattr(channels, name, lambda *a, **k: changed(right(*a, **k), how))

    return wrong


@pytest.fixture
def failing():
    """Give the claims that fail of an item without pieces."""

    def found(name):
        made = ITEMS[f"002/{name}"].make(Given())
        assert made.held
        assert all(one.because for one in made.held if not one.holds) or made.verdict == "differs"
        assert not any(math.isnan(one.ours) for one in made.printed)
        apart = [one.what for one in made.printed if one.word == "differs"]
        return {one.what.split(":")[0][:40] for one in made.held if not one.holds} | set(apart)

    return found
