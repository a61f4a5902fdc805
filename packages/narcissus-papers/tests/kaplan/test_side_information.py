"""Section 4 up to Remark 4.5: what the attacker knows."""

from __future__ import annotations

import pytest

from narcissus_papers.kaplan import surprisal

WRONG = [
    ("definition-4.1", "limit_given_rows", lambda x: x + 1e-3),
    ("section-4.2", "candidates_success", lambda x: 0.5 + x / 4),
    ("section-4.2", "bayes_success", lambda x: x - 0.1),
    ("remark-4.5", "log2_delta", lambda x: x / 2),
]
"""A statement, what of the package is made wrong, and how."""


@pytest.mark.states(
    "Kaplan et al. 2025",
    "Definition 4.1",
    "Observation 4.2",
    "section 4.2",
    "Definition 4.3",
    "Definition 4.4",
    "Remark 4.5",
)
def test_all_claims_hold_but_for_a_misprint(failing):
    for item in surprisal.SIDE_INFORMATION:
        found = failing(item.name.removeprefix("004/"))
        if item.number == "Observation 4.2":
            assert list(found) == ["as printed, that chance is at "]
            assert "1 / (N - n + 1): 0.052632" in found["as printed, that chance is at "]
        else:
            assert not found, item.name


@pytest.mark.parametrize(("statement", "name", "change"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(failing, monkeypatch, statement, name, change):
    right = getattr(surprisal, name)
    monkeypatch.setattr(surprisal, name, lambda *a, **k: change(right(*a, **k)))
    assert failing(f"statement-{statement}")
