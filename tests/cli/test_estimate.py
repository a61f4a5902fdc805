"""The command estimate: what a channel leaks, from samples."""

import json

import numpy as np
import pandas as pd
import pytest


def test_estimate(narcissus, tmp_path):
    rng = np.random.default_rng(0)
    secret = rng.integers(2, size=3000)
    shown = np.where(rng.random(3000) < 0.8, secret, 1 - secret)
    path = tmp_path / "samples.csv"
    pd.DataFrame({"output": shown, "site": secret}).to_csv(path, index=False)
    argv = ["estimate", path, "--secret", "site", "--confidence", 0.9, "--json"]
    code, out, _ = narcissus(*argv)
    found = json.loads(out)
    assert code == 0
    for name, truth in (("beta_star", 0.4), ("bayes_risk", 0.2)):
        e = found[name]
        assert e["low"] <= truth <= e["high"]
        assert e["low"] <= e["estimate"] <= e["high"]
    assert narcissus(*argv)[1] == out
    code, out, _ = narcissus("estimate", path, "--secret", "site")
    assert "95% limits" in out


def test_estimate_says_why_there_is_no_lower_limit(narcissus, tmp_path):
    rng = np.random.default_rng(0)
    secret = rng.integers(2, size=2000)
    path = tmp_path / "samples.csv"
    pd.DataFrame({"secret": secret, "time": rng.normal(size=2000) + secret}).to_csv(
        path, index=False
    )
    found = json.loads(narcissus("estimate", path, "--json")[1])
    for name in ("beta_star", "bayes_risk"):
        assert found[name]["low"] is None
        assert "continuous" in found[name]["why"]
        assert found[name]["high"] < 1


@pytest.mark.parametrize(
    ("text", "argv", "words"),
    [
        ("secret,o\n" + "a,1\n" * 30, [], "one secret only ('a')"),
        ("secret,o\n" + "a,1\n" * 30 + "b,1\n", [], "secret 'b' has 1 samples"),
        ("secret,o\n" + "a,1\nb,2\n" * 30, ["--secret", "secrt"], "did you mean `secret`"),
        ("secret,o\n" + "a,1\nb,2\n" * 30, ["--confidence", "1.5"], "`--confidence`"),
        ("secret,o\n" + "a,1\nb,\n" * 30, [], "missing values"),
        ("secret\n" + "a\nb\n" * 30, [], "alone"),
        ("secret,o\n", [], "no samples"),
        ("", [], "empty"),
    ],
)
def test_bad_samples(narcissus, tmp_path, text, argv, words):
    path = tmp_path / "samples.csv"
    path.write_text(text)
    code, _, err = narcissus("estimate", path, *argv)
    assert code == 2
    assert words in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--symmetric"], "the secrets are alike"),
        (["--pair", "v1", "v2"], "among 'v1', 'v2'"),
        (["--among", "v1", "--among", "v2", "--among", "v0"], "among 'v1', 'v2', 'v0'"),
    ],
)
def test_assumptions_are_printed_with_the_limits(narcissus, tmp_path, argv, words):
    rng = np.random.default_rng(0)
    secret = rng.integers(4, size=2_000)
    shown = np.where(rng.random(2_000) < 0.5, secret, rng.integers(4, size=2_000))
    path = tmp_path / "answers.csv"
    pd.DataFrame({"secret": secret, "answer": shown}).astype(str).radd("v").to_csv(
        path, index=False
    )
    plain = json.loads(narcissus("estimate", path, "--json")[1])
    found = json.loads(narcissus("estimate", path, "--json", *argv)[1])
    assert found["beta_star"]["low"] > plain["beta_star"]["low"]
    assert words in found["assumptions"][0]
    assert "assumptions" not in plain
    code, out, _ = narcissus("estimate", path, *argv)
    assert code == 0
    assert f"assuming for the lower limits that {found['assumptions'][0]}" in out
    assert "the lower ones if what is assumed is so" in out


def test_a_secret_of_an_assumption_that_is_not_there_is_named(narcissus, tmp_path):
    path = tmp_path / "samples.csv"
    path.write_text("secret,o\n" + "v1,1\nv2,2\n" * 30)
    code, _, err = narcissus("estimate", path, "--pair", "v1", "w2")
    assert code == 2
    assert "did you mean `v2`" in err
    code, _, err = narcissus("estimate", path, "--symmetric", "--monotone")
    assert code == 2
    assert "leave the other assumptions out" in err
