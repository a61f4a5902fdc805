"""The upper limit of Bayes security: by which way, and what it says of the others."""

import numpy as np
import pytest

from narcissus.channels import limits as module
from narcissus.channels.limits import evenly, security_high, upper
from narcissus.channels.samples import samples
from narcissus.observer import SILENT


def response(rng, values, kept, size):
    secret = np.arange(size) % values
    other = (secret + rng.integers(1, values, size)) % values
    return samples(secret, np.where(rng.random(size) < kept, secret, other))


def found(data, rng, **given):
    return security_high(data, ["frequentist", "nearest-one"], rng, 0.025, SILENT, **given)


def test_the_smaller_of_two_limits_counts():
    rng = np.random.default_rng(0)
    many = found(response(rng, 30, 0.2, 6_000), rng)
    assert many.pairs > 1
    assert "empirical Bernstein" in many.limit.method
    assert set(many.alternatives) == {"frequentist", "nearest-one", "guess"}
    two = found(response(rng, 2, 0.7, 600), rng)
    assert two.pairs == 1
    assert "rounds of one sample of either" in two.limit.method


def test_both_ways_share_the_chance_to_be_wrong(monkeypatch):
    seen = []
    exact = module.rounds_high
    monkeypatch.setattr(
        module,
        "rounds_high",
        lambda total, rounds, side: seen.append(side) or exact(total, rounds, side),
    )
    rng = np.random.default_rng(1)
    assert found(response(rng, 30, 0.2, 6_000), rng).pairs > 1
    found(response(rng, 2, 0.7, 600), rng)
    assert seen == [pytest.approx(0.0025), 0.025]


def test_a_known_pair_needs_no_choice():
    rng = np.random.default_rng(2)
    data = response(rng, 10, 0.4, 6_000)
    known = found(data, rng, known=(2, 5))
    assert known.pair == (2, 5)
    assert known.pairs == 1
    assert int(known.limit.method.split(", ")[1].split()[0]) > 900  # of 1,200


def test_unlike_numbers_have_two_limits():
    rng = np.random.default_rng(3)
    secret = np.repeat([0, 1], [1_000, 100])
    output = np.where(rng.random(1_100) < 0.9, secret, 1 - secret)
    one = found(samples(secret, output), rng)
    assert one.limit.method.startswith("two Clopper-Pearson limits")
    assert 0.2 < one.limit.high < 0.4


def test_every_part_of_the_order_has_all_secrets_alike():
    secret = np.repeat([0, 1, 2], [600, 300, 100])
    order = evenly(secret, np.random.default_rng(4))
    for low in range(0, 1_000, 100):
        part = np.bincount(secret[order[low : low + 100]], minlength=3)
        assert (abs(part - [60, 30, 10]) <= 1).all()


def test_upper_is_clopper_pearson():
    assert upper(0, 10, 0.05) == pytest.approx(1 - 0.05**0.1)
    assert upper(10, 10, 0.05) == 1
