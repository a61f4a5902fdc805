"""Appendix C: an example against composition, a theorem for it, and its misprints."""

from __future__ import annotations

import pytest

from narcissus.mechanisms import XorHalf
from narcissus.profiles import WrittenOut
from narcissus_papers.cohen import privacy


@pytest.mark.states("Cohen et al. 2024", "Example C.1", "Theorem C.2")
def test_all_claims_hold_but_for_misprints(says):
    says("Example C.1")
    says("Theorem C.2", "q'_4 is as printed", "q_j - q'_j is (p0 - p1) / 2 for all five")


def test_the_five_relations_by_hand():
    """By hand for p0 = 1, p1 = 0: the event tells the data sets apart."""
    assert privacy.five(1.0, 0.0) == [(0.5, 0.0), (1.0, 0.0), (1.0, 0.5), (0.5, 0.0), (1, 0.5)]


def test_a_half_that_tells_is_found(spoiled, monkeypatch):
    def wrong(_right):
        return lambda self, data, rng: data[:, : data.shape[1] // 2]

    assert len(spoiled(monkeypatch, "Example C.1", XorHalf, "release", wrong)) == 1


@pytest.mark.parametrize("wrong", [lambda d: d**2, lambda d: d**0.5])
def test_a_claim_fails_where_the_exact_answer_is_wrong(spoiled, monkeypatch, wrong):
    spoil = lambda f: lambda self, e: wrong(f(self, e))  # noqa: E731
    assert spoiled(monkeypatch, "Theorem C.2", WrittenOut, "delta", spoil)
