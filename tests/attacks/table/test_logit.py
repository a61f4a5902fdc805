"""The conditional logit against a general optimiser, and against the truth."""

import numpy as np
from scipy import optimize, special

from narcissus.attacks.table.learned import ConditionalLogit


def drawn(seed, *, people=3000, alternatives=4, weights=(1.0, -2.0, 0.5)):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(people, alternatives, len(weights))) * [1.0, 0.3, 10.0]
    chances = special.softmax(features @ np.array(weights), axis=1)
    chosen = (chances.cumsum(axis=1) < rng.random((people, 1))).sum(axis=1)
    return features, np.minimum(chosen, alternatives - 1)


def test_it_finds_the_weights_that_made_the_data():
    features, chosen = drawn(1, people=20_000)
    found = ConditionalLogit.fit(features, chosen, 1e-6).weights
    np.testing.assert_allclose(found, [1.0, -2.0, 0.5], atol=0.12)


def test_the_maximum_is_that_of_a_general_optimiser():
    features, chosen = drawn(2, people=300)
    centred = features - features.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=(0, 1)))
    ridge = 5.0

    def loss(weights):
        logits = features @ weights
        logs = logits[np.arange(len(chosen)), chosen] - special.logsumexp(logits, axis=1)
        return -logs.sum() + ridge / 2 * ((weights * deviation) ** 2).sum()

    wanted = optimize.minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-8}).x
    found = ConditionalLogit.fit(features, chosen, ridge).weights
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    # The ridge is felt: without it the weights are others.
    assert np.abs(ConditionalLogit.fit(features, chosen, 1e-9).weights - found).max() > 1e-3


def test_useless_and_separating_features_do_no_harm():
    """A constant gets no weight; one that tells the truth outright a finite one."""
    features, chosen = drawn(3, people=200)
    told = np.zeros((*features.shape[:2], 2))
    told[:, :, 0] = 7.0
    told[np.arange(len(chosen)), chosen, 1] = 1.0
    logit = ConditionalLogit.fit(np.concatenate([features, told], axis=2), chosen, 1.0)
    assert logit.weights[3] == 0
    assert np.isfinite(logit.weights).all()
    chances = logit.chances(np.concatenate([features, told], axis=2))
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (chances.argmax(axis=1) == chosen).all()
