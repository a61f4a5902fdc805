"""Section V-E and appendix F: multiplicative leakage beside Bayes security."""

from __future__ import annotations

import pytest

from narcissus_papers.chatzikokolakis import composition

WRONG = [
    ("section-v-e", "capacity", "up"),
    ("section-v-e", "capacity", "down"),
    ("section-v-e", "bayes_risk", "down"),
    ("section-v-e", "cascade", "told"),
    ("section-v-e", "g_leakage", "up"),
    ("section-v-e", "beta_star", "up"),
    ("section-v-e", "l_beta", "up"),
    ("appendix-f", "g_leakage", "up"),
    ("appendix-f", "l_beta", "up"),
]
"""A statement, what of the package is made wrong, and how."""


@pytest.mark.states("Chatzikokolakis et al. 2023", "section V-E", "Appendix F")
def test_all_claims_hold_but_for_misprints(failing):
    for item in composition.LEAKAGE:
        assert len(failing(item.name.removeprefix("002/"))) == 0, item.name


@pytest.mark.parametrize(("statement", "name", "how"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(failing, spoil, statement, name, how):
    before = failing(f"statement-{statement}")
    spoil(name, how)
    assert failing(f"statement-{statement}") - before
