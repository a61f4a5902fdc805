"""Section IV: channels beside and after another."""

from __future__ import annotations

import pytest

from narcissus_papers.chatzikokolakis import composition

WRONG = [
    ("section-iv-a", "parallel", "turned"),
    ("theorem-3", "beta_star", "down"),
    ("theorem-3", "parallel", "told"),
    ("proposition-1", "tied_pairs", "first away"),
    ("proposition-1", "beta_star", "up"),
    ("section-iv-b", "cascade", "told"),
    ("theorem-4", "cascade", "told"),
]
"""A statement, what of the package is made wrong, and how."""


@pytest.mark.states(
    "Chatzikokolakis et al. 2023",
    "section IV-A",
    "Theorem 3",
    "Proposition 1",
    "section IV-B",
    "Theorem 4",
    "Lemma 3",
    "Equation 12",
    "Equation 14",
)
def test_all_claims_hold_but_for_misprints(failing):
    for item in composition.COMPOSITION:
        assert len(failing(item.name.removeprefix("002/"))) == 0, item.name


@pytest.mark.parametrize(("statement", "name", "how"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(failing, spoil, statement, name, how):
    before = failing(f"statement-{statement}")
    spoil(name, how)
    assert failing(f"statement-{statement}") - before


def test_what_lies_outside_is_farther(failing, monkeypatch):
    monkeypatch.setattr(composition, "mixtures", lambda rows: 3 * rows - 2 * rows.mean(axis=0))
    assert len(failing("statement-lemma-3")) == 2
    assert len(failing("statement-equation-12")) == 2


def test_negative_numbers_do_not_multiply_so(failing, monkeypatch):
    monkeypatch.setattr(composition, "NUMBERS", (-1.0, 0.5, 3.0))
    assert failing("statement-equation-14")


def test_the_bound_in_parallel_is_reached_by_the_printed_channel():
    """By hand: .4 .6 and 0 1 overlap in .6; their pairs in .36, the last output of four."""
    both = [a * b for a in (0.4, 0.6) for b in (0.4, 0.6)]
    assert min(both[-1], 1.0) == 0.36
    assert composition.beta_star(composition.TIGHT) == 0.6
