"""The frame and the headline of a channel: exact, and from samples."""

import math

import numpy as np
import pytest

import narcissus
from narcissus.report import page_of


def play(folder, **channel):
    return narcissus.run(
        narcissus.load_study({"kind": "channel", "channel": channel}, folder=folder), rng=1
    )


def test_an_exact_channel_has_measures_pairs_and_a_profile():
    audit = play(None, mechanism="randomized-response:values=4,epsilon=1")
    frame = audit.to_frame()
    assert set(frame["grade"]) == {"proved"}
    measures = frame[frame["quantity"] == "measure"].set_index("name")["value"]
    assert measures["beta_star"] == audit.results["exact"]["beta_star"]
    pairs = frame[frame["quantity"] == "pair"]
    assert len(pairs) == 4 * 3 / 2
    assert pairs["value"].min() == pytest.approx(measures["beta_star"])
    profile = frame[frame["quantity"] == "delta"]
    assert profile["value"].iloc[0] == pytest.approx(1 - measures["beta_star"])
    assert repr(audit).startswith("Audit(channel: no threshold, proved; guessed 25.0% without, ")


def test_an_infinite_epsilon_is_infinite(tmp_path):
    (tmp_path / "c.csv").write_text("secret,x,y\na,1,0\nb,0.5,0.5\n")
    measures = play(tmp_path, file="c.csv").to_frame().set_index("name")["value"]
    assert measures["epsilon_ldp"] == math.inf


def test_estimates_have_limits_and_the_samples_they_rest_on(tmp_path):
    rng = np.random.default_rng(5)
    secrets = rng.integers(0, 2, 400)
    outputs = np.where(rng.random(400) < 0.8, secrets, 1 - secrets)
    rows = [f"{s},{o}" for s, o in zip(secrets, outputs, strict=True)]
    (tmp_path / "s.csv").write_text("\n".join(["secret,output", *rows]) + "\n")
    audit = play(tmp_path, samples="s.csv")
    frame = audit.to_frame()
    [guess] = frame[frame["name"] == "guessing_error"].to_dict("records")
    assert (guess["grade"], guess["samples"]) == ("approximate", 400)
    assert math.isnan(guess["low"])
    assert math.isnan(guess["high"])
    frame = frame[frame["name"] != "guessing_error"]
    assert set(frame["grade"]) == {"sampled"}
    assert set(frame["name"]) == {"beta_star", "bayes_risk"}
    [without, *_] = page_of(audit.record).verdict.numbers
    assert without[2:] == ("the commonest secret on these samples, no limits", "approximate")
    last = frame[frame["samples"] == 400].set_index("name")
    found = audit.results["estimated"]["bayes_risk"]
    assert last.loc["bayes_risk", "value"] == found["estimate"]
    assert last.loc["bayes_risk", "low"] == found["low"]
    assert repr(audit).startswith("Audit(channel: no threshold, sampled; guessed ")
