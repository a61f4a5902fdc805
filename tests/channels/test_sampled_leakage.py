"""Leakages from samples: what is asked for, what is refused, and what is said."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from narcissus import channels as ch
from narcissus.channels.sampled_leakage import MEASURES

from .conftest import refused


@pytest.fixture(scope="module")
def two():
    rng = np.random.default_rng(0)
    secret = rng.integers(2, size=2000)
    return np.array(["no", "yes"])[secret], np.where(rng.random(2000) < 0.8, secret, 1 - secret)


def test_limits_surround_the_truth_and_are_near_it(two):
    rows, prior = [[0.8, 0.2], [0.2, 0.8]], [0.4, 0.6]
    found = ch.sampled_leakage(*two, prior={"yes": 0.6, "no": 0.4}, rng=0)
    truth = {
        "bayes-risk": ch.bayes_risk(rows, prior),
        "multiplicative-leakage": ch.multiplicative_leakage(rows, prior),
        "shannon-leakage": ch.shannon_leakage(rows, prior),
        "capacity": ch.capacity(rows),
        "shannon-capacity": ch.shannon_capacity(rows).low,
    }
    for name, value in truth.items():
        e = found[name]
        assert e.low < value < e.high
        assert e.high - e.low < 0.2
    assert found.prior == "given"
    assert found.grade == "sampled"
    assert "shannon-leakage" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    assert len(found.to_frame()) == 9


def test_a_gain_goes_by_the_names_of_the_secrets(two):
    gain = pd.DataFrame([[1, 0], [0, 5]], index=["hit", "miss"], columns=["yes", "no"])
    found = ch.sampled_leakage(*two, gain=gain, measures=["g-vulnerability"], rng=0)
    swapped = ch.sampled_leakage(*two, gain=[[0, 1], [5, 0]], measures=["g-vulnerability"], rng=0)
    assert found.to_dict() == swapped.to_dict()
    share = (two[0] == "no").mean()
    truth = ch.g_vulnerability([[0.8, 0.2], [0.2, 0.8]], [[0, 1], [5, 0]], [share, 1 - share])
    g = found["g-vulnerability"]  # no less than the better guess without the output
    assert g.low <= truth * (1 + 1e-12) < g.high


def test_continuous_outputs_are_limited_on_one_side(two):
    shown = np.random.default_rng(1).normal(two[1], 0.7)
    found = ch.sampled_leakage(two[0], shown, rng=0)
    assert found["bayes-risk"].low is None
    assert "continuous" in found["bayes-risk"].why
    for name in set(found.measures) - {"bayes-risk"}:
        assert found[name].high is None
    assert found["shannon-leakage"].low > 0.05
    assert "no limit" in str(found)


def test_secrets_without_samples_cost_their_share_and_no_more(two):
    prior = {"yes": 0.45, "no": 0.45, "maybe": 0.1}
    found = ch.sampled_leakage(*two, prior=prior, rng=0)
    e = found["bayes-risk"]
    assert e.low < 0.9 * 0.2 < 0.9 * 0.2 + 0.1 < e.high  # `maybe` may look like anything
    assert e.high - e.low < 0.1 + 0.09
    assert found["shannon-leakage"].low > 0.1
    assert 0.08 < found.lacking < 0.12
    assert "had no sample left" in str(found)


def test_as_many_as_nothing_is_no_leakage():
    rng = np.random.default_rng(3)
    found = ch.sampled_leakage(rng.integers(2, size=4000), rng.integers(4, size=4000), rng=0)
    assert found["shannon-leakage"].low == 0
    assert found["shannon-leakage"].high < 0.015
    assert found["min-entropy-leakage"].low == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"measures": ["shannon"]}, "did you mean `shannon-leakage`"),
        ({"measures": ["g-leakage"]}, "needs `gain`"),
        ({"gain": [[1, 0, 0]]}, "a column per secret"),
        ({"gain": [[-1, 0]], "measures": ["g-leakage"]}, "additive-g-leakage"),
        ({"gain": pd.DataFrame({"yes": [1]})}, "lacks the secret 'no'"),
        ({"prior": [0.5, 0.4]}, "must sum to 1"),
        ({"kind": "both"}, "`kind`"),
    ],
)
def test_what_does_not_fit_is_refused(two, more, words):
    refused(words, ch.sampled_leakage, *two, **more, rng=0)


def test_a_prior_that_is_known_limits_what_can_be_right():
    """Nobody is wrong more often than without the output; a secret that is sure tells nothing."""
    secret = np.repeat([0, 1, 2], [30, 30, 1])
    shown = np.random.default_rng(6).integers(2, size=61)
    gain = np.array([[1.0, 0.0, 0.5], [0.0, 0.8, 0.1]])
    found = ch.sampled_leakage(secret, shown, prior=[0.5, 0.0, 0.5], gain=gain, rng=1)
    assert found["bayes-risk"].high <= 0.5
    assert found["bayes-vulnerability"].value >= 0.5
    assert found["g-vulnerability"].low >= 0.75
    assert found["g-vulnerability"].high <= 0.75  # the first guess is the best for both
    sure = ch.sampled_leakage(secret, shown, prior=[1.0, 0.0, 0.0], gain=gain, rng=1)
    assert sure["shannon-leakage"].high == 0
    assert sure["bayes-risk"].high == 0
    assert sure["multiplicative-leakage"].high == 1


@pytest.mark.coverage_claim
@pytest.mark.states("Narcissus theory", "6.15")
@pytest.mark.repeats(12, 5000)
def test_shannon_capacity_is_limited_under_a_prior_that_suits(repeats):
    """Nine secrets alike and one apart; misses at most a fifth on each side, alarm 1e-6."""
    rows = np.array([[0.9, 0.1]] * 9 + [[0.1, 0.9]])
    truth, even = ch.shannon_capacity(rows).low, ch.shannon_leakage(rows)
    rng, misses, lows = np.random.default_rng(8), np.zeros(2), []
    secret = np.repeat(np.arange(10), 500)
    for _ in range(repeats):
        shown = (rng.random(5000) > rows[secret, 0]).astype(int)
        e = ch.sampled_leakage(
            secret, shown, measures=["shannon-capacity"], confidence=0.6, rng=rng
        )["shannon-capacity"]
        misses += (e.low > truth, e.high < truth)
        lows.append(e.low)
    assert (misses <= stats.binom.isf(1e-6, repeats, 0.2)).all()
    assert np.mean(lows) > 2 * even


@pytest.mark.parametrize("prior", [None, [0.2, 0.5, 0.3]])
def test_measures_agree_with_each_other(prior):
    rng = np.random.default_rng(5)
    secret = rng.integers(3, size=900)
    shown = np.where(rng.random(900) < 0.5, secret, rng.integers(3, size=900))
    found = ch.sampled_leakage(secret, shown, prior=prior, gain=np.eye(3), rng=2)
    assert set(found.measures) == set(MEASURES)
    top = max(np.bincount(secret) / 900) if prior is None else 0.5
    right = found["bayes-vulnerability"]
    for name, change in {
        "multiplicative-leakage": lambda v: max(1, v / top),
        "additive-leakage": lambda v: max(0, v - top),
        "min-entropy-leakage": lambda v: np.log2(max(1, v / top)),
        "g-vulnerability": lambda v: v,
    }.items():
        e = found[name]
        expected = [change(v) for v in (right.low, right.value, right.high)]
        assert [e.low, e.value, e.high] == pytest.approx(expected), name
    wrong = found["bayes-risk"]
    assert [wrong.low, wrong.high] == pytest.approx([1 - right.high, 1 - right.low])
    capacity = found["capacity"]
    assert 1 <= capacity.low <= capacity.value <= capacity.high <= 3
    assert found["min-capacity"].high == pytest.approx(np.log2(capacity.high))
    for e in found.measures.values():
        assert e.low <= e.value <= e.high
