"""Appendix B: why two secrets are the worst prior."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus_papers.chatzikokolakis import security

MISPRINTS: dict[str, int] = {"fact-1": 1, "equation-9": 1}
WRONG = [
    ("definition-1", "guessing_error", "square"),
    ("proposition-6", "guessing_error", "square"),
    ("proposition-7", "bayes_risk", "square"),
    ("lemma-2", "beta", "flip"),
    ("corollary-3", "beta", "flip"),
    ("equation-9", "beta", "flip"),
]
"""A statement, what of the package is made wrong, and how."""


@pytest.mark.states(
    "Chatzikokolakis et al. 2023",
    "Definition 1",
    "Proposition 6",
    "Proposition 7",
    "Lemma 2",
    "Corollary 3",
    "Fact 1",
    "Equation 9",
)
def test_all_claims_hold_but_for_misprints(failing):
    for item in security.CORNER_POINTS:
        assert len(failing(item.name.removeprefix("002/"))) == MISPRINTS.get(
            item.name.partition("-")[2], 0
        ), item.name


@pytest.mark.parametrize(("statement", "name", "how"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(failing, spoil, statement, name, how):
    before = failing(f"statement-{statement}")
    spoil(name, how)
    assert failing(f"statement-{statement}") - before


def test_second_largest_entries_decide(failing, monkeypatch):
    right = security.tops

    def wrong(rows):
        lead, first, second = right(rows)
        return lead, first, second / 2

    monkeypatch.setattr(security, "tops", wrong)
    assert len(failing("statement-fact-1")) == 2


def test_a_prior_is_taken_apart_by_hand():
    (a, first), (b, second) = security.layers(np.array([0.25, 0.75, 0.0]))
    assert (a, b) == (0.5, 0.5)
    assert first.tolist() == [0, 1, 0]
    assert second.tolist() == [0.5, 0.5, 0]
