"""Section 1.1: the three definitions, and what their examples show."""

from __future__ import annotations

import pytest

from narcissus.profiles import WrittenOut
from narcissus_papers.cohen import baselines


@pytest.mark.states("Cohen et al. 2024", "Definition 1.4", "Definition 1.5", "Definition 1.6",
                    "Example 1.7", "Example 1.8")  # fmt: skip
def test_all_claims_hold(says):
    for item in baselines.BASELINES:
        says(item.number)


WRONG = [
    ("Definition 1.4", "robust", lambda f: lambda s, e: (f(s, e)[0] + 0.1, f(s, e)[1])),
    ("Definition 1.5", "beyond", lambda f: lambda s, tau: f(s, tau + 0.01)),
    ("Definition 1.6", "delta", lambda f: lambda s, e: f(s, e) * 0.99),
    ("Example 1.7", "delta", lambda f: lambda s, e: f(s, e) / 9),
    ("Example 1.8", "delta", lambda f: lambda s, e: f(s, e) * 1.01),
]


@pytest.mark.parametrize(("number", "name", "wrong"), WRONG)
def test_a_claim_fails_where_the_exact_answer_is_wrong(spoiled, monkeypatch, number, name, wrong):
    assert spoiled(monkeypatch, number, WrittenOut, name, wrong)


def test_what_is_reached_by_a_release_is_not_without(spoiled, monkeypatch):
    wrong = lambda _f: baselines.Constant  # noqa: E731
    assert len(spoiled(monkeypatch, "Example 1.7", baselines, "Identity", wrong)) == 2
