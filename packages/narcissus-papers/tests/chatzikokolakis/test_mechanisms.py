"""Section VI: three mechanisms in closed form."""

from __future__ import annotations

import pytest

from narcissus_papers.chatzikokolakis import local_privacy

WRONG = [
    ("equation-7", "KaryRandomizedResponse.beta_star", "up"),
    ("equation-7", "tied_pairs", "first away"),
    ("proposition-3", "Laplace.beta_star", "up"),
    ("proposition-3", "Laplace.beta_star", "flip"),
    ("proposition-4", "Gaussian.beta_star", "up"),
    ("lemma-4", "Gaussian.beta_star", "up"),
]
"""A statement, what of the package is made wrong, and how."""


@pytest.mark.states(
    "Chatzikokolakis et al. 2023", "Equation 7", "Proposition 3", "Proposition 4", "Lemma 4"
)
def test_all_claims_hold_but_for_misprints(failing):
    for item in local_privacy.MECHANISMS:
        assert len(failing(item.name.removeprefix("002/"))) == 0, item.name


@pytest.mark.parametrize(("statement", "name", "how"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(failing, spoil, statement, name, how):
    before = failing(f"statement-{statement}")
    spoil(name, how)
    assert failing(f"statement-{statement}") - before


def test_an_overlap_by_hand():
    """Two uniform densities on intervals of length 1, .25 apart."""
    found = local_privacy.overlap(lambda x: float(abs(x) <= 0.5), 0.25)
    assert found == pytest.approx(0.75, abs=1e-6)
