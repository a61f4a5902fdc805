"""Remarks: said where they are true, and not elsewhere."""

import numpy as np

from narcissus import channels as ch


def test_limits_far_apart_say_why_and_what_would_help():
    rng = np.random.default_rng(0)
    secret = np.repeat(np.arange(60), 200)
    other = (secret + rng.integers(1, 60, 12_000)) % 60
    output = np.where(rng.random(12_000) < 0.2, secret, other)
    found = ch.estimate(secret, output, rng=1, estimators="frequentist")
    (far,) = found.remarks
    assert "no method that assumes nothing gives more than about 0." in far
    assert "60 secrets with about 200 samples each, over 60 outputs" in far
    for option in ("`symmetric`", "`monotone`", "`among` or `pair`"):
        assert option in far
    assert far in str(found)
    assert found.to_dict()["remarks"] == [far]
    said = float(far.split("more than about ")[1].split(" ")[0])
    assert found.beta_star.low < said < found.beta_star.value
    assert not ch.estimate(secret, output, rng=1, symmetric=True).remarks


def test_what_makes_no_sense_is_not_suggested():
    rng = np.random.default_rng(1)
    secret = rng.integers(2, size=100)
    output = np.array(["x", "y"])[np.where(rng.random(100) < 0.7, secret, 1 - secret)]
    (far,) = ch.estimate(secret, output, rng=1).remarks
    assert "more samples of each secret" in far
    assert "`" not in far


def test_near_limits_are_not_remarked_on():
    rng = np.random.default_rng(2)
    secret = rng.integers(2, size=10_000)
    found = ch.estimate(secret, np.where(rng.random(10_000) < 0.7, secret, 1 - secret), rng=1)
    assert not found.remarks
    assert "remarks" not in found.to_dict()


def test_estimators_that_disagree_are_named():
    rng = np.random.default_rng(3)
    secret = rng.integers(2, size=2_000)
    output = rng.normal(size=(2_000, 20)) * np.where(secret, 1.0, 2.2)[:, None]
    given = ["templates", "templates-shrunk"]
    found = ch.estimate(secret, output, rng=1, estimators=given)
    (said,) = found.remarks
    assert "the estimators disagree" in said
    assert said.index("templates-shrunk") < said.index("templates 0.")
    assert found.beta_star.high < 0.06
    assert found.alternatives["templates"] > 0.7
    alone = ch.estimate(secret, output, rng=1, estimators="templates-shrunk")
    assert not alone.remarks
