"""Second-order products: masked leaks, which no column by itself shows."""

import numpy as np

from narcissus import channels as ch
from narcissus.channels.estimators import MOST_PRODUCTS, Products, _telling
from narcissus.channels.samples import samples


def masked(rng, size, columns):
    """Two shares of one bit, each in a column of its own."""
    secret, mask = rng.integers(2, size=(2, size))
    output = rng.normal(size=(size, columns))
    output[:, 3] += 2 * mask
    output[:, columns - 2] += 2 * (mask ^ secret)
    return secret, output


def test_a_masked_bit_among_many_columns_is_found():
    secret, output = masked(np.random.default_rng(1), 3_000, 60)
    found = ch.estimate(secret, output, rng=1)
    assert found.chosen == "products"
    assert found.beta_star.high < 0.85
    for first_order in ("templates", "naive-bayes"):
        assert ch.estimate(secret, output, rng=1, estimators=first_order).beta_star.high > 0.95


def test_the_product_of_the_shares_is_the_most_telling():
    secret, output = masked(np.random.default_rng(2), 4_000, 30)
    centred = (output - output.mean(axis=0)) / output.std(axis=0)
    first, second = _telling(centred, secret, 2)
    assert len(first) == MOST_PRODUCTS
    assert (3, 28) in set(zip(first.tolist(), second.tolist(), strict=True))
    products = centred[:, 3] * centred[:, 28]
    apart = abs(products[secret == 0].mean() - products[secret == 1].mean())
    assert apart > 0.5


def test_constant_columns_and_one_column_do_no_harm():
    rng = np.random.default_rng(3)
    secret = rng.integers(2, size=400)
    data = samples(secret, np.c_[np.ones(400), rng.normal(size=400) * (1 + 4 * secret)])
    scores = Products().fit(data, np.arange(400))(data.output)
    assert np.isfinite(scores).all()
    assert np.mean(scores.argmax(axis=1) == secret) > 0.6
