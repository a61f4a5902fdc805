import math

import numpy as np
import pytest
from scipy import sparse

from narcissus import channels as ch
from narcissus.errors import InputError

qif = pytest.importorskip("qif")


@pytest.fixture(params=range(12))
def world(request):
    rng = np.random.default_rng(request.param)
    n, m = int(rng.integers(2, 9)), int(rng.integers(1, 12))
    rows = rng.dirichlet(np.full(m, rng.choice([0.2, 1, 5])), n)
    prior = rng.dirichlet(np.ones(n))
    return rows, prior, rng


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


def test_gain_and_loss_agree_with_qif(world):
    rows, prior, rng = world
    gain = rng.random((4, len(rows)))
    g, risk = qif.measure.g_vuln, qif.measure.l_risk
    assert ch.g_vulnerability(rows, gain, prior) == pytest.approx(
        g.posterior(gain, prior, rows), abs=1e-12
    )
    assert ch.prior_g_vulnerability(gain, prior) == pytest.approx(g.prior(gain, prior), abs=1e-12)
    assert ch.g_leakage(rows, gain, prior) == pytest.approx(
        g.mult_leakage(gain, prior, rows), abs=1e-12
    )
    assert ch.l_risk(rows, gain, prior) == pytest.approx(
        risk.posterior(gain, prior, rows), abs=1e-12
    )
    assert ch.prior_l_risk(gain, prior) == pytest.approx(risk.prior(gain, prior), abs=1e-12)


def test_zero_one_gain_and_loss_are_the_bayes_measures(world):
    rows, prior, _ = world
    same = np.eye(len(rows))
    assert ch.g_vulnerability(rows, same, prior) == pytest.approx(
        ch.bayes_vulnerability(rows, prior), rel=1e-12
    )
    assert ch.l_beta(rows, 1 - same, prior) == pytest.approx(ch.beta(rows, prior), rel=1e-9)


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


@pytest.mark.states("Chatzikokolakis et al. 2023", "section V-E")
def test_implied_risk_is_the_tighter_of_both():
    rows = [[0.9, 0.1, 0], [0.8, 0.2, 0], [0.5, 0.5, 0], [0.5, 0.1, 0.4]]
    prior = np.full(4, 0.25)
    found = ch.implied_bayes_risk(ch.beta_star(rows).value, ch.capacity(rows), prior)
    assert (found.by_bayes_security, found.tighter) == (pytest.approx(0.45), "capacity")
    assert found.value <= ch.bayes_risk(rows, prior) + 1e-12
    sparse_prior = [0.5, 0, 0, 0.5]
    assert ch.implied_bayes_risk(0.6, 1.8, sparse_prior).tighter == "Bayes security"


def test_bad_gain():
    rows = [[0.9, 0.1], [0.1, 0.9]]
    with pytest.raises(InputError, match="column per secret"):
        ch.g_leakage(rows, np.eye(3))
    with pytest.raises(InputError, match="above 0"):
        ch.g_leakage(rows, -np.eye(2))
    with pytest.raises(InputError, match="finite"):
        ch.l_risk(rows, [[np.nan, 1]])


@pytest.mark.states("Chatzikokolakis et al. 2023", "Equation 2", "Proposition 2")
def test_local_dp_by_enumeration():
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.ones(5), 6)
    ratio = max(rows[a, o] / rows[b, o] for a in range(6) for b in range(6) for o in range(5))
    assert ch.local_dp_epsilon(rows) == pytest.approx(math.log(ratio), rel=1e-13)
    for epsilon in (0.0, 0.3, 1.0, 5.0):
        delta = max(
            sum(max(0, rows[a, o] - math.exp(epsilon) * rows[b, o]) for o in range(5))
            for a in range(6)
            for b in range(6)
        )
        assert ch.local_dp_delta(rows, epsilon) == pytest.approx(delta, rel=1e-12)
    assert ch.local_dp_delta(rows, 0) == pytest.approx(1 - ch.beta_star(rows).value, abs=1e-14)
    assert ch.local_dp_delta(rows, ch.local_dp_epsilon(rows)) < 1e-15


def test_local_dp_with_impossible_outputs():
    rows = [[0.5, 0.5, 0.0], [0.5, 0.3, 0.2]]
    assert ch.local_dp_epsilon(rows) == math.inf
    assert ch.local_dp_delta(rows, 1e4) == pytest.approx(0.2)
    profile = ch.local_dp_profile(rows)
    assert profile.delta[-1] == pytest.approx(0.2)
    assert list(profile.to_frame().columns) == ["epsilon", "delta"]
    with pytest.raises(InputError, match="at least 0"):
        ch.local_dp_profile(rows, [-1.0])
    import matplotlib.pyplot as plt

    assert profile.plot().get_xlabel() == "epsilon"
    plt.close("all")
