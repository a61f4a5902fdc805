"""Section VII: computing, limiting and estimating beta*."""

from __future__ import annotations

from dataclasses import replace

import pytest

from narcissus import channels
from narcissus_papers.chatzikokolakis import composition

WRONG = [
    ("proposition-5", "beta_star", "up"),
    ("proposition-5", "beta_star", "down"),
    ("section-vii-b", "beta_star", "up"),
    ("section-vii-c", "l2_bounds", "no limits"),
    ("section-vii-d", "pairwise", "flip"),
]
"""A statement, what of the package is made wrong, and how."""


@pytest.mark.states(
    "Chatzikokolakis et al. 2023",
    "Proposition 5",
    "section VII-A",
    "section VII-B",
    "section VII-C",
    "section VII-D",
)
def test_all_claims_hold_but_for_misprints(failing):
    for item in composition.COMPUTING:
        assert len(failing(item.name.removeprefix("002/"))) == 0, item.name


@pytest.mark.parametrize(("statement", "name", "how"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(failing, spoil, statement, name, how):
    before = failing(f"statement-{statement}")
    spoil(name, how)
    assert failing(f"statement-{statement}") - before


def test_leaving_the_worst_pair_out_would_be_noticed(failing, monkeypatch):
    right = channels.beta_star
    monkeypatch.setattr(
        channels,
        "beta_star",
        lambda rows: replace(right(rows), value=right(rows).value / len(rows)),
    )
    assert failing("statement-section-vii-a")


def test_estimates_that_stay_off_are_noticed(failing, monkeypatch):
    monkeypatch.setattr(composition, "estimates", lambda: [(0.9, 0.8, 1.0)] * 3)
    assert failing("statement-section-vii-d")
