"""The statements of the paper: each holds but for misprints, and fails where we are wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from narcissus import channels
from narcissus_papers import ITEMS
from narcissus_papers.chatzikokolakis import composition, local_privacy, security

MISPRINTS = {"fact-1": 1, "equation-9": 1, "section-v-b": 2, "equation-20": 1, "equation-21": 1}
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
    ("definition-1", "guessing_error", "square"),
    ("proposition-6", "guessing_error", "square"),
    ("proposition-7", "bayes_risk", "square"),
    ("lemma-2", "beta", "flip"),
    ("corollary-3", "beta", "flip"),
    ("equation-9", "beta", "flip"),
    ("section-iv-a", "parallel", "turned"),
    ("theorem-3", "beta_star", "down"),
    ("theorem-3", "parallel", "told"),
    ("proposition-1", "tied_pairs", "first away"),
    ("proposition-1", "beta_star", "up"),
    ("section-iv-b", "cascade", "told"),
    ("theorem-4", "cascade", "told"),
    ("proposition-5", "beta_star", "up"),
    ("proposition-5", "beta_star", "down"),
    ("section-vii-b", "beta_star", "up"),
    ("section-vii-c", "l2_bounds", "no limits"),
    ("section-vii-d", "pairwise", "flip"),
    ("section-v-e", "capacity", "up"),
    ("section-v-e", "capacity", "down"),
    ("section-v-e", "bayes_risk", "down"),
    ("section-v-e", "cascade", "told"),
    ("section-v-e", "g_leakage", "up"),
    ("section-v-e", "beta_star", "up"),
    ("section-v-e", "l_beta", "up"),
    ("appendix-f", "g_leakage", "up"),
    ("appendix-f", "l_beta", "up"),
    ("equation-1", "beta", "up"),
    ("equation-2", "local_dp_epsilon", "up"),
    ("equation-3", "local_dp_delta", "up"),
    ("section-v-b", "beta", "up"),
    ("theorem-5", "from_local_dp", "up"),
    ("theorem-5", "from_local_dp", "down"),
    ("equation-20", "bayes_risk", "up"),
    ("equation-21", "bayes_risk", "up"),
    ("proposition-2", "local_dp_delta", "up"),
    ("equation-4", "multiplicative_leakage", "up"),
    ("theorem-6", "multiplicative_leakage", "up"),
    ("corollary-1", "from_database_dp", "up"),
    ("corollary-2", "from_local_dp", "up"),
    ("equation-5", "from_local_dp", "down"),
    ("equation-6", "yeom_bound", "up"),
    ("section-v-d", "beta_star", "down"),
    ("equation-7", "KaryRandomizedResponse.beta_star", "up"),
    ("equation-7", "tied_pairs", "first away"),
    ("proposition-3", "Laplace.beta_star", "up"),
    ("proposition-3", "Laplace.beta_star", "flip"),
    ("proposition-4", "Gaussian.beta_star", "up"),
    ("lemma-4", "Gaussian.beta_star", "up"),
]
"""A statement, what of the package is made wrong, and how."""
STATEMENTS = [
    item.name.partition("/statement-")[2]
    for item in ITEMS.values()
    if (item.paper, item.kind) == ("002", "statement")
]


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
    "Definition 1",
    "Proposition 6",
    "Proposition 7",
    "Lemma 2",
    "Corollary 3",
    "Fact 1",
    "Equation 9",
    "section IV-A",
    "Theorem 3",
    "Proposition 1",
    "section IV-B",
    "Theorem 4",
    "Lemma 3",
    "Equation 12",
    "Equation 14",
    "Proposition 5",
    "section VII-A",
    "section VII-B",
    "section VII-C",
    "section VII-D",
    "section V-E",
    "Appendix F",
    "Equation 1",
    "Equation 2",
    "section V-B",
    "Theorem 5",
    "Equation 16",
    "Equation 20",
    "Equation 21",
    "Equation 3",
    "Proposition 2",
    "Equation 4",
    "Theorem 6",
    "Corollary 1",
    "Corollary 2",
    "Equation 5",
    "Equation 6",
    "section V-D",
    "Equation 7",
    "Proposition 3",
    "Proposition 4",
    "Lemma 4",
)
@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.one_in(3)
def test_all_claims_hold_but_for_misprints(failing, statement):
    assert len(failing(f"statement-{statement}")) == MISPRINTS.get(statement, 0)


@pytest.mark.parametrize(("statement", "name", "how"), WRONG)
@pytest.mark.one_in(4)
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


def test_the_program_over_all_mechanisms_by_hand():
    """One record of two values: randomized response has capacity 2 e / (1 + e)."""
    assert local_privacy.most_capacity(1, 2, 1.0) == pytest.approx(2 * np.e / (1 + np.e), abs=1e-9)
    assert local_privacy.whole(2, 3, 0.5).shape == (9, 9)


def test_an_overlap_by_hand():
    """Two uniform densities on intervals of length 1, .25 apart."""
    found = local_privacy.overlap(lambda x: float(abs(x) <= 0.5), 0.25)
    assert found == pytest.approx(0.75, abs=1e-6)
