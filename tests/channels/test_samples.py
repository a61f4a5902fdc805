"""Coding samples."""

import numpy as np
import pandas as pd
import pytest

from narcissus import channels as ch

from .conftest import draw, refused

RR = ch.KaryRandomizedResponse(4, 1.5)


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


@pytest.mark.parametrize(
    ("secret", "output", "words"),
    [
        (["a"] * 50, range(50), r"one secret only \('a'\)"),
        (["a"] * 50 + ["b"] * 3, range(53), "secret 'b' has 3 samples, fewer than the 8"),
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
    refused(words, ch.estimate, secret, output if output is None else list(output))


def test_secrets_with_few_samples_are_left_out_and_named():
    rng = np.random.default_rng(2)
    secret, output = draw(RR.channel().matrix, 2_000, rng)
    few = np.r_[[f"w{s}" for s in secret], ["x"] * 3, ["a"]]
    data = ch.samples(few, np.r_[output, [0, 1, 99, 98]])
    assert data.names == ("w0", "w1", "w2", "w3")
    assert data.left_out == (("a", 1), ("x", 3))
    assert data.size == 2_000
    assert data.distinct == 4
    found = ch.estimate(few, np.r_[output, [0, 1, 99, 98]], rng=1)
    without = ch.estimate(few[:2_000], output, rng=1)
    assert found.to_dict()["left_out"] == {"a": 1, "x": 3}
    assert (found.secrets, found.samples, found.beta_star.trials) == (6, 2_004, 2_000)
    assert found.beta_star.low is None  # of all secrets, the worst pair may be of a rare one
    among = ch.estimate(few, np.r_[output, [0, 1, 99, 98]], rng=1, among=["w0", "w1", "w2", "w3"])
    assert among.beta_star.low == without.beta_star.low
    assert "2 secrets have fewer than 10 samples" in str(found).splitlines()[0]
    assert "too few samples of 'a' (1), 'x' (3) to tell one from another" in str(found)
    assert "too few" not in str(without)
    looks = ch.convergence(few, np.r_[output, [0, 1, 99, 98]], looks=2, rng=1)
    assert looks.left_out == found.left_out


@pytest.mark.parametrize("seed", range(12))
def test_no_lower_limit_is_above_the_truth_over_all_secrets(seed):
    """A secret seen once or twice has outputs of its own: some two secrets are told apart."""
    rng = np.random.default_rng(seed)
    size, rare = int(rng.integers(2, 6)), int(rng.integers(1, 8))
    secret = rng.integers(size, size=4_000)
    output = np.where(rng.random(4_000) < 0.4, secret, rng.integers(size, size=4_000))
    found = ch.estimate(
        np.r_[secret, np.full(rare, size)], np.r_[output, np.full(rare, size)], rng=seed
    )
    assert found.left_out
    assert (found.beta_star.low or 0.0) <= 0.0  # the truth: `size` is always told from others
    assert "has fewer than 10 samples" in str(found).splitlines()[0]
