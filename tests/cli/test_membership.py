"""The command membership: keys, words, files that others read, and one clear error each."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import special


@pytest.fixture
def scores(tmp_path, monkeypatch):
    """Write scores of leaking models, and go to their folder."""
    rng = np.random.default_rng(3)
    members = rng.random((12, 120)) < 0.5
    chance = special.expit(rng.normal(size=120) + rng.normal(size=(12, 120)) + 3 * members)
    monkeypatch.chdir(tmp_path)
    np.savez("s.npz", scores=chance, members=members)
    np.save("s.npy", chance)
    np.save("m.npy", members)
    return chance, members


def test_keys_and_numbers(scores, answer):
    found = answer("membership s.npz --scale probability --seed 1 --delta 1e-5")
    assert found["grade"] == "sampled"
    assert (found["attack"], found["models"], found["records"]) == ("lira", 12, 120)
    assert (found["targets"], found["folds"], found["coins"]) == (3, 1, "own coins")
    assert found["epsilon"] > 0.5
    assert (found["seed"], found["delta"], found["claim"]) == (1, 1e-5, 0)
    assert [one["grade"] for one in found["rates"]] == ["approximate"] * 3
    assert [one["aimed"] for one in found["across"]] == [0.001, 0.01, 0.1]
    assert "claimed" not in found
    again = answer("membership s.npz --scale probability --seed 1 --delta 1e-5 --fpr 0.2")
    assert again["epsilon"] == found["epsilon"]
    assert again["at"] == [0.2]
    same = answer("membership s.npy --members m.npy --scale probability --seed 1 --delta 1e-5")
    assert same == found


def test_words(scores, call):
    code, out, _ = call("membership s.npz --scale probability --attack rmia --seed 1")
    assert code == 0
    assert "REFUTED (sampled): rmia on 3 of 12 models" in out
    assert "over records (approximate" in out
    assert "Mean rates over further models, 3 trials (sampled" in out
    out = call("membership s.npz --scale probability --folds 3 --seed 1")[1]
    assert "in 3 folds" in out
    assert "NOT ASSESSED: rates over further models" in out


def test_canaries_are_read_by_refute(scores, answer, call):
    code, _, _ = call("membership s.npz --scale probability --seed 1 --canaries c.csv")
    assert code == 0
    table = pd.read_csv("c.csv")
    assert list(table.columns) == ["score", "member"]
    assert len(table) == 3 * 120
    assert answer("refute --scores c.csv --seed 1")["epsilon"] > 0.5


def test_priors_go_with_the_canaries(scores, answer, call):
    chance, _ = scores
    members = np.random.default_rng(0).random(chance.shape) < 0.3
    np.savez("p.npz", scores=chance, members=members, priors=np.full(120, 0.3))
    assert call("membership p.npz --seed 1 --canaries c.csv")[0] == 0
    assert (pd.read_csv("c.csv")["prior"] == 0.3).all()
    assert "from its own prior" in answer("refute --scores c.csv --seed 1")["assumptions"][0]


def test_report(scores, call):
    code, out, _ = call("membership s.npz --scale probability --seed 1 --report r.html")
    assert code == 0
    assert "Report: r.html" in out
    page = Path("r.html").read_text(encoding="utf-8")
    assert "Membership told by shadow models: lira" in page
    assert "sha256:" not in page  # by which guesses of the scores could be tested
    out = call("membership s.npz --seed 1 --json --report r.html")[1]
    json.loads(out)


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("membership s.npz --attack lyra", "--attack"),
        ("membership s.npz --scale prob", "--scale"),
        ("membership s.npz --attack rmia --scale loss --seed 1 --fpr 2", "--fpr"),
        ("membership s.npz --fpr a", "--fpr"),
        ("membership s.npz --folds 2 --canaries c.csv", "--canaries"),
        ("membership s.npz --folds 2 --targets 2", "--targets"),
        ("membership s.npz --folds 13", "--folds"),
        ("membership s.npz --targets 12", "--targets"),
        ("membership s.npz --members m.npy", "--members"),
        ("membership s.npy", "--members"),
        ("membership s.npz --report r.pdf", "--report"),
        ("membership s.npz --confidence 1", "--confidence"),
    ],
)
def test_one_error(scores, one_error, line, option):
    one_error(line, option)


def test_an_attack_on_probabilities_names_the_option(scores, one_error):
    np.savez("s.npz", scores=np.ones((2, 9)) * 3, members=np.eye(2, 9))
    one_error("membership s.npz --attack rmia", "--scale")
