"""Gaussian templates."""

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels.samples import samples
from narcissus.channels.templates import Templates


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


@pytest.mark.parametrize("kind", ["templates-each", "templates-shrunk"])
def test_a_leak_in_the_spread_or_the_correlation_needs_templates_of_each(kind):
    rng = np.random.default_rng(1)
    secret = rng.integers(2, size=4_000)
    spread = rng.normal(size=(4_000, 12)) * np.where(secret, 1.0, 2.2)[:, None]
    found = ch.estimate(secret, spread, rng=1, estimators=kind)
    assert found.beta_star.high < 0.12
    pooled = ch.estimate(secret, spread, rng=1, estimators="templates")
    assert pooled.beta_star.high > 0.7
    hang = rng.normal(size=(4_000, 2))
    hang[:, 1] = 0.9 * np.where(secret, 1, -1) * hang[:, 0] + 0.44 * hang[:, 1]
    assert ch.estimate(secret, hang, rng=1, estimators=kind).beta_star.high < 0.45


@pytest.mark.parametrize("covariance", ["each", "shrunk"])
def test_few_samples_and_columns_that_follow_from_others_do_no_harm(covariance):
    rng = np.random.default_rng(2)
    output = rng.normal(size=(24, 30))
    data = samples([0, 1] * 12, np.c_[output, output[:, :4], np.ones(24)])
    scores = Templates(covariance).fit(data, np.arange(24))(data.output)
    assert np.isfinite(scores).all()
    assert (scores.max(axis=1) == 1).all()


def test_scores_are_gaussian_densities():
    rng = np.random.default_rng(3)
    secret = np.arange(400) % 2
    output = rng.normal(size=(400, 3)) * (1 + secret[:, None]) + secret[:, None]
    data = samples(secret, output)
    scores = Templates("each").fit(data, np.arange(400))(data.output[:9])
    for one, row in zip(output[:9], scores, strict=True):
        ratio = 0.0
        for s, sign in ((1, 1), (0, -1)):
            mine = output[secret == s]
            centred = one - mine.mean(axis=0)
            cov = np.cov(mine.T)
            ratio -= sign * (centred @ np.linalg.solve(cov, centred) + np.linalg.slogdet(cov)[1])
        assert np.log(row[1] / row[0]) == pytest.approx(ratio / 2, rel=1e-6)
