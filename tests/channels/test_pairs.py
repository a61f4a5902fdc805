"""Choosing pairs among many secrets."""

import numpy as np

from narcissus import channels as ch


def test_many_secrets_without_all_pairs():
    # 300 secrets, alike but for two that stand out.
    rng = np.random.default_rng(4)
    secret = rng.integers(300, size=60_000)
    output = np.round(rng.laplace(size=60_000) * 5).astype(int)
    output[secret == 17] -= 20
    output[secret == 222] += 20
    found = ch.estimate(secret, output, rng=1)
    assert set(found.pair) == {"17", "222"}
    # The truth is 0.02; one miss in a hundred held-out samples each certifies about 0.11.
    assert found.beta_star.high < 0.15


def test_very_many_secrets_use_candidates(monkeypatch):
    monkeypatch.setattr("narcissus.channels.pairs.MOST_CANDIDATES", 40)
    rng = np.random.default_rng(4)
    secret = rng.integers(200, size=40_000)
    output = np.round(rng.laplace(size=40_000) * 5).astype(int)
    output[secret == 17] -= 20
    output[secret == 122] += 20
    found = ch.estimate(secret, output, rng=1)
    assert set(found.pair) == {"17", "122"}
