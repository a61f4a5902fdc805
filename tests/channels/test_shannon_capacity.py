"""Shannon capacity lies between its limits: reference values, closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import channels as ch


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


def test_qif_finds_the_same():
    qif = pytest.importorskip("qif", reason="qif, the peer that is compared with, is not installed")
    rows = np.random.default_rng(3).dirichlet(np.ones(4), 4)
    found = ch.shannon_capacity(rows)
    theirs = qif.measure.shannon.add_capacity(rows)[0]
    assert found.low - 1e-3 <= theirs <= found.high + 1e-3
