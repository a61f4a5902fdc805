"""Section V-D: differential privacy of databases."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus_papers.chatzikokolakis import local_privacy

WRONG = [
    ("equation-4", "multiplicative_leakage", "up"),
    ("theorem-6", "multiplicative_leakage", "up"),
    ("corollary-1", "from_database_dp", "up"),
    ("corollary-2", "from_local_dp", "up"),
    ("equation-5", "from_local_dp", "down"),
    ("equation-6", "yeom_bound", "up"),
    ("section-v-d", "beta_star", "down"),
]
"""A statement, what of the package is made wrong, and how."""


@pytest.mark.states(
    "Chatzikokolakis et al. 2023",
    "Equation 4",
    "Theorem 6",
    "Corollary 1",
    "Corollary 2",
    "Equation 5",
    "Equation 6",
    "section V-D",
)
def test_all_claims_hold_but_for_misprints(failing):
    for item in local_privacy.DATABASES:
        assert len(failing(item.name.removeprefix("002/"))) == 0, item.name


@pytest.mark.parametrize(("statement", "name", "how"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(failing, spoil, statement, name, how):
    before = failing(f"statement-{statement}")
    spoil(name, how)
    assert failing(f"statement-{statement}") - before


def test_the_program_over_all_mechanisms_by_hand():
    """One record of two values: randomized response has capacity 2 e / (1 + e)."""
    assert local_privacy.most_capacity(1, 2, 1.0) == pytest.approx(2 * np.e / (1 + np.e), abs=1e-9)
    assert local_privacy.whole(2, 3, 0.5).shape == (9, 9)
