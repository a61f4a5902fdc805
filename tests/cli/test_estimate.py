"""The command estimate: what a channel leaks, from samples."""

import json

import numpy as np
import pandas as pd
import pytest

from narcissus.channels import MEASURES
from narcissus.cli.channels import gain_from, program_from, wanted_measures
from narcissus.errors import InputError


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
        ("secret,o\n" + "a,1\nb,inf\n" * 30, [], "column 'o' has an infinite one"),
        ("secret,o\n" + "a,1\nb,2\n" * 30, ["--width", "0.2"], "--width is for --program"),
        ("secret,o\n", [], "no samples"),
        ("", [], "empty"),
    ],
)
def test_bad_samples(refused, tmp_path, text, argv, words):
    path = tmp_path / "samples.csv"
    path.write_text(text)
    assert words in refused("estimate", path, *argv)


@pytest.fixture
def noisy(tmp_path):
    """Samples of three secrets, one of them rare; a prior and a gain."""
    rng = np.random.default_rng(0)
    secret = rng.integers(2, size=1500)
    shown = np.where(rng.random(1500) < 0.8, secret, 1 - secret)
    frame = pd.DataFrame({"secret": ["no" if s else "yes" for s in secret], "o": shown})
    frame.loc[0, "secret"] = "rare"
    frame.to_csv(tmp_path / "samples.csv", index=False)
    (tmp_path / "prior.csv").write_text("yes,0.5\nno,0.45\nrare,0.05\n")
    (tmp_path / "gain.csv").write_text("secret,yes,no,pass\nyes,1,0,.6\nno,0,1,.6\nrare,0,0,.6\n")
    return tmp_path


def test_other_measures_and_the_test(narcissus, noisy):
    argv = ["estimate", noisy / "samples.csv", "--measure", "capacity", "--test"]
    code, out, _ = narcissus(*argv, "--json")
    found = json.loads(out)
    assert code == 0
    assert list(found["leakage"]) == ["capacity"]
    assert found["leakage"]["capacity"]["low"] < 1.6 < found["leakage"]["capacity"]["high"]
    assert found["no_leakage"]["p_value"] == 0.001
    assert found["left_out"] == {"rare": 1}
    out = narcissus(*argv)[1]
    assert "note: too few samples of 'rare' (1) to tell one from another" in out
    assert "capacity" in out
    assert "no leakage: p = 0.001" in out
    assert narcissus(*argv, "--report", noisy / "page.html")[0] == 0
    page = (noisy / "page.html").read_text()
    assert "Other measures, secrets as often as in the samples" in page
    assert "at most 0.001, sampled" in page


def test_a_prior_and_a_gain_ask_for_every_measure(narcissus, noisy):
    more = ["--prior", noisy / "prior.csv", "--gain", noisy / "gain.csv", "--json"]
    found = json.loads(narcissus("estimate", noisy / "samples.csv", *more)[1])["leakage"]
    assert len(found) == 12
    assert found["g-vulnerability"]["low"] < 0.95 * 0.8 < found["g-vulnerability"]["high"] + 0.05
    named = ["--measure", "bayes-risk", *more[:2], "--json"]
    only = json.loads(narcissus("estimate", noisy / "samples.csv", *named)[1])["leakage"]
    assert list(only) == ["bayes-risk"]


PROGRAM = "sh -c 'echo $(( ({secret} + 1) % 3 ))'"


