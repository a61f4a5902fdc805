"""The prior that explains outputs: the true one from its own law, and no better one than found."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError


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
    with pytest.raises(InputError, match="output 'o2' came"):
        ch.explain([[1, 0], [1, 0]], [3, 1])
    with pytest.raises(InputError, match="2 numbers"):
        ch.explain([[1, 0], [0, 1]], [0, 0])


def test_qif_updates_to_the_same_prior():
    qif = pytest.importorskip("qif", reason="qif, the peer that is compared with, is not installed")
    rows = ch.KaryRandomizedResponse(4, 1.5).channel().dense
    share = np.array([0.3, 0.3, 0.25, 0.15])
    theirs, _ = qif.channel.iterative_bayesian_update(rows, share, max_diff=1e-12)
    assert ch.explain(rows, share, tolerance=1e-12).prior == pytest.approx(theirs, abs=1e-4)
