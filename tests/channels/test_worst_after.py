"""The worst of all pairs after many uses, against the channel written out."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels import worst_after as module
from narcissus.channels.worst_after import worst_after


def held(uses, tolerance=1e-6):
    whole = ch.parallel(*(ch.repeat(c, k) for c, k in uses))
    truth = ch.beta_star(whole)
    found = worst_after(uses, tolerance)
    assert found.overlap.low <= truth.value * (1 + 1e-11)
    assert truth.value <= found.overlap.high * (1 + 1e-11)
    return found, truth, whole


@pytest.mark.parametrize("seed", range(6))
def test_the_worst_pair_is_found(seed):
    rng = np.random.default_rng(seed)
    a = ch.channel(rng.dirichlet(np.full(3, 0.5), 7))
    b = ch.channel(rng.dirichlet(np.ones(2), 7))
    found, _, whole = held([(a, 4), (b, 3)])
    assert found.overlap.gap <= 1e-6
    pair = whole.dense[list(found.pair)]
    assert np.minimum(*pair).sum() <= found.overlap.high * (1 + 1e-11)


def test_alike_pairs_are_computed_once(monkeypatch):
    asked = []
    right = module.overlap_after
    monkeypatch.setattr(module, "overlap_after", lambda laws, t: asked.append(1) or right(laws, t))
    worst_after([(ch.KaryRandomizedResponse(30, 1).channel(), 12)])
    assert len(asked) <= 2


def test_pairs_that_nobody_looked_at_keep_their_limit(monkeypatch):
    monkeypatch.setattr(module, "MOST_PAIRS", 0)
    c = ch.channel(np.random.default_rng(3).dirichlet(np.full(4, 3.0), 9))
    found, _, _ = held([(c, 2)])
    assert found.overlap.gap > 1e-6


def test_what_is_told_for_certain_or_nearly_so():
    """A pair with nothing in common, and one that a million uses leave less than any number."""
    apart = worst_after([(ch.channel([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]), 3)])
    assert (apart.overlap.low, apart.overlap.high) == (0, 0)
    nearly = worst_after([(ch.KaryRandomizedResponse(10, 1).channel(), 1_000_000)])
    assert nearly.overlap.low == 0 < nearly.overlap.high < 1e-300
