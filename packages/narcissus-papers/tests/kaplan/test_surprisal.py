"""Section 4 from Definition 4.6 on: noise, and all side information."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from narcissus_papers.kaplan import surprisal

WRONG = [
    ("definition-4.6", "local_dp_delta", lambda x: x + 0.01),
    ("lemma-4.8", "log2_delta", lambda x: x / 100),
    ("claim-4.9", "least_surprisal", lambda x: x + 0.01),
    ("claim-4.9", "log2_few_lukewarm", lambda x: x + 5),
    ("definition-4.11", "log2_delta", lambda x: x / 2),
]
"""A statement, what of the package is made wrong, and how."""


@pytest.mark.states(
    "Kaplan et al. 2025",
    "Definition 4.6",
    "Theorem 4.7",
    "Lemma 4.8",
    "Claim 4.9",
    "Definition 4.10",
    "Definition 4.11",
)
def test_all_claims_hold(failing):
    for item in surprisal.SURPRISAL:
        assert not failing(item.name.removeprefix("004/")), item.name


@pytest.mark.parametrize(("statement", "name", "change"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(failing, monkeypatch, statement, name, change):
    right = getattr(surprisal, name)
    monkeypatch.setattr(surprisal, name, lambda *a, **k: change(right(*a, **k)))
    assert failing(f"statement-{statement}")


@pytest.mark.parametrize("statement", ["lemma-4.8", "definition-4.11"])
def test_a_column_that_gives_less_away_is_exceeded(failing, monkeypatch, statement):
    right = surprisal.Column.parts
    monkeypatch.setattr(
        surprisal.Column, "parts", lambda self, share: tuple(0.98 * x for x in right(self, share))
    )
    assert failing(f"statement-{statement}")


def test_the_list_of_two_rows_by_hand():
    """One attribute: the attacker knows the other row and sees which of seven outputs came."""
    told = np.ones((2, 2, 1))
    chance = 0.0
    for other, output in itertools.product((0, 1), range(7)):
        law = surprisal._outputs(0.4)
        joint = [[1 / 3, 1 / 6], [1 / 6, 1 / 3]][other]
        chance += max(joint[z] * law[other + z, output] for z in (0, 1))
    assert surprisal.counted_chance(1, 0.4, 1.0, told) == pytest.approx(chance, abs=1e-15)
    # who is told the last row recovers nothing that counts
    assert surprisal.counted_chance(1, 0.4, 0.5, np.eye(2)[None].repeat(2, axis=0)) == 0


WRONG_SIDE_INFORMATION = [
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


@pytest.mark.parametrize(("statement", "name", "change"), WRONG_SIDE_INFORMATION)
def test_a_claim_fails_where_the_package_is_wrong_of_side_information(
    failing, monkeypatch, statement, name, change
):
    right = getattr(surprisal, name)
    monkeypatch.setattr(surprisal, name, lambda *a, **k: change(right(*a, **k)))
    assert failing(f"statement-{statement}")
