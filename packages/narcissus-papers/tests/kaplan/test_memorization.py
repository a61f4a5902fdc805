"""Section 1: memorization, and what is known."""

from __future__ import annotations

from fractions import Fraction

import pytest

from narcissus_papers.kaplan import memorization

WRONG = [
    ("definition-1.1", "memorized_information", lambda x: x + 0.1),
    ("definition-1.1", "average_bits", lambda x: x * 1.01),
    ("example-1.3", "parity_limit", lambda x: x + 1e-6),
    ("example-1.3", "memorized_information", lambda x: x + 0.1),
    ("example-1.5", "small_delta", lambda x: Fraction(1, 2)),
]
"""A statement, what of the package is made wrong, and how."""


@pytest.mark.states(
    "Kaplan et al. 2025",
    "Definition 1.1",
    "Definition 1.2",
    "Example 1.3",
    "Example 1.4",
    "Example 1.5",
    "Example 1.6",
)
def test_all_claims_hold(failing):
    for item in memorization.MEMORIZATION:
        assert not failing(item.name.removeprefix("004/")), item.name


@pytest.mark.parametrize(("statement", "name", "change"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(failing, monkeypatch, statement, name, change):
    right = getattr(memorization, name)
    monkeypatch.setattr(memorization, name, lambda *a, **k: change(right(*a, **k)))
    assert failing(f"statement-{statement}")
