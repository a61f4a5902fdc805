"""Gaussian templates."""

import numpy as np

from narcissus import channels as ch


def test_templates_reach_the_optimum_for_gaussian_noise():
    rng = np.random.default_rng(9)
    secret = rng.integers(2, size=20_000)
    mixing = rng.normal(size=(20, 20))
    shift = rng.normal(size=20)
    output = (rng.normal(size=(20_000, 20)) + np.outer(secret, shift)) @ mixing
    truth = ch.Gaussian(float(np.linalg.norm(shift)), 1)
    found = ch.estimate(secret, output, rng=1)
    assert found.chosen == "templates"
    assert truth.beta_star <= found.beta_star.high < truth.beta_star + 0.02
    assert truth.bayes_risk <= found.bayes_risk.high < truth.bayes_risk + 0.01
    constant = ch.estimate(secret, np.c_[output, np.ones(20_000)], rng=1, estimators=["templates"])
    assert constant.bayes_risk.high < truth.bayes_risk + 0.01
