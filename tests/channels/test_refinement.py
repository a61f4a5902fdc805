"""Refinement: the post-processing, or a gain that separates; reference values."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError, NarcissusError, TooLargeError

A = [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]]
B = [[0.7, 0.3], [0.4, 0.6], [0.45, 0.55]]


@pytest.mark.states("Narcissus theory", "6.6")
@pytest.mark.parametrize(("first", "second", "gap"), [(A, B, 0.2), (B, A, 0.6545454545)])
def test_two_that_cannot_be_compared(first, second, gap):
    found = ch.refines(first, second)
    assert not found.holds
    assert found.gap == pytest.approx(gap, abs=1e-9)
    told = [ch.g_vulnerability(c, found.gain) for c in (first, second)]
    assert told == [found.first, found.second]
    # the shifted and halved gain tells the gap, over two and the three secrets
    assert told[1] - told[0] >= gap / 6 - 1e-9
    assert found.grade == "proved"


@pytest.mark.parametrize("seed", range(5))
def test_post_processing_is_found(seed):
    rng = np.random.default_rng(seed)
    first, by = rng.dirichlet(np.ones(4), 5), rng.dirichlet(np.ones(3), 4)
    found = ch.refines(first, first @ by)
    assert found.holds
    assert np.abs(first @ found.by.dense - first @ by).sum() <= 1e-9
    assert found.grade == "approximate"
    assert not ch.refines(first @ by, first).holds


@pytest.mark.parametrize("off", [1e-5, 1e-7, 1e-8])
def test_what_is_nearly_post_processed_is_told_from_what_is(off):
    """Each answer has the witness that it says: 1e-9 in sum, or a gain that separates."""
    rng, separated = np.random.default_rng(11), 0
    for _ in range(25):
        first, by = rng.dirichlet(np.ones(5), 6), rng.dirichlet(np.ones(3), 5)
        second = first @ by
        second[0] += off * np.array([-1.0, 1.0, 0.0])
        found = ch.refines(first, second)
        if found.holds:
            assert np.abs(first @ found.by.dense - second).sum() <= 1e-9
        else:
            assert ch.g_vulnerability(second, found.gain) > ch.g_vulnerability(first, found.gain)
            separated += 1
    assert separated >= 20


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InputError, match="same secrets"):
        ch.refines(A, [[1.0], [1.0]])
    with pytest.raises(TooLargeError, match="variables"):
        ch.refines(np.full((2, 1000), 1e-3), np.full((2, 1000), 1e-3))


def test_qif_decides_the_same():
    qif = pytest.importorskip("qif", reason="qif, the peer that is compared with, is not installed")
    rng = np.random.default_rng(2)
    for _ in range(6):
        first, by = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(3), 3)
        other = rng.dirichlet(np.ones(3), 4)
        for a, b in ((first, first @ by), (first @ by, first), (first, other)):
            assert ch.refines(a, b).holds == qif.refinement.refined_by_witness(a, b)[0]


def test_it_is_told_as_plain_values():
    told = ch.refines(A, B).to_dict()
    assert (told["holds"], told["by"], told["grade"]) == (False, None, "proved")
    assert np.array(told["gain"]).shape[1] == 3
    assert ch.refines(A, A).to_dict()["by"] is not None


def test_what_no_witness_decides_is_no_verdict(monkeypatch):
    monkeypatch.setattr("narcissus.channels.refinement.g_vulnerability", lambda *_: 0.5)
    with pytest.raises(NarcissusError, match="not decided: the nearest post-processing is off by"):
        ch.refines(np.eye(2)[[0, 0]], np.eye(2))
