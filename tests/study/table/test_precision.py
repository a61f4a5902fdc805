"""A precision instead of a number of trials."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import narcissus as package
from narcissus.study.record import digest_of


def test_a_precision_chooses_the_trials_and_is_kept(study, narcissus):
    path = study(run={"trials": None, "precision": 8, "seed": 3}, threat={"targets": 40})
    code, out, err = narcissus("audit", path, "--json")
    assert code == 0, err
    result = json.loads(out)["results"]
    assert f"{result['trials']:,} trials for limits within 8 points" in err
    for found in [*result["attacks"].values(), result["ceiling"]]:
        assert found["share"] - found["low"] < 0.085
        assert found["high"] - found["share"] < 0.085
    _, again, _ = narcissus("audit", path, "--json", "--quiet", "--out", "again")
    assert json.loads(again)["digest"] == json.loads(out)["digest"]


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ({"trials": 5, "precision": 1.0}, "give `trials` or `precision`, not both"),
        ({"trials": None, "precision": 0.001}, "ask for less precision"),
        ({"trials": None, "precision": 0.0}, "greater than 0"),
    ],
)
def test_a_precision_that_cannot_be_had_is_refused(study, narcissus, run, says):
    code, _, err = narcissus("audit", study(run=run), "--quiet")
    assert code == 2
    assert says in err


def test_a_run_with_a_precision_is_verified_and_a_forged_one_is_not(study, narcissus):
    path = study(run={"trials": None, "precision": 8, "seed": 3}, threat={"targets": 40})
    assert narcissus("audit", path, "--quiet", "--out", "out")[0] == 0
    code, out, err = narcissus("verify", "out", path, "--quiet")
    assert code == 0, out + err
    assert "gives every number" in out
    record = json.loads(Path("out/record.json").read_text())
    record["results"]["trials"] += 1
    record["digest"] = digest_of(record)
    Path("out/record.json").write_text(json.dumps(record))
    code, out, _ = narcissus("verify", "out", path, "--quiet")
    assert code == 1
    assert "results.trials" in out


def test_a_pilot_that_takes_long_is_agreed_to_first(study, narcissus, monkeypatch):
    monkeypatch.setattr("narcissus.cli.long_work.HOURS", 1e-9)
    path = study(run={"trials": None, "precision": 8, "seed": 3})
    code, out, err = narcissus("audit", path)
    assert (code, out) == (2, "")
    assert "10 trials of" in err
    assert "a pilot" not in err
    assert not Path("results").exists()


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("when", ["a pilot of", "trials for limits"])
def test_interrupted_in_the_pilot_or_after_it(study, when):
    """The same command goes on, and finds what a run that was left alone finds."""
    path = study(run={"trials": None, "precision": 4, "seed": 3}, threat={"targets": 40})
    command = [sys.executable, "-m", "narcissus", "audit", str(path), "--out", "out"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    heard = ""
    while when not in heard:
        heard += process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert not Path("out/record.json").exists()
    assert subprocess.run([*command, "--quiet"], check=False).returncode == 0
    alone = package.run(package.load_study(path))
    assert json.loads(Path("out/record.json").read_text())["digest"] == alone.record.digest
