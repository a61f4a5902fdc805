"""Tests of it."""

from __future__ import annotations

import itertools
import math
import re

import mpmath
import numpy as np
import pytest
from scipy import sparse

from narcissus import channels as ch
from narcissus.errors import InputError

from .conftest import refused


@pytest.mark.states("Chatzikokolakis et al. 2023", "section II")
def test_measures_agree_with_qif(world, qif):
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
def test_other_measures_agree_with_qif(world, qif):
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


def test_gain_and_loss_agree_with_qif(world, qif):
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


def test_bad_gain():
    rows = [[0.9, 0.1], [0.1, 0.9]]
    refused("column per secret", ch.g_leakage, rows, np.eye(3))
    refused("above 0", ch.g_leakage, rows, -np.eye(2))
    refused("finite", ch.l_risk, rows, [[np.nan, 1]])


LINE = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
A = [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]]


@pytest.mark.states("Narcissus theory", "6.6")
def test_epsilon_of_a_metric():
    assert ch.metric_epsilon(A, LINE) == pytest.approx(math.log(4), rel=1e-14)
    assert ch.metric_epsilon(A, np.ones((3, 3))) == pytest.approx(ch.local_dp_epsilon(A), rel=1e-14)
    assert ch.metric_epsilon([[1, 0], [0.5, 0.5]], 1 - np.eye(2)) == math.inf
    assert ch.metric_epsilon([A[0], A[0]], np.zeros((2, 2))) == 0
    assert ch.metric_epsilon(A, np.zeros((3, 3))) == math.inf
    geometric = ch.Geometric(4, 0.7).channel()
    far = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    assert ch.metric_epsilon(geometric, far) == pytest.approx(0.7, rel=1e-9)
    refused("3 x 3", ch.metric_epsilon, A, np.eye(2))


@pytest.mark.states("Narcissus theory", "6.6")
def test_moving_one_distribution_into_another():
    assert ch.kantorovich([0.5, 0.3, 0.2], [0.1, 0.2, 0.7], LINE) == pytest.approx(0.9)
    rng = np.random.default_rng(0)
    for _ in range(5):
        p, q = rng.dirichlet(np.ones(6), 2)
        places = np.sort(rng.random(6))
        far = np.abs(np.subtract.outer(places, places))
        line = np.abs(np.cumsum(p - q)[:-1]) @ np.diff(places)
        assert ch.kantorovich(p, q, far) == pytest.approx(line, abs=1e-9)
    refused("3 and 2 places", ch.kantorovich, [0.5, 0.3, 0.2], [0.5, 0.5], LINE)


def test_qif_measures_the_same(qif):
    rng = np.random.default_rng(5)
    rows, places = rng.dirichlet(np.ones(4), 3), np.array([0.0, 1.0, 2.5])
    far = np.abs(np.subtract.outer(places, places))

    def distance(i, j):
        return float(far[i, j])

    theirs = qif.measure.d_privacy.smallest_epsilon(rows, distance)
    assert ch.metric_epsilon(rows, far) == pytest.approx(theirs, rel=1e-9)
    p, q = rng.dirichlet(np.ones(3), 2)
    assert ch.kantorovich(p, q, far) == pytest.approx(qif.metric.kantorovich(distance)(p, q))


@pytest.mark.states("Narcissus theory", "6.6")
@pytest.mark.parametrize(
    ("rows", "bits"),
    [
        ([[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]], 0.2780719051),
        ([[0.9, 0.1, 0], [0.8, 0.2, 0], [0.5, 0.5, 0], [0.5, 0.1, 0.4]], 0.3522720033),
        (ch.KaryRandomizedResponse(10, 1).channel().dense, 0.10589993006152998),
        (np.eye(8), 3.0),
        (np.full((3, 4), 0.25), 0.0),
    ],
)
def test_values(rows, bits):
    found = ch.shannon_capacity(rows, tolerance=1e-11)
    assert found.low - 1e-10 <= bits <= found.high + 1e-10
    assert found.high - found.low <= 1e-11
    assert ch.shannon_leakage(rows, found.prior) == pytest.approx(found.low, abs=1e-9)


def test_no_prior_gives_more():
    rng = np.random.default_rng(2)
    rows = rng.dirichlet(np.ones(4), 5)
    found = ch.shannon_capacity(rows)
    assert max(ch.shannon_leakage(rows, p) for p in rng.dirichlet(np.ones(5), 200)) <= found.high


