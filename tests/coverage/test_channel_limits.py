"""The limits of `estimate`, `estimate_groups` and `sampled_leakage` cover, at a declared rate.

Also in the settings where F-BLEAU's headline fell below the truth, for any prior and gain, numbers
fixed or random, and for all groups and differences at once. Each side may miss with probability at
most half of what the confidence leaves. A test fails if the misses exceed the binomial quantile at
1 - 1e-6: that is its false-alarm rate, per side.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from narcissus import channels as ch

pytestmark = pytest.mark.coverage_claim

REPEATS = pytest.mark.repeats(15, 5000)
CONFIDENCE = 0.8  # a low level, so that limits that do not hold show within few repeats
FALSE_ALARM = 1e-6


def most_misses(repeats, side):
    return stats.binom.ppf(1 - FALSE_ALARM, repeats, side)


def settings():
    rng = np.random.default_rng(11)
    geometric = ch.Geometric(12, 0.3).channel()
    many = rng.dirichlet(np.full(60, 0.3), 5)
    skewed = rng.dirichlet(np.ones(8), 3)
    return {
        "randomized response": (ch.KaryRandomizedResponse(10, 2).channel().matrix, None, 400),
        "geometric": (geometric.matrix, None, 800),
        "many outputs": (many, None, 500),
        "skewed prior": (skewed, [0.6, 0.3, 0.1], 300),
        "two secrets": (np.array([[0.7, 0.3], [0.35, 0.65]]), None, 120),
        "unlike numbers": (np.array([[0.7, 0.3], [0.35, 0.65]]), [0.9, 0.1], 200),
        "no leakage": (np.full((3, 20), 1 / 20), None, 300),
        "many alike": (ch.KaryRandomizedResponse(25, 2).channel().matrix, None, 1_500),
    }


@pytest.mark.states("Narcissus theory", "6.2", "6.8", "6.9")
@REPEATS
@pytest.mark.parametrize("name", settings())
@pytest.mark.one_in(2)
def test_both_sides_cover(name, repeats):
    matrix, prior, size = settings()[name]
    truth = {"beta_star": ch.beta_star(matrix).value, "bayes_risk": ch.bayes_risk(matrix, prior)}
    cumulative = np.cumsum(matrix, axis=1)
    rng = np.random.default_rng([3, size])
    misses = dict.fromkeys([(q, side) for q in truth for side in ("low", "high")], 0)
    done = 0
    while done < repeats:
        secret = rng.choice(len(matrix), size=size, p=prior)
        output = (rng.random(size)[:, None] > cumulative[secret]).sum(axis=1)
        if np.bincount(secret, minlength=len(matrix)).min() < 10:
            continue  # refused with an error, not answered
        found = ch.estimate(secret, output, confidence=CONFIDENCE, kind="discrete", rng=rng)
        done += 1
        for q, value in truth.items():
            e = getattr(found, q)
            misses[q, "low"] += e.low > value + 1e-12
            misses[q, "high"] += e.high < value - 1e-12
            assert e.low <= e.value <= e.high
    allowed = most_misses(repeats, (1 - CONFIDENCE) / 2)
    assert max(misses.values()) <= allowed, misses


@pytest.mark.states("Narcissus theory", "6.2")
@REPEATS
def test_stopping_when_it_looks_good_still_covers(repeats):
    mechanism = ch.KaryRandomizedResponse(3, 1.0)
    cumulative = np.cumsum(mechanism.channel().matrix, axis=1)

    def sampler(size, rng):
        secret = rng.integers(3, size=size)
        return secret, (rng.random(size)[:, None] > cumulative[secret]).sum(axis=1)

    rng = np.random.default_rng(5)
    misses = {"beta_star": 0, "bayes_risk": 0}
    for _ in range(repeats):
        found = ch.estimate(
            sampler,
            until=0.3,
            first=200,
            most=6_400,
            confidence=CONFIDENCE,
            estimators=["frequentist", "nearest-one"],
            rng=rng,
        )
        for quantity in misses:
            e = getattr(found, quantity)
            misses[quantity] += not e.low <= getattr(mechanism, quantity) <= e.high
    assert max(misses.values()) <= most_misses(repeats, 1 - CONFIDENCE)


@pytest.mark.states("Narcissus theory", "6.9", "6.10")
@REPEATS
@pytest.mark.parametrize("assumption", [{"symmetric": True}, {"monotone": True}, {"pair": (0, 3)}])
def test_what_is_assumed_and_true_keeps_the_limits(assumption, repeats):
    """Randomised response is symmetric, a geometric mechanism monotone with its ends the pair."""
    is_symmetric = "symmetric" in assumption
    made = ch.KaryRandomizedResponse(8, 1.5) if is_symmetric else ch.Geometric(4, 0.5)
    matrix = made.channel().matrix
    cumulative, size = np.cumsum(matrix, axis=1), 240
    truth = {"beta_star": ch.beta_star(matrix).value, "bayes_risk": ch.bayes_risk(matrix)}
    rng = np.random.default_rng([6, len(matrix)])
    misses = {("beta_star", "low"): 0, ("beta_star", "high"): 0, ("bayes_risk", "low"): 0}
    for _ in range(repeats):
        secret = np.r_[np.repeat(np.arange(len(matrix)), 10), rng.choice(len(matrix), size)]
        output = (rng.random(len(secret))[:, None] > cumulative[secret]).sum(axis=1)
        found = ch.estimate(
            secret, output, confidence=CONFIDENCE, kind="discrete", rng=rng,
            estimators=["frequentist"], **assumption,
        )  # fmt: skip
        security, risk = found.beta_star, found.bayes_risk
        misses["beta_star", "low"] += security.low > truth["beta_star"] + 1e-12
        misses["beta_star", "high"] += security.high < truth["beta_star"] - 1e-12
        misses["bayes_risk", "low"] += risk.low > truth["bayes_risk"] + 1e-12
    assert max(misses.values()) <= most_misses(repeats, (1 - CONFIDENCE) / 2), misses


def test_the_naive_interval_would_be_caught():
    """The test above has power: the resubstitution error, taken as a limit, misses often."""
    matrix, _prior, size = settings()["many outputs"]
    cumulative = np.cumsum(matrix, axis=1)
    rng = np.random.default_rng(1)
    truth, misses, repeats = ch.bayes_risk(matrix), 0, 100
    for _ in range(repeats):
        secret = rng.integers(len(matrix), size=size)
        output = (rng.random(size)[:, None] > cumulative[secret]).sum(axis=1)
        counts = ch.samples(secret, output).counts().toarray()
        misses += 1 - counts.max(axis=1).sum() / size < truth
    assert misses > most_misses(repeats, (1 - CONFIDENCE) / 2)


@pytest.mark.states("Narcissus theory", "6.14")
@pytest.mark.repeats(8, 3000)
def test_all_groups_and_differences_at_once(repeats):
    rng, rates, sizes = np.random.default_rng(31), np.array([0.6, 0.75, 0.9]), [60, 120, 90]
    group = np.repeat(np.arange(3), sizes)
    truth = {"beta_star": 2 * (1 - rates), "bayes_risk": 1 - rates}
    misses = dict.fromkeys(truth, 0)
    wrong = dict.fromkeys(truth, 0)
    for _ in range(repeats):
        secret = rng.integers(2, size=group.size)
        output = np.where(rng.random(group.size) < rates[group], secret, 1 - secret)
        found = ch.estimate_groups(
            secret, output, group, confidence=CONFIDENCE, kind="discrete", rng=rng
        )
        for quantity, right in truth.items():
            each = found.limits(quantity).values()
            inside = [e.low <= v <= e.high for e, v in zip(each, right, strict=True)]
            for d in found.differences(quantity):
                value = right[int(d.first)] - right[int(d.second)]
                inside.append(d.low - 1e-12 <= value <= d.high + 1e-12)
            misses[quantity] += not all(inside)
            name, sure = found.worst(quantity)
            wrong[quantity] += sure and name != "2"
    allowed = most_misses(repeats, 1 - CONFIDENCE)
    assert max(misses.values()) <= allowed, misses
    assert max(wrong.values()) <= allowed, wrong


FEWER = pytest.mark.repeats(10, 5000)
LEVEL = 0.6
GAIN = np.array([[1.0, 0.0, 0.2], [0.0, 1.0, 0.3], [0.55, 0.5, 0.6]])
MEASURES = ["bayes-risk", "g-vulnerability", "shannon-leakage", "capacity", "shannon-capacity"]
CHANNELS = {
    "usual": np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]),
    "many outputs": np.random.default_rng(4).dirichlet(np.full(40, 0.4), 3),
    "nothing": np.full((3, 4), 0.25),
    "all": np.eye(3),
}


@pytest.mark.states("Narcissus theory", "6.15")
@FEWER
@pytest.mark.parametrize("drawn", ["fixed", "random"])
@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.one_in(2)
def test_both_sides_of_leakage_cover(name, drawn, repeats):
    rows, prior = CHANNELS[name], [0.25, 0.6, 0.15]
    truth = {
        "bayes-risk": ch.bayes_risk(rows, prior),
        "g-vulnerability": ch.g_vulnerability(rows, GAIN, prior),
        "shannon-leakage": ch.shannon_leakage(rows, prior),
        "capacity": ch.capacity(rows),
        "shannon-capacity": ch.shannon_capacity(rows).low,
    }
    cumulative = rows.cumsum(axis=1)
    cumulative[:, -1] = 1.0
    rng = np.random.default_rng(len(name))
    misses = dict.fromkeys([(q, side) for q in truth for side in ("low", "high")], 0)
    for _ in range(repeats):
        secret = np.repeat([0, 1, 2], [40, 100, 12])
        if drawn == "random":
            secret = np.r_[rng.choice(3, size=147, p=[0.5, 0.3, 0.2]), 0, 1, 2]
        output = (rng.random(len(secret))[:, None] > cumulative[secret]).sum(axis=1)
        found = ch.sampled_leakage(
            secret, output, measures=MEASURES, prior=prior, gain=GAIN, confidence=LEVEL,
            kind="discrete", estimators=["frequentist"], rng=rng,
        )  # fmt: skip
        for q, value in truth.items():
            misses[q, "low"] += found[q].low > value + 1e-9
            misses[q, "high"] += found[q].high < value - 1e-9
    assert max(misses.values()) <= most_misses(repeats, (1 - LEVEL) / 2), misses


def test_the_seeming_leakage_would_be_caught():
    """The test above has power: what the samples seem to tell, taken as a limit, misses."""
    rows = CHANNELS["many outputs"]
    truth, misses = ch.shannon_leakage(rows), 0
    rng = np.random.default_rng(1)
    for _ in range(60):
        secret = rng.integers(3, size=150)
        output = (rng.random(150)[:, None] > rows.cumsum(axis=1)[secret]).sum(axis=1)
        counts = ch.samples(secret, output).counts().toarray().T
        misses += ch.shannon_leakage(counts / counts.sum(axis=1, keepdims=True)) > truth
    assert misses > most_misses(60, (1 - LEVEL) / 2)


@pytest.mark.states("Narcissus theory", "6.2", "6.8")
@pytest.mark.repeats(15, 1000)
def test_the_bayes_risk_of_secrets_with_few_samples_each_is_covered(repeats):
    """Seven or eight of each of twenty secrets: only Bayes security leaves secrets out."""
    matrix = ch.Geometric(20, 0.3).channel().matrix
    truth, cumulative = ch.bayes_risk(matrix), np.cumsum(matrix, axis=1)
    rng, misses = np.random.default_rng(12), np.zeros(2)
    for _ in range(repeats):
        secret = rng.integers(20, size=150)
        output = (rng.random(150)[:, None] > cumulative[secret]).sum(axis=1)
        found = ch.estimate(secret, output, confidence=CONFIDENCE, rng=rng)
        assert found.left_out
        risk = found.bayes_risk
        misses += (risk.low or 0.0) > truth, risk.high < truth
    assert (misses <= most_misses(repeats, (1 - CONFIDENCE) / 2)).all()
