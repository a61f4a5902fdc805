"""Gain and loss functions."""

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError

qif = pytest.importorskip("qif", reason="qif, the peer that is compared with, is not installed")


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


def test_bad_gain():
    rows = [[0.9, 0.1], [0.1, 0.9]]
    with pytest.raises(InputError, match="column per secret"):
        ch.g_leakage(rows, np.eye(3))
    with pytest.raises(InputError, match="above 0"):
        ch.g_leakage(rows, -np.eye(2))
    with pytest.raises(InputError, match="finite"):
        ch.l_risk(rows, [[np.nan, 1]])