def test_qif_finds_the_same(qif):
    rows = np.random.default_rng(3).dirichlet(np.ones(4), 4)
    found = ch.shannon_capacity(rows)
    theirs = qif.measure.shannon.add_capacity(rows)[0]
    assert found.low - 1e-3 <= theirs <= found.high + 1e-3


def test_the_true_prior_comes_back_from_its_own_law():
    rows = ch.KaryRandomizedResponse(4, 1.5).channel().dense
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    found = ch.explain(rows, prior @ rows, tolerance=1e-12)
    assert found.prior == pytest.approx(prior, abs=1e-4)
    assert found.short <= 1e-12


def test_no_prior_explains_the_counts_better():
    rng = np.random.default_rng(4)
    rows, counts = rng.dirichlet(np.ones(5), 3), rng.integers(1, 50, 5)
    found, share = ch.explain(rows, counts), counts / counts.sum()
    best = share @ np.log(found.prior @ rows)
    others = [share @ np.log(p @ rows) for p in rng.dirichlet(np.ones(3), 300)]
    assert max(others) <= best + found.short + 1e-12
    assert found.steps > 1


def test_counts_that_cannot_be_are_refused():
    refused("output 'o2' came", ch.explain, [[1, 0], [1, 0]], [3, 1])
    refused("2 numbers", ch.explain, [[1, 0], [0, 1]], [0, 0])


def test_qif_updates_to_the_same_prior(qif):
    rows = ch.KaryRandomizedResponse(4, 1.5).channel().dense
    share = np.array([0.3, 0.3, 0.25, 0.15])
    theirs, _ = qif.channel.iterative_bayesian_update(rows, share, max_diff=1e-12)
    assert ch.explain(rows, share, tolerance=1e-12).prior == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_shannons_measures_of_small_channels_are_those_of_fifty_digits(seed, loops):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 7)), int(rng.integers(1, 9))
    rows = rng.dirichlet(np.full(m, 0.3), n)
    rows[rng.random(rows.shape) < 0.3] = 0
    rows[:, 0] += 1 - rows.sum(axis=1)
    prior = rng.dirichlet(np.ones(n))
    prior[0], prior[-1] = prior[0] + prior[-1], 0 if n > 1 else 1
    with mpmath.workdps(50):
        joint = [
            [mpmath.mpf(p) * mpmath.mpf(c) for c in row] for p, row in zip(prior, rows, strict=True)
        ]
        law = [mpmath.fsum(column) for column in zip(*joint, strict=True)]
        told = mpmath.fsum(
            j * mpmath.log(mpmath.mpf(c) / q, 2)
            for row, given in zip(joint, rows, strict=True)
            for j, c, q in zip(row, given, law, strict=True)
            if j > 0
        )
    for one in (rows, ch.channel(rows), np.asfortranarray(rows), rows.tolist()):
        assert ch.shannon_leakage(one, prior) == pytest.approx(float(told), rel=1e-12, abs=1e-15)
    found, other = (ch.shannon_capacity(c, tolerance=1e-7) for c in (rows, sparse.csr_array(rows)))
    assert max(found.low, other.low) <= min(found.high, other.high) + 1e-12
    assert max(found.high - found.low, other.high - other.low) <= 1e-7
    assert ch.shannon_leakage(rows, found.prior) == pytest.approx(found.low, abs=1e-14)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda rows, prior: (np.where(rows == rows.max(), np.nan, rows), prior),
        lambda rows, prior: (rows * 1.00001, prior),
        lambda rows, prior: (rows * [[-1], [1], [1]], prior),
        lambda rows, prior: (rows[0], prior),
        lambda rows, prior: (rows[:0], prior[:0]),
        lambda rows, prior: (rows, prior[:2]),
        lambda rows, prior: (rows, prior * np.nan),
        lambda rows, prior: (rows, prior * 1.00001),
        lambda rows, prior: (rows, np.array([0.5, 1.0, -0.5])),
        lambda rows, prior: (rows, np.array(["a", "b", "c"])),
    ],
)
def test_what_is_no_small_channel_is_refused_in_the_same_words(spoil, loops):
    rows, prior = spoil(np.array([[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]]), np.array([0.2, 0.3, 0.5]))
    with pytest.raises(InputError) as wanted:
        ch.bayes_risk(rows, prior)
    with pytest.raises(InputError, match=re.escape(str(wanted.value))):
        ch.shannon_leakage(rows, prior)
    if "prior" not in str(wanted.value):
        refused(re.escape(str(wanted.value)), ch.shannon_capacity, rows)
