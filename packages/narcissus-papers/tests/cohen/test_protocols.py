"""Definition B.11: what is said of protocols holds, and fails where the package is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.mechanisms import CountQueries, SparseVector
from narcissus.mechanisms.geometric_noise import TwoSidedGeometric
from narcissus.profiles.write_out import Tree
from narcissus_papers.cohen import protocols


@pytest.mark.states("Cohen et al. 2024", "Definition B.11", "Theorem B.12")
def test_all_claims_hold(says):
    for item in protocols.PROTOCOLS:
        says(item.number)


WRONG = [
    # every question asked at once, which no attacker can
    (Tree, "best_leaves", lambda f: lambda tree, gain: np.ones(len(gain), dtype=bool), 2),
    (SparseVector, "on_answers", lambda f: TwoSidedGeometric(0.5), 1),
    (CountQueries, "_noisy", lambda f: lambda self, count, asked, rng: int(asked.sum()) - count, 2),
]


@pytest.mark.parametrize(("owner", "name", "wrong", "fail"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(spoiled, monkeypatch, owner, name, wrong, fail):
    assert len(spoiled(monkeypatch, "Definition B.11", owner, name, wrong)) >= fail


def test_adaptive_attackers_are_not_worse_than_fixed_ones_and_some_are_better():
    gains = protocols.adapted()
    assert len(gains) >= 2
    assert all(free >= fixed - 1e-12 for free, fixed in gains)
    assert max(free - fixed for free, fixed in gains) > 1e-3
