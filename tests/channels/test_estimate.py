import json

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError

from .conftest import draw

RR = ch.KaryRandomizedResponse(4, 1.5)


@pytest.mark.states("Chatzikokolakis et al. 2023", "section VII-D")
@pytest.mark.states("Narcissus theory", "6.2")
def test_estimates_come_near_and_limits_cover():
    rng = np.random.default_rng(0)
    secret, output = draw(RR.channel().matrix, 200_000, rng)
    found = ch.estimate(secret, output, rng=1)
    assert found.beta_star.low <= RR.beta_star <= found.beta_star.high
    assert found.bayes_risk.low <= RR.bayes_risk <= found.bayes_risk.high
    assert found.beta_star.value == pytest.approx(RR.beta_star, abs=0.02)
    assert found.bayes_risk.value == pytest.approx(RR.bayes_risk, abs=0.01)
    assert found.beta_star.high - found.beta_star.low < 0.08
    assert not found.continuous
    keys = {"estimate", "low", "high"}
    assert set(found.to_dict()["beta_star"]) == set(found.to_dict()["bayes_risk"]) == keys
    json.dumps(found.to_dict(), allow_nan=False)
    assert "95% limits" in str(found)


def test_continuous_outputs_have_no_lower_limit_and_say_so():
    rng = np.random.default_rng(2)
    secret = rng.integers(2, size=20_000)
    output = rng.normal(secret, 1.0)
    truth = ch.Gaussian(1, 1)
    found = ch.estimate(secret, output, rng=1)
    assert found.continuous
    assert found.beta_star.low is None
    assert found.bayes_risk.low is None
    assert "no lower limit" in found.to_dict()["bayes_risk"]["why"]
    assert truth.beta_star <= found.beta_star.high < truth.beta_star + 0.08
    assert truth.bayes_risk <= found.bayes_risk.high < truth.bayes_risk + 0.04
    assert "no limit" in str(found)
    two = ch.estimate(secret, np.c_[output, rng.normal(size=20_000)], rng=1)
    assert two.bayes_risk.high < 0.4


def test_a_channel_without_leakage_and_one_that_tells_all():
    rng = np.random.default_rng(6)
    secret = rng.integers(2, size=5_000)
    nothing = ch.estimate(secret, rng.integers(3, size=5_000), rng=1)
    assert nothing.beta_star.high == 1
    assert nothing.beta_star.low > 0.9
    everything = ch.estimate(secret, secret, rng=1)
    assert everything.beta_star.low == 0
    assert everything.beta_star.high < 0.01
    assert everything.bayes_risk.high < 0.01


def test_sampler_until_narrow_enough():
    matrix = RR.channel().matrix
    asked = []

    def sampler(size, rng):
        asked.append(size)
        return draw(matrix, size, rng)

    found = ch.estimate(sampler, until=0.1, rng=3)
    assert sum(asked) == found.samples
    assert found.beta_star.high - found.beta_star.low <= 0.1
    assert found.beta_star.low <= RR.beta_star <= found.beta_star.high
    assert found.bayes_risk.low <= RR.bayes_risk <= found.bayes_risk.high
    assert [look.samples for look in found.history] == list(np.cumsum(asked))
    assert len(found.to_frame()) == len(asked)
    import matplotlib.pyplot as plt

    assert len(found.plot().lines) == 2
    plt.close("all")
    capped = ch.estimate(sampler, until=0.001, most=3_000, rng=3)
    assert capped.samples == 3_000


def test_later_looks_spend_less():
    rng = np.random.default_rng(7)
    secret, output = draw(RR.channel().matrix, 4_000, rng)
    given = iter([(secret[:2_000], output[:2_000]), (secret[2_000:], output[2_000:])])
    found = ch.estimate(lambda size, rng: next(given), until=1e-9, first=2_000, most=4_000, rng=1)
    plain = ch.estimate(secret, output, rng=1)
    assert found.beta_star.low < plain.beta_star.low
    # Look 2 has a sixth of the false-alarm rate.
    matched = ch.estimate(secret, output, confidence=1 - 0.05 / 6, rng=1)
    assert found.beta_star.low == pytest.approx(matched.beta_star.low, rel=1e-9)


def test_bad_arguments():
    good = ["a", "b"] * 20, [0, 1] * 20
    with pytest.raises(InputError, match="confidence"):
        ch.estimate(*good, confidence=1)
    with pytest.raises(InputError, match="needs a sampler"):
        ch.estimate(*good, until=0.1)
    with pytest.raises(InputError, match="give `until`"):
        ch.estimate(lambda size, rng: good)
    with pytest.raises(InputError, match="kind"):
        ch.estimate(*good, kind="both")
    with pytest.raises(InputError, match="numeric outputs"):
        ch.estimate(["a", "b"] * 20, ["x", "y"] * 20, estimators=["nearest-one"])


@pytest.mark.parametrize("secrets", [2, 12])
def test_the_estimate_is_of_the_full_sample_and_not_the_mean_of_a_learning_curve(secrets):
    """Outputs that give the secret away once they were seen: the hold-out falls all the way.

    With 6,000 equally likely outputs, half of which say the secret and half of which say nothing.
    """
    rng = np.random.default_rng(2)
    outputs, size = 6_000, 24_000
    truth = rng.integers(secrets, size=outputs)
    tells = rng.random(outputs) < 0.5

    def drawn(many):
        seen = rng.integers(outputs, size=many)
        return np.where(tells[seen], truth[seen], rng.integers(secrets, size=many)), seen

    secret, seen = drawn(size)
    found = ch.estimate(secret, seen, estimators=["frequentist"], rng=3)
    # by hand: the commonest secret of each output, on fresh samples
    counts = np.zeros((outputs, secrets))
    np.add.at(counts, (seen, secret), 1)
    fresh, where = drawn(100_000)
    holdout = float((counts.argmax(axis=1)[where] != fresh).mean())
    bayes = 0.5 * (1 - 1 / secrets)
    assert bayes < holdout < found.bayes_risk.high
    assert found.bayes_risk.value == pytest.approx(holdout, abs=0.025)
    assert found.bayes_risk.value < found.bayes_risk.high - 0.01
    if secrets == 2:  # and of the pair: its miss and false hit are twice the risk
        assert found.beta_star.value == pytest.approx(2 * holdout, abs=0.05)


def test_limits_are_of_all_predictions_and_no_estimate_lies_above_them():
    """Independent outputs: an estimate may fall either way, and stays within its limits."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        secret, seen = rng.integers(3, size=300), rng.integers(4, size=300)
        found = ch.estimate(secret, seen, rng=seed)
        for part in (found.bayes_risk, found.beta_star):
            assert (part.low or 0.0) <= part.value <= part.high
