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


WRONG_SAFETY = [
    ("definition-3.1", "exact_average_delta", lambda x: x + Fraction(1, 1000)),
    ("definition-3.1", "small_delta", lambda x: x * Fraction(99, 100)),
    ("definition-3.2", "noise_error", lambda x: x * 1.1),
    ("lemma-3.5", "limit_given_rows", lambda x: x * 0.3),
    ("lemma-3.5", "dimensions", lambda x: (x[0] + 50, x[1] + 50)),
    ("lemma-3.7", "looser_gamma", lambda x: x * 2),
]
"""A statement, what of the package is made wrong, and how."""


@pytest.mark.states(
    "Kaplan et al. 2025",
    "Definition 2.1",
    "Definition 3.1",
    "Definition 3.2",
    "Definition 3.3",
    "Definition 3.4",
    "Lemma 3.5",
    "Definition 3.6",
    "Lemma 3.7",
)
def test_all_claims_hold_of_safety(failing):
    for item in memorization.SAFETY:
        assert not failing(item.name.removeprefix("004/")), item.name


@pytest.mark.parametrize(("statement", "name", "change"), WRONG_SAFETY)
def test_a_claim_fails_where_the_package_is_wrong_of_safety(
    failing, monkeypatch, statement, name, change
):
    right = getattr(memorization, name)
    monkeypatch.setattr(memorization, name, lambda *a, **k: change(right(*a, **k)))
    assert failing(f"statement-{statement}")
