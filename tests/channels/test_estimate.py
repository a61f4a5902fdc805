"""How estimates are printed."""

import json
import math
from itertools import combinations, product

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.channels.estimate import LeakageEstimate, hidden_share, second_moment
from narcissus.errors import InputError
from narcissus.results import Estimate

from .conftest import draw, refused


@pytest.mark.parametrize(
    ("low", "high", "printed", "least"),
    [
        (0.123449, 0.234501, "0.1234 to 0.2346", "88.2"),  # 100 - 50 * 0.234501 = 88.27
        (None, 0.3, "no limit to 0.3000", "85.0"),
        (0.12999, None, "0.1299 to no limit", "50.0"),
    ],
)
def test_printed_limits_still_hold(low, high, printed, least):
    beta = Estimate(0.2, low, high, 0.95, 1000)
    risk = Estimate(0.4, 0.39999, 0.40001, 0.95, 1000)
    said = str(
        LeakageEstimate(
            beta, risk, 0.5, ("a", "b"), 2, 1000, 0.95, {"nearest": 0.4}, "nearest", False, ()
        )
    )
    assert f"limits {printed}" in said
    assert f"right in at least {least} of 100 attempts" in said
    assert "limits 0.3999 to 0.4001" in said


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
    refused("confidence", ch.estimate, *good, confidence=1)
    refused("needs a sampler", ch.estimate, *good, until=0.1)
    refused("give `until`", ch.estimate, lambda size, rng: good)
    refused("kind", ch.estimate, *good, kind="both")
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


def counted(shift, shares, number, secrets):
    """Sum the mean product of likelihood ratios over all two hidden pairs and coins."""
    signs = [np.repeat(coins, 2) * np.tile([1, -1], len(shares) // 2)
             for coins in product([1, -1], repeat=len(shares) // 2)]  # fmt: skip
    hidden = [
        {a: shares * (1 + shift * sign), b: shares * (1 - shift * sign)}
        for a, b in combinations(range(secrets), 2)
        for sign in signs
    ]
    total = 0.0
    for one, other in product(hidden, repeat=2):
        total += math.prod(
            float((one[s] * other[s] / shares).sum()) ** number for s in set(one) & set(other)
        )
    return total / len(hidden) ** 2 - 1


@pytest.mark.states("Narcissus theory", "6.10")
@pytest.mark.parametrize("secrets", [2, 3, 4])
@pytest.mark.parametrize(("number", "shift"), [(3, 0.2), (40, 0.02), (40, 0.2)])
def test_it_is_the_second_moment_or_more(secrets, number, shift):
    shares = np.full(6, 1 / 6)
    exact = counted(shift, shares, number, secrets)
    found = second_moment(shift, shares, number, secrets)
    assert exact <= found * (1 + 1e-12)
    if shift < 0.1:
        assert found == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize(
    ("values", "each", "beta", "floor"), [(400, 1_000, 0.9387, 0.80), (200, 500, 0.9129, 0.76)]
)
def test_randomised_response_hides_much(values, each, beta, floor):
    share = hidden_share(np.full(values, 1 / values), each, values)
    assert 0.5 < beta * (1 - share) < floor


def test_more_samples_hide_less_and_continuous_outputs_everything():
    shares = np.full(50, 0.02)
    found = [hidden_share(shares, each, 50) for each in (100, 1_000, 10_000)]
    assert found[0] > found[1] > found[2] > 0
    assert hidden_share(np.full(1_000_000, 1e-6), 50, 2) == pytest.approx(1.0)


def test_only_what_is_moved_is_hidden():
    """Of two outputs both have the smaller one's chance at stake: the rest is in both rows."""
    shares = np.array([0.15, 0.5, 0.05, 0.3])
    assert hidden_share(shares, 0.01, 2) == pytest.approx(0.7)
    for each in (20, 200, 2_000):
        shift = hidden_share(shares, each, 2) / 0.7
        up = shares + shift * np.array([0.05, 0.3, -0.05, -0.3])
        down = shares - shift * np.array([0.05, 0.3, -0.05, -0.3])
        assert 1 - np.minimum(up, down).sum() == pytest.approx(hidden_share(shares, each, 2))
    assert hidden_share(np.ones(1), 100, 2) == 0.0


def test_limits_far_apart_say_why_and_what_would_help():
    rng = np.random.default_rng(0)
    secret = np.repeat(np.arange(60), 200)
    other = (secret + rng.integers(1, 60, 12_000)) % 60
    output = np.where(rng.random(12_000) < 0.2, secret, other)
    found = ch.estimate(secret, output, rng=1, estimators="frequentist")
    (far,) = found.remarks
    assert "is about the most that a method without assumptions gives" in far
    assert "60 secrets with about 200 samples each, over 60 outputs" in far
    for option in ("`symmetric`", "`monotone`", "`among` or `pair`"):
        assert option in far
    assert far in str(found)
    assert found.to_dict()["remarks"] == [far]
    said = float(far.split("like this one, ")[1].split(" ")[0])
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
