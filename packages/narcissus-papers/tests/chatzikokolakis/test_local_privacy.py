"""Section V, A to C: local privacy."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus_papers.chatzikokolakis import local_privacy

MISPRINTS: dict[str, int] = {"section-v-b": 2, "equation-20": 1, "equation-21": 1}
WRONG = [
    ("equation-1", "beta", "up"),
    ("equation-2", "local_dp_epsilon", "up"),
    ("equation-3", "local_dp_delta", "up"),
    ("section-v-b", "beta", "up"),
    ("theorem-5", "from_local_dp", "up"),
    ("theorem-5", "from_local_dp", "down"),
    ("equation-20", "bayes_risk", "up"),
    ("equation-21", "bayes_risk", "up"),
    ("proposition-2", "local_dp_delta", "up"),
]
"""A statement, what of the package is made wrong, and how."""


@pytest.mark.states(
    "Chatzikokolakis et al. 2023",
    "Equation 1",
    "Equation 2",
    "section V-B",
    "Theorem 5",
    "Equation 16",
    "Equation 20",
    "Equation 21",
    "Equation 3",
    "Proposition 2",
)
def test_all_claims_hold_but_for_misprints(failing):
    for item in local_privacy.LOCAL_PRIVACY:
        assert len(failing(item.name.removeprefix("002/"))) == MISPRINTS.get(
            item.name.partition("-")[2], 0
        ), item.name


@pytest.mark.parametrize(("statement", "name", "how"), WRONG)
def test_a_claim_fails_where_the_package_is_wrong(failing, spoil, statement, name, how):
    before = failing(f"statement-{statement}")
    spoil(name, how)
    assert failing(f"statement-{statement}") - before


def test_masses_solve_two_equations(failing, monkeypatch):
    monkeypatch.setattr(local_privacy, "masses", lambda x, y: (0.5, 0.5))
    assert failing("statement-equation-16")


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_no_rows_under_local_privacy_overlap_less(epsilon):
    """Random rows with that epsilon, against the linear program."""
    rng = np.random.default_rng(3)
    least = local_privacy.ldp_rows(3, epsilon)
    for one in rng.dirichlet(np.ones(3), 300):
        other = one * np.exp(epsilon * rng.uniform(-0.5, 0.5, 3))
        other /= other.sum()
        assert np.abs(np.log(one / other)).max() <= epsilon
        assert np.minimum(one, other).sum() >= least
    assert least == pytest.approx(2 / (1 + np.exp(epsilon)), abs=1e-9)
