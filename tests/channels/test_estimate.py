import json

import numpy as np
import pandas as pd
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError


def draw(c, size, rng, prior=None):
    """Draw secrets and outputs of a channel matrix."""
    n = len(c)
    secret = rng.choice(n, size=size, p=prior)
    cumulative = np.cumsum(c, axis=1)
    output = (rng.random(size)[:, None] * cumulative[:, -1:][secret] > cumulative[secret]).sum(1)
    return secret, output


RR = ch.KaryRandomizedResponse(4, 1.5)


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


def test_numbers_do_not_depend_on_labels_or_kind_of_container():
    rng = np.random.default_rng(1)
    secret, output = draw(RR.channel().matrix, 3_000, rng)
    plain = ch.estimate(secret, output, rng=5)
    frame = ch.estimate(pd.Series(secret, index=rng.permutation(3_000)), output[:, None], rng=5)
    assert plain.to_dict() == frame.to_dict()
    words = ch.estimate([f"w{s}" for s in secret], [f"o{o}" for o in output], rng=5)
    assert words.beta_star.low == pytest.approx(plain.beta_star.low, rel=1e-12)
    assert words.bayes_risk.low == pytest.approx(plain.bayes_risk.low, rel=1e-12)
    again = ch.estimate(secret, output, rng=5)
    assert again == plain


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


def test_neighbours_with_ties_match_counting_on_discrete_outputs():
    # Broken by order, ties would cost 0.06 and more here; with ties they cost nothing.
    rng = np.random.default_rng(3)
    secret, output = draw(RR.channel().matrix, 20_000, rng)
    found = ch.estimate(secret, output, rng=2, estimators=["frequentist", "nearest-one"])
    assert found.estimators["nearest-one"] == found.estimators["frequentist"]


def test_many_secrets_without_all_pairs():
    # 300 secrets, alike but for two that stand out.
    rng = np.random.default_rng(4)
    secret = rng.integers(300, size=60_000)
    output = np.round(rng.laplace(size=60_000) * 5).astype(int)
    output[secret == 17] -= 20
    output[secret == 222] += 20
    found = ch.estimate(secret, output, rng=1)
    assert set(found.pair) == {"17", "222"}
    # The truth is 0.02; one miss in a hundred held-out samples each certifies about 0.11.
    assert found.beta_star.high < 0.15


def test_very_many_secrets_use_candidates(monkeypatch):
    monkeypatch.setattr("narcissus.channels.limits.MOST_CANDIDATES", 40)
    rng = np.random.default_rng(4)
    secret = rng.integers(200, size=40_000)
    output = np.round(rng.laplace(size=40_000) * 5).astype(int)
    output[secret == 17] -= 20
    output[secret == 122] += 20
    found = ch.estimate(secret, output, rng=1)
    assert set(found.pair) == {"17", "122"}


def test_printed_limits_still_hold():
    from narcissus.channels.estimate import rounded

    rng = np.random.default_rng(0)
    for value in [0.0, 1.0, 0.3, 0.7, *rng.random(500)]:
        assert rounded(value, 4, up=False) <= value + 1e-12
        assert rounded(value, 4, up=True) >= value - 1e-12
        assert rounded(value, 4, up=True) - rounded(value, 4, up=False) < 1.0001e-4


def test_ones_own_classifier():
    naive = pytest.importorskip("sklearn.naive_bayes")
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


def test_templates_reach_the_optimum_for_gaussian_noise():
    rng = np.random.default_rng(9)
    secret = rng.integers(2, size=20_000)
    mixing = rng.normal(size=(20, 20))
    shift = rng.normal(size=20)
    output = (rng.normal(size=(20_000, 20)) + np.outer(secret, shift)) @ mixing
    truth = ch.Gaussian(float(np.linalg.norm(shift)), 1)
    found = ch.estimate(secret, output, rng=1)
    assert found.chosen == "templates"
    assert truth.beta_star <= found.beta_star.high < truth.beta_star + 0.02
    assert truth.bayes_risk <= found.bayes_risk.high < truth.bayes_risk + 0.01
    constant = ch.estimate(secret, np.c_[output, np.ones(20_000)], rng=1, estimators=["templates"])
    assert constant.bayes_risk.high < truth.bayes_risk + 0.01


@pytest.mark.parametrize("count", [1, 7])
def test_neighbours_by_products_are_those_of_the_tree(count):
    from narcissus.channels.estimators import _by_products, _by_tree

    rng = np.random.default_rng(3)
    points, queries = rng.normal(size=(300, 13)), rng.normal(size=(90, 13))
    one, other = _by_tree(points)(queries, count), _by_products(points)(queries, count)
    assert np.array_equal(one[1], other[1])
    assert np.allclose(one[0], other[0], rtol=1e-9)


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


@pytest.mark.parametrize(
    ("secret", "output", "words"),
    [
        (["a"] * 50, range(50), r"one secret only \('a'\)"),
        (["a"] * 50 + ["b"] * 3, range(53), "secret 'b' has 3 samples, fewer than the 10"),
        (["a"] * 50 + ["b"] * 3 + ["c"], range(54), "1 more secrets have too few"),
        (["a"] * 50, range(49), "50 secrets for 49 outputs"),
        ([], [], "no samples"),
        (["a", None] * 20, range(40), "missing values"),
        (["a", "b"] * 20, [np.nan, *range(39)], "missing values"),
        (["a", "b"] * 20, [np.inf, *range(39)], "finite"),
        (["a", "b"] * 20, None, "`outputs` is missing"),
    ],
)
def test_bad_samples(secret, output, words):
    with pytest.raises(InputError, match=words):
        ch.estimate(secret, output if output is None else list(output))


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
