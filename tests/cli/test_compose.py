"""``narcissus compose``: files and mechanisms, each so often."""

from __future__ import annotations

import json

import pytest

from narcissus import channels as ch


def test_files_and_mechanisms(narcissus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("secret,x,y\nlow,0.9,0.1\nhigh,0.2,0.8\n")
    code, out, _ = narcissus("compose", "a.csv=3", "a.csv", "--json")
    assert code == 0
    found = json.loads(out)
    assert set(found) == {"beta_star", "beta_star_at_most", "gap", "capacity", "exact", "theorem"}
    whole = ch.repeat([[0.9, 0.1], [0.2, 0.8]], 4)
    assert found["beta_star"] == pytest.approx(ch.beta_star(whole).value, rel=1e-12)
    code, out, _ = narcissus("compose", "randomized-response:values=10,epsilon=1=200", "--json")
    assert json.loads(out)["beta_star"] == pytest.approx(1.3390867994854574884e-4, rel=1e-11)
    code, out, _ = narcissus("compose", "gaussian:span=1,sigma=2=20", "laplace:span=1,scale=9")
    assert (code, out.count("at most")) == (0, 2)


@pytest.mark.parametrize(
    ("use", "says"),
    [
        ("nothere.csv=3", "there is no file nothere.csv"),
        ("randomised-response:values=3,epsilon=1", "did you mean `randomized-response`"),
        ("randomized-response:values=3,epsilon=1=0", "`times` must be at least 1"),
    ],
)
def test_what_is_wrong_is_said(narcissus, use, says):
    code, _, err = narcissus("compose", use)
    assert code == 2
    assert says in err


def test_shuffled_reports(narcissus):
    use = "randomized-response:values=10,epsilon=1"
    found = json.loads(narcissus("compose", use, "--shuffled", "1000", "--json")[1])
    assert found["beta_star"] == pytest.approx(0.99105, abs=1e-6)
    assert found["beta_star"] <= found["beta_star_at_most"]
    for uses in ([use, use], ["laplace:epsilon=1"]):
        code, _, err = narcissus("compose", *uses, "--shuffled", "10")
        assert code == 2
        assert "--shuffled takes one USE" in err
