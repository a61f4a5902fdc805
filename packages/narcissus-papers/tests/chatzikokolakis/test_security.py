"""Sections II and III: what beta* is."""

from __future__ import annotations

import pytest

from narcissus_papers.chatzikokolakis import security

WRONG = [
    ("game-1", "bayes_risk", "up"),
    ("section-ii", "beta", "up"),
    ("section-iii", "pairwise", "up"),
    ("theorem-1", "beta_star", "down"),
    ("theorem-1", "beta", "up"),
    ("theorem-2", "beta_star", "up"),
    ("equation-11", "beta", "up"),
    ("equation-13", "beta", "up"),
    ("lemma-1", "beta", "up"),
    ("theorem-7", "beta", "up"),
]
"""A statement, what of the package is made wrong, and how."""


@pytest.mark.states(
    "Chatzikokolakis et al. 2023",
    "Game 1",
    "section II",
    "section III",
    "Theorem 1",
    "Theorem 2",
    "Equation 11",
    "Equation 13",
    "Lemma 1",
    "Theorem 7",
)
def test_all_claims_hold_but_for_misprints(failing):
    for item in security.SECURITY:
        assert len(failing(item.name.removeprefix("002/"))) == 0, item.name


@pytest.mark.parametrize(("statement", "name", "how"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(failing, spoil, statement, name, how):
    before = failing(f"statement-{statement}")
    spoil(name, how)
    assert failing(f"statement-{statement}") - before
