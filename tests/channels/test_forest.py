"""Trees, where scikit-learn is there."""

import sys

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels.samples import samples
from narcissus.errors import MissingExtraError


def test_what_only_trees_see_is_found():
    pytest.importorskip("sklearn", reason="the extra `learn` is not installed")
    rng = np.random.default_rng(0)
    output = rng.uniform(size=(3_000, 3))
    secret = ((output[:, 0] > 0.5) ^ (rng.random(3_000) < 0.05)).astype(int)
    found = ch.estimate(secret, output, rng=1, estimators="forest")
    assert found.beta_star.high < 0.2


def test_no_more_are_learned_from_than_is_said(monkeypatch):
    ensemble = pytest.importorskip("sklearn.ensemble", reason="the extra `learn` is not installed")
    module = sys.modules["narcissus.channels.forest"]
    monkeypatch.setattr(module, "MOST_TRAINING", 50)
    seen = []
    fit = ensemble.ExtraTreesClassifier.fit
    monkeypatch.setattr(
        ensemble.ExtraTreesClassifier, "fit",
        lambda self, x, y: seen.append(len(x)) or fit(self, x, y),
    )  # fmt: skip
    data = samples([0, 1] * 100, np.arange(200.0))
    scores = module.Forest().fit(data, np.arange(200))(np.arange(10))
    assert seen == [50]
    assert np.allclose(scores.sum(axis=1), 1)


def test_without_the_extra_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(MissingExtraError, match="learn"):
        ch.forest()