def test_a_program_is_run_and_taken_up(narcissus, tmp_path):
    argv = ["estimate", "--program", PROGRAM, "--secrets", "1,4", "--runs", tmp_path / "r.csv"]
    code, out, err = narcissus(*argv, "--most-runs", 250, "--width", 0.9, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["samples"] == 200
    assert found["beta_star"]["high"] == 1.0
    assert "at most 200 runs" in err
    page = tmp_path / "page.html"
    more = ["--measure", "capacity", "--report", page]
    code, out, err = narcissus(*argv, "--most-runs", 250, "--width", 0.9, *more)
    assert "200 runs, narrow enough" in out
    assert "no dependence was found" in out
    assert "at most" not in err  # all are there
    shown = page.read_text()
    for said in (
        "What sh -c",
        "Other measures",
        "betting on each secret",
        "Not to be read as safe",
    ):
        assert said in shown, said
    assert f"Report: {page}" in out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "give SAMPLES or --program"),
        (["--program", "cat"], "`--secrets` is missing"),
        (["--program", "cat", "--secrets", "a,b", "--secret", "a"], "--secret is for SAMPLES"),
        (["--program", "cat", "--secrets", "a,b", "--report", "r.htm"], "must end in .html"),
        (["--program", "'cat", "--secrets", "a,b"], "is no command"),
        (["--program", " ", "--secrets", "a,b"], "is empty"),
        (["--program", "cot-nothing", "--secrets", "a,b"], "there is no program"),
        (["--program", "cat", "--secrets", "@none.txt"], "no such file"),
        (["--program", "cat", "--given", "pipe"], "pipe"),
        (["--program", "sh -c 'exit 5'", "--secrets", "a,b"], "exit code 5"),
        (["--program", "sleep", "--secrets", "5,6", "--time-limit", "0.1"], "within 0.1 s"),
        (["--program", "echo", "--secrets", "a,b", "--most-runs", "10"], "need 200 runs"),
        (["--program", "sleep .06; #", "--secrets", "a,b", "--most-runs", "99999"], "exit code"),
    ],
)
def test_programs_that_cannot_be_measured(refused, tmp_path, monkeypatch, argv, words):
    monkeypatch.chdir(tmp_path)
    assert words in refused("estimate", *argv)
    assert list(tmp_path.iterdir()) == []


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


def test_a_secret_of_an_assumption_that_is_not_there_is_named(narcissus, refused, tmp_path):
    path = tmp_path / "samples.csv"
    path.write_text("secret,o\n" + "v1,1\nv2,2\n" * 30)
    assert "did you mean `v2`" in refused("estimate", path, "--pair", "v1", "w2")
    code, _, err = narcissus("estimate", path, "--symmetric", "--monotone")
    assert code == 2
    assert "leave the other assumptions out" in err


HOW = {"given": "argument", "observe": "time", "seconds": 3.0}


def test_secrets_come_from_the_line_a_file_or_the_prior(tmp_path):
    made = program_from("echo 'a b' {secret}", "x, y", None, **HOW)
    assert list(made.command) == ["echo", "a b", "{secret}"]
    assert list(made.secrets) == ["x", "y"]
    assert (made.observe, made.seconds) == ("time", 3.0)
    file = tmp_path / "s.txt"
    file.write_text("one, with a comma\n\ntwo\n")
    assert list(program_from("echo", f"@{file}", None, **HOW).secrets) == [
        "one, with a comma",
        "two",
    ]
    made = program_from("echo", None, {"x": 0.9, "y": 0.1}, **HOW)
    assert made.weights.tolist() == [0.9, 0.1]
    file.write_bytes(b"\xff\xfe\n")
    with pytest.raises(InputError, match="UTF-8"):
        program_from("echo", f"@{file}", None, **HOW)


def test_a_gain_has_a_column_per_secret(tmp_path):
    (tmp_path / "gain.csv").write_text("secret,hit,pass\na,1,.5\nb,0,.5\n")
    gain = gain_from(tmp_path / "gain.csv")
    assert gain.loc["hit", "a"] == 1
    assert gain.shape == (2, 2)
    assert gain_from(None) is None


def test_all_measures_are_those_that_can_be_had():
    assert wanted_measures((), everything=False, gain=True) == []
    assert wanted_measures(("capacity",), everything=True, gain=True) == ["capacity"]
    assert wanted_measures(("all",), everything=False, gain=True) == list(MEASURES)
    without = wanted_measures((), everything=True, gain=False)
    assert set(MEASURES) - set(without) == {"g-leakage", "g-vulnerability", "additive-g-leakage"}
