"""``narcissus design``: a mechanism from a table of losses, its curve, and refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest

from narcissus import channels as ch


@pytest.fixture
def losses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loss.csv").write_text("secret,a,b,c\nx,0,1,1\ny,1,0,1\nz,1,1,0\n")
    return "loss.csv"


def test_a_mechanism_is_made_and_written(narcissus, losses, tmp_path):
    code, out, _ = narcissus("design", losses, "--most-loss", "0.4", "--out", "m.csv", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["beta_star"] == pytest.approx(0.6, abs=1e-7)
    assert (found["secrets"], found["answers"]) == (list("xyz"), list("abc"))
    made = ch.read_channel(tmp_path / "m.csv")
    assert ch.beta_star(made).value == pytest.approx(found["beta_star"], rel=1e-12)
    code, out, _ = narcissus("design", losses, "--beta-star", "0.6", "--epsilon", "2")
    assert code == 0
    assert "no other does better: loss at least" in out


def test_the_curve_is_drawn(narcissus, losses, tmp_path):
    assert narcissus("design", losses, "--curve", "c.svg")[0] == 0
    assert "<svg" in (tmp_path / "c.svg").read_text()


@pytest.mark.parametrize("options", [(), ("--most-loss", "1", "--beta-star", ".5")])
def test_one_wish_is_given(narcissus, losses, options):
    code, _, err = narcissus("design", losses, *options)
    assert code == 2
    assert "give one of" in err


def test_losses_of_numpy_and_mechanisms_into_npz(narcissus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "loss.npz", matrix=1 - np.eye(3), secrets=["x", "y", "z"])
    code, out, _ = narcissus("design", "loss.npz", "--most-loss", "0.4", "--out", "m.npz", "--json")
    assert code == 0
    assert json.loads(out)["secrets"] == ["x", "y", "z"]
    assert ch.beta_star(ch.read_channel("m.npz")).value == pytest.approx(0.6, abs=1e-7)
    code, out, _ = narcissus("compose", "m.npz=2", "--json")
    assert (code, json.loads(out)["exact"]) == (0, True)
    np.save(tmp_path / "loss.npy", np.array([[object()]]), allow_pickle=True)
    code, _, err = narcissus("design", "loss.npy", "--most-loss", "1")
    assert code == 2
    assert "holds Python objects" in err
