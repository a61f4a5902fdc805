"""The command ``privacy``: the pair and the event, and the study that shows it."""

from __future__ import annotations

import json
import math

import pytest


@pytest.fixture
def call(narcissus, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return narcissus


@pytest.fixture
def count(call):
    call("examples", "neighbours-each", "--out", "c.toml")
    return "c.toml"


def test_the_pair_the_event_and_both_losses_are_said(call, count):
    code, out, _ = call("privacy", count)
    assert code == 0
    assert "PROVED: not (1, delta)-differentially private for any delta below 1," in out
    assert "[0, 0, 0, 0, 0, 0, 0, 1]" in out
    assert "the release is 0.0" in out
    assert "(Theorem A.4)" in out
    answer = json.loads(call("privacy", count, "--epsilon", 2, "--json")[1])
    assert (answer["delta"], answer["over_pair"], answer["pairs"]) == (1, 1, 1024)
    loss = 1 / (2 * (1 + math.exp(2)))
    assert answer["over_uniform_pair_at_least"] == pytest.approx(loss)


@pytest.mark.parametrize("options", [(), ("--uniform",)])
def test_the_study_that_it_writes_is_broken(call, count, options):
    code, out, _ = call("privacy", count, "--epsilon", 0.5, "--out", "broken.toml", *options)
    assert code == 0
    assert "play it with: narcissus audit broken.toml" in out
    code, out, err = call("audit", "broken.toml", "--seed", 1)
    assert code == 1, err
    assert "Violated, proved" in out


def test_what_is_wrong_is_refused(call, count, tmp_path):
    code, _, err = call("privacy", count, "--uniform")
    assert code == 2
    assert "`--uniform` is for `--out FILE`" in err
    (tmp_path / "there.toml").write_text("mine", encoding="utf-8")
    code, _, err = call("privacy", count, "--out", "there.toml")
    assert code == 2
    assert "exists" in err
    assert (tmp_path / "there.toml").read_text(encoding="utf-8") == "mine"
    assert call("privacy", count, "--out", "there.toml", "--force")[0] == 0
    text = (tmp_path / count).read_text(encoding="utf-8")
    private = text.replace('"counting-query"\ntau = 0.0', '"constant"').replace("n = 8", "n = 2")
    (tmp_path / "p.toml").write_text(private, encoding="utf-8")
    code, out, err = call("privacy", "p.toml", "--out", "n.toml")
    assert code == 2
    assert "(1, 0)-differentially private" in out
    assert "nothing to show" in err
    assert not (tmp_path / "n.toml").exists()
    code, _, err = call("privacy", "p.toml", "--out", "no/such/folder.toml", "--force")
    assert code == 2
