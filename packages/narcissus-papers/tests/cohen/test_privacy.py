"""Appendices A and E: privacy and resilience over pairs say the same, with these constants."""

from __future__ import annotations

from dataclasses import replace

import pytest

from narcissus.mechanisms import XorHalf
from narcissus.profiles import WrittenOut
from narcissus_papers.cohen import privacy


@pytest.mark.states("Cohen et al. 2024", "Definition A.1", "Definition A.2", "Definition A.3",
                    "Theorem A.4", "Theorem E.1")  # fmt: skip
def test_all_claims_hold_but_for_a_line_of_a_proof(says):
    for number in ("Definition A.1", "Definition A.2", "Definition A.3", "Theorem A.4"):
        says(number)
    says("Theorem E.1", "the last two lines of the proof are equa")


WRONG = [
    ("Definition A.1", privacy, "local_dp_delta", lambda f: lambda *a: 1.01 * f(*a)),
    ("Definition A.2", WrittenOut, "deltas", lambda f: lambda *a: 0.99 * f(*a)),
    ("Theorem A.4", WrittenOut, "deltas", lambda f: lambda *a: 1.01 * f(*a)),
    ("Theorem E.1", WrittenOut, "deltas", lambda f: lambda *a: 1.01 * f(*a)),
    ("Theorem A.4", privacy, "worst_event",
     lambda f: lambda *a: replace(f(*a), delta=f(*a).delta * 0.99)),
    ("Theorem E.1", privacy, "worst_event",
     lambda f: lambda *a: replace(f(*a), over_uniform_pair=f(*a).over_uniform_pair * 0.99)),
]  # fmt: skip


@pytest.mark.parametrize(("number", "owner", "name", "wrong"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(spoiled, monkeypatch, number, owner, name, wrong):
    monkeypatch.setattr(privacy, "CASES", privacy.CASES[::5])
    assert spoiled(monkeypatch, number, owner, name, wrong)


def test_pairs_drawn_would_not_hide_if_they_were_each_by_themselves(spoiled, monkeypatch):
    assert spoiled(
        monkeypatch, "Definition A.3", privacy, "RandomNeighbours", lambda _f: privacy.Neighbours
    )


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
