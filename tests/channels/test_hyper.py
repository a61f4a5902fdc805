"""Posteriors and their chances; outputs that tell the same are one."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import channels as ch

A4 = [[0.9, 0.1, 0], [0.8, 0.2, 0], [0.5, 0.5, 0], [0.5, 0.1, 0.4]]


@pytest.mark.states("Narcissus theory", "6.6")
def test_the_posteriors_average_to_the_prior():
    found = ch.hyper(A4)
    assert found.outer == pytest.approx([0.675, 0.225, 0.1])
    assert found.outer @ found.inner == pytest.approx([0.25] * 4)
    prior = [0.4, 0.3, 0.2, 0.1]
    found = ch.hyper(A4, prior)
    assert found.outer @ found.inner == pytest.approx(prior)
    assert found.outer @ found.inner.max(axis=1) == pytest.approx(ch.bayes_vulnerability(A4, prior))


def test_outputs_that_tell_the_same_are_joined():
    doubled = np.column_stack([np.array(A4) * 0.5, np.zeros(4), np.array(A4)[:, ::-1] * 0.5])
    thin = ch.reduced(doubled)
    assert thin.shape == (4, 3)
    assert thin.dense == pytest.approx(np.array(A4))
    assert thin.outputs[0] == "o1+o7"
    assert ch.hyper(doubled).outer == pytest.approx(ch.hyper(A4).outer)


def test_qif_has_the_same_posteriors():
    qif = pytest.importorskip("qif", reason="qif, the peer that is compared with, is not installed")
    rows = np.column_stack([np.array(A4) * 0.5, np.array(A4) * 0.5])
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    outer, inner = qif.channel.hyper(rows, prior)
    found = ch.hyper(rows, prior)
    order = np.argsort(-outer)
    assert found.outer == pytest.approx(outer[order])
    assert found.inner == pytest.approx(inner.T[order])
    theirs = qif.channel.reduced(rows)
    assert ch.reduced(rows).shape == theirs.shape
    for one, two in ((rows, theirs), (theirs, rows)):
        assert ch.refines(one, two).holds
