"""Measures that follow from one another agree, and none leaves its range."""

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels.sampled_measures import MEASURES


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
