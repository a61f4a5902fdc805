import itertools

import numpy as np
import pytest
from scipy import sparse

from narcissus import channels as ch

qif = pytest.importorskip("qif", reason="qif, the peer that is compared with, is not installed")


@pytest.mark.states("Chatzikokolakis et al. 2023", "section II")
def test_measures_agree_with_qif(world):
    rows, prior, _rng = world
    c = ch.channel(rows)
    risk, vulnerability = qif.measure.bayes_risk, qif.measure.bayes_vuln
    pairs = [
        (ch.bayes_risk(c, prior), risk.posterior(prior, rows)),
        (ch.guessing_error(prior), risk.prior(prior)),
        # qif divides the risk before by the risk after; beta is the inverse.
        (ch.beta(c, prior), 1 / risk.mult_leakage(prior, rows)),
        (ch.bayes_vulnerability(c, prior), vulnerability.posterior(prior, rows)),
        (ch.multiplicative_leakage(c, prior), vulnerability.mult_leakage(prior, rows)),
        (ch.additive_leakage(c, prior), vulnerability.add_leakage(prior, rows)),
        (ch.min_entropy_leakage(c, prior), vulnerability.min_entropy_leakage(prior, rows)),
        (ch.capacity(c), vulnerability.mult_capacity(rows)),
        (ch.shannon_leakage(c, prior), qif.measure.shannon.add_leakage(prior, rows)),
        (ch.beta_star(c).value, 1 / risk.mult_capacity(rows)[0]),
    ]
    for ours, theirs in pairs:
        assert ours == pytest.approx(theirs, abs=1e-12)


def test_sparse_measures_are_the_dense_ones(world):
    rows, prior, rng = world
    rows = rows * (rng.random(rows.shape) < 0.7)
    rows[:, 0] += rows.sum(axis=1) == 0
    rows /= rows.sum(axis=1, keepdims=True)
    thin = sparse.csr_array(rows)
    for measure in (ch.bayes_risk, ch.bayes_vulnerability, ch.shannon_leakage, ch.beta):
        assert measure(thin, prior) == pytest.approx(measure(rows, prior), rel=1e-12, abs=1e-15)
    assert ch.capacity(thin) == pytest.approx(ch.capacity(rows), rel=1e-14)
    assert ch.local_dp_epsilon(thin) == ch.local_dp_epsilon(rows)
    gain = rng.random((3, len(rows)))
    assert ch.g_vulnerability(thin, gain, prior) == pytest.approx(
        ch.g_vulnerability(rows, gain, prior), rel=1e-12
    )


def test_a_tiny_risk_keeps_its_accuracy():
    p = 1e-30
    assert ch.bayes_risk([[1 - p, p], [p, 1 - p]]) == pytest.approx(p, rel=1e-14, abs=0)
    assert ch.guessing_error([1 - 1e-20, 1e-20]) == 1e-20
    assert ch.bayes_risk([[1, 0], [1, 0]], [1 - 1e-20, 1e-20]) == 1e-20


@pytest.mark.states("Chatzikokolakis et al. 2023", "Equation 1")
@pytest.mark.parametrize("seed", range(5))
def test_for_two_secrets_and_a_uniform_prior_it_is_the_advantage_of_the_best_test(seed):
    """By trying every set of outputs on which a test could say "the second secret"."""
    rows = np.random.default_rng(seed).dirichlet(np.full(6, 0.5), 2)
    tests = np.array(list(itertools.product((0, 1), repeat=6)))
    best = (tests @ rows[1] - tests @ rows[0]).max()
    assert ch.advantage(rows) == pytest.approx(best, abs=1e-14)
    assert ch.advantage(rows, [0.5, 0.5]) == ch.advantage(rows)
    risk = ch.bayes_risk(rows)
    assert ch.beta(rows) == pytest.approx(1 - 2 * abs(risk - 0.5), abs=1e-14)


@pytest.mark.states("Chatzikokolakis et al. 2023", "section V-E")
def test_implied_risk_is_the_tighter_of_both():
    rows = [[0.9, 0.1, 0], [0.8, 0.2, 0], [0.5, 0.5, 0], [0.5, 0.1, 0.4]]
    prior = np.full(4, 0.25)
    found = ch.implied_bayes_risk(ch.beta_star(rows).value, ch.capacity(rows), prior)
    assert (found.by_bayes_security, found.tighter) == (pytest.approx(0.45), "capacity")
    assert found.value <= ch.bayes_risk(rows, prior) + 1e-12
    sparse_prior = [0.5, 0, 0, 0.5]
    assert ch.implied_bayes_risk(0.6, 1.8, sparse_prior).tighter == "Bayes security"


@pytest.mark.states("Narcissus theory", "6.6")
@pytest.mark.states("Alvim et al. 2020", "section 3.2", "section 7.2")
def test_additive_capacity_and_guessing_entropy():
    a = [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]]
    assert ch.additive_capacity(a) == pytest.approx(0.6)
    four = [[0.9, 0.1, 0], [0.8, 0.2, 0], [0.5, 0.5, 0], [0.5, 0.1, 0.4]]
    assert ch.additive_capacity(four) == pytest.approx(0.4)
    prior = [0.5, 0.3, 0.2]
    assert ch.prior_guessing_entropy(prior) == pytest.approx(1.7)
    assert ch.guessing_entropy(a, prior) == pytest.approx(1.52)
    rng = np.random.default_rng(0)
    for _ in range(50):  # no gain in [0, 1] leaks more
        gain, some = rng.random((4, 3)), rng.dirichlet(np.ones(3))
        assert ch.additive_g_leakage(a, gain, some) <= 0.6


@pytest.mark.states("Narcissus theory", "6.6")
def test_additive_capacity_for_a_prior():
    a, prior = [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]], [0.5, 0.3, 0.2]
    assert ch.additive_capacity_for(a, prior) == pytest.approx(0.24)
    four = [[0.9, 0.1, 0], [0.8, 0.2, 0], [0.5, 0.5, 0], [0.5, 0.1, 0.4]]
    assert ch.additive_capacity_for(four) == pytest.approx(0.23125)
    rng = np.random.default_rng(1)
    best = 0.0
    for _ in range(200):  # no gain in [0, 1] leaks more, and a good one nearly as much
        gain = (rng.random((4, 4)) > 0.5).astype(float)
        best = max(best, ch.additive_g_leakage(four, gain))
    assert 0.15 < best <= 0.23125 + 1e-12


@pytest.mark.states("Narcissus theory", "6.6")
def test_other_measures_agree_with_qif(world):
    rows, prior, _ = world
    guesses = qif.measure.guessing
    assert ch.guessing_entropy(rows, prior) == pytest.approx(guesses.posterior(prior, rows))
    assert ch.prior_guessing_entropy(prior) == pytest.approx(guesses.prior(prior))
    assert ch.capacity(rows) == pytest.approx(qif.measure.bayes_vuln.mult_capacity(rows))
    assert ch.additive_capacity(rows) == pytest.approx(
        1 - qif.channel.sum_column_min(rows), abs=1e-12
    )


def test_a_secret_that_never_comes_has_outputs_that_never_come():
    rows = np.array([[0.5, 0.5, 0, 0], [0.25, 0.75, 0, 0], [0, 0, 0.5, 0.5]])
    prior = [0.4, 0.6, 0.0]
    with np.errstate(all="raise"):
        found = ch.shannon_leakage(sparse.csr_array(rows), prior)
    assert found == pytest.approx(ch.shannon_leakage(rows[:2], prior[:2]))
