"""The limits of `sampled_leakage` cover, for any prior and gain, numbers fixed or random.

Each side may miss with probability at most half of what the confidence leaves. A test fails if the
misses exceed the binomial quantile at 1 - 1e-6: that is its false-alarm rate, per side.
"""

import numpy as np
import pytest
from scipy import stats

from narcissus import channels as ch

pytestmark = pytest.mark.coverage_claim

REPEATS = pytest.mark.parametrize(
    "repeats", [25, pytest.param(5000, marks=pytest.mark.nightly)], ids=["few", "many"]
)
CONFIDENCE = 0.6
GAIN = np.array([[1.0, 0.0, 0.2], [0.0, 1.0, 0.3], [0.55, 0.5, 0.6]])
MEASURES = ["bayes-risk", "g-vulnerability", "shannon-leakage", "capacity", "shannon-capacity"]
CHANNELS = {
    "usual": np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]),
    "many outputs": np.random.default_rng(4).dirichlet(np.full(40, 0.4), 3),
    "nothing": np.full((3, 4), 0.25),
    "all": np.eye(3),
}


def most_misses(repeats):
    return stats.binom.ppf(1 - 1e-6, repeats, (1 - CONFIDENCE) / 2)


@pytest.mark.states("Narcissus theory", "6.15")
@REPEATS
@pytest.mark.parametrize("drawn", ["fixed", "random"])
@pytest.mark.parametrize("name", CHANNELS)
def test_both_sides_cover(name, drawn, repeats):
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
            secret, output, measures=MEASURES, prior=prior, gain=GAIN, confidence=CONFIDENCE,
            kind="discrete", estimators=["frequentist"], rng=rng,
        )  # fmt: skip
        for q, value in truth.items():
            misses[q, "low"] += found[q].low > value + 1e-9
            misses[q, "high"] += found[q].high < value - 1e-9
    assert max(misses.values()) <= most_misses(repeats), misses


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
    assert misses > most_misses(60)
