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
