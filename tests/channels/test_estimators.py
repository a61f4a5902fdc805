"""Estimators: neighbours with ties, classifiers of one's own."""

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError

from .conftest import draw

RR = ch.KaryRandomizedResponse(4, 1.5)


def test_neighbours_with_ties_match_counting_on_discrete_outputs():
    # Broken by order, ties would cost 0.06 and more here; with ties they cost nothing.
    rng = np.random.default_rng(3)
    secret, output = draw(RR.channel().matrix, 20_000, rng)
    found = ch.estimate(secret, output, rng=2, estimators=["frequentist", "nearest-one"])
    assert found.estimators["nearest-one"] == found.estimators["frequentist"]


def test_ones_own_classifier():
    naive = pytest.importorskip("sklearn.naive_bayes", reason="the extra `learn` is not installed")
    rng = np.random.default_rng(5)
    secret = rng.integers(2, size=4_000)
    output = rng.normal(size=(4_000, 6)) + 0.4 * secret[:, None]
    found = ch.estimate(secret, output, rng=1, estimators=naive.GaussianNB())
    assert found.chosen == "GaussianNB"
    assert found.bayes_risk.high < 0.36

    class Sign:
        """Predicts only; no probabilities."""

        def fit(self, x, y):
            pass

        def predict(self, x):
            return (x.mean(axis=1) > 0.2).astype(int)

    own = ch.estimate(secret, output, rng=1, estimators=[Sign(), "nearest-log"])
    assert own.chosen == "Sign"
    assert own.beta_star.high < 0.75
    trees = ch.estimate(secret, output, rng=1, estimators=["forest"])
    assert trees.bayes_risk.high < 0.42
    with pytest.raises(InputError, match="`fit` and `predict`"):
        ch.estimate(secret, output, estimators=[object()])
    with pytest.raises(InputError, match="did you mean `forest`"):
        ch.estimate(secret, output, estimators=["forrest"])


@pytest.mark.parametrize("count", [1, 7])
def test_neighbours_by_products_are_those_of_the_tree(count):
    from narcissus.channels.estimators import _by_products, _by_tree

    rng = np.random.default_rng(3)
    points, queries = rng.normal(size=(300, 13)), rng.normal(size=(90, 13))
    one, other = _by_tree(points)(queries, count), _by_products(points)(queries, count)
    assert np.array_equal(one[1], other[1])
    assert np.allclose(one[0], other[0], rtol=1e-9)
